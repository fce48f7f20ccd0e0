//! Provides the open pull requests to templates.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::{Enumerator, Object, ObjectRepr};

use super::fence::{Fence, Untrusted};
use super::limits::{OPEN_PULLS_LIMIT, PULL_TEXT_LIMIT_CHARS};
use super::request::OpenPull;
use super::untrusted::{clean_line, cut_chars};

/// A list to iterate over, which prints as a fenced text.
pub(super) struct OpenPulls {
    items: Vec<Value>,
    text: String,
}

impl OpenPulls {
    pub(super) fn new(pulls: &[OpenPull], fence: &Arc<Fence>) -> Self {
        let shown = &pulls[..pulls.len().min(OPEN_PULLS_LIMIT)];
        let items = shown.iter().map(|pull| pull_value(pull, fence)).collect();
        let mut lines: Vec<String> = shown.iter().map(pull_line).collect();
        if pulls.len() > shown.len() {
            lines.push(format!("(and {} more)", pulls.len() - shown.len()));
        }
        let text = if lines.is_empty() {
            String::new()
        } else {
            fence.fenced_block("open pull requests", &lines.join("\n"))
        };
        Self { items, text }
    }

    /// The fenced text; empty if there are none.
    pub(super) fn as_text(&self) -> &str {
        &self.text
    }
}

/// One pull request. `headRefName`, `isDraft` and `author.login` are GitHub's GraphQL names, which the templates of
/// seed 004's repository use.
fn pull_value(pull: &OpenPull, fence: &Arc<Fence>) -> Value {
    let outside = |text: &str, field| Untrusted::untrusted_value(fence, shorten_text(text), field);
    BTreeMap::from([
        ("number", Value::from(pull.number.0)),
        ("title", outside(&pull.title, None)),
        ("author", outside(&pull.author, Some("login"))),
        ("head", outside(&pull.head, None)),
        ("headRefName", outside(&pull.head, None)),
        ("draft", Value::from(pull.draft)),
        ("isDraft", Value::from(pull.draft)),
    ])
    .into()
}

fn pull_line(pull: &OpenPull) -> String {
    let draft = if pull.draft { ", draft" } else { "" };
    format!(
        "- #{} {} ({} by {}{draft})",
        pull.number,
        shorten_text(&pull.title),
        shorten_text(&pull.head),
        shorten_text(&pull.author)
    )
}

fn shorten_text(text: &str) -> String {
    cut_chars(&clean_line(text), PULL_TEXT_LIMIT_CHARS)
}

impl fmt::Debug for OpenPulls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Object for OpenPulls {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.items.get(key.as_usize()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.items.len())
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
