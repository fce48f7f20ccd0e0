//! `.jlo/config.toml`: who works in the layers, and when. It compiles to the roster and to two tracks.
//!
//! | key | what it says | where it says nothing |
//! |---|---|---|
//! | `version` | the version of the format | 1 |
//! | `workflow.enabled` | whether the layers run by themselves | `true` |
//! | `workflow.cron` | when a pass through the layers begins | [`DEFAULT_PASS`] |
//! | `workflow.timezone` | the zone of both crons | that of `[defaults]` in `schedules.toml` |
//! | `workflow.layers` | the layers of a pass, in order | [`PASS`] |
//! | `workflow.labels` | the labels that go to an implementer without being asked for | all |
//! | `workflow.approval` | who lets a work item through to an implementer: `"auto"`, or `"human"` by a label | `"auto"` |
//! | `workflow.entry_point` | where a pass begins; layers before it are left out | `"narrator"` |
//! | `observers.roles`, `innovators.roles` | roles: `"docs"` or `{ name, enabled, sensitive }` | the usual ones |
//! | `innovators.cron` | when a round of innovators begins | [`DEFAULT_INNOVATION`] |
//!
//! The pass is the track `layers`, the innovators' round the track `innovators`. A track of the same name in
//! `schedules.toml` counts instead. Keys of seed 001's system that have no meaning here are read and said to have none.

mod members;
mod schema;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use toml::de::DeTable;

use super::document::Document;
use super::overrides::Overrides;
use super::read::PLAN_VERSION;
use super::roster::{Approval, ROLE_LAYERS, Roster};
use super::section::{Entry, Reader, Section};
use super::steps::MAX_STEPS;
use super::suggest::did_you_mean;
use super::tracks::read_cron;
use super::{Cron, EntryPoint, LAYERS, Policy, Step, StepKind, Track};
use crate::Diagnostic;
use crate::layers;
use crate::model::{Mode, TrackName, Tree};

pub use schema::schema as config_schema;

/// Where it lies.
pub const CONFIG_PATH: &str = ".jlo/config.toml";
/// The largest one that is read, in bytes.
pub const MAX_CONFIG_BYTES: u64 = 64 * 1024;
/// The most roles of one layer.
pub const MAX_ROLES: usize = 64;
/// The longest name of a role or a label, in bytes.
pub(super) const MAX_ROLE_BYTES: usize = crate::exchange::limits::NAME_LIMIT_BYTES;
/// When a pass begins where nothing is said.
pub const DEFAULT_PASS: &str = "17 19 * * *";
/// When a round of innovators begins where nothing is said.
pub const DEFAULT_INNOVATION: &str = "41 6 * * 1";
/// The layers of a pass where nothing is said.
pub const PASS: [&str; 5] = ["narrator", "observers", "decider", "planner", "implementer"];
/// The track that `[workflow]` makes.
pub const PASS_TRACK: &str = "layers";
/// The track that `[innovators]` makes.
pub const INNOVATION_TRACK: &str = "innovators";

pub(super) const ROOT_KEYS: [&str; 4] = ["version", "workflow", "observers", "innovators"];
pub(super) const WORKFLOW_KEYS: [&str; 7] = [
    "enabled",
    "cron",
    "timezone",
    "layers",
    "labels",
    "approval",
    "entry_point",
];
pub(super) const OBSERVERS_KEYS: [&str; 1] = ["roles"];
pub(super) const INNOVATORS_KEYS: [&str; 2] = ["roles", "cron"];
pub(super) const MEMBER_KEYS: [&str; 3] = ["name", "enabled", "sensitive"];
const HOMES: [(&str, &[&str]); 2] = [
    ("[workflow]", &WORKFLOW_KEYS),
    ("[innovators]", &INNOVATORS_KEYS),
];
/// Tables and keys of seed 001's system that mean nothing here, and what stands in their place.
pub(super) const WITHOUT_EFFECT: [(&str, &str); 5] = [
    (
        "run",
        "sessions start on the default branch, and the ledger is the branch `jules`",
    ),
    ("jules", "the Jules API is set up with the driver"),
    ("jules_api", "the Jules API is set up with the driver"),
    (
        "workflow.runner_mode",
        "the runner is named in the workflow itself",
    ),
    (
        "workflow.wait_minutes_default",
        "phileas follows each session and waits for none",
    ),
];

/// What the file says.
#[derive(Debug, Default)]
pub(super) struct Config {
    pub(super) roster: Roster,
    pub(super) tracks: BTreeMap<TrackName, Track>,
}

/// Whether there is a file to read.
pub(super) fn is_there(tree: &Tree) -> bool {
    tree.get(CONFIG_PATH).is_some() || tree.below(CONFIG_PATH).next().is_some()
}

/// Reads the file; where there is none, nothing runs by itself and the roster is the usual one.
pub(super) fn read(tree: &Tree, defaults: &Policy) -> (Config, Vec<Diagnostic>) {
    let error = |message: &str, mend: &str| {
        let one = Diagnostic::error(CONFIG_PATH, message).mend(mend);
        (Config::default(), vec![one])
    };
    let Some(entry) = tree.get(CONFIG_PATH) else {
        return match tree.below(CONFIG_PATH).next() {
            Some(_) => error("it is a folder", "put a file here"),
            None => (Config::default(), Vec::new()),
        };
    };
    match (entry.mode, entry.text.as_deref()) {
        (Mode::Link, _) => error(
            "it is a symbolic link, and links are not followed",
            "put the file itself here",
        ),
        (Mode::Submodule | Mode::Special, _) => error("it is no file", "put a file here"),
        (Mode::File, _) if entry.size > MAX_CONFIG_BYTES => error(
            &format!("it is larger than {MAX_CONFIG_BYTES} bytes"),
            "shorten it",
        ),
        (Mode::File, None) => error("it is not text in UTF-8", "save it as UTF-8"),
        (Mode::File, Some(text)) => read_text(text, tree, defaults),
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

/// What was read, before it is made into tracks.
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
    let mut understood = !reader.document.given_up;
    for entry in root.entries(reader) {
        match entry.key {
            "version" => understood &= is_understood(reader, &entry),
            "workflow" => {
                read.workflow = entry.table(reader, "a table `[workflow]`");
                // Nobody can tell when it was to run.
                understood &= read.workflow.is_some();
            }
            "observers" => {
                members::read(reader, &entry, &OBSERVERS_KEYS, observers, tree);
            }
            "innovators" => {
                read.innovators = members::read(reader, &entry, &INNOVATORS_KEYS, innovators, tree);
            }
            _ => unknown(reader, &entry, &ROOT_KEYS),
        }
    }
    // Where a line could not be read, nobody can tell who was meant.
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
    let version = entry.or_wrong_type(version, reader, &format!("`version = {PLAN_VERSION}`"));
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
            // Nothing goes on by itself where nobody can tell what may.
            "labels" => roster.labels = Some(read_labels(reader, &entry).unwrap_or_default()),
            "entry_point" => entered = Some(entry),
            "approval" => roster.approval = read_approval(reader, &entry),
            _ => unknown(reader, &entry, &WORKFLOW_KEYS),
        }
    }
    if let Some(entry) = &entered {
        steps = enter(reader, entry, steps);
    }
    // A broken line may have been the one that keeps work from starting.
    if reader.document.is_broken("workflow") {
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
    if !enabled || own.timezone_is_broken || reader.document.is_broken("workflow") {
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

/// When a track begins; `None` where nobody can tell. Without that it would run all day long.
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
        let mend = "write one; hours and days can be lists, such as `\"17 7,19 * * *\"`, and `enabled = false` turns the layers off";
        reader.error(entry.value_at(), &entry.path, message, mend);
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
        // Half of a pass would be something else.
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
            let message = format!("`{name}` can be no label");
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

/// The layers of a pass that begins at an entry point; none where the innovators alone run. `None`: nobody can tell.
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
            format!(
                "{}; there are {}",
                did_you_mean(word, &words),
                EntryPoint::words()
            ),
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

/// Who lets work through. Where nobody can tell, a person does.
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
        format!("`{word}` is nobody who could let work through"),
        format!("write one of `{}`", words.join("`, `")),
    );
    Approval::Human
}

fn unknown(reader: &mut Reader<'_>, entry: &Entry<'_>, known: &[&str]) {
    match WITHOUT_EFFECT.iter().find(|(path, _)| *path == entry.path) {
        Some((path, instead)) => {
            reader.warning(
                entry.at,
                path,
                format!("`{path}` has no effect: {instead}"),
                "remove it",
            );
        }
        None => reader.unknown(entry, known, &HOMES),
    }
}
