//! The steps of a track.

use super::constants::LAYERS;
use super::known::Known;
use super::overrides::{KEYS, Overrides, STEP_KEYS};
use super::persona::Persona;
use super::policy::Policy;
use super::section::{Entry, Reader};
use super::suggest::did_you_mean;
use super::types::{Step, StepKind};
use crate::model::PersonaId;

/// The most steps of one track.
pub const MAX_STEPS: usize = 500;

/// The keys that name what a step does; each step has one of them.
pub(super) const KINDS: [&str; 2] = ["persona", "layer"];

const SHAPE: &str =
    "a persona's id, `layer:<name>`, or a table such as `{ persona = \"sentinel\", retry = 1 }`";

/// Reads the steps. Every entry makes a step, also one that is wrong: a step's index is the track's pointer.
/// `None`: there is no list of steps to speak of, and the mistake is noted.
pub(super) fn read(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    known: &Known<'_>,
    defaults: &Policy,
    track: &Overrides,
) -> Option<Vec<Step>> {
    let items = entry.items(
        reader,
        "an array of steps such as `[\"curator\", \"layer:observers\"]`",
    )?;
    if items.is_empty() {
        reader.error(
            entry.at,
            &entry.path,
            "the track has no steps",
            "name at least one persona or layer, or remove the track",
        );
        return None;
    }
    if items.len() > MAX_STEPS {
        let message = format!(
            "the track has {} steps; at most {MAX_STEPS} can be",
            items.len()
        );
        reader.error(
            entry.at,
            &entry.path,
            message,
            "split it into several tracks",
        );
        return None;
    }
    let step = |item: &Entry<'_>| {
        let (kind, own) = read_step(reader, item, known);
        let persona = match &kind {
            StepKind::Persona(id) => known.get(id.as_str()),
            StepKind::Layer(_) => None,
        };
        let below = persona.map(Persona::overrides).unwrap_or_default();
        let policy = own.over(&track.over(&below.over(defaults)));
        Step { kind, policy }
    };
    Some(items.iter().map(step).collect())
}

fn read_step(
    reader: &mut Reader<'_>,
    item: &Entry<'_>,
    known: &Known<'_>,
) -> (StepKind, Overrides) {
    if let Some(text) = item.as_text() {
        return (named(reader, item, text, known), Overrides::default());
    }
    let mut own = Overrides::default();
    let mut kinds = Vec::new();
    let mut is_sound = true;
    if item.is_table()
        && let Some(section) = item.table(reader, SHAPE)
    {
        for entry in section.entries(reader) {
            match entry.key {
                "persona" => kinds.extend(
                    entry
                        .text(reader)
                        .map(|id| persona(reader, &entry, id, known)),
                ),
                "layer" => kinds.extend(entry.text(reader).map(|name| layer(reader, &entry, name))),
                _ => is_sound &= read_setting(reader, &entry, &mut own),
            }
        }
        if kinds.len() > 1 {
            reader.error(
                item.at,
                &item.path,
                "the step names more than one persona or layer",
                "make two steps of it",
            );
            kinds.clear();
        } else if kinds.is_empty() {
            reader.error(
                item.at,
                &item.path,
                "the step names no persona or layer",
                format!("write {SHAPE}"),
            );
        }
    } else {
        item.or_wrong_type::<()>(None, reader, "a persona or a layer", SHAPE);
    }
    if !is_sound {
        // With a setting that cannot be read it would be another step.
        kinds.clear();
    }
    // A step that must not run keeps its index under a name that no persona can have.
    let unnamed = || StepKind::Persona(PersonaId::new(format!("({})", item.written(reader))));
    (kinds.pop().unwrap_or_else(unnamed), own)
}

/// Reads a setting of a step. `false`: it has a mistake.
fn read_setting(reader: &mut Reader<'_>, entry: &Entry<'_>, own: &mut Overrides) -> bool {
    let before = reader.errors();
    match entry.key {
        key if STEP_KEYS.contains(&key) => own.read(reader, entry),
        key if KEYS.contains(&key) => {
            let help = "set it for the track, or in [defaults]";
            reader.error(
                entry.at,
                &entry.path,
                format!("`{key}` cannot be set for a step"),
                help,
            );
        }
        _ => {
            let mut names = KINDS.to_vec();
            names.extend(STEP_KEYS);
            reader.unknown(entry, &names, &[]);
        }
    }
    reader.errors() == before
}

fn named(reader: &mut Reader<'_>, item: &Entry<'_>, text: &str, known: &Known<'_>) -> StepKind {
    match text.strip_prefix("layer:") {
        Some(name) => layer(reader, item, name),
        None => persona(reader, item, text, known),
    }
}

fn persona(reader: &mut Reader<'_>, entry: &Entry<'_>, text: &str, known: &Known<'_>) -> StepKind {
    let id = id_of(text);
    known.remark(id, reader, entry.value_at(), &entry.path);
    StepKind::Persona(PersonaId::new(id))
}

fn layer(reader: &mut Reader<'_>, entry: &Entry<'_>, name: &str) -> StepKind {
    if !LAYERS.contains(&name) {
        let message = format!("there is no layer `{name}`");
        reader.error(
            entry.value_at(),
            &entry.path,
            message,
            did_you_mean(name, &LAYERS),
        );
    }
    StepKind::Layer(name.to_owned())
}

/// The id in a prompt's path, as seed 004's repository wrote its steps: `personas/x/prompt.md`, with or without
/// `.jules/` before it and `.j2` after it. Anything else is taken as an id.
fn id_of(text: &str) -> &str {
    let path = text.strip_prefix("./").unwrap_or(text);
    let path = path.strip_prefix(".jules/").unwrap_or(path);
    path.strip_prefix("personas/")
        .and_then(|rest| {
            rest.strip_suffix("/prompt.md")
                .or_else(|| rest.strip_suffix("/prompt.md.j2"))
        })
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompt_paths_name_their_persona() {
        for (text, id) in [
            ("curator", "curator"),
            ("personas/curator/prompt.md", "curator"),
            ("personas/curator/prompt.md.j2", "curator"),
            (".jules/personas/curator/prompt.md.j2", "curator"),
            ("./.jules/personas/curator/prompt.md", "curator"),
            ("personas/curator", "personas/curator"),
            ("prompts/curator.md", "prompts/curator.md"),
        ] {
            assert_eq!(id_of(text), id);
        }
    }
}
