//! Lists current work for prompts, one line each.

use super::limits::{LISTED_LIMIT, LISTED_LINE_CHARS};
use crate::exchange::{EventState, Stream};
use crate::prompt::{OpenPull, clean_line};

/// The work items of a stream; empty if there are none.
pub(super) fn digest_items(stream: &Stream) -> String {
    list_text(stream.items.iter().map(|item| {
        let value = &item.value;
        format!(
            "{} ({}, {}): {}. {}",
            value.id, value.label, value.priority, value.title, value.summary
        )
    }))
}

/// The pending events of a stream.
pub(super) fn digest_pending(stream: &Stream) -> String {
    list_text(stream.events_in(EventState::Pending).map(|event| {
        let value = &event.value;
        let places: Vec<&str> = value.evidence.iter().map(|one| one.path.as_str()).collect();
        format!(
            "{} by {}: {} ({})",
            value.id,
            value.author_role,
            value.title,
            places.join(", ")
        )
    }))
}

/// The proposals of a stream that are not issues yet.
pub(super) fn digest_proposals(stream: &Stream) -> String {
    list_text(
        stream
            .proposals
            .iter()
            .map(|one| format!("{} by {}", one.value.title, one.value.persona)),
    )
}

/// Pull requests.
pub(super) fn digest_pulls(pulls: &[OpenPull]) -> String {
    list_text(pulls.iter().map(|pull| {
        let draft = if pull.draft { ", a draft" } else { "" };
        format!(
            "#{} on the branch {}{draft}: {}",
            pull.number, pull.head, pull.title
        )
    }))
}

fn list_text(lines: impl Iterator<Item = String>) -> String {
    let mut lines: Vec<String> = lines
        .map(|line| {
            let line: String = clean_line(&line).chars().take(LISTED_LINE_CHARS).collect();
            format!("- {line}")
        })
        .collect();
    let more = lines.len().saturating_sub(LISTED_LIMIT);
    lines.truncate(LISTED_LIMIT);
    if more > 0 {
        lines.push(format!("- and {more} more"));
    }
    lines.join("\n")
}
