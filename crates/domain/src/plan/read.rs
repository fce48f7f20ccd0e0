//! Reads `.jules/schedules.toml`, `.jlo/config.toml` and the personas into a plan.

use std::collections::BTreeMap;

use toml::de::DeTable;

use super::constants::{PLAN_VERSION, SCHEDULES_PATH, TOP_KEYS};
use super::document::Document;
use super::known::Known;
use super::overrides::{self, Overrides};
use super::policy::Policy;
use super::section::{Entry, Reader, Section};
use super::suggest::closest;
use super::tracks::{TRACK_KEYS, Tracks};
use super::types::Plan;
use super::{budget, config, gate, novelty, persona, schedules, sprints};
use crate::Diagnostic;
use crate::model::{PersonaId, Tree};

/// The largest `schedules.toml` that is read, in bytes.
pub const MAX_SCHEDULES_BYTES: u64 = 64 * 1024;
pub(super) const ROOT_KEYS: [&str; 9] = [
    "version",
    "cycle",
    "defaults",
    "budget",
    "gate",
    "novelty",
    "tracks",
    "schedules",
    "sprints",
];
/// Places whose keys users often write in another one.
const HOMES: [(&str, &[&str]); 6] = [
    TOP_KEYS,
    ("[defaults]", &overrides::KEYS),
    ("[budget]", &budget::KEYS),
    ("[gate]", &gate::KEYS),
    ("[novelty]", &novelty::KEYS),
    ("[tracks.<name>]", &TRACK_KEYS),
];

/// Reads `.jules/schedules.toml`, `.jlo/config.toml` and all personas of a commit.
///
/// The last of `[defaults]`, frontmatter, track and step that has a setting wins. For a schedule these are `[defaults]`,
/// frontmatter and schedule. The policies in the plan are the result, so that callers need not read the frontmatter.
///
/// All mistakes are reported at once. What a mistake concerns is left out, and everything else runs: a track with a mistake
/// in its settings, its start or its list of steps does not run, and a step keeps its index whatever it names. The engine
/// starts nothing while a mistake [may concern everything](may_concern_everything).
#[must_use]
pub fn read(tree: &Tree) -> (Plan, Vec<Diagnostic>) {
    let (personas, mut diagnostics) = persona::read_personas(tree);
    let (mut plan, understood) = match text_of(tree) {
        Ok(text) => {
            let (plan, understood, found) = read_text(text, tree, &personas);
            diagnostics.extend(found);
            (plan, understood)
        }
        // A repository may use only the layers.
        Err(_) if is_absent(tree) && config::is_there(tree) => (Plan::default(), true),
        Err(diagnostic) => {
            diagnostics.push(*diagnostic);
            (Plan::default(), is_absent(tree))
        }
    };
    let (config, found) = config::read(tree, &plan.defaults);
    diagnostics.extend(found);
    plan.roster = config.roster;
    // Without a known budget and known gates, nothing runs on a schedule.
    if understood {
        for (name, track) in config.tracks {
            plan.tracks.entry(name).or_insert(track);
        }
    }
    plan.personas = personas;
    (plan, diagnostics)
}

/// Whether a mistake at a key of the plan may concern everything that it says: a limit, a gate or a default may be lost.
#[must_use]
pub fn may_concern_everything(key: &str) -> bool {
    let (section, setting) = key.split_once('.').unwrap_or((key, ""));
    let section = section.split('[').next().unwrap_or_default();
    // A line below the wrong table.
    let is_misplaced = [&overrides::KEYS[..], &budget::KEYS, &gate::KEYS]
        .iter()
        .any(|keys| keys.contains(&setting));
    match section {
        "cycle" => false,
        "tracks" | "schedules" => is_misplaced,
        "novelty" => is_misplaced && !novelty::KEYS.contains(&setting),
        "sprints" => is_misplaced,
        // The limits themselves, a table or key that is not known, and the file as a whole.
        _ => true,
    }
}

/// Whether the repository has no plan at all.
#[must_use]
pub fn is_absent(tree: &Tree) -> bool {
    !tree.has(SCHEDULES_PATH)
}

fn text_of(tree: &Tree) -> Result<&str, Box<Diagnostic>> {
    let text = tree.read_text(SCHEDULES_PATH, "the plan", MAX_SCHEDULES_BYTES)?;
    text.ok_or_else(|| {
        let message = "there is no plan, so nothing runs by itself";
        let help = match misnamed_plan(tree) {
            Some(path) => format!("if `{path}` is meant as the plan, move it to `{SCHEDULES_PATH}`"),
            None => "write one on the default branch; the smallest is the line `cycle = [\"curator\"]`, with a prompt in `.jules/personas/curator/prompt.md`".to_owned(),
        };
        Box::new(Diagnostic::error(SCHEDULES_PATH, message).help(help))
    })
}

/// A file that was probably meant as the plan.
fn misnamed_plan(tree: &Tree) -> Option<String> {
    let (folder, name) = SCHEDULES_PATH.split_once('/')?;
    if tree.has(name) {
        return Some(name.to_owned());
    }
    let mut names = tree
        .below(folder)
        .filter_map(|(path, _)| path.split_once('/'))
        .map(|(_, name)| name);
    let misnamed = names.find(|given| closest(given, [name]).is_some())?;
    Some(format!("{folder}/{misnamed}"))
}

fn read_text(
    text: &str,
    tree: &Tree,
    personas: &BTreeMap<PersonaId, super::Persona>,
) -> (Plan, bool, Vec<Diagnostic>) {
    let document = Document::of(text);
    let mut reader = Reader::new(SCHEDULES_PATH, &document);
    let (table, _) = DeTable::parse_recoverable(&document.clean);
    let root = Section::root(table.get_ref());
    let known = Known::of(tree, personas);
    let (plan, understood) = read_root(&mut reader, &root, &known);
    (plan, understood, reader.into_diagnostics())
}

/// The plan, and whether its version is known.
fn read_root(reader: &mut Reader<'_>, root: &Section<'_>, known: &Known<'_>) -> (Plan, bool) {
    let mut plan = Plan::default();
    let entries = root.entries(reader);
    let of = |key: &str| entries.iter().find(|entry| entry.key == key);
    for entry in &entries {
        if !ROOT_KEYS.contains(&entry.key) {
            reader.unknown(entry, &ROOT_KEYS, &HOMES);
        }
    }
    let understood =
        !reader.document.given_up & of("version").is_none_or(|entry| is_understood(reader, entry));
    if let Some(section) =
        of("defaults").and_then(|entry| entry.table(reader, "a table `[defaults]`"))
    {
        plan.defaults = read_defaults(reader, &section);
    }
    if let Some(section) = of("budget").and_then(|entry| entry.table(reader, "a table `[budget]`"))
    {
        plan.budget = budget::read(reader, &section, &HOMES);
    }
    if let Some(section) = of("gate").and_then(|entry| entry.table(reader, "a table `[gate]`")) {
        plan.gate = gate::read(reader, &section, &HOMES);
    }
    if let Some(section) =
        of("novelty").and_then(|entry| entry.table(reader, "a table `[novelty]`"))
    {
        plan.novelty = novelty::read(reader, &section, &HOMES);
    }
    let mut tracks = Tracks {
        known,
        defaults: &plan.defaults,
        tracks: BTreeMap::new(),
        stopped: BTreeMap::new(),
    };
    if let Some(entry) = of("cycle") {
        tracks.read_cycle(reader, entry);
    }
    if let Some(section) = of("tracks").and_then(|entry| entry.table(reader, "a table `[tracks]`"))
    {
        // A cycle with a syntax error counts as one, too.
        let cycle = of("cycle").is_some() || reader.document.is_broken("cycle");
        tracks.read(reader, &section, cycle);
    }
    plan.tracks = tracks.tracks;
    plan.stopped = tracks.stopped;
    if let Some(section) =
        of("schedules").and_then(|entry| entry.table(reader, "a table `[schedules]`"))
    {
        let schedules = schedules::read(reader, &section, known, &plan.defaults, &HOMES);
        plan.schedules = schedules.sound;
        plan.stopped.extend(schedules.stopped);
    }
    if let Some(entry) = of("sprints") {
        plan.sprints = sprints::read(reader, entry, &plan.tracks, &HOMES);
    }
    if !understood {
        // Another version may give the same keys another meaning.
        plan.tracks.clear();
        plan.schedules.clear();
        plan.sprints = None;
    }
    (plan, understood)
}

/// Whether the plan's version is known.
fn is_understood(reader: &mut Reader<'_>, entry: &Entry<'_>) -> bool {
    let version = entry.as_integer();
    let version = entry.or_wrong_type(
        version,
        reader,
        "a whole number",
        &format!("`version = {PLAN_VERSION}`"),
    );
    let other = version.filter(|version| *version != PLAN_VERSION);
    if let Some(other) = other {
        reader.error(
            entry.value_at(),
            &entry.path,
            format!("the plan is written in version {other}, and this phileas reads version {PLAN_VERSION}"),
            format!("write `version = {PLAN_VERSION}`, or take a newer phileas; nothing runs by itself until then"),
        );
    }
    other.is_none()
}

fn read_defaults(reader: &mut Reader<'_>, section: &Section<'_>) -> Policy {
    let mut own = Overrides::default();
    for entry in section.entries(reader) {
        if overrides::KEYS.contains(&entry.key) {
            own.read(reader, &entry);
        } else {
            reader.unknown(&entry, &overrides::KEYS, &HOMES);
        }
    }
    own.over(&Policy::default())
}

#[cfg(test)]
mod tests;
