//! What is wrong with a file, and where in it.

use std::cell::RefCell;

use crate::json::{Node, push_index, push_key};
use crate::{Diagnostic, Severity};

/// How many mistakes of one file are told; more would not be read.
pub(super) const MAX_DIAGNOSTICS: usize = 100;

/// What was found wrong in a file so far.
pub(super) struct Issues<'t> {
    file: &'t str,
    text: &'t str,
    diagnostics: RefCell<Vec<Diagnostic>>,
}

impl<'t> Issues<'t> {
    pub(super) fn new(file: &'t str, text: &'t str) -> Self {
        Self {
            file,
            text,
            diagnostics: RefCell::default(),
        }
    }

    /// Notes an error.
    pub(super) fn error(
        &self,
        at: usize,
        path: &KeyPath<'_>,
        message: impl Into<String>,
        help: &str,
    ) {
        self.add_diagnostic(Diagnostic::error(self.file, message), at, path, help);
    }

    /// Notes that a newer version of this program wrote the file.
    pub(super) fn newer_format(
        &self,
        at: usize,
        path: &KeyPath<'_>,
        message: impl Into<String>,
        help: &str,
    ) {
        self.add_diagnostic(Diagnostic::newer_format(self.file, message), at, path, help);
    }

    /// Notes a warning.
    pub(super) fn warning(
        &self,
        at: usize,
        path: &KeyPath<'_>,
        message: impl Into<String>,
        help: &str,
    ) {
        self.add_diagnostic(Diagnostic::warning(self.file, message), at, path, help);
    }

    fn add_diagnostic(&self, said: Diagnostic, at: usize, path: &KeyPath<'_>, help: &str) {
        let mut found = self.diagnostics.borrow_mut();
        let alike = found.iter().filter(|other| other.severity == said.severity);
        if alike.count() < MAX_DIAGNOSTICS {
            found.push(said.at_offset(self.text, at).key(path.render()).help(help));
        }
    }

    /// Complains that a value is of the wrong kind.
    pub(super) fn report_wrong_kind(&self, node: &Node<'_>, path: &KeyPath<'_>, wanted: &str) {
        self.error(
            node.at,
            path,
            format!("{wanted} should stand here, not {}", node.value.name()),
            "",
        );
    }

    /// The errors if there are any, else the warnings.
    pub(super) fn finish(self) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        let (errors, warnings): (Vec<_>, Vec<_>) = self
            .diagnostics
            .into_inner()
            .into_iter()
            .partition(|said| said.severity == Severity::Error);
        if errors.is_empty() {
            Ok(warnings)
        } else {
            Err(errors)
        }
    }
}

/// Where in the document, written out only for a message.
#[derive(Clone, Copy)]
pub(super) struct KeyPath<'p> {
    above: Option<&'p KeyPath<'p>>,
    part: Part<'p>,
}

#[derive(Clone, Copy)]
enum Part<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

impl<'p> KeyPath<'p> {
    pub(super) const ROOT: KeyPath<'static> = KeyPath {
        above: None,
        part: Part::Root,
    };

    pub(super) fn join_key(&'p self, key: &'p str) -> Self {
        Self {
            above: Some(self),
            part: Part::Key(key),
        }
    }

    pub(super) fn join_index(&'p self, index: usize) -> Self {
        Self {
            above: Some(self),
            part: Part::Index(index),
        }
    }

    fn render(&self) -> String {
        let mut path = self.above.map_or_else(String::new, KeyPath::render);
        match self.part {
            Part::Root => {}
            Part::Key(key) => push_key(&mut path, key),
            Part::Index(index) => push_index(&mut path, index),
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_path_can_be_read_back_whatever_its_keys() {
        let path = |keys: &[&str]| {
            let mut path = String::new();
            keys.iter().for_each(|key| push_key(&mut path, key));
            path
        };
        for (key, written) in [
            ("tracks", "tracks"),
            ("base_sha", "base_sha"),
            ("left-over", "left-over"),
            ("schedule:curator", "schedule:curator"),
            ("a/b", "a/b"),
            ("größe9", "größe9"),
            ("", "[\"\"]"),
            ("a.b", "[\"a.b\"]"),
            ("a b", "[\"a b\"]"),
            ("[0]", "[\"[0]\"]"),
            ("\"", "[\"\\\"\"]"),
        ] {
            assert_eq!(path(&[key]), written);
            let expected = if written.starts_with('[') {
                format!("x{written}.y")
            } else {
                format!("x.{written}.y")
            };
            assert_eq!(path(&["x", key, "y"]), expected);
        }
        let root = KeyPath::ROOT;
        let (list, dotted) = (root.join_key("list"), root.join_key("a.b"));
        assert_eq!(root.render(), "");
        assert_eq!(list.join_index(3).join_key("x").render(), "list[3].x");
        assert_eq!(
            dotted.join_index(0).join_index(1).render(),
            "[\"a.b\"][0][1]"
        );
        assert_eq!(root.join_index(2).render(), "[2]");
    }

    #[test]
    fn warnings_do_not_displace_a_mistake() {
        let text = "one\ntwo";
        let with = |warnings: usize, errors: usize| {
            let issues = Issues::new("f", text);
            for _ in 0..warnings {
                issues.warning(0, &KeyPath::ROOT, "odd", "");
            }
            for _ in 0..errors {
                issues.error(5, &KeyPath::ROOT.join_key("k"), "wrong", "fix it");
            }
            issues.finish()
        };
        let mistake = Diagnostic::error("f", "wrong")
            .at(2, 2)
            .key("k")
            .help("fix it");
        let odd = Diagnostic::warning("f", "odd").at(1, 1);
        assert_eq!(with(0, 0), Ok(vec![]));
        assert_eq!(with(99, 0), Ok(vec![odd.clone(); 99]));
        assert_eq!(with(101, 0), Ok(vec![odd; 100]));
        assert_eq!(with(101, 1), Err(vec![mistake.clone()]));
        assert_eq!(with(3, 101), Err(vec![mistake; 100]));
    }
}
