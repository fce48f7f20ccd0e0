//! Reads the kinds of work from `.jules/github-labels.json`, with defaults if it does not exist.

use std::collections::BTreeSet;

use serde_json::Value;

use super::values;
use crate::diagnostic::Diagnostic;
use crate::json;
use crate::model::{TEXT_LIMIT_BYTES, Tree};

/// The path of the registry.
pub const LABELS_PATH: &str = ".jules/github-labels.json";

/// What the registry looks like.
const FORM: &str = "{\"schema_version\": 1, \"issue_labels\": {\"bugs\": {\"color\": \"d73a4a\", \"description\": \"…\"}}}";

/// One kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label {
    /// Its name, also that of a folder and of an implementer's task.
    pub name: &'static str,
    /// Its colour on GitHub, as six hexadecimal digits.
    pub colour: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
}

/// The defaults.
pub const USUAL: [Label; 5] = [
    Label {
        name: "feats",
        colour: "ff6600",
        meaning: "something new",
    },
    Label {
        name: "refacts",
        colour: "0e8a16",
        meaning: "the same, better built",
    },
    Label {
        name: "bugs",
        colour: "d73a4a",
        meaning: "something that does not work",
    },
    Label {
        name: "tests",
        colour: "5319e7",
        meaning: "tests, added or fixed",
    },
    Label {
        name: "docs",
        colour: "0075ca",
        meaning: "documentation only",
    },
];

/// The labels that a work item may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels(BTreeSet<String>);

impl Default for Labels {
    fn default() -> Self {
        Self(USUAL.iter().map(|label| label.name.to_owned()).collect())
    }
}

impl Labels {
    /// Reads the registry of a tree. Uses the defaults if it does not exist or cannot be read.
    #[must_use]
    pub fn read_labels(tree: &Tree) -> (Self, Vec<Diagnostic>) {
        let text = match tree.read_text(LABELS_PATH, "it", TEXT_LIMIT_BYTES) {
            Ok(Some(text)) => text,
            Ok(None) => return (Self::default(), Vec::new()),
            Err(wrong) => return (Self::default(), vec![*wrong]),
        };
        let error = |message: String| Diagnostic::error(LABELS_PATH, message);
        let text = text.trim_start_matches('\u{feff}');
        let value: Value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(wrong) => {
                let line = u32::try_from(wrong.line()).unwrap_or(1).max(1);
                let column = u32::try_from(wrong.column()).unwrap_or(1).max(1);
                let said = wrong.to_string();
                let said = said.split(" at line ").next().unwrap_or_default();
                let one = error(format!("this is not JSON: {said}")).at(line, column);
                return (Self::default(), vec![one.help(format!("write {FORM}"))]);
            }
        };
        let mut found = json::doubled_keys(LABELS_PATH, text);
        let Some(names) = value["issue_labels"]
            .as_object()
            .filter(|names| !names.is_empty())
        else {
            let one = error("it names no labels".to_owned()).key("issue_labels");
            found.push(one.help(format!("write {FORM}")));
            return (Self::default(), found);
        };
        let wrong = names.keys().filter(|name| !values::is_name(name));
        found.extend(wrong.map(|name| {
            error(format!("`{}` cannot be a label", name.escape_debug()))
                .key(format!("issue_labels.{name}"))
                .help("a label has letters, digits, `-` and `_`")
        }));
        let names = names.keys().filter(|name| values::is_name(name));
        (Self(names.cloned().collect()), found)
    }

    /// Whether a label exists.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// All labels, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<String>, Vec<String>) {
        let (labels, found) = Labels::read_labels(&Tree::from_texts([(LABELS_PATH, text)]));
        let found = found.iter().map(ToString::to_string).collect();
        (labels.iter().map(str::to_owned).collect(), found)
    }

    #[test]
    fn a_registry_counts_and_a_broken_one_is_told() {
        let usual = ["bugs", "docs", "feats", "refacts", "tests"];
        assert_eq!(
            Labels::read_labels(&Tree::new()),
            (Labels::default(), Vec::new())
        );
        assert!(Labels::default().iter().eq(usual));
        let folder = Tree::from_texts([(format!("{LABELS_PATH}/a"), "1")]);
        let (labels, found) = Labels::read_labels(&folder);
        assert_eq!((labels, found.len()), (Labels::default(), 1));
        assert!(found[0].to_string().contains("it is a folder"));
        let (names, found) = read(r#"{"schema_version":1,"issue_labels":{"perf":{},"bugs":{}}}"#);
        assert_eq!(
            (names, found),
            (vec!["bugs".to_owned(), "perf".to_owned()], vec![])
        );
        for (text, word) in [
            (
                "{\n  x",
                ":2:3: error: this is not JSON: key must be a string; write {\"schema_version\": 1, ",
            ),
            ("{}", "names no labels"),
            (r#"{"issue_labels":{}}"#, "names no labels"),
            (r#"{"issue_labels":[]}"#, "names no labels"),
        ] {
            let (names, found) = read(text);
            assert_eq!(names, usual);
            assert!(found[0].contains(word), "{found:?}");
        }
        // serde takes the last of two equal keys without reporting them.
        let twice = "{\"issue_labels\": {\n  \"bugs\": {},\n  \"perf\": {},\n  \"bugs\": {}}}";
        let (names, found) = read(twice);
        assert_eq!(names, ["bugs", "perf"]);
        assert_eq!(
            found,
            [
                ".jules/github-labels.json:4:3: error: the key `bugs` stands here a second time (first in line 2) \
                 (at issue_labels.bugs); keep one of the two"
            ]
        );
        let (names, found) = read(r#"{"issue_labels":{"../x":{},"bugs":{}}}"#);
        assert_eq!((names.len(), found.len()), (1, 1));
    }
}
