//! The plan and the personas of a beginning.

use phileas_domain::model::{PersonaId, Tree};
use phileas_domain::plan::{self, PERSONAS_FOLDER, PROMPT_FILES, StepKind};

use super::home::{HOME, schema_address};

/// A persona that a repository without any gets.
pub(super) struct Starter {
    pub(super) id: &'static str,
    pub(super) purpose: &'static str,
    pub(super) prompt: &'static str,
}

pub(super) const STARTERS: [Starter; 2] = [
    Starter {
        id: "curator",
        purpose: "a persona that keeps the documentation true",
        prompt: include_str!("personas/curator.md"),
    },
    Starter {
        id: "tester",
        purpose: "a persona that writes missing tests",
        prompt: include_str!("personas/tester.md"),
    },
];

/// What the line begins with by which editors find the schema.
const SCHEMA_LINE: &str = "#:schema ";

/// The plan, with these personas one after another.
pub(super) fn text(cycle: &[String]) -> String {
    let names: Vec<String> = cycle.iter().map(|id| format!("\"{id}\"")).collect();
    include_str!("schedules.toml")
        .replace("@schema", &schema_address("schedules"))
        .replace("@home", &format!("https://github.com/{HOME}"))
        .replace("@cycle", &format!("[{}]", names.join(", ")))
}

pub(super) fn prompt_path(id: &str) -> String {
    format!("{PERSONAS_FOLDER}/{id}/prompt.md")
}

/// The persona whose prompt stands at a path.
pub(super) fn persona_of(path: &str) -> Option<&str> {
    let (id, file) = path
        .strip_prefix(PERSONAS_FOLDER)?
        .strip_prefix('/')?
        .split_once('/')?;
    PROMPT_FILES.contains(&file).then_some(id)
}

/// The personas of a repository that a cycle may name.
pub(super) fn schedulable_personas(tree: &Tree) -> Vec<String> {
    let (personas, _) = plan::read_personas(tree);
    let wanted = personas.into_values().filter(|one| one.scheduled);
    wanted.map(|one| one.id.to_string()).collect()
}

/// Whether a file tells editors its schema.
#[must_use]
pub fn has_schema_line(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(SCHEMA_LINE))
}

/// What to add to a plan that is there.
pub(super) fn plan_hints(text: &str) -> Vec<String> {
    if has_schema_line(text) {
        return Vec::new();
    }
    vec![format!(
        "with `{SCHEMA_LINE}{}` as its first line, editors know its keys",
        schema_address("schedules")
    )]
}

/// Whether a tree's plan names a persona, in a track or in a schedule.
#[must_use]
pub fn named_by(tree: &Tree, id: &str) -> bool {
    let (plan, _) = plan::read(tree);
    let id = PersonaId::new(id);
    let kind = StepKind::Persona(id.clone());
    let mut steps = plan.tracks.values().flat_map(|track| &track.steps);
    steps.any(|step| step.kind == kind) || plan.schedules.contains_key(&id)
}
