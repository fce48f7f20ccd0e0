//! A work item as an issue of its repository, on which a person lets it through.

use super::artifact::{Filed, WorkItem};
use super::limits::{ISSUE_BODY_LIMIT_CHARS, ISSUE_LABEL_LIMIT_CHARS, ISSUE_TITLE_LIMIT_CHARS};
use super::publish::{Publication, cut, list, plain};
use crate::prompt::sha256;
use crate::yaml::{Node, Value};

/// Stands before the keys of work items among those of issues that were published.
const KEY: &str = "work:";
/// How much of a digest tells one version of a text from another.
const DIGEST_CHARS: usize = 16;
/// What is phileas' own business, and says nothing of the work.
const OWN: [&str; 6] = [
    "schema_version",
    "id",
    "title",
    "source_events",
    "attempts",
    "returned_because",
];

/// How a work item is offered to people; `None` where something is wrong with it, or where an issue has no room for all
/// of it: nobody can let through what cannot be read.
///
/// `slot`: the slot of the session that it would be done by. `label`: the label that lets it through. The key names the
/// very text, so that one that was changed is another offer.
#[must_use]
pub fn offer(slot: &str, label: &str, item: &Filed<WorkItem>) -> Option<Publication> {
    let value = &item.value;
    if !item.sound {
        return None;
    }
    let title = format!("[{}] {}", value.label, value.title.trim());
    let title = cut(&title, ISSUE_TITLE_LIMIT_CHARS);
    let end = format!(
        "---\nWork item `{}`, `{}` on the branch `jules`.\n\nSomebody with write access has it done by the label \
         `{label}` on this issue, each label once. What was changed here is not what would be done; without the label \
         nothing happens.",
        value.id,
        plain(&item.path),
    );
    let text = format!("{}\n\n{end}", sections(&item.node));
    let digest = offer_digest(&title, &text);
    let key = format!("{KEY}{slot}:{digest}");
    let marker = format!("<!-- phileas:{key} -->");
    let body = format!("{text}\n\n{marker}\n");
    let kind = format!("work/{}", value.label);
    let has_room = body.chars().count() <= ISSUE_BODY_LIMIT_CHARS
        && kind.chars().count() <= ISSUE_LABEL_LIMIT_CHARS;
    has_room.then_some(Publication {
        key,
        title,
        body,
        label: kind,
        marker,
    })
}

/// The slot and the digest that a key of an offer names; `None`: it is the key of something else.
#[must_use]
pub fn offered(key: &str) -> Option<(&str, &str)> {
    key.strip_prefix(KEY)?.rsplit_once(':')
}

/// The digest of an offer, by its issue's title and text, as GitHub shows them. The marker does not count.
#[must_use]
pub fn offer_digest(title: &str, body: &str) -> String {
    let body = body.replace('\r', "");
    let text = body
        .rsplit_once("<!-- phileas:work:")
        .map_or(body.as_str(), |(text, _)| text);
    let mut digest = sha256(&format!("{}\n{}", title.trim(), text.trim()));
    digest.truncate(DIGEST_CHARS);
    digest
}

/// Everything that the item says, in its own order.
fn sections(root: &Node) -> String {
    let Value::Map(entries) = &root.value else {
        return String::new();
    };
    let mut sections = Vec::new();
    for (key, value) in entries {
        let Some(key) = key.text().filter(|key| !OWN.contains(key)) else {
            continue;
        };
        let text = match &value.value {
            Value::List(items) => list(&items.iter().map(line).collect::<Vec<_>>()),
            _ => plain(line(value).trim()),
        };
        if !text.trim().is_empty() {
            let heading = key.replace('_', " ");
            sections.push(format!("### {heading}\n\n{text}"));
        }
    }
    sections.join("\n\n")
}

fn line(node: &Node) -> String {
    match &node.value {
        Value::Text(text) => text.clone(),
        Value::Null => String::new(),
        _ => node.json().to_string(),
    }
}
