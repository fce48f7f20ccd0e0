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
    found: RefCell<Vec<Diagnostic>>,
}

impl<'t> Issues<'t> {
    pub(super) fn new(file: &'t str, text: &'t str) -> Self {
        Self {
            file,
            text,
            found: RefCell::default(),
        }
    }

    /// Notes an error.
    pub(super) fn error(&self, at: usize, path: &Path<'_>, message: impl Into<String>, mend: &str) {
        self.note(Diagnostic::error(self.file, message), at, path, mend);
    }

    /// Notes that a newer version of this program wrote the file.
    pub(super) fn newer(&self, at: usize, path: &Path<'_>, message: impl Into<String>, mend: &str) {
        self.note(Diagnostic::newer_format(self.file, message), at, path, mend);
    }

    /// Notes a warning.
    pub(super) fn warn(&self, at: usize, path: &Path<'_>, message: impl Into<String>, mend: &str) {
        self.note(Diagnostic::warning(self.file, message), at, path, mend);
    }

    fn note(&self, said: Diagnostic, at: usize, path: &Path<'_>, mend: &str) {
        let mut found = self.found.borrow_mut();
        let alike = found.iter().filter(|other| other.severity == said.severity);
        if alike.count() < MAX_DIAGNOSTICS {
            found.push(said.at_offset(self.text, at).key(path.render()).mend(mend));
        }
    }

    /// Complains that a value is of the wrong kind.
    pub(super) fn wrong_kind(&self, node: &Node<'_>, path: &Path<'_>, wanted: &str) {
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
            .found
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
pub(super) struct Path<'p> {
    above: Option<&'p Path<'p>>,
    part: Part<'p>,
}

#[derive(Clone, Copy)]
enum Part<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    pub(super) const ROOT: Path<'static> = Path {
        above: None,
        part: Part::Root,
    };

    pub(super) fn key(&'p self, key: &'p str) -> Self {
        Self {
            above: Some(self),
            part: Part::Key(key),
        }
    }

    pub(super) fn index(&'p self, index: usize) -> Self {
        Self {
            above: Some(self),
            part: Part::Index(index),
        }
    }

    fn render(&self) -> String {
        let mut path = self.above.map_or_else(String::new, Path::render);
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
        let root = Path::ROOT;
        let (list, dotted) = (root.key("list"), root.key("a.b"));
        assert_eq!(root.render(), "");
        assert_eq!(list.index(3).key("x").render(), "list[3].x");
        assert_eq!(dotted.index(0).index(1).render(), "[\"a.b\"][0][1]");
        assert_eq!(root.index(2).render(), "[2]");
    }

    #[test]
    fn warnings_do_not_crowd_out_a_mistake() {
        let text = "one\ntwo";
        let with = |warnings: usize, errors: usize| {
            let issues = Issues::new("f", text);
            for _ in 0..warnings {
                issues.warn(0, &Path::ROOT, "odd", "");
            }
            for _ in 0..errors {
                issues.error(5, &Path::ROOT.key("k"), "wrong", "mend it");
            }
            issues.finish()
        };
        let mistake = Diagnostic::error("f", "wrong")
            .at(2, 2)
            .key("k")
            .mend("mend it");
        let odd = Diagnostic::warning("f", "odd").at(1, 1);
        assert_eq!(with(0, 0), Ok(vec![]));
        assert_eq!(with(99, 0), Ok(vec![odd.clone(); 99]));
        assert_eq!(with(101, 0), Ok(vec![odd; 100]));
        assert_eq!(with(101, 1), Err(vec![mistake.clone()]));
        assert_eq!(with(3, 101), Err(vec![mistake; 100]));
    }
}
