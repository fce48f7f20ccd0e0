//! Parses Markdown with frontmatter, and edits single values of it.

use std::ops::Range;

use crate::Diagnostic;
use crate::plan::frontmatter::{Frontmatter, Missing};
use crate::yaml::{self, Node, Value, quoted};

/// A Markdown file in its parts.
pub(super) struct MarkdownDocument<'t> {
    path: &'t str,
    text: &'t str,
    /// The text after the frontmatter.
    pub(super) body: &'t str,
    head: Head,
}

enum Head {
    /// The file has no frontmatter.
    Missing,
    /// The frontmatter cannot be parsed; the error was reported.
    Broken,
    Read {
        root: Node,
        start: usize,
        end: usize,
        line: u32,
    },
}

/// The value of a key, and its position in the file.
pub(super) struct Field<'p> {
    pub(super) node: &'p Node,
    /// The byte range of the value; empty if it is unknown.
    pub(super) range: Range<usize>,
}

impl<'t> MarkdownDocument<'t> {
    /// Parses a file and reports errors of its form.
    pub(super) fn read_document(path: &'t str, text: &'t str, found: &mut Vec<Diagnostic>) -> Self {
        let conflict = conflict_marker(path, text);
        let split = Frontmatter::split(text);
        let (body, head) = match split {
            Ok(split) => (
                split.body,
                read_head(path, &split, conflict.is_none(), found),
            ),
            Err(Missing::Start) => (text, Head::Missing),
            Err(Missing::End) => {
                let wrong = Diagnostic::error(path, "the frontmatter has no end");
                found.push(wrong.at(1, 1).help("close it with a second line `---`"));
                (text, Head::Broken)
            }
        };
        found.extend(conflict);
        Self {
            path,
            text,
            body,
            head,
        }
    }

    /// Whether the file has frontmatter, valid or not.
    pub(super) fn has_head(&self) -> bool {
        !matches!(self.head, Head::Missing)
    }

    /// Whether the frontmatter could be parsed.
    pub(super) fn is_read(&self) -> bool {
        matches!(self.head, Head::Read { .. })
    }

    /// The value of a key, unless it is empty.
    pub(super) fn get(&self, key: &str) -> Option<Field<'_>> {
        let Head::Read { root, start, .. } = &self.head else {
            return None;
        };
        let node = root.get(key).filter(|node| node.value != Value::Null)?;
        Some(Field {
            node,
            range: start + node.range.start..start + node.range.end,
        })
    }

    /// Whether a key exists without a value.
    pub(super) fn is_bare(&self, key: &str) -> bool {
        let Head::Read { root, .. } = &self.head else {
            return false;
        };
        root.get(key).is_some_and(|node| node.value == Value::Null)
    }

    /// The error for a key without a value, and the edit that writes `to` there.
    pub(super) fn empty_value(&self, key: &str, to: &str) -> Option<(Diagnostic, Option<Edit>)> {
        let Head::Read { root, start, .. } = &self.head else {
            return None;
        };
        let Value::Map(entries) = &root.value else {
            return None;
        };
        let is_bare =
            |(name, value): &&(Node, Node)| name.text() == Some(key) && value.value == Value::Null;
        let (name, _) = entries.iter().find(is_bare)?;
        let wrong = Diagnostic::error(self.path, format!("`{key}` has no value"))
            .at(name.line, name.column)
            .key(key);
        let end = start + name.range.end;
        let rest = self.text.get(end..)?;
        // `key: null` has a null value, whose byte range is unknown.
        let is_empty = rest.lines().next().map(str::trim_end) == Some(":");
        let edit = is_empty.then(|| Edit {
            range: end + 1..end + 1,
            text: format!(" {to}"),
        });
        Some((wrong, edit))
    }

    /// An error at the start of the frontmatter.
    pub(super) fn error_in_head(&self, message: impl Into<String>) -> Option<Diagnostic> {
        let Head::Read { line, .. } = &self.head else {
            return None;
        };
        Some(Diagnostic::error(self.path, message).at(*line, 1))
    }

    /// The edit that adds whole lines at the end of the frontmatter; `None` if there are no lines.
    pub(super) fn insert_lines(&self, lines: &str) -> Option<Edit> {
        let Head::Read { end, .. } = &self.head else {
            return None;
        };
        (!lines.is_empty()).then(|| Edit {
            range: *end..*end,
            text: lines.to_owned(),
        })
    }

    /// The text of a key. Numbers are taken as written, because ids and dates often lack quotes. Other values are
    /// reported.
    pub(super) fn text_value(&self, key: &str, found: &mut Vec<Diagnostic>) -> Option<String> {
        let field = self.get(key)?;
        match &field.node.value {
            Value::Text(text) => Some(text.clone()),
            Value::Integer(_) | Value::Float(_) => self.text.get(field.range).map(str::to_owned),
            _ => {
                let is = field.node.is_called();
                let wrong = self.error_at(&field, key, format!("{is} stands where a text belongs"));
                found.push(wrong.help("write a text, between double quotes if need be"));
                None
            }
        }
    }

    /// An error at a value.
    pub(super) fn error_at(
        &self,
        field: &Field<'_>,
        key: &str,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::error(self.path, message)
            .at(field.node.line, field.node.column)
            .key(key)
    }

    /// A warning at a value.
    pub(super) fn warning_at(
        &self,
        field: &Field<'_>,
        key: &str,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::warning(self.path, message)
            .at(field.node.line, field.node.column)
            .key(key)
    }

    /// The edit that replaces a value and keeps its quoting style; `None` if its byte range is unknown.
    pub(super) fn edit_value(&self, field: &Field<'_>, to: &str) -> Option<Edit> {
        let written = self.text.get(field.range.clone())?;
        let as_text = |yaml: &str| {
            let (node, mistakes) = yaml::parse(&format!("key: {yaml}\n"));
            let node = node.filter(|_| mistakes.is_empty())?;
            (node.get("key")?.text() == Some(to)).then(|| yaml.to_owned())
        };
        let yaml = match written.chars().next()? {
            '\'' => as_text(&format!("'{to}'")),
            '"' => None,
            _ => as_text(to),
        };
        Some(Edit {
            range: field.range.clone(),
            text: yaml.unwrap_or_else(|| quoted(to)),
        })
    }
}

/// A byte range of a file, and its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    range: Range<usize>,
    text: String,
}

/// The text with all edits applied. No other byte changes.
pub(super) fn apply_edits(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.range.start));
    let mut text = text.to_owned();
    for edit in edits {
        text.replace_range(edit.range, &edit.text);
    }
    text
}

fn read_head(path: &str, split: &Frontmatter<'_>, tell: bool, found: &mut Vec<Diagnostic>) -> Head {
    let (root, mistakes) = yaml::parse_from(split.yaml, split.line);
    let is_sound = mistakes.is_empty();
    if tell {
        found.extend(mistakes.into_iter().map(|one| one.diagnostic(path)));
    }
    if !is_sound {
        return Head::Broken;
    }
    let root = root.unwrap_or(Node {
        line: split.line,
        column: 1,
        range: 0..0,
        value: Value::Null,
    });
    if !matches!(root.value, Value::Map(_) | Value::Null) {
        let wrong = Diagnostic::error(path, "the frontmatter is not a list of `key: value`");
        found.push(
            wrong
                .at(split.line, 1)
                .help("write one `key: value` a line"),
        );
        return Head::Broken;
    }
    Head::Read {
        root,
        start: split.start,
        end: split.start + split.yaml.len(),
        line: split.line,
    }
}

fn conflict_marker(path: &str, text: &str) -> Option<Diagnostic> {
    let marks = ["<<<<<<< ", ">>>>>>> "];
    let line = (1..)
        .zip(text.lines())
        .find(|(_, line)| marks.iter().any(|mark| line.starts_with(mark)))?
        .0;
    let wrong = Diagnostic::error(path, "there are marks of a merge conflict in it");
    Some(
        wrong
            .at(line, 1)
            .help("keep one of the two sides, and remove the lines of the marks"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str, key: &str, to: &str) -> String {
        let mut found = Vec::new();
        let document = MarkdownDocument::read_document("a.md", text, &mut found);
        assert_eq!(found, []);
        let edit = document
            .edit_value(&document.get(key).unwrap(), to)
            .unwrap();
        apply_edits(text, vec![edit])
    }

    #[test]
    fn an_edit_keeps_the_way_of_writing_and_every_other_byte() {
        for (before, to, after) in [
            (
                "---\r\nid: a # b\r\n---\r\nü\r\n",
                "c",
                "---\r\nid: c # b\r\n---\r\nü\r\n",
            ),
            (
                "\u{feff}---\nx: ü\nid: 'a'\n---\n",
                "c",
                "\u{feff}---\nx: ü\nid: 'c'\n---\n",
            ),
            ("---\nid: \"a\"  #\n---", "c", "---\nid: \"c\"  #\n---"),
            (
                "---\nid: ${TIMESTAMP}-x\n---\n",
                "2026",
                "---\nid: \"2026\"\n---\n",
            ),
            ("---\nid: 'a'\n---\n", "it's", "---\nid: \"it's\"\n---\n"),
            ("---\nid: a\n---\n", "true", "---\nid: \"true\"\n---\n"),
        ] {
            assert_eq!(with(before, "id", to), after, "{before:?}");
        }
    }

    #[test]
    fn places_are_those_of_the_file() {
        let text = "\n---\nid: a\nstatus: [x]\n---\nBody\n";
        let mut found = Vec::new();
        let document = MarkdownDocument::read_document("a.md", text, &mut found);
        assert_eq!(document.text_value("status", &mut found), None);
        assert_eq!(
            found[0].to_string(),
            "a.md:4:9: error: a list stands where a text belongs (at status); write a text, between double quotes if need be"
        );
        let mut found = Vec::new();
        MarkdownDocument::read_document("a.md", "---\nid: a\nb: c: d\n---\n", &mut found);
        assert_eq!((found[0].line, found[0].column), (Some(3), Some(5)));
        let mut found = Vec::new();
        let text = "---\nid: a\n\ntitle: b\ntitle: c\n---\n";
        MarkdownDocument::read_document("a.md", text, &mut found);
        assert_eq!(
            found[0].to_string(),
            "a.md:5:1: error: the key \"title\" is there twice, first on line 4; keep one of them"
        );
    }

    #[test]
    fn a_conflict_is_told_once_wherever_it_is() {
        for text in [
            "---\n<<<<<<< HEAD\nid: a\n=======\nid: b\n>>>>>>> x\n---\n",
            "---\nid: a\n---\nOne\n<<<<<<< HEAD\n",
        ] {
            let mut found = Vec::new();
            MarkdownDocument::read_document("a.md", text, &mut found);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].message.contains("merge conflict"));
        }
    }
}
