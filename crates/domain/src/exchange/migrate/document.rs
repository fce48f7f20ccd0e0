//! Renames old keys of a document, and keeps its comments if possible.

use crate::diagnostic::Diagnostic;
use crate::exchange::edit;
use crate::yaml::{self, Node, Value};

/// A document, and what was done to it.
pub(super) struct Document {
    pub(super) path: String,
    pub(super) text: String,
    pub(super) root: Node,
    /// What was done, one fragment each.
    pub(super) done: Vec<String>,
    /// What a person should review.
    pub(super) kept: Vec<Diagnostic>,
}

impl Document {
    /// Parses a document; `None` if it is no map, which the checks report.
    pub(super) fn parse_file(path: &str, text: &str) -> Option<Self> {
        let (root, mistakes) = yaml::parse(text);
        let root =
            root.filter(|root| mistakes.is_empty() && matches!(root.value, Value::Map(_)))?;
        Some(Self {
            path: path.to_owned(),
            text: text.to_owned(),
            root,
            done: Vec::new(),
            kept: Vec::new(),
        })
    }

    pub(super) fn has_key(&self, key: &str) -> bool {
        self.root.get(key).is_some()
    }

    /// Replaces the text, which is valid YAML, and notes what is done.
    pub(super) fn rewrite_text(&mut self, text: String, done: String) {
        let at = self.done.len();
        if self.replace_text(text) {
            self.done.insert(at, done);
        } else {
            let message = "its new form is too large, so it stays as it is";
            self.keep_key("", message, "shorten it, and migrate again");
        }
    }

    /// Replaces the text, unless the new one is no YAML that phileas reads. Comments that the new text lacks go to its
    /// beginning.
    pub(super) fn replace_text(&mut self, mut text: String) -> bool {
        let Some(root) = yaml::parse(&text).0 else {
            return false;
        };
        let there = comments(&text, &root);
        let mut lost = comments(&self.text, &self.root);
        lost.retain(|comment| !there.contains(comment));
        if !lost.is_empty() {
            let start = text.len() - text.trim_start_matches('\u{feff}').len();
            text.insert_str(start, &format!("{}\n", lost.join("\n")));
            self.done.push("comments went to its beginning".to_owned());
        }
        self.root = yaml::parse(&text).0.unwrap_or(root);
        self.text = text;
        true
    }

    /// Renames a key.
    ///
    /// # Errors
    ///
    /// Both keys exist and have different values.
    pub(super) fn rename_key(&mut self, from: &str, to: &str) -> Result<(), Box<Diagnostic>> {
        let (Some(older), newer) = (self.root.get(from), self.root.get(to)) else {
            return Ok(());
        };
        if let Some(newer) = newer {
            if newer.json() != older.json() {
                return Err(self.half_renamed(from, to));
            }
            let mut edited = self.root.clone();
            edit::remove_key(&mut edited, from);
            let done = format!("removed `{from}`, which `{to}` says, too");
            self.rewrite_text(edit::emit_yaml(&edited), done);
            return Ok(());
        }
        let mut edited = self.root.clone();
        if let Value::Map(entries) = &mut edited.value {
            for (key, _) in entries
                .iter_mut()
                .filter(|(key, _)| key.text() == Some(from))
            {
                key.value = Value::Text(to.to_owned());
            }
        }
        let text = self
            .renamed_text(from, to)
            .unwrap_or_else(|| edit::emit_yaml(&edited));
        self.rewrite_text(text, format!("`{from}` is called `{to}`"));
        Ok(())
    }

    /// The text with only the key's own bytes changed.
    fn renamed_text(&self, from: &str, to: &str) -> Option<String> {
        let Value::Map(entries) = &self.root.value else {
            return None;
        };
        let (key, _) = entries.iter().find(|(key, _)| key.text() == Some(from))?;
        let mut text = self.text.clone();
        (text.get(key.range.clone()) == Some(from)).then(|| {
            text.replace_range(key.range.clone(), to);
            text
        })
    }

    /// The error if both forms exist, so that it is unclear which one counts.
    pub(super) fn half_renamed(&self, older: &str, newer: &str) -> Box<Diagnostic> {
        let (line, column) = self.key_position(older);
        let message = format!("`{older}` is the older form of `{newer}`, and both are there");
        let one = Diagnostic::error(&self.path, message).at(line, column);
        Box::new(one.key(older).help("keep the one that counts"))
    }

    /// Reports what a person must do.
    pub(super) fn keep_key(&mut self, key: &str, message: &str, help: &str) {
        let (line, column) = self.key_position(key);
        let one = Diagnostic::warning(&self.path, message).at(line, column);
        self.kept.push(one.key(key).help(help));
    }

    fn key_position(&self, key: &str) -> (u32, u32) {
        let node = self.root.get(key).unwrap_or(&self.root);
        (node.line, node.column)
    }
}

/// The comments of a document: from a `#` to the end of its line, where the document says the same without it.
fn comments(text: &str, root: &Node) -> Vec<String> {
    let said = root.json();
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.trim_end().len();
        // Elsewhere a `#` begins no comment, so the document need not be read without it.
        let may_begin = |at: &usize| {
            line[..*at]
                .chars()
                .next_back()
                .is_none_or(char::is_whitespace)
        };
        let marks = line.match_indices('#').map(|(at, _)| at);
        let mut marks = marks.filter(may_begin).map(|at| start + at);
        let comment = marks.find(|at| {
            let rest = format!("{}{}", &text[..*at], &text[end.max(*at)..]);
            let (root, mistakes) = yaml::parse(&rest);
            mistakes.is_empty() && root.is_some_and(|root| root.json() == said)
        });
        found.extend(comment.map(|at| text[at..end].to_owned()));
        start += line.len();
    }
    found
}
