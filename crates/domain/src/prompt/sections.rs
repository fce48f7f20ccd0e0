//! Appends the sections that a prompt does not contain itself.

use super::context::Context;
use super::limits::{NOTE_LIMIT_CHARS, NOTES_LIMIT};
use super::quoted::Quoted;
use super::untrusted::{clean_line, cut_chars};
use crate::Diagnostic;
use crate::plan::Persona;

/// The notes of a request, each on one line. They are phileas' own words, but may contain file names from agents.
pub(super) fn note_lines(notes: &[String]) -> Vec<String> {
    notes[notes.len().saturating_sub(NOTES_LIMIT)..]
        .iter()
        .map(|note| cut_chars(&clean_line(note), NOTE_LIMIT_CHARS))
        .collect()
}

/// The body with the sections that it lacks. A body with inheritance or blocks has arranged its sections itself, so
/// only the request, earlier work and notes are added.
pub(super) fn with_sections(
    persona: &Persona,
    is_template: bool,
    body: &str,
    quoted: &Quoted,
    context: &Context,
) -> Result<String, Diagnostic> {
    if body.is_empty() {
        return Err(Diagnostic::error(&persona.path, "the prompt is empty")
            .help("write below the frontmatter what the persona is to do"));
    }
    let mut prompt = body.to_owned();
    let mut add = |heading: &str, name: &str, text: &str| {
        if !text.is_empty() && !context.was_read(name) {
            prompt.push_str(&format!("\n\n## {heading}\n\n{text}"));
        }
    };
    if !(is_template && arranges_itself(&persona.body)) {
        add(
            "Previous journal entries",
            "journal_entries",
            &quoted.journals,
        );
        add("Sprint", "sprint_context_text", &quoted.sprint);
        add("Tasks", "tasks_text", &quoted.tasks);
    }
    add(
        "What you are asked to work on",
        "request_text",
        &quoted.subject,
    );
    add("Work that is open or done", "work_text", &quoted.work);
    let notes: Vec<String> = quoted
        .notes
        .iter()
        .map(|note| format!("- {note}"))
        .collect();
    add("Notes on your earlier turns", "notes", &notes.join("\n"));
    Ok(prompt)
}

/// Whether a template has an `{% extends %}` or a `{% block %}`.
fn arranges_itself(template: &str) -> bool {
    template.split("{%").skip(1).any(|tag| {
        let word = tag.trim_start_matches(['-', '+']).trim_start();
        ["extends", "block"].iter().any(|name| {
            word.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with(char::is_whitespace))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inheritance_and_blocks_are_seen_in_every_spelling() {
        for (template, expected) in [
            ("{% extends 'x' %}", true),
            ("a {%- block b -%}{% endblock %}", true),
            ("{%+block\tb %}", true),
            ("{% endblock %}", false),
            ("{% blocks %} {{ block }} extends", false),
        ] {
            assert_eq!(arranges_itself(template), expected, "{template}");
        }
    }

    #[test]
    fn the_last_notes_are_kept_on_one_line_each() {
        let many: Vec<String> = (0..NOTES_LIMIT + 2)
            .map(|n| format!("note\n{n} phileas-turn: x"))
            .collect();
        let kept = note_lines(&many);
        assert_eq!(kept.len(), NOTES_LIMIT);
        assert_eq!(kept[0], "note 2 phileas turn: x");
    }
}
