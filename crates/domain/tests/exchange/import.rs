//! Tests which files of sessions enter the ledger, and which do not.

mod any;
mod decider;
mod innovator;
mod narrator;
mod observer;
mod planner;
mod screen;
mod settle;
mod streams;
mod unclean;

use std::collections::BTreeMap;

use phileas_domain::exchange::limits::{ARTIFACT_LIMIT_BYTES, CHANGE_FILES_LIMIT};
use phileas_domain::exchange::{
    Author, ChangedFile, CommitRange, EventState, FileContent, Import, Request, check_exchange,
    import_changes, publication_of, settle_merged, settle_returned,
};
use phileas_domain::model::{Entry, Mode, Tree};

use crate::examples::{
    CHANGES, DECIDED, INNOVATOR, OBSERVER, PENDING, REQUIREMENT, changes, event, flat, issue,
    proposal, requirement, streams, with,
};

/// A ledger that sessions write to.
struct Ledger {
    tree: Tree,
    stream: &'static str,
    /// What sessions were given; without it, what is present at the import.
    base: Option<Tree>,
    range: Option<CommitRange<'static>>,
    published: BTreeMap<String, u64>,
}

impl Ledger {
    fn of(files: &[(String, String)]) -> Self {
        let tree = Tree::from_texts(
            files
                .iter()
                .map(|(path, text)| (path.as_str(), text.as_str())),
        );
        Self {
            tree,
            stream: "generic",
            base: None,
            range: None,
            published: BTreeMap::new(),
        }
    }

    fn flat() -> Self {
        Self::of(&flat())
    }

    fn ask(&self, author: Author<'_>, changes: &[ChangedFile]) -> Import {
        self.ask_given(self.base.as_ref().or(Some(&self.tree)), author, changes)
    }

    fn ask_given(
        &self,
        base: Option<&Tree>,
        author: Author<'_>,
        changes: &[ChangedFile],
    ) -> Import {
        import_changes(&Request {
            tree: &self.tree,
            author,
            stream: self.stream,
            session_created: "2026-01-06T09:00:00Z".parse().unwrap(),
            base,
            range: self.range,
            published: &self.published,
            changes,
        })
    }

    /// Imports, checks the result against the rules of every import, and commits it.
    #[track_caller]
    fn take(&mut self, author: Author<'_>, changes: &[ChangedFile]) -> Import {
        let errors = |tree: &Tree| -> Vec<String> {
            let found = check_exchange(tree)
                .diagnostics
                .into_iter()
                .filter(|one| one.is_error());
            found.map(|one| one.to_string()).collect()
        };
        let before = errors(&self.tree);
        let given = self.base.clone().unwrap_or_else(|| self.tree.clone());
        let done = self.ask_given(Some(&given), author, changes);
        self.commit(&done);
        for one in errors(&self.tree) {
            assert!(
                before.contains(&one),
                "the import brought in: {one}\n{done:#?}"
            );
        }
        let again = self.ask_given(Some(&given), author, changes);
        assert!(again.files.is_empty(), "imported twice: {again:#?}");
        done
    }

    fn commit(&mut self, done: &Import) {
        let mut next = Tree::new();
        for (path, entry) in self.tree.iter() {
            if !done.files.contains_key(path) {
                next.insert(path, entry.clone());
            }
        }
        for (path, text) in &done.files {
            assert!(path.starts_with(".jules/"), "{path}");
            if let Some(text) = text {
                next.insert_text(path, text);
            }
        }
        self.tree = next;
    }

    #[track_caller]
    fn text(&self, path: &str) -> &str {
        self.tree
            .text(path)
            .unwrap_or_else(|| panic!("{path} is not there"))
    }
}

fn wrote(path: &str, text: &str) -> ChangedFile {
    ChangedFile {
        path: path.to_owned(),
        content: FileContent::Text(text.to_owned()),
    }
}

fn removed(path: &str) -> ChangedFile {
    ChangedFile {
        path: path.to_owned(),
        content: FileContent::Removed,
    }
}

#[track_caller]
fn assert_diagnostic(done: &Import, word: &str) {
    let found: Vec<String> = done.diagnostics.iter().map(ToString::to_string).collect();
    assert!(
        found.iter().any(|one| one.contains(word)),
        "{word}: {found:#?}"
    );
}

fn pending(name: &str) -> String {
    format!(".jules/exchange/events/pending/{name}.yml")
}

/// An event with a title of its own.
fn finding(id: &str, title: &str) -> String {
    event(id, "").replace("Two names for one thing", title)
}

const TAXONOMY: Author<'static> = Author::Observer("taxonomy");
