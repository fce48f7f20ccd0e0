//! Older places and shapes of artifacts, brought to the layout that a repository is in.
//!
//! From one layout to the other is another errand: [`across`](across()). What has no place among artifacts stays where it is, and is told. Where
//! something stands half-way between two forms, so that it cannot be said which of them counts, nothing is changed at
//! all. Migrated once, nothing is left to migrate.

mod across;
mod document;
mod memory;
mod one_answer;
mod places;
mod shapes;
mod waiting;

use std::collections::BTreeMap;

use super::index;
use super::labels::Labels;
use super::layout::Layout;
use super::read;
use crate::diagnostic::Diagnostic;
use crate::model::{Mode, Tree};
pub use across::across;
use document::Document;
use places::{Goal, Kind};

/// What becomes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The file.
    pub path: String,
    /// Where it goes. The path itself: it stays there. `None`: it goes, for it says nothing that others do not.
    pub to: Option<String>,
    /// The text that it will have.
    pub text: String,
    /// What is done and why, a fragment each.
    pub why: Vec<String>,
}

/// Everything that is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Migration {
    /// By path.
    pub steps: Vec<Step>,
    /// What stays as it is although it is no artifact of this layout, and what a person should look over.
    pub kept: Vec<Diagnostic>,
}

impl Migration {
    /// What is to be written and (without a text) to be removed, in an order in which nothing is lost wherever it ends:
    /// a file is removed when all that takes its place is there.
    #[must_use]
    pub fn changes(&self) -> Vec<(&str, Option<&str>)> {
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

    /// The tree as it will be.
    fn after(&self, tree: &Tree) -> Tree {
        let mut next = tree.clone();
        for (path, text) in self.changes() {
            match text {
                Some(text) => next.insert_text(path, text),
                None => next.remove(path),
            }
        }
        next
    }

    /// Names the work items that no layer will take.
    fn tell_what_waits(&mut self, tree: &Tree, layout: Layout) {
        let waiting = waiting::not_taken(&self.after(tree), layout);
        self.kept.extend(waiting);
    }
}

/// Looks at a tree for older places and shapes. Nothing is changed.
///
/// # Errors
///
/// Everything that stands half-way, with its place: files of both layouts, two files for one place, and documents that
/// have the older and the newer form of one key with different values.
pub fn migrate(tree: &Tree) -> Result<Migration, Vec<Diagnostic>> {
    let Some(layout) = Layout::detect(tree).map_err(|both| vec![*both])? else {
        return Ok(Migration::default());
    };
    let labels = Labels::read(tree).0;
    let mut migration = Migration::default();
    let mut wrong = Vec::new();
    let mut taken: BTreeMap<String, &str> = BTreeMap::new();
    for (path, entry) in tree.iter() {
        let goal = match places::goal(layout, tree, &labels, path) {
            Some(Ok(goal)) => goal,
            Some(Err(kept)) => {
                migration.kept.push(*kept);
                continue;
            }
            None => continue,
        };
        let Some(text) = entry.text.as_deref().filter(|_| entry.mode == Mode::File) else {
            continue; // The checks say why it is not read.
        };
        match step(layout, tree, path, text, goal, &mut migration.kept) {
            Ok(Some(step)) => {
                let other = step.to.clone().and_then(|to| taken.insert(to, path));
                if let (Some(other), Some(to)) = (other, &step.to) {
                    let one = Diagnostic::error(path, format!("`{other}` would go to `{to}`, too"));
                    wrong.push(one.mend("give one of them another name, or remove it"));
                }
                migration.steps.push(step);
            }
            Ok(None) => {}
            Err(half) => wrong.push(*half),
        }
    }
    list(tree, layout, &mut migration);
    migration.tell_what_waits(tree, layout);
    whole(migration, wrong)
}

/// The migration in order, or all that stands in its way.
fn whole(
    mut migration: Migration,
    mut wrong: Vec<Diagnostic>,
) -> Result<Migration, Vec<Diagnostic>> {
    if !wrong.is_empty() {
        wrong.sort();
        return Err(wrong);
    }
    migration
        .steps
        .sort_by(|one, other| one.path.cmp(&other.path));
    migration.kept.sort();
    Ok(migration)
}

/// What becomes of one file, where something does.
fn step(
    layout: Layout,
    tree: &Tree,
    path: &str,
    text: &str,
    goal: Goal,
    kept: &mut Vec<Diagnostic>,
) -> Result<Option<Step>, Box<Diagnostic>> {
    let Goal { to, kind, why } = goal;
    let mut why: Vec<String> = why.into_iter().collect();
    let mut text = text.to_owned();
    if let Some(mut document) = Document::read(path, &text).filter(|_| kind != Kind::List) {
        if kind == Kind::Memory && one_answer::is_unfilled(&document.root, layout) {
            let why =
                "it is the template, not filled in: phileas begins a memory when its role runs";
            return Ok(Some(Step {
                path: path.to_owned(),
                to: None,
                text: String::new(),
                why: vec![why.to_owned()],
            }));
        }
        shapes::bring(&mut document, kind, layout)?;
        // A person looks it over where it will lie.
        let left = document.kept.into_iter();
        kept.extend(left.map(|one| Diagnostic {
            file: to.clone().unwrap_or(one.file),
            ..one
        }));
        why.extend(document.done);
        text = document.text;
    }
    if why.is_empty() {
        return Ok(None);
    }
    let Some(to) = to else {
        return Ok(Some(Step {
            path: path.to_owned(),
            to: None,
            text: String::new(),
            why,
        }));
    };
    if let Some((place, _)) = tree.in_the_way(&to) {
        let message = format!("it belongs to `{to}`, and `{place}` is no folder");
        let one = Diagnostic::error(path, message).at(1, 1);
        return Err(Box::new(one.mend("put a folder in its place")));
    }
    let there = tree.get(&to).filter(|_| to != path);
    if there.is_some() && tree.text(&to) != Some(text.as_str()) {
        let message = format!("it belongs to `{to}`, and another file is there");
        let one = Diagnostic::error(path, message).at(1, 1);
        return Err(Box::new(
            one.mend("keep what still counts of the two, and remove the other"),
        ));
    }
    // An earlier run that did not come to its end has written it already.
    let to = if there.is_some() { None } else { Some(to) };
    Ok(Some(Step {
        path: path.to_owned(),
        to,
        text,
        why,
    }))
}

/// The lists of issues follow what was moved.
fn list(tree: &Tree, layout: Layout, migration: &mut Migration) {
    if layout == Layout::Flat {
        return;
    }
    let next = migration.after(tree);
    let Some(exchange) = read::read(&next, Some(layout)).exchange else {
        return;
    };
    for stream in exchange.streams.values() {
        let path = index::path(stream);
        if index::check(stream).is_empty() || migration.steps.iter().any(|step| step.path == path) {
            continue;
        }
        migration.steps.push(Step {
            to: Some(path.clone()),
            path,
            text: index::render(stream),
            why: vec!["the list of issues follows".to_owned()],
        });
    }
}
