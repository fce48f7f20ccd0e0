//! Renders a work item as a GitHub issue, on which a person can approve it.

use super::artifact::{Filed, WorkItem};
use super::limits::{ISSUE_BODY_LIMIT_CHARS, ISSUE_LABEL_LIMIT_CHARS, ISSUE_TITLE_LIMIT_CHARS};
use super::model::Stream;
use super::publish::{Publication, escape_markdown, truncate_text};
use super::work_item_text::issue_text;
use crate::diagnostic::Diagnostic;
use crate::prompt::{clean_line, prompt_sha256, without_secrets};

/// The prefix of work items' keys among those of published issues.
const KEY: &str = "work:";

/// A work item as an issue. The issue shows what the session will be given, as [`issue_text`] renders it, with the
/// whole title, because an issue's own title is truncated. The digest covers all of it.
///
/// `slot`: the slot of the session that would do it. `label`: the label that approves it. The key contains the digest,
/// so an item that was changed or returned becomes another issue.
///
/// # Errors
///
/// The item is invalid, or an issue cannot hold all of it.
pub fn work_item_issue(
    slot: &str,
    label: &str,
    stream: &Stream,
    item: &Filed<WorkItem>,
) -> Result<Publication, Diagnostic> {
    let value = &item.value;
    let refused = |message: String, help: &str| {
        let one = Diagnostic::warning(&item.path, message);
        Err(one.help(help))
    };
    if !item.sound {
        let message = "it is not shown as an issue, for something is wrong with it".to_owned();
        return refused(message, "look at `phileas exchange check`");
    }
    let kind = format!("work/{}", value.label);
    if kind.chars().count() > ISSUE_LABEL_LIMIT_CHARS {
        let message = format!(
            "it is not shown as an issue, for GitHub has no label of more than {ISSUE_LABEL_LIMIT_CHARS} characters, \
             such as `{kind}`"
        );
        return refused(message, "give its label a shorter name");
    }
    let title = format!(
        "[{}] {}",
        value.label,
        without_secrets(&clean_line(&value.title))
    );
    let title = truncate_text(&title, ISSUE_TITLE_LIMIT_CHARS);
    let end = format!(
        "---\nWork item `{}`, `{}` on the branch `jules`. Agents wrote what stands in the boxes, and the session that does \
         it is given these words of theirs and no others.\n\nA user with write access has it done by the label \
         `{label}` on this issue, each label once. What was changed here is not what would be done; without the label \
         nothing happens.",
        value.id,
        escape_markdown(&clean_line(&item.path)).replace('`', "'"),
    );
    let text = format!("{}\n\n{end}", issue_text(stream, item)?);
    let digest = offer_digest(&title, &text);
    let key = format!("{KEY}{slot}:{digest}");
    let marker = format!("<!-- phileas:{key} -->");
    let body = format!("{text}\n\n{marker}\n");
    if body.chars().count() > ISSUE_BODY_LIMIT_CHARS {
        let message = "it is not shown as an issue, for its name is too long".to_owned();
        return refused(message, "give its file a shorter name");
    }
    Ok(Publication {
        key,
        title,
        body,
        label: kind,
        marker,
    })
}

/// The slot and the digest in the key of a work item's issue; `None` if the key belongs to something else.
#[must_use]
pub fn split_issue_key(key: &str) -> Option<(&str, &str)> {
    key.strip_prefix(KEY)?.rsplit_once(':')
}

/// The digest of an issue's title and body, as GitHub returns them, without the marker.
#[must_use]
pub fn offer_digest(title: &str, body: &str) -> String {
    let body = body.replace('\r', "");
    let text = body
        .rsplit_once("<!-- phileas:work:")
        .map_or(body.as_str(), |(text, _)| text);
    // The whole digest: two texts could be made to match a part of it.
    prompt_sha256(&format!("{}\n{}", title.trim(), text.trim()))
}
