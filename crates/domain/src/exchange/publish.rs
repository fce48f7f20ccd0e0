//! A proposal as an issue of its repository.

use super::artifact::{Filed, Proposal};
use super::limits::{ISSUE_BODY_LIMIT_CHARS, ISSUE_LABEL_LIMIT_CHARS, ISSUE_TITLE_LIMIT_CHARS};
use crate::prompt::{clean, clean_line, without_secrets};

/// What is opened as an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publication {
    /// The key under which the state remembers the issue: `proposal:<file's name>`, or `work:<slot>:<digest>`.
    pub key: String,
    /// The issue's title.
    pub title: String,
    /// Its text; ends in the marker.
    pub body: String,
    /// Its label.
    pub label: String,
    /// What is looked for before it is opened, so that it is opened once.
    pub marker: String,
}

/// How a proposal is published; `None` where something is wrong with it, or GitHub can have no label of its persona's
/// name. Title and text are cut to what an issue can have.
///
/// The marker names file and id, which are the proposal's for good: whoever finds it in an issue need not open another.
#[must_use]
pub fn publication(proposal: &Filed<Proposal>) -> Option<Publication> {
    if !proposal.sound {
        return None;
    }
    let Proposal {
        id, persona, title, ..
    } = &proposal.value;
    let marker = format!("<!-- phileas:proposal:{}:{id} -->", proposal.stem());
    let value = &proposal.value;
    let sections = [
        ("Problem", plain(&value.problem)),
        ("Introduction", plain(&value.introduction)),
        ("Why it matters", plain(&value.importance)),
        ("What it touches", list(&value.impact_surface)),
        ("What it costs", plain(&value.implementation_cost)),
        ("What it could clash with", list(&value.consistency_risks)),
        (
            "What would show that it was right",
            list(&value.verification_signals),
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
    let body = format!("{}\n\n{end}", cut(body.trim_end(), room));
    let label = label(persona)?;
    let title = without_secrets(&clean_line(title));
    let title = format!("[innovator/{persona}] {title}");
    Some(Publication {
        key: key(proposal.stem()),
        title: cut(&title, ISSUE_TITLE_LIMIT_CHARS),
        body,
        label,
        marker,
    })
}

/// The label of a persona's issues; `None` where GitHub can have none of that name.
pub(super) fn label(persona: &str) -> Option<String> {
    let label = format!("innovator/{persona}");
    (label.chars().count() <= ISSUE_LABEL_LIMIT_CHARS).then_some(label)
}

/// The key of a proposal's issue, by the name of its file.
pub(super) fn key(stem: &str) -> String {
    format!("proposal:{stem}")
}

/// A text of at most so many characters; what was cut ends in `…`.
pub(super) fn cut(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(limit - 1).collect();
    short.push('…');
    short
}

/// A list of an agent's texts in an issue.
pub(super) fn list(items: &[String]) -> String {
    let lines: Vec<String> = items
        .iter()
        .map(|item| format!("- {}", plain(item)))
        .collect();
    lines.join("\n")
}

/// An agent's text in an issue: it calls nobody, hides nothing, and gives no key away.
pub(super) fn plain(text: &str) -> String {
    without_secrets(&clean(text)).replace('@', "@\u{200b}")
}
