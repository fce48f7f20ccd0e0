//! Checks tasks, sprint files and journals, and offers the fixes that have exactly one answer.

use std::collections::BTreeSet;

use jiff::civil::Date;

use super::change::Change;
use super::{journals, sprints, tasks};
use crate::Diagnostic;
use crate::model::Tree;

/// What to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Tasks.
    Tasks,
    /// Sprint files.
    Sprints,
    /// Journals.
    Journals,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Tasks, Self::Sprints, Self::Journals];
}

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LintResult {
    /// The mistakes, by file and position.
    pub diagnostics: Vec<Diagnostic>,
    /// The fixes that have exactly one answer. Each edits one file, and only the wrong values in it.
    pub changes: Vec<Change>,
}

/// Checks tasks, sprint files and journals.
///
/// `sprint_folders`: the folders below `.jules/sprints`, including empty ones, which only a work tree has.
/// `journals_of`: check only this persona's journals. `today`: entries of later days are reported.
///
/// After one round of fixes, no fix is left. Nothing is fixed in a task with files in several states, because only a
/// person knows which of them is right.
#[must_use]
pub fn lint(
    tree: &Tree,
    kinds: &[Kind],
    sprint_folders: &BTreeSet<String>,
    journals_of: Option<&str>,
    today: Date,
) -> LintResult {
    let mut linted = LintResult::default();
    for kind in kinds {
        match kind {
            Kind::Tasks => {
                let read = tasks::read_tasks(tree);
                linted.diagnostics.extend(read.diagnostics);
                linted.changes.extend(read.changes);
            }
            Kind::Sprints => sprints::check_sprints(tree, sprint_folders, &mut linted.diagnostics),
            Kind::Journals => {
                journals::check_journals(tree, journals_of, today, &mut linted.diagnostics)
            }
        }
    }
    linted.diagnostics.sort();
    linted.diagnostics.dedup();
    linted
}
