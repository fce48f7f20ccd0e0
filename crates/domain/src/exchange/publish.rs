//! Renders a proposal as a GitHub issue.

use super::artifact::{Filed, Proposal};
use super::limits::{ISSUE_BODY_LIMIT_CHARS, ISSUE_LABEL_LIMIT_CHARS, ISSUE_TITLE_LIMIT_CHARS};
use crate::prompt::{clean_line, clean_text, without_secrets};

/// An issue to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publication {
    /// The key of the issue in the state: `proposal:<file's name>`, or `work:<slot>:<digest>`.
    pub key: String,
    /// The issue's title.
    pub title: String,
    /// The issue's body; it ends with the marker.
    pub body: String,
    /// The issue's label.
    pub label: String,
    /// The marker to search for before opening the issue, so that it is opened once.
    pub marker: String,
}

/// A proposal as an issue; `None` if it is invalid, or if GitHub cannot have a label with its persona's name. Title and
/// body are truncated to GitHub's limits.
///
/// The marker contains the file's name and the id, which never change, so a later run finds the issue and opens no
/// second one.
#[must_use]
pub fn publication_of(proposal: &Filed<Proposal>) -> Option<Publication> {
    if !proposal.sound {
        return None;
    }
    let Proposal {
        id, persona, title, ..
    } = &proposal.value;
    let marker = format!("<!-- phileas:proposal:{}:{id} -->", proposal.file_stem());
    let value = &proposal.value;
    let sections = [
        ("Problem", escape_markdown(&value.problem)),
        ("Introduction", escape_markdown(&value.introduction)),
        ("Why it matters", escape_markdown(&value.importance)),
        ("What it touches", list_text(&value.impact_surface)),
        ("What it costs", escape_markdown(&value.implementation_cost)),
        (
            "What it could clash with",
            list_text(&value.consistency_risks),
        ),
        (
            "What would show that it was right",
            list_text(&value.verification_signals),
        ),
    ];
    let mut body = String::new();
    for (heading, text) in sections {
        body.push_str(&format!("## {heading}\n\n{}\n\n", text.trim_end()));
    }
    let end = format!(
        "---\nProposal `{id}` of `{persona}`, {}.\n\n{marker}\n",
        value.created_at
    );
    let room = ISSUE_BODY_LIMIT_CHARS - end.chars().count() - 2;
    let body = format!("{}\n\n{end}", truncate_text(body.trim_end(), room));
    let label = persona_label(persona)?;
    let title = without_secrets(&clean_line(title));
    let title = format!("[innovator/{persona}] {title}");
    Some(Publication {
        key: publication_key(proposal.file_stem()),
        title: truncate_text(&title, ISSUE_TITLE_LIMIT_CHARS),
        body,
        label,
        marker,
    })
}

/// The label of a persona's issues; `None` if GitHub cannot have a label of that name.
pub(super) fn persona_label(persona: &str) -> Option<String> {
    let label = format!("innovator/{persona}");
    (label.chars().count() <= ISSUE_LABEL_LIMIT_CHARS).then_some(label)
}

/// The key of a proposal's issue, by its file's name.
pub(super) fn publication_key(stem: &str) -> String {
    format!("proposal:{stem}")
}

/// A text of at most `limit` characters; a truncated one ends in `…`.
pub(super) fn truncate_text(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(limit - 1).collect();
    short.push('…');
    short
}

/// A list of an agent's texts in an issue.
pub(super) fn list_text(items: &[String]) -> String {
    let lines: Vec<String> = items
        .iter()
        .map(|item| format!("- {}", escape_markdown(item)))
        .collect();
    lines.join("\n")
}

/// An agent's text in an issue, without mentions, hidden text and API keys.
pub(super) fn escape_markdown(text: &str) -> String {
    without_secrets(&clean_text(text)).replace('@', "@\u{200b}")
}
