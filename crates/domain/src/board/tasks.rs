//! Reads the tasks of a repository and checks their files.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::{Date, DateTime};
use jiff::{Timestamp, Zoned};

use super::change::{Change, is_changeable};
use super::file_names::{is_unexpanded, task_day};
use super::limits::{FILE_LIMIT_BYTES, FILES_LIMIT, TAGS_LIMIT, TITLE_LIMIT_CHARS};
use super::markdown::{Edit, MarkdownDocument, apply_edits};
use super::personas::{persona_names, suggest_persona};
use super::task::{PERSONA_KEYS, TASKS_FOLDER, Task, TaskState};
use crate::Diagnostic;
use crate::diagnostic::shell_word;
use crate::model::{Mode, Tree};
use crate::yaml::{Node, Value};

/// Prefixes of file names below the tasks' folder that are no tasks.
const OTHERS: [&str; 3] = [".", "README", "TEMPLATE"];
/// All tasks that can be read, by state and then by file name, which begins with the time.
#[must_use]
pub fn list_tasks(tree: &Tree) -> Vec<Task> {
    read_tasks(tree).tasks
}

/// The task files that cannot be read, by the ids of their tasks, and why. Without an id: a folder of tasks.
/// [`list_tasks`] lists those whose frontmatter alone cannot be read, because their folder still says how far they are.
#[must_use]
pub fn unread_tasks(tree: &Tree) -> Vec<(Option<String>, Diagnostic)> {
    read_tasks(tree).unread
}

/// The tasks, and the mistakes in their files.
#[derive(Default)]
pub(super) struct TaskReading {
    pub(super) tasks: Vec<Task>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// As [`unread_tasks`] returns them; each mistake is among the diagnostics, too.
    unread: Vec<(Option<String>, Diagnostic)>,
    /// The fixes that have exactly one answer.
    pub(super) changes: Vec<Change>,
}

pub(super) fn read_tasks(tree: &Tree) -> TaskReading {
    let mut read = TaskReading::default();
    let personas = persona_names(tree);
    for wrong in linked_folders(tree) {
        read.unread.push((None, wrong.clone()));
        read.diagnostics.push(wrong);
    }
    let (files, ids) = task_files(tree, &mut read.diagnostics);
    for (id, places) in &ids {
        if places.len() > 1 {
            read.diagnostics.push(in_several(id, places));
        }
    }
    for file in files {
        let text = match tree.read_text(file.path, "it", FILE_LIMIT_BYTES) {
            Ok(Some(text)) => text,
            Ok(None) => continue,
            Err(wrong) => {
                read.unread
                    .push((Some(file.stem.to_owned()), (*wrong).clone()));
                read.diagnostics.push(*wrong);
                continue;
            }
        };
        let alone = ids.get(file.stem).is_none_or(|places| places.len() == 1);
        read_task(&file, text, alone, &personas, &mut read);
        if alone {
            read.diagnostics
                .extend(unchangeable_task(tree, &file, text, &read));
        }
    }
    read.tasks
        .sort_by(|a, b| (a.state, &a.id, &a.path).cmp(&(b.state, &b.id, &b.path)));
    read
}

/// Links where the folder of the tasks, or of a state, should be.
fn linked_folders(tree: &Tree) -> Vec<Diagnostic> {
    let whole = tree
        .get(TASKS_FOLDER)
        .map(|entry| (TASKS_FOLDER, entry))
        .into_iter();
    let states = tree
        .below(TASKS_FOLDER)
        .filter(|(path, _)| is_state_folder(path));
    let links = whole
        .chain(states)
        .filter(|(_, entry)| entry.mode == Mode::Link);
    links
        .map(|(path, _)| {
            let wrong = "it is a symbolic link, and links are not followed";
            Diagnostic::error(path, wrong).help("put the folder itself here")
        })
        .collect()
}

/// Whether a path below the tasks' folder is the folder of a state.
fn is_state_folder(path: &str) -> bool {
    let name = &path[TASKS_FOLDER.len() + 1..];
    TaskState::from_word(name).is_some()
}

/// A file that should be a task.
struct File<'t> {
    path: &'t str,
    stem: &'t str,
    state: TaskState,
    /// Whether its folder is spelled correctly.
    at_home: bool,
}

type PathsById<'t> = BTreeMap<&'t str, Vec<&'t str>>;

/// The files of tasks, and the paths of each id.
fn task_files<'t>(tree: &'t Tree, found: &mut Vec<Diagnostic>) -> (Vec<File<'t>>, PathsById<'t>) {
    let mut files = Vec::new();
    let mut ids = PathsById::new();
    let mut strange = BTreeSet::new();
    for (path, entry) in tree.below(TASKS_FOLDER) {
        let rest = &path[TASKS_FOLDER.len() + 1..];
        let name = rest.rsplit('/').next().unwrap_or(rest);
        if OTHERS.iter().any(|other| name.starts_with(other)) {
            continue;
        }
        let Some((folder, file)) = rest.split_once('/') else {
            if entry.mode == Mode::Link && is_state_folder(path) {
                continue;
            }
            let wrong = Diagnostic::error(path, "it lies in no state's folder");
            let help = format!("move it to `{}/`", TaskState::Todo.folder_path());
            found.push(wrong.help(help));
            continue;
        };
        let Some(state) = TaskState::from_word(folder) else {
            if strange.insert(folder) {
                let folders = TaskState::ALL.map(|state| format!("`{state}`"));
                let wrong = format!("no state is called `{folder}`, so nothing in it is a task");
                let help = format!("move what is in it to {}", folders.join(", "));
                found.push(Diagnostic::error(format!("{TASKS_FOLDER}/{folder}"), wrong).help(help));
            }
            continue;
        };
        if file.contains('/') {
            let wrong = Diagnostic::warning(path, "it lies deeper than tasks do, and is not read");
            found.push(wrong.help(format!("move it to `{}/`", state.folder_path())));
            continue;
        }
        let Some(stem) = file.strip_suffix(".md") else {
            let wrong = Diagnostic::warning(path, "it is not Markdown, and is not read");
            found.push(wrong.help("give its name the ending `.md`, or move it elsewhere"));
            continue;
        };
        if files.len() == FILES_LIMIT {
            let wrong = format!("there are more than {FILES_LIMIT} tasks; the rest is left out");
            found.push(Diagnostic::error(TASKS_FOLDER, wrong).help("remove some that are done"));
            break;
        }
        // Do not count a folder as a second state of a task.
        if entry.mode != Mode::Folder {
            ids.entry(stem).or_default().push(path);
        }
        files.push(File {
            path,
            stem,
            state,
            at_home: folder == state.as_str(),
        });
    }
    (files, ids)
}

fn in_several(id: &str, places: &[&str]) -> Diagnostic {
    let folders: Vec<String> = places
        .iter()
        .map(|path| {
            let folder = path[TASKS_FOLDER.len() + 1..].split('/').next();
            format!("`{}`", folder.unwrap_or_default())
        })
        .collect();
    // Git removes neither untracked nor modified files.
    let removals: Vec<String> = places
        .iter()
        .map(|path| format!("rm {}", shell_word(path)))
        .collect();
    let wrong = format!(
        "the task `{id}` is in several states: {}",
        folders.join(", ")
    );
    Diagnostic::error(places[0], wrong)
        .at(1, 1)
        .help(match removals.as_slice() {
            [one, other] => format!("from the root, keep the true one: {one}, or {other}"),
            all => format!(
                "from the root, remove all but the true one: {}",
                all.join(", ")
            ),
        })
}

/// Reads and checks one file. `alone`: no other file has its id.
fn read_task(
    file: &File<'_>,
    text: &str,
    alone: bool,
    personas: &BTreeSet<&str>,
    read: &mut TaskReading,
) {
    let before = read.diagnostics.len();
    let document = MarkdownDocument::read_document(file.path, text, &mut read.diagnostics);
    let is_broken = document.has_head() && !document.is_read();
    let why = read.diagnostics.get(before).filter(|_| is_broken);
    read.unread
        .extend(why.map(|wrong| (Some(file.stem.to_owned()), wrong.clone())));
    let mut reader = TaskReader {
        file,
        document,
        alone,
        diagnostics: Vec::new(),
        edits: Vec::new(),
        done: Vec::new(),
    };
    reader.check_name();
    reader.check_id();
    reader.check_status();
    let task = reader.build_task(personas);
    let TaskReader {
        diagnostics: found,
        edits,
        mut done,
        ..
    } = reader;
    read.diagnostics.extend(found);
    read.tasks.push(task);
    // Only a person knows which of several files is right; until then no file is changed.
    if !alone {
        return;
    }
    let to = format!("{}/{}.md", file.state.folder_path(), file.stem);
    if !file.at_home {
        done.push(format!("moved it to `{to}`"));
    }
    if !done.is_empty() {
        read.changes.push(Change {
            from: Some(file.path.to_owned()),
            to,
            text: apply_edits(text, edits),
            done: done.join(", "),
        });
    }
}

/// The error that `task claim` and `task move` will report for the task's frontmatter, unless another error of the file
/// explains it.
fn unchangeable_task(
    tree: &Tree,
    file: &File<'_>,
    text: &str,
    read: &TaskReading,
) -> Option<Diagnostic> {
    let is_told = |one: &Diagnostic| one.is_error() && one.file == file.path;
    let task = read.tasks.last()?;
    if is_changeable(tree, task) || read.diagnostics.iter().any(is_told) {
        return None;
    }
    let document = MarkdownDocument::read_document(file.path, text, &mut Vec::new());
    let wrong = "`task claim` and `task move` cannot write into this frontmatter";
    let wrong = document.error_in_head(wrong)?;
    Some(wrong.help("write one `key: value` a line, from the first column and without braces"))
}

struct TaskReader<'f, 't> {
    file: &'f File<'t>,
    document: MarkdownDocument<'f>,
    alone: bool,
    diagnostics: Vec<Diagnostic>,
    edits: Vec<Edit>,
    done: Vec<String>,
}

impl TaskReader<'_, '_> {
    fn check_name(&mut self) {
        let File {
            path,
            stem,
            state,
            at_home,
            ..
        } = self.file;
        if !at_home {
            let wrong = Diagnostic::warning(*path, "its folder is spelled in another way");
            self.diagnostics
                .push(wrong.help(format!("move it to `{}/`", state.folder_path())));
        }
        if is_unexpanded(stem) {
            let wrong = "its name contains an unfilled placeholder";
            let help = "rename it to its time and a few words: `YYYYMMDD-HHMMSS-what.md`";
            self.diagnostics
                .push(Diagnostic::error(*path, wrong).help(help));
        } else if task_day(stem).is_none() {
            let wrong =
                "its name does not begin with its time, so it has no place in the order of tasks";
            let help = "call it `YYYYMMDD-HHMMSS-what.md`";
            self.diagnostics
                .push(Diagnostic::warning(*path, wrong).help(help));
        }
        if !self.document.has_head() {
            let wrong = Diagnostic::warning(*path, "it does not begin with frontmatter");
            let help = format!(
                "let it begin with the lines `---`, `id: {stem}`, `status: {state}`, `title: …`, `---`"
            );
            self.diagnostics.push(wrong.at(1, 1).help(help));
        }
    }

    fn check_id(&mut self) {
        let stem = self.file.stem;
        let Some(said) = self.document.text_value("id", &mut self.diagnostics) else {
            return;
        };
        let Some(field) = self.document.get("id").filter(|_| said != stem) else {
            return;
        };
        let wrong = match is_unexpanded(&said) {
            true => format!("the id `{said}` contains an unfilled placeholder"),
            false => format!("the id `{said}` is not the name of its file, `{stem}`"),
        };
        let wrong = self.document.error_at(&field, "id", wrong);
        if is_unexpanded(stem) {
            self.diagnostics
                .push(wrong.help("rename the file, and write its name here"));
            return;
        }
        self.diagnostics
            .push(wrong.help(format!("write `id: {stem}`")));
        if let Some(edit) = self.document.edit_value(&field, stem) {
            self.edits.push(edit);
            self.done.push(format!("wrote `id: {stem}`"));
        }
    }

    fn check_status(&mut self) {
        let state = self.file.state;
        if let Some((wrong, edit)) = self.document.empty_value("status", state.as_str()) {
            self.diagnostics.push(wrong.help(format!(
                "write `status: {state}`; until then the task cannot be claimed or moved"
            )));
            if let Some(edit) = edit {
                self.edits.push(edit);
                self.done.push(format!("wrote `status: {state}`"));
            }
        }
        let Some(said) = self.document.text_value("status", &mut self.diagnostics) else {
            return;
        };
        let Some(field) = self
            .document
            .get("status")
            .filter(|_| said != state.as_str())
        else {
            return;
        };
        let meant = TaskState::from_word(&said);
        let wrong = match meant {
            Some(meant) if meant == state => {
                let wrong = format!("the status `{said}` is spelled in another way");
                self.document.warning_at(&field, "status", wrong)
            }
            _ => {
                let wrong = format!("the status is `{said}`, and the file lies in `{state}`");
                self.document.error_at(&field, "status", wrong)
            }
        };
        let edit = self.document.edit_value(&field, state.as_str());
        // A task in several states, or with a status that cannot be edited, is not moved.
        let movable = self.alone && edit.is_some() && self.document.is_read();
        let help = match meant.filter(|meant| *meant != state && movable) {
            Some(meant) => format!(
                "the folder counts: write `status: {state}`, or say phileas task move {} {meant}",
                shell_word(self.file.stem)
            ),
            None => format!("write `status: {state}`"),
        };
        self.diagnostics.push(wrong.help(help));
        if let Some(edit) = edit {
            self.edits.push(edit);
            self.done.push(format!("wrote `status: {state}`"));
        }
    }

    fn build_task(&mut self, personas: &BTreeSet<&str>) -> Task {
        let title = self.read_title();
        Task {
            id: self.file.stem.to_owned(),
            state: self.file.state,
            path: self.file.path.to_owned(),
            title,
            tags: self.tags(),
            persona: self.read_persona(personas),
            created_by: self
                .document
                .text_value("created_by", &mut self.diagnostics),
            created_at: self.created_at(),
            target: self
                .document
                .text_value("target_module", &mut self.diagnostics),
            body: self.document.body.to_owned(),
        }
    }

    fn read_title(&mut self) -> String {
        let said = self.document.text_value("title", &mut self.diagnostics);
        let heading = || {
            let mut lines = self.document.body.lines();
            let line = lines.find_map(|line| line.strip_prefix("# "))?;
            Some(line.to_owned())
        };
        let title = said.or_else(heading).unwrap_or_default();
        let title: String = title.trim().chars().take(TITLE_LIMIT_CHARS).collect();
        if !title.is_empty() {
            return title;
        }
        // Frontmatter that cannot be read may have one.
        if self.document.is_read() || !self.document.has_head() {
            let wrong = Diagnostic::warning(self.file.path, "it has no title");
            self.diagnostics
                .push(wrong.at(1, 1).help("write `title: …` into the frontmatter"));
        }
        self.file.stem.to_owned()
    }

    fn tags(&mut self) -> Vec<String> {
        let Some(field) = self.document.get("tags") else {
            return Vec::new();
        };
        match tags(field.node) {
            Some(tags) => tags,
            None => {
                let is = field.node.is_called();
                let wrong = format!("{is} stands where a list of texts belongs");
                let wrong = self.document.error_at(&field, "tags", wrong);
                self.diagnostics
                    .push(wrong.help("write `tags: [docs, tests]`"));
                Vec::new()
            }
        }
    }

    fn read_persona(&mut self, personas: &BTreeSet<&str>) -> Option<String> {
        for key in PERSONA_KEYS {
            let name = self.document.text_value(key, &mut self.diagnostics);
            // An empty text assigns no persona: the task is free.
            let Some(name) = name.filter(|name| !name.trim().is_empty()) else {
                continue;
            };
            let known = |one: &&str| one.eq_ignore_ascii_case(&name);
            // A repository without personas uses its tasks for other agents.
            if !personas.is_empty()
                && self.file.state.is_open()
                && !personas.iter().any(known)
                && let Some(field) = self.document.get(key)
            {
                let wrong = format!("there is no persona `{name}`, so no persona gets it");
                let wrong = self.document.warning_at(&field, key, wrong);
                self.diagnostics
                    .push(wrong.help(suggest_persona(&name, personas)));
            }
            return Some(name);
        }
        let [key, _] = PERSONA_KEYS;
        if self.file.state.is_open()
            && let Some((wrong, _)) = self.document.empty_value(key, "")
        {
            let help = format!(
                "write a persona's name behind it, or remove `{key}`; until then the task cannot be claimed"
            );
            self.diagnostics.push(wrong.help(help));
        }
        None
    }

    fn created_at(&mut self) -> Option<String> {
        let said = self
            .document
            .text_value("created_at", &mut self.diagnostics)?;
        if !is_time(&said)
            && let Some(field) = self.document.get("created_at")
        {
            let wrong = format!("`{said}` is not a time");
            let wrong = self.document.warning_at(&field, "created_at", wrong);
            self.diagnostics
                .push(wrong.help("write it as `2026-01-05T09:00:00Z`"));
        }
        Some(said)
    }
}

/// The tags from a list, or from one text with commas.
fn tags(node: &Node) -> Option<Vec<String>> {
    let text = |node: &Node| match &node.value {
        Value::Text(text) => Some(text.trim().to_owned()),
        Value::Integer(number) => Some(number.to_string()),
        _ => None,
    };
    let tags: Vec<String> = match &node.value {
        Value::List(items) => items.iter().map(text).collect::<Option<_>>()?,
        Value::Text(text) => text.split(',').map(|tag| tag.trim().to_owned()).collect(),
        _ => return None,
    };
    let full = tags.into_iter().filter(|tag| !tag.is_empty());
    Some(full.take(TAGS_LIMIT).collect())
}

/// Whether a text is a date or time in a form that agents use.
pub(super) fn is_time(text: &str) -> bool {
    let text = text.trim();
    text.parse::<Timestamp>().is_ok()
        || text.parse::<Zoned>().is_ok()
        || text.parse::<DateTime>().is_ok()
        || text.parse::<Date>().is_ok()
        || DateTime::strptime("%Y-%m-%d %H:%M", text).is_ok()
}
