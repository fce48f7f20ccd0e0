//! Reads and checks sprint files: `.jules/sprints/sprint-<n>/<persona>-plan.md`, `<persona>-feedback.md`, `README.md`.

use std::collections::{BTreeMap, BTreeSet};

use super::limits::{FILE_LIMIT_BYTES, FILES_LIMIT, SPRINT_LIMIT};
use super::markdown::MarkdownDocument;
use super::personas::{persona_names, suggest_persona};
use crate::Diagnostic;
use crate::model::{TEXT_LIMIT_BYTES, Tree};

/// The folder of all sprints, on the default branch.
pub const SPRINTS_FOLDER: &str = ".jules/sprints";
/// The prefix of a sprint's folder.
const PREFIX: &str = "sprint-";
/// Prefixes of file names that are no sprint files.
const OTHERS: [&str; 3] = [".", "TEMPLATE", "SPRINT_STATE"];
/// The file in which seed 004's system kept the number.
const CURRENT: &str = "current.txt";

/// The kind of a sprint file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SprintFileKind {
    /// The goal of the sprint.
    Readme,
    /// A persona's plan.
    Plan,
    /// A persona's feedback on the plans of others.
    Feedback,
}

/// A sprint file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SprintFile<'t> {
    /// Its path.
    pub path: &'t str,
    /// Its kind.
    pub kind: SprintFileKind,
    /// The persona that wrote it; `None` for the README.
    pub persona: Option<&'t str>,
    /// Its text, if it was read.
    pub text: Option<&'t str>,
}

/// The folder of a sprint.
#[must_use]
pub fn sprint_folder(sprint: u64) -> String {
    format!("{SPRINTS_FOLDER}/{PREFIX}{sprint}")
}

/// The sprint number in a folder's name.
#[must_use]
pub fn sprint_of(folder: &str) -> Option<u64> {
    let number = folder.strip_prefix(PREFIX)?;
    let plain = number.bytes().all(|b| b.is_ascii_digit()) && !number.starts_with('0');
    let number = number.parse().ok().filter(|_| plain)?;
    (number <= SPRINT_LIMIT).then_some(number)
}

/// The file in which seed 004's system kept the sprint number.
#[must_use]
pub fn current_sprint_path() -> String {
    format!("{SPRINTS_FOLDER}/{CURRENT}")
}

/// The sprint number in this file; `None` if there is no such file, or it contains no sprint number.
#[must_use]
pub fn current_sprint(tree: &Tree) -> Option<u64> {
    let text = tree.text(&current_sprint_path())?;
    let number = text.trim_start_matches('\u{feff}').trim().parse().ok()?;
    (1..=SPRINT_LIMIT).contains(&number).then_some(number)
}

/// The files of a sprint that have a text: README, plans, feedback, each by persona.
#[must_use]
pub fn sprint_files(tree: &Tree, sprint: u64) -> Vec<SprintFile<'_>> {
    let folder = sprint_folder(sprint);
    let mut files: Vec<SprintFile<'_>> = tree
        .below(&folder)
        .take(FILES_LIMIT)
        .filter_map(|(path, entry)| {
            let (kind, persona) = file_kind(&path[folder.len() + 1..])?;
            let file = SprintFile {
                path,
                kind,
                persona,
                text: tree.text(path),
            };
            let empty = entry
                .text
                .as_deref()
                .is_some_and(|text| text.trim().is_empty());
            (!empty).then_some(file)
        })
        .collect();
    files.sort_by_key(|file| (file.kind, file.persona));
    files
}

/// The number matters only if the plan has no `[sprints]`. Otherwise passes are sprints, and the ledger has their
/// number.
fn check_current_sprint(tree: &Tree, path: &str, found: &mut Vec<Diagnostic>) {
    if crate::plan::read(tree).0.sprints.is_some() {
        let wrong = "the sprint's number is not read here: the plan has `[sprints]`, so it lives in the ledger";
        let help = "remove the file; phileas sprint status shows the number";
        found.push(Diagnostic::warning(path, wrong).help(help));
    } else if let Err(wrong) = tree.read_text(path, "it", TEXT_LIMIT_BYTES) {
        found.push(*wrong);
    } else if current_sprint(tree).is_none() {
        let wrong = "this is not the number of a sprint, so prompts name none";
        let help = format!("write a whole number from 1 to {SPRINT_LIMIT}");
        found.push(Diagnostic::warning(path, wrong).help(help));
    }
}

fn file_kind(file: &str) -> Option<(SprintFileKind, Option<&str>)> {
    if file == "README.md" {
        return Some((SprintFileKind::Readme, None));
    }
    let stem = file
        .strip_suffix(".md")
        .filter(|stem| !stem.contains('/'))?;
    let of = |ending: &str| stem.strip_suffix(ending).filter(|name| !name.is_empty());
    let plan = of("-plan").map(|name| (SprintFileKind::Plan, Some(name)));
    plan.or_else(|| of("-feedback").map(|name| (SprintFileKind::Feedback, Some(name))))
}

/// Checks the sprint files. `folders`: the names of the sprint folders, including empty ones, which a work tree can
/// have.
pub(super) fn check_sprints(tree: &Tree, folders: &BTreeSet<String>, found: &mut Vec<Diagnostic>) {
    let people = persona_names(tree);
    let mut sprints: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for folder in folders {
        sprints.entry(folder).or_default();
    }
    for (path, _) in tree.below(SPRINTS_FOLDER).take(FILES_LIMIT) {
        let rest = &path[SPRINTS_FOLDER.len() + 1..];
        match rest.split_once('/') {
            Some((folder, _)) => sprints.entry(folder).or_default().push(path),
            None if rest == CURRENT => check_current_sprint(tree, path, found),
            None => {}
        }
    }
    for (folder, files) in sprints {
        let place = format!("{SPRINTS_FOLDER}/{folder}");
        let Some(sprint) = sprint_of(folder) else {
            let wrong = format!("`{folder}` is not a sprint, so nothing in it is read");
            found.push(Diagnostic::warning(place, wrong).help("call it `sprint-<number>`"));
            continue;
        };
        for path in files {
            check_sprint_file(tree, path, &people, found);
        }
        let is_plan = |file: &SprintFile<'_>| file.kind != SprintFileKind::Readme;
        if !sprint_files(tree, sprint).iter().any(is_plan) {
            let wrong = format!("sprint {sprint} is empty: it has neither a plan nor feedback");
            let help = format!(
                "write one: phileas sprint new --number {sprint} --persona <id>; or remove the folder"
            );
            found.push(Diagnostic::error(place, wrong).help(help));
        }
    }
}

fn check_sprint_file(
    tree: &Tree,
    path: &str,
    people: &BTreeSet<&str>,
    found: &mut Vec<Diagnostic>,
) {
    let file = path.rsplit('/').next().unwrap_or(path);
    if OTHERS.iter().any(|other| file.starts_with(other)) {
        return;
    }
    let inside = path
        .strip_prefix(SPRINTS_FOLDER)
        .and_then(|rest| rest.splitn(3, '/').nth(2));
    let Some((_, persona)) = inside.and_then(file_kind) else {
        let wrong = Diagnostic::warning(path, "it is not a file of a sprint, and is not read");
        found.push(wrong.help("call it `<persona>-plan.md` or `<persona>-feedback.md`"));
        return;
    };
    if let Some(persona) = persona.filter(|_| !people.is_empty())
        && !people.contains(persona)
    {
        let wrong = format!("there is no persona `{persona}`");
        found.push(Diagnostic::warning(path, wrong).help(suggest_persona(persona, people)));
    }
    let text = match tree.read_text(path, "it", FILE_LIMIT_BYTES) {
        Ok(text) => text.unwrap_or_default(),
        Err(wrong) => {
            found.push(*wrong);
            return;
        }
    };
    if text.trim().is_empty() {
        let wrong = Diagnostic::warning(path, "nothing stands in it");
        found.push(wrong.at(1, 1).help("write it, or remove it"));
        return;
    }
    MarkdownDocument::read_document(path, text, found);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_tells_its_number() {
        assert_eq!(sprint_of("sprint-12"), Some(12));
        for folder in [
            "sprint-",
            "sprint-012",
            "sprint-x",
            "12",
            "sprint-0",
            "sprint--1",
            "sprint-9999999999",
        ] {
            assert_eq!(sprint_of(folder), None, "{folder}");
        }
    }

    #[test]
    fn the_files_stand_in_their_order() {
        let tree = Tree::from_texts([
            (".jules/sprints/sprint-2/b-plan.md", "B"),
            (".jules/sprints/sprint-2/a-feedback.md", "F"),
            (".jules/sprints/sprint-2/a-plan.md", "A"),
            (".jules/sprints/sprint-2/README.md", "R"),
            (".jules/sprints/sprint-2/c-plan.md", " \n"),
            (".jules/sprints/sprint-2/notes.md", "N"),
            (".jules/sprints/sprint-2/deep/a-plan.md", "D"),
            (".jules/sprints/sprint-20/a-plan.md", "X"),
        ]);
        let files = sprint_files(&tree, 2);
        let texts: Vec<_> = files.iter().filter_map(|file| file.text).collect();
        assert_eq!(texts, ["R", "A", "B", "F"]);
    }
}
