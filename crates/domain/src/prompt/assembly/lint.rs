//! Finds instructions to read a file whose text could be included in the prompt.
//!
//! An agent should get the content, not an instruction to find it: a session starts from the default branch, which
//! lacks the exchange, and a step that only reads a file can fail.

use super::home::canonical_layer;
use super::request::RULES_PATH;
use crate::Diagnostic;
use crate::model::Tree;

/// Verbs that ask to read a file.
const READ_WORDS: [&str; 16] = [
    "read", "reread", "re-read", "open", "load", "consult", "inspect", "review", "study", "view",
    "see", "examine", "check", "follow", "cat", "refer",
];
/// Verbs after which a path is a destination.
const WRITE_WORDS: [&str; 19] = [
    "write",
    "create",
    "update",
    "overwrite",
    "replace",
    "save",
    "move",
    "copy",
    "cp",
    "mv",
    "delete",
    "remove",
    "edit",
    "change",
    "modify",
    "append",
    "put",
    "add",
    "emit",
];
/// Words that negate an instruction.
const NOT_WORDS: [&str; 6] = ["not", "never", "don't", "without", "no", "cannot"];
/// How many words before the verb a negation may be.
const NOT_WITHIN: usize = 3;

/// The lines of templates, contracts, tasks and rules that tell the agent to read a file below `.jules` or `.jlo`.
///
/// A line counts if a verb of reading precedes the path in the same sentence, with no verb of writing between them.
#[must_use]
pub fn read_orders(tree: &Tree) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (path, entry) in tree.iter().filter(|(path, _)| is_said(path)) {
        let Some(text) = entry.text.as_deref() else {
            continue;
        };
        let text = if path.ends_with(".j2") {
            without_tags(text)
        } else {
            text.to_owned()
        };
        for (line, number) in text.lines().zip(1..) {
            if let Some((at, word, named)) = reading_order(line) {
                let column = u32::try_from(line[..at].chars().count() + 1).unwrap_or(u32::MAX);
                let message = format!(
                    "this tells the agent to {word} `{named}`, which can stand in the prompt"
                );
                found.push(
                    Diagnostic::warning(path, message)
                        .at(number, column)
                        .help("put it in with `include_required` in the layer's template, and take the order out"),
                );
            }
        }
    }
    found
}

/// Whether the text of a file reaches an agent.
fn is_said(path: &str) -> bool {
    if path == RULES_PATH {
        return true;
    }
    let below = [".jules/layers/", ".jules/roles/"]
        .iter()
        .find_map(|root| path.strip_prefix(root));
    if let Some((layer, file)) = below.and_then(|rest| rest.split_once('/')) {
        let said = matches!(file, "contracts.yml" | "prompt.yml")
            || (file.starts_with("tasks/") && file.ends_with(".yml"))
            || file.ends_with("role.yml")
            || file.ends_with(".j2");
        return said && canonical_layer(layer).is_some();
    }
    path.starts_with(".jlo/roles/") && path.ends_with("/role.yml")
}

/// A template without its tags; line breaks are kept.
fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let close = match rest.as_bytes().get(start + 1) {
            Some(b'{') => "}}",
            Some(b'%') => "%}",
            Some(b'#') => "#}",
            _ => {
                out.push_str(&rest[..=start]);
                rest = &rest[start + 1..];
                continue;
            }
        };
        let Some(length) = rest[start..].find(close) else {
            break;
        };
        out.push_str(&rest[..start]);
        let end = start + length + close.len();
        let blank = |c: char| if c == '\n' { '\n' } else { ' ' };
        out.extend(rest[start..end].chars().map(blank));
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// The offset of an instruction in a line, its verb, and the file to read.
fn reading_order(line: &str) -> Option<(usize, String, String)> {
    let mut reading: Option<(usize, String)> = None;
    let mut before: Vec<String> = Vec::new();
    for (at, raw) in line_words(line) {
        let bare = raw.trim_matches(|c: char| {
            !c.is_alphanumeric() && !matches!(c, '.' | '/' | '<' | '>' | '_' | '{' | '*')
        });
        let bare = bare.trim_end_matches('.');
        if bare.contains(".jules/") || bare.contains(".jlo/") {
            if let Some((at, word)) = reading.take() {
                return Some((at, word, bare.to_owned()));
            }
            continue;
        }
        let word = bare.to_lowercase();
        if READ_WORDS.contains(&word.as_str()) {
            let near = &before[before.len().saturating_sub(NOT_WITHIN)..];
            let turned = near.iter().any(|word| NOT_WORDS.contains(&word.as_str()));
            reading = (!turned).then(|| (at, word.clone()));
        } else if WRITE_WORDS.contains(&word.as_str()) {
            reading = None;
        }
        before.push(word);
        if raw.ends_with(['.', ';', '!', '?']) {
            reading = None;
            before.clear();
        }
    }
    None
}

/// The words of a line with their offsets.
fn line_words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    line.split_whitespace()
        .map(|word| (word.as_ptr() as usize - line.as_ptr() as usize, word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::RULES;

    fn diagnostics_of(path: &str, text: &str) -> Vec<String> {
        let tree = Tree::from_texts([(path, text)]);
        read_orders(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_order_to_read_is_told_with_its_line() {
        for (path, text, begins) in [
            (
                ".jules/layers/narrator/tasks/a.yml",
                "steps:\n  - Read .jules/layers/narrator/schemas/changes.yml first.",
                ":2:5: warning: this tells the agent to read `.jules/layers/narrator/schemas/changes.yml`",
            ),
            (
                ".jules/roles/deciders/contracts.yml",
                "workflow:\n- \"Open and check `.jules/exchange/events/pending/<id>.yml`\"",
                ":2:13: warning: this tells the agent to check",
            ),
            (
                ".jules/JULES.md",
                "Always consult .jlo/config.toml",
                ":1:8: warning",
            ),
            (
                ".jules/layers/observers/observers_prompt.j2",
                "{{ section(\"a\",\n include_required(\".jules/x\")) }} see .jules/x",
                ":2:35: warning: this tells the agent to see `.jules/x`",
            ),
            (
                ".jules/roles/planners/prompt.yml",
                "- follow the rules of .jules/roles/planners/contracts.yml",
                ":1:3: warning",
            ),
            (
                ".jlo/roles/observers/qa/role.yml",
                "a: refer to .jules/exchange/changes.yml.",
                ":1:4: warning",
            ),
        ] {
            let found = diagnostics_of(path, text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(
                found[0].starts_with(&format!("{path}{begins}")),
                "{}",
                found[0]
            );
            assert!(found[0].contains("include_required"), "{}", found[0]);
        }
    }

    #[test]
    fn what_is_no_order_passes() {
        for (path, text) in [
            (
                ".jules/layers/narrator/tasks/a.yml",
                "- Write .jules/exchange/changes.yml, and read no other file",
            ),
            (
                ".jules/layers/narrator/tasks/a.yml",
                "- Do not read .jules/exchange/changes.yml",
            ),
            (
                ".jules/layers/narrator/tasks/a.yml",
                "- Read the source. Then .jules/exchange/changes.yml is yours to fill.",
            ),
            (
                ".jules/layers/narrator/tasks/a.yml",
                "- Read src/main.rs and update .jules/exchange/changes.yml",
            ),
            (
                ".jules/layers/observers/observers_prompt.j2",
                "{# read .jules/x #}{{ include_required(\".jules/x\") }}",
            ),
            (".jules/layers/narrator/schemas/a.yml", "- read .jules/x"),
            (".jules/exchange/events/pending/a.yml", "- read .jules/x"),
            (".jules/personas/a/prompt.md", "- read .jules/x"),
            (".jules/JULES.md", RULES),
        ] {
            assert!(
                diagnostics_of(path, text).is_empty(),
                "{text}: {:?}",
                diagnostics_of(path, text)
            );
        }
    }
}
