//! Everything that is wrong with what agents leave for one another, and what of it has one answer.

use std::collections::BTreeSet;

use jiff::civil::Date;

use super::write::Change;
use super::{journals, sprints, tasks};
use crate::Diagnostic;
use crate::model::Tree;

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The tasks.
    Tasks,
    /// The papers of sprints.
    Sprints,
    /// The journals.
    Journals,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Tasks, Self::Sprints, Self::Journals];
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Linted {
    /// What is wrong, by file and place.
    pub found: Vec<Diagnostic>,
    /// What of it has one answer. Each touches one file, and in it only the values that are wrong.
    pub changes: Vec<Change>,
}

/// Looks at tasks, papers of sprints and journals.
///
/// `sprint_folders`: names of the folders below `.jules/sprints`, of which empty ones are seen in a work tree only.
/// `journals_of`: only this persona's journals. `today`: the day, for entries whose day is to come.
///
/// Mended once, nothing is left to mend. Nothing is mended of a task that lies in several states: which of its files is
/// true only a person knows.
#[must_use]
pub fn lint(
    tree: &Tree,
    kinds: &[Kind],
    sprint_folders: &BTreeSet<String>,
    journals_of: Option<&str>,
    today: Date,
) -> Linted {
    let mut linted = Linted::default();
    for kind in kinds {
        match kind {
            Kind::Tasks => {
                let read = tasks::read(tree);
                linted.found.extend(read.found);
                linted.changes.extend(read.changes);
            }
            Kind::Sprints => sprints::check(tree, sprint_folders, &mut linted.found),
            Kind::Journals => journals::check(tree, journals_of, today, &mut linted.found),
        }
    }
    linted.found.sort();
    linted.found.dedup();
    linted
}
