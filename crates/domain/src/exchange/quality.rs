//! Warns about artifacts that are valid, but say too little.

use super::artifact::{Filed, Verification};
use super::limits::{MEANT_CRITERION_CHARS, MEANT_TEXT_CHARS};
use super::model::Exchange;
use crate::diagnostic::Diagnostic;
use crate::yaml::Node;

/// All warnings.
pub(super) fn check_quality(exchange: &Exchange) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if let Some(changes) = &exchange.changes {
        found.extend(check_truncation(&changes.path, &changes.node));
    }
    for stream in exchange.streams.values() {
        for event in &stream.events {
            check_length(event, "statement", &event.value.statement, &mut found);
        }
        for item in &stream.items {
            let value = &item.value;
            check_length(item, "problem", &value.problem, &mut found);
            check_length(item, "impact", &value.impact, &mut found);
            check_length(item, "desired_outcome", &value.desired_outcome, &mut found);
            for (index, one) in value.acceptance_criteria.iter().enumerate() {
                let length = one.chars().count();
                if !one.is_empty() && length < MEANT_CRITERION_CHARS {
                    let message = format!(
                        "a criterion of fewer than {MEANT_CRITERION_CHARS} characters says little"
                    );
                    let key = format!("acceptance_criteria[{index}]");
                    found.push(
                        entry_error(item, "acceptance_criteria", index, &key, message)
                            .help("say when the work is accepted"),
                    );
                }
            }
            let (key, all) = match &value.verification {
                Verification::Criteria(all) => ("verification_criteria", all),
                Verification::Commands(all) => ("verification_commands", all),
            };
            for (index, one) in all.iter().enumerate() {
                let lower = one.to_lowercase();
                if one.contains(['<', '>']) || lower.contains("todo") || lower.contains("tbd") {
                    let message = "it looks unfinished".to_owned();
                    let path = format!("{key}[{index}]");
                    found.push(
                        entry_error(item, key, index, &path, message)
                            .help("write it out: no angle brackets, no `todo`"),
                    );
                }
            }
        }
    }
    found
}

fn check_length<T>(filed: &Filed<T>, key: &str, text: &str, found: &mut Vec<Diagnostic>) {
    let length = text.trim().chars().count();
    if length > 0 && length < MEANT_TEXT_CHARS {
        let (line, column) = filed.key_position(key);
        let message = format!("`{key}` says little in fewer than {MEANT_TEXT_CHARS} characters");
        let one = Diagnostic::warning(&filed.path, message)
            .at(line, column)
            .key(key);
        found.push(one.help("write it out".to_owned()));
    }
}

fn entry_error<T>(
    filed: &Filed<T>,
    list: &str,
    index: usize,
    key: &str,
    message: String,
) -> Diagnostic {
    let node = filed
        .node
        .get(list)
        .and_then(|list| list.items().get(index));
    let (line, column) = node.map_or(filed.key_position(list), |node| (node.line, node.column));
    Diagnostic::warning(&filed.path, message)
        .at(line, column)
        .key(key)
}

/// A summary of the workstreams layout that omits commits must say so.
fn check_truncation(path: &str, node: &Node) -> Option<Diagnostic> {
    let stats = node.get("stats")?;
    let count = |key: &str| stats.get(key).and_then(Node::integer);
    let (total, included) = (count("commits_total")?, count("commits_included")?);
    let summary = node.get("summary")?;
    let note = summary
        .get("truncation_note")
        .and_then(Node::text)
        .unwrap_or_default();
    (total > included && note.trim().is_empty()).then(|| {
        let message =
            format!("{included} of {total} commits are listed, and nothing says what was left out");
        let one = Diagnostic::warning(path, message).at(summary.line, summary.column);
        one.key("summary.truncation_note")
            .help("write what was left out")
    })
}
