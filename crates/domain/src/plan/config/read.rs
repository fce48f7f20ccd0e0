//! Reads `.jlo/config.toml` into the roster and the tracks of the layers.

use std::collections::BTreeMap;

use toml::de::DeTable;

use super::keys::{
    CONFIG_PATH, DEFAULT_INNOVATION, DEFAULT_PASS, INNOVATORS_KEYS, MAX_CONFIG_BYTES,
    OBSERVERS_KEYS, PASS, ROOT_KEYS, WORKFLOW_KEYS, unknown,
};
use super::members;
use crate::Diagnostic;
use crate::layers;
use crate::model::{TrackName, Tree};
use crate::plan::constants::{INNOVATION_TRACK, LAYERS, PASS_TRACK, PLAN_VERSION};
use crate::plan::cron::Cron;
use crate::plan::document::Document;
use crate::plan::entry::EntryPoint;
use crate::plan::overrides::Overrides;
use crate::plan::policy::Policy;
use crate::plan::roster::{Approval, ROLE_LAYERS, Roster};
use crate::plan::section::{Entry, Reader, Section};
use crate::plan::steps::MAX_STEPS;
use crate::plan::suggest::did_you_mean;
use crate::plan::tracks::read_cron;
use crate::plan::types::{Step, StepKind, Track};

/// The content of the file.
#[derive(Debug, Default)]
pub(in crate::plan) struct Config {
    pub(in crate::plan) roster: Roster,
    pub(in crate::plan) tracks: BTreeMap<TrackName, Track>,
}

/// Whether there is a file to read.
pub(in crate::plan) fn is_there(tree: &Tree) -> bool {
    tree.has(CONFIG_PATH)
}

/// Reads the file. Without a file no layer runs on a schedule, and the roster is the default one.
pub(in crate::plan) fn read(tree: &Tree, defaults: &Policy) -> (Config, Vec<Diagnostic>) {
    match tree.read_text(CONFIG_PATH, "it", MAX_CONFIG_BYTES) {
        Ok(Some(text)) => read_text(text, tree, defaults),
        Ok(None) => (Config::default(), Vec::new()),
        Err(wrong) => (Config::default(), vec![*wrong]),
    }
}

fn read_text(text: &str, tree: &Tree, defaults: &Policy) -> (Config, Vec<Diagnostic>) {
    let document = Document::of(text);
    let mut reader = Reader::new(CONFIG_PATH, &document);
    let (table, _) = DeTable::parse_recoverable(&document.clean);
    let root = Section::root(table.get_ref());
    let config = read_root(&mut reader, &root, tree, defaults);
    (config, reader.into_diagnostics())
}

/// The tables of the file, before they become tracks.
#[derive(Default)]
struct Read<'t> {
    workflow: Option<Section<'t>>,
    innovators: Option<members::Table<'t>>,
}

fn read_root(
    reader: &mut Reader<'_>,
    root: &Section<'_>,
    tree: &Tree,
    defaults: &Policy,
) -> Config {
    let mut config = Config::default();
    let Roster {
        observers,
        innovators,
        ..
    } = &mut config.roster;
    let mut read = Read::default();
    // A line that cannot be read above all tables may have been any key.
    let tables = ["workflow", "observers", "innovators"];
    let mut understood = !reader.document.given_up && !reader.document.is_broken_outside(&tables);
    for entry in root.entries(reader) {
        match entry.key {
            "version" => understood &= is_understood(reader, &entry),
            "workflow" => {
                read.workflow = entry.table(reader, "a table `[workflow]`");
                // The start of the pass is unknown.
                understood &= read.workflow.is_some();
            }
            "observers" => {
                members::read(reader, &entry, &OBSERVERS_KEYS, observers, tree);
            }
            "innovators" => {
                read.innovators = members::read(reader, &entry, &INNOVATORS_KEYS, innovators, tree);
            }
            _ => {
                // It may be the table that turns the layers off.
                understood &= unknown(reader, &entry, &ROOT_KEYS);
            }
        }
    }
    // If a line could not be read, the intended roles are unknown.
    for (layer, members) in ROLE_LAYERS.into_iter().zip([observers, innovators]) {
        if reader.document.is_broken(layer) {
            members.clear();
        }
    }
    if let Some(innovators) = &read.innovators {
        members::part(reader, innovators, &mut config.roster);
    }
    let tracks = tracks(reader, &read, defaults, &mut config.roster);
    if understood {
        config.tracks = tracks;
    }
    config
}

fn is_understood(reader: &mut Reader<'_>, entry: &Entry<'_>) -> bool {
    let version = entry.as_integer();
    let version = entry.or_wrong_type(
        version,
        reader,
        "a whole number",
        &format!("`version = {PLAN_VERSION}`"),
    );
    let Some(other) = version.filter(|version| *version != PLAN_VERSION) else {
        return true;
    };
    reader.error(
        entry.value_at(),
        &entry.path,
        format!("it is written in version {other}, and this phileas reads version {PLAN_VERSION}"),
        format!("write `version = {PLAN_VERSION}`, or take a newer phileas; the layers do not run until then"),
    );
    false
}

fn tracks(
    reader: &mut Reader<'_>,
    read: &Read<'_>,
    defaults: &Policy,
    roster: &mut Roster,
) -> BTreeMap<TrackName, Track> {
    let mut tracks = BTreeMap::new();
    let mut own = Overrides::default();
    let (mut enabled, mut steps, mut cron) = (true, Some(PASS.map(str::to_owned).to_vec()), None);
    let mut entered = None;
    let before = reader.errors();
    let entries = read
        .workflow
        .as_ref()
        .map(|section| section.entries(reader));
    for entry in entries.unwrap_or_default() {
        match entry.key {
            "enabled" => enabled = entry.flag(reader).unwrap_or(false),
            "cron" => cron = Some(entry),
            "timezone" => own.read(reader, &entry),
            "layers" => steps = read_layers(reader, &entry),
            // With unreadable labels no work item goes on without a request.
            "labels" => roster.labels = Some(read_labels(reader, &entry).unwrap_or_default()),
            "entry_point" => entered = Some(entry),
            "approval" => roster.approval = read_approval(reader, &entry),
            _ => {
                unknown(reader, &entry, &WORKFLOW_KEYS);
            }
        }
    }
    if let Some(entry) = &entered {
        steps = enter(reader, entry, steps);
    }
    // A mistake may have been the line that prevents work.
    let is_sound = reader.errors() == before && !reader.document.is_broken("workflow");
    if !is_sound {
        roster.approval = Approval::Human;
    }
    let policy = own.over(defaults);
    let start = start(
        reader,
        "workflow.cron",
        cron.as_ref(),
        DEFAULT_PASS,
        &policy,
    );
    let round = read
        .innovators
        .as_ref()
        .and_then(|table| start_of_innovation(reader, table.cron.as_ref(), &policy, roster));
    if !enabled || !is_sound {
        return tracks;
    }
    let mut add = |name: &str, layers: Vec<String>, start: Cron| {
        let step = |layer: String| Step {
            kind: StepKind::Layer(layer),
            policy: policy.clone(),
        };
        let track = Track {
            name: TrackName::from(name),
            steps: layers.into_iter().map(step).collect(),
            start: Some(start),
            policy: policy.clone(),
        };
        tracks.insert(track.name.clone(), track);
    };
    if let (Some(steps), Some(start)) = (steps.filter(|steps| !steps.is_empty()), start) {
        add(PASS_TRACK, steps, start);
    }
    if let (Some(start), false) = (round, reader.document.is_broken("innovators")) {
        add(INNOVATION_TRACK, vec!["innovators".to_owned()], start);
    }
    tracks
}

fn start_of_innovation(
    reader: &mut Reader<'_>,
    cron: Option<&Entry<'_>>,
    policy: &Policy,
    roster: &Roster,
) -> Option<Cron> {
    let start = start(reader, "innovators.cron", cron, DEFAULT_INNOVATION, policy)?;
    roster
        .innovators
        .iter()
        .any(|member| member.enabled)
        .then_some(start)
}

/// The start of a track. `None` if it cannot be read, because the track would otherwise run all day.
fn start(
    reader: &mut Reader<'_>,
    path: &str,
    cron: Option<&Entry<'_>>,
    usual: &str,
    policy: &Policy,
) -> Option<Cron> {
    let meanwhile = "the layers do not run until then";
    let Some(entry) = cron else {
        if reader.document.is_broken(path) {
            return None;
        }
        return Cron::parse(usual, &policy.timezone).ok();
    };
    if !entry.is_array() {
        return read_cron(reader, entry, &policy.timezone, meanwhile);
    }
    let items = entry.items(reader, "a cron expression such as `\"17 19 * * *\"`")?;
    let [only] = items.as_slice() else {
        let message = format!("there are {} expressions, and a track has one", items.len());
        let help = "write one; hours and days can be lists, such as `\"17 7,19 * * *\"`, and `enabled = false` turns the layers off";
        reader.error(entry.value_at(), &entry.path, message, help);
        return None;
    };
    read_cron(reader, only, &policy.timezone, meanwhile)
}

fn read_layers(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Vec<String>> {
    let items = entry.items(
        reader,
        "an array of layers such as `[\"narrator\", \"observers\"]`",
    )?;
    if items.is_empty() || items.len() > MAX_STEPS {
        let message = format!(
            "there are {} layers; a pass has 1 to {MAX_STEPS}",
            items.len()
        );
        reader.error(
            entry.at,
            &entry.path,
            message,
            "name the layers, or write `enabled = false`",
        );
        return None;
    }
    let mut layers = Some(Vec::new());
    for item in &items {
        let name = item.text(reader);
        if let Some(name) = name
            && !LAYERS.contains(&name)
        {
            let message = format!("there is no layer `{name}`");
            reader.error(
                item.value_at(),
                &item.path,
                message,
                did_you_mean(name, &LAYERS),
            );
        }
        // Do not run a part of a pass.
        match (name.filter(|name| LAYERS.contains(name)), &mut layers) {
            (Some(name), Some(layers)) => layers.push(name.to_owned()),
            _ => layers = None,
        }
    }
    layers
}

fn read_labels(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Vec<String>> {
    let items = entry.items(reader, "an array of labels such as `[\"bugs\", \"tests\"]`")?;
    let mut labels = Vec::new();
    for item in &items {
        let Some(name) = item.text(reader) else {
            continue;
        };
        if layers::is_role_name(name) {
            labels.push(name.to_owned());
        } else {
            let message = format!("`{name}` cannot be a label");
            reader.error(
                item.value_at(),
                &item.path,
                message,
                "a label has letters, digits, `-` and `_`",
            );
        }
    }
    Some(labels)
}

/// The layers of a pass that begins at an entry point; none if only the innovators run. `None`: it cannot be read.
fn enter(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    steps: Option<Vec<String>>,
) -> Option<Vec<String>> {
    let word = entry.text(reader)?;
    let Some(point) = EntryPoint::of(word) else {
        let words = EntryPoint::WORDS.map(|(word, _)| word);
        reader.error(
            entry.value_at(),
            &entry.path,
            format!("no pass begins at `{word}`"),
            did_you_mean(word, &words),
        );
        return None;
    };
    let mut steps = steps?;
    let is_there = point
        .layers()
        .iter()
        .any(|layer| steps.iter().any(|step| step == layer));
    if !is_there && !matches!(point, EntryPoint::Narrator | EntryPoint::Innovators) {
        reader.error(
            entry.value_at(),
            &entry.path,
            format!(
                "the pass has no layer {} to begin at",
                point.layers().join(" or ")
            ),
            "name it in `workflow.layers`, or begin elsewhere",
        );
        return None;
    }
    steps.retain(|layer| point.goes_through(layer) && point != EntryPoint::Innovators);
    Some(steps)
}

/// Who approves work items. If it cannot be read, a person does.
fn read_approval(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Approval {
    let Some(word) = entry.text(reader) else {
        return Approval::Human;
    };
    let known = Approval::WORDS.iter().find(|(name, _)| *name == word);
    if let Some((_, approval)) = known {
        return *approval;
    }
    let words = Approval::WORDS.map(|(name, _)| name);
    reader.error(
        entry.value_at(),
        &entry.path,
        format!("`{word}` is not a kind of approval"),
        format!("write one of `{}`", words.join("`, `")),
    );
    Approval::Human
}
