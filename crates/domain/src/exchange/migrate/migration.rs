//! Defines the steps of a migration, and computes the resulting tree.

use super::document::Document;
use super::waiting;
use crate::diagnostic::Diagnostic;
use crate::exchange::artifact::EventState;
use crate::exchange::artifact_file::artifact_text;
use crate::exchange::labels::LABELS_PATH;
use crate::exchange::layout::{Layout, Location, locate};
use crate::exchange::read;
use crate::exchange::roster::read_roster;
use crate::model::{Mode, Tree};

/// What happens to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The file.
    pub path: String,
    /// Its new path. The same path: it stays there. `None`: it is removed, because other files say the same.
    pub to: Option<String>,
    /// Its new text.
    pub text: String,
    /// What is done and why, one fragment each.
    pub why: Vec<String>,
}

/// A planned migration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Migration {
    /// The steps, by path.
    pub steps: Vec<Step>,
    /// Files that stay although they are no artifacts of this layout, and what a person should review. An error names
    /// an artifact that phileas cannot read.
    pub kept: Vec<Diagnostic>,
}

impl Migration {
    /// The files to write and, without a text, to remove. An old file is removed after its replacement is written, so
    /// that nothing is lost if the process stops.
    #[must_use]
    pub fn file_changes(&self) -> Vec<(&str, Option<&str>)> {
        let written = self.steps.iter().filter_map(|step| {
            let to = step.to.as_deref()?;
            Some((to, Some(step.text.as_str())))
        });
        let left = self.steps.iter();
        let left = left.filter(|step| step.to.as_deref() != Some(step.path.as_str()));
        written
            .chain(left.map(|step| (step.path.as_str(), None)))
            .collect()
    }

    /// The tree after the migration.
    pub(super) fn tree_after(&self, tree: &Tree) -> Tree {
        let mut next = tree.clone();
        for (path, text) in self.file_changes() {
            match text {
                Some(text) => next.insert_text(path, text),
                None => next.remove(path),
            }
        }
        next
    }

    /// Reports the work items that no layer will take.
    pub(super) fn report_waiting_items(&mut self, tree: &Tree, layout: Layout) {
        let waiting = waiting::not_taken(&self.tree_after(tree), layout);
        self.kept.extend(waiting);
    }

    /// Reports the artifacts that cannot be read, with the mistakes that a check finds in them.
    pub(super) fn report_unread_files(&mut self, tree: &Tree, layout: Layout) {
        let next = self.tree_after(tree);
        let found = read::read_exchange(&next, Some(layout)).diagnostics;
        let unread = found
            .into_iter()
            .filter(|one| is_unread(&next, layout, one));
        self.kept.extend(unread);
    }
}

/// Whether a mistake is in a file that could not be read, so that what it holds is missing.
#[must_use]
pub fn is_unread(tree: &Tree, layout: Layout, mistake: &Diagnostic) -> bool {
    let path = mistake.file.as_str();
    if !mistake.is_error() {
        return false;
    }
    // A mistake in one label leaves the others.
    if path == LABELS_PATH {
        return !mistake.key.starts_with("issue_labels.");
    }
    let is_broken = |path: &str| match artifact_text(tree, path) {
        Ok(text) => Document::parse_file(path, text).is_none(),
        Err(_) => true,
    };
    let is_broken_roster = |path: &str| {
        !artifact_text(tree, path).is_ok_and(|text| read_roster(path, text).1.is_empty())
    };
    let Some(place) = locate(layout, path) else {
        return path.ends_with("/scheduled.toml") && is_broken_roster(path);
    };
    match place {
        Location::Event { state, .. } => EventState::of(state).is_none() || is_broken(path),
        Location::Item { .. }
        | Location::Proposal { .. }
        | Location::Feedback { .. }
        | Location::Memory { .. }
        | Location::Changes => is_broken(path),
        // It may hide a folder of artifacts.
        Location::NoArtifact => tree.get(path).is_some_and(|entry| entry.mode == Mode::Link),
        // `migrate_exchange` reports those that it cannot move.
        Location::Stray | Location::Beside => false,
        Location::Roster { .. } => is_broken_roster(path),
        _ => artifact_text(tree, path).is_err(),
    }
}

/// The migration with sorted steps, or all errors.
pub(super) fn sorted_migration(
    mut migration: Migration,
    mut wrong: Vec<Diagnostic>,
) -> Result<Migration, Vec<Diagnostic>> {
    if !wrong.is_empty() {
        wrong.sort();
        wrong.dedup();
        return Err(wrong);
    }
    migration
        .steps
        .sort_by(|one, other| one.path.cmp(&other.path));
    migration.kept.sort();
    // The move and the check may report the same file.
    migration.kept.dedup();
    Ok(migration)
}
