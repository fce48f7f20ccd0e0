//! Migrates older locations and shapes within the repository's layout.

use std::collections::BTreeMap;

use super::document::Document;
use super::locations::{self, Goal, Kind};
use super::migration::{Migration, Step, sorted_migration};
use super::{shapes, unambiguous};
use crate::diagnostic::Diagnostic;
use crate::exchange::artifact_file::artifact_text;
use crate::exchange::labels::Labels;
use crate::exchange::layout::Layout;
use crate::exchange::{index, read};
use crate::model::{Mode, Tree};

/// Plans the migration of older locations and shapes. Nothing is changed.
///
/// # Errors
///
/// All ambiguities, with their positions: files of both layouts, two files for one path, and documents with different
/// values in the old and the new form of a key.
pub fn migrate_exchange(tree: &Tree) -> Result<Migration, Vec<Diagnostic>> {
    let Some(layout) = Layout::detect(tree).map_err(|both| vec![*both])? else {
        return Ok(Migration::default());
    };
    let labels = Labels::read_labels(tree).0;
    let mut migration = Migration::default();
    let mut wrong = Vec::new();
    let mut taken: BTreeMap<String, &str> = BTreeMap::new();
    for (path, entry) in tree.iter() {
        let goal = match locations::find_goal(layout, tree, &labels, path) {
            Ok(Some(goal)) => goal,
            Ok(None) => continue,
            Err(kept) => {
                migration.kept.push(*kept);
                continue;
            }
        };
        let Some(text) = entry.text.as_deref().filter(|_| entry.mode == Mode::File) else {
            let unread = artifact_text(tree, path).err();
            migration.kept.extend(unread.map(|one| *one));
            continue;
        };
        match migrate_file(layout, tree, path, text, goal, &mut migration.kept) {
            Ok(Some(step)) => {
                let other = step.to.clone().and_then(|to| taken.insert(to, path));
                if let (Some(other), Some(to)) = (other, &step.to) {
                    let one = Diagnostic::error(path, format!("`{other}` would go to `{to}`, too"));
                    wrong.push(one.help("give one of them another name, or remove it"));
                }
                migration.steps.push(step);
            }
            Ok(None) => {}
            Err(half) => wrong.push(*half),
        }
    }
    update_indexes(tree, layout, &mut migration);
    migration.report_waiting_items(tree, layout);
    migration.report_unread_files(tree, layout);
    sorted_migration(migration, wrong)
}

/// What happens to one file, if anything.
pub(super) fn migrate_file(
    layout: Layout,
    tree: &Tree,
    path: &str,
    text: &str,
    goal: Goal,
    kept: &mut Vec<Diagnostic>,
) -> Result<Option<Step>, Box<Diagnostic>> {
    let Goal { to, kind, why } = goal;
    let removal = |why: Vec<String>| Step {
        path: path.to_owned(),
        to: None,
        text: String::new(),
        why,
    };
    let wrong = |message: String, help: &str| {
        let one = Diagnostic::error(path, message).at(1, 1);
        Err(Box::new(one.help(help)))
    };
    let mut why: Vec<String> = why.into_iter().collect();
    let mut text = text.to_owned();
    if let Some(mut document) = Document::parse_file(path, &text).filter(|_| kind != Kind::List) {
        if kind == Kind::Memory && unambiguous::is_unfilled(&document.root, layout) {
            let why =
                "it is the template, not filled in: phileas begins a memory when its role runs";
            return Ok(Some(removal(vec![why.to_owned()])));
        }
        shapes::convert_shape(&mut document, kind, layout)?;
        // Point the reader to the new path.
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
        return Ok(Some(removal(why)));
    };
    if let Some((place, _)) = tree.in_the_way(&to) {
        let message = format!("it belongs to `{to}`, and `{place}` is not a folder");
        return wrong(message, "put a folder in its place");
    }
    let there = tree.get(&to).filter(|_| to != path);
    if there.is_some() && tree.text(&to) != Some(text.as_str()) {
        let message = format!("it belongs to `{to}`, and another file is there");
        let help = "keep what still counts of the two, and remove the other";
        return wrong(message, help);
    }
    // An earlier, interrupted run has written it.
    let to = if there.is_some() { None } else { Some(to) };
    Ok(Some(Step {
        path: path.to_owned(),
        to,
        text,
        why,
    }))
}

/// Updates the lists of issues after files have moved.
pub(super) fn update_indexes(tree: &Tree, layout: Layout, migration: &mut Migration) {
    if layout == Layout::Flat {
        return;
    }
    let next = migration.tree_after(tree);
    let Some(exchange) = read::read_exchange(&next, Some(layout)).exchange else {
        return;
    };
    for stream in exchange.streams.values() {
        let path = index::index_path(stream);
        if index::check_index(stream).is_empty()
            || migration.steps.iter().any(|step| step.path == path)
        {
            continue;
        }
        migration.steps.push(Step {
            to: Some(path.clone()),
            path,
            text: index::render_index(stream),
            why: vec!["the list of issues follows".to_owned()],
        });
    }
}
