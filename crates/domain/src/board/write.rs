//! Creates tasks and sprint files, and claims and moves tasks.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::change::{Change, TaskError, change_task};
use super::file_names::task_stem;
use super::limits::{TAGS_LIMIT, TITLE_LIMIT_CHARS};
use super::personas::persona_names;
use super::sprints::sprint_folder;
use super::task::{PERSONA_KEYS, Task, TaskState};
use super::tasks::{list_tasks, unread_tasks};
use crate::model::Tree;
use crate::plan::{closest, is_id};
use crate::yaml::quoted;

/// The largest number of names in a message.
const NAMES_SHOWN: usize = 12;

/// A new task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTask {
    /// Its title, on one line.
    pub title: String,
    /// The persona that it is assigned to.
    pub persona: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// The persona or person that creates it.
    pub created_by: Option<String>,
    /// Its text; if empty, three headings are written.
    pub body: String,
}

/// The file of a new task.
///
/// # Errors
///
/// [`TaskError::Title`], [`TaskError::Tags`], [`TaskError::PersonaId`] and [`TaskError::UnknownPersona`].
pub fn new_task(tree: &Tree, task: &NewTask, at: Timestamp) -> Result<Change, TaskError> {
    if let Some(persona) = &task.persona {
        check_persona(tree, persona)?;
    }
    let title = task.title.trim();
    if title.is_empty() {
        return Err(TaskError::Title("empty"));
    }
    if title.contains(char::is_control) {
        return Err(TaskError::Title("more than one line"));
    }
    if title.chars().count() > TITLE_LIMIT_CHARS {
        return Err(TaskError::Title("too long"));
    }
    if task.tags.len() > TAGS_LIMIT {
        let wrong = format!("there are more than {TAGS_LIMIT} tags; take the ones that matter");
        return Err(TaskError::Tags(wrong));
    }
    let strange = |tag: &&String| tag.trim().is_empty() || tag.contains([',', '\n', '\r']);
    if let Some(tag) = task.tags.iter().find(strange) {
        let wrong = format!(
            "`{}` is not a tag; a tag is a word or two without a comma",
            tag.escape_debug()
        );
        return Err(TaskError::Tags(wrong));
    }
    let stem = free_stem(tree, at, title);
    let second = Timestamp::from_second(at.as_second()).unwrap_or(at);
    let mut text = format!(
        "---\nid: {}\nstatus: {}\ntitle: {}\n",
        quoted(&stem),
        TaskState::Todo,
        quoted(title)
    );
    let tags: Vec<String> = task.tags.iter().map(|tag| quoted(tag.trim())).collect();
    text.push_str(&format!("tags: [{}]\n", tags.join(", ")));
    if let Some(persona) = &task.persona {
        text.push_str(&format!("{}: {}\n", PERSONA_KEYS[0], quoted(persona)));
    }
    if let Some(by) = &task.created_by {
        text.push_str(&format!("created_by: {}\n", quoted(by)));
    }
    text.push_str(&format!(
        "created_at: {}\n---\n\n",
        quoted(&second.to_string())
    ));
    text.push_str(match task.body.trim() {
        "" => "## Description\n\n## Acceptance Criteria\n\n- [ ] \n\n## Context\n",
        body => body,
    });
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(Change {
        from: None,
        to: format!("{}/{stem}.md", TaskState::Todo.folder_path()),
        text,
        done: "wrote it down".to_owned(),
    })
}

/// The name of a new task's file. Agents write several tasks with one title in a second, so the later ones get a number.
fn free_stem(tree: &Tree, at: Timestamp, title: &str) -> String {
    let stem = task_stem(at.to_zoned(TimeZone::UTC).datetime(), title);
    let is_free = |stem: &String| {
        let folders = TaskState::ALL.map(TaskState::folder_path);
        folders
            .iter()
            .all(|folder| !tree.has(&format!("{folder}/{stem}.md")))
    };
    let numbered = (2..).map(|number: u64| format!("{stem}-{number}"));
    let mut names = std::iter::once(stem.clone()).chain(numbered);
    names.find(is_free).unwrap_or(stem)
}

/// Whether a claim may take a task from another persona.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// Only an unassigned task, or one that is assigned to the same persona.
    Free,
    /// Any open task, also one that another persona works on.
    Reassign,
}

/// Claims a task for a persona: it is in progress then, and assigned to it. If the repository has personas, the name
/// must be one of them.
///
/// # Errors
///
/// All others of [`TaskError`].
pub fn claim_task(tree: &Tree, id: &str, persona: &str, claim: Claim) -> Result<Change, TaskError> {
    check_persona(tree, persona)?;
    let task = find_task(tree, id)?;
    if claim == Claim::Reassign && task.state.is_open() {
        let other = task.persona.clone().filter(|_| !task.is_for(persona));
        let assigned = (!task.is_for(persona)).then_some(persona);
        let done = match other {
            Some(other) => format!("{persona} is at it in place of {other}"),
            None => format!("{persona} is at it"),
        };
        return change_task(tree, &task, TaskState::InProgress, assigned, done);
    }
    if task.state != TaskState::Todo {
        return Err(TaskError::NotTodo {
            id: task.id,
            state: task.state,
            by: task.persona,
        });
    }
    if let Some(other) = task.persona.as_ref().filter(|_| !task.is_for(persona)) {
        return Err(TaskError::AssignedToOther {
            persona: other.clone(),
            id: task.id,
        });
    }
    let assigned = task.persona.is_none().then_some(persona);
    let done = format!("{persona} is at it");
    change_task(tree, &task, TaskState::InProgress, assigned, done)
}

/// Checks the name of a persona that gets a task. A repository without personas uses its tasks for other agents.
fn check_persona(tree: &Tree, persona: &str) -> Result<(), TaskError> {
    if !is_id(persona) {
        return Err(TaskError::PersonaId(persona.to_owned()));
    }
    let personas = persona_names(tree);
    let mut known = personas.iter();
    if personas.is_empty() || known.any(|one| one.eq_ignore_ascii_case(persona)) {
        return Ok(());
    }
    Err(TaskError::UnknownPersona {
        persona: persona.to_owned(),
        help: match closest(persona, personas.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("there are {}", list_names(&personas)),
        },
    })
}

/// Names for a message, up to a limit.
fn list_names(names: &BTreeSet<&str>) -> String {
    let shown: Vec<String> = names
        .iter()
        .take(NAMES_SHOWN)
        .map(|name| format!("`{name}`"))
        .collect();
    match names.len().saturating_sub(NAMES_SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Moves a task to another state. If it is there already, only its `status` is corrected.
///
/// # Errors
///
/// [`TaskError::Unknown`], [`TaskError::AmbiguousId`], [`TaskError::InSeveralStates`], [`TaskError::NotEditable`].
pub fn move_task(tree: &Tree, id: &str, state: TaskState) -> Result<Change, TaskError> {
    let task = find_task(tree, id)?;
    let done = format!("it is {state}");
    change_task(tree, &task, state, None, done)
}

/// The task with this id, or the only one whose id begins with it.
fn find_task(tree: &Tree, id: &str) -> Result<Task, TaskError> {
    let all = list_tasks(tree);
    let unread: BTreeMap<String, _> = unread_tasks(tree)
        .into_iter()
        .filter_map(|(id, wrong)| Some((id?, wrong)))
        .collect();
    let readable = all.iter().map(|task| task.id.as_str());
    let known: BTreeSet<&str> = readable.chain(unread.keys().map(String::as_str)).collect();
    let begins = |name: &&str| !id.is_empty() && name.starts_with(id);
    let meant: Vec<&str> = match known.get(id) {
        Some(exact) => vec![exact],
        None => known.iter().copied().filter(begins).collect(),
    };
    let meant = match meant.as_slice() {
        [one] => *one,
        [] => {
            return Err(TaskError::Unknown {
                id: id.to_owned(),
                help: match closest(id, known) {
                    Some(near) => format!("; did you mean `{near}`?"),
                    None => "; phileas task list shows all".to_owned(),
                },
            });
        }
        several => {
            return Err(TaskError::AmbiguousId {
                id: id.to_owned(),
                names: several.iter().take(3).map(ToString::to_string).collect(),
            });
        }
    };
    // Where one of its files cannot be read, that may be the one that counts.
    if let Some(wrong) = unread.get(meant) {
        return Err(TaskError::Unreadable {
            id: meant.to_owned(),
            wrong: Box::new(wrong.clone()),
        });
    }
    let mut found = all.iter().filter(|task| task.id == meant);
    match (found.next(), found.next()) {
        (Some(task), None) => Ok(task.clone()),
        _ => Err(TaskError::InSeveralStates {
            id: meant.to_owned(),
        }),
    }
}

/// The README of a new sprint.
#[must_use]
pub fn new_sprint_readme(sprint: u64) -> Change {
    Change {
        from: None,
        to: format!("{}/README.md", sprint_folder(sprint)),
        text: format!(
            "# Sprint {sprint}\n\nStatus: planned\n\n## Goal\n\nWhat is better at the end of this sprint, and for which users?\n"
        ),
        done: format!("began sprint {sprint}"),
    }
}

/// A template for a persona's sprint plan.
#[must_use]
pub fn new_sprint_plan(sprint: u64, persona: &str) -> Change {
    Change {
        from: None,
        to: format!("{}/{persona}-plan.md", sprint_folder(sprint)),
        text: format!(
            "---\npersona: {}\nsprint: {sprint}\npriority: normal\n---\n\n# Plan of {persona} for sprint {sprint}\n\n## Objectives\n\n- [ ] \n\n## Dependencies\n\n## Risks\n\n| risk | probability | impact | what is done about it |\n|---|---|---|---|\n",
            quoted(persona)
        ),
        done: format!("began the plan of {persona}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at() -> Timestamp {
        "2026-01-05T09:00:00.5Z".parse().unwrap()
    }

    #[test]
    fn a_new_task_is_sound_and_says_what_was_said() {
        let wanted = NewTask {
            title: " Fix: the \"parser\" # now ".to_owned(),
            persona: Some("tester".to_owned()),
            tags: vec!["tests".to_owned(), "a: b".to_owned()],
            created_by: Some("curator".to_owned()),
            body: String::new(),
        };
        let change = new_task(&Tree::new(), &wanted, at()).unwrap();
        assert_eq!(
            change.to,
            ".jules/tasks/todo/20260105-090000-fix-the-parser-now.md"
        );
        let tree = Tree::from_texts([(change.to.as_str(), change.text.as_str())]);
        let read = super::super::tasks::read_tasks(&tree);
        assert_eq!(read.diagnostics, []);
        let task = &read.tasks[0];
        assert_eq!(task.title, "Fix: the \"parser\" # now");
        assert_eq!(task.tags, ["tests", "a: b"]);
        assert_eq!(task.created_at.as_deref(), Some("2026-01-05T09:00:00Z"));
        assert!(task.body.contains("- [ ] \n"), "{}", task.body);
        for (title, word) in [
            (" ", "empty"),
            ("a\nb", "one line"),
            (&*"x".repeat(201), "too long"),
        ] {
            let wrong = NewTask {
                title: title.to_owned(),
                ..wanted.clone()
            };
            let error = new_task(&Tree::new(), &wrong, at())
                .unwrap_err()
                .to_string();
            assert!(error.contains(word), "{error}");
        }
        let wrong = NewTask {
            tags: vec!["a,b".to_owned()],
            ..wanted
        };
        assert!(matches!(
            new_task(&Tree::new(), &wrong, at()),
            Err(TaskError::Tags(_))
        ));
    }

    #[test]
    fn tasks_of_one_title_and_second_get_names_of_their_own() {
        let wanted = NewTask {
            title: "Same title".to_owned(),
            ..NewTask::default()
        };
        let name = "20260105-090000-same-title";
        let mut tree = Tree::new();
        for (folder, expected) in [
            ("done", name.to_owned()),
            ("todo", format!("{name}-2")),
            ("todo", format!("{name}-3")),
        ] {
            let change = new_task(&tree, &wanted, at()).unwrap();
            assert_eq!(change.to, format!(".jules/tasks/todo/{expected}.md"));
            assert!(change.text.contains(&format!("id: \"{expected}\"\n")));
            let path = format!(".jules/tasks/{folder}/{expected}.md");
            tree.insert_text(path, &change.text);
        }
    }

    #[test]
    fn a_claim_changes_its_keys_and_no_other_byte() {
        let text = |head: &str| format!("---\r\nid: 1  # one\r\n{head}x: ü\r\n---\r\n# T\r\n");
        for (head, after) in [
            (
                "status: todo\r\n",
                "---\r\nid: 1  # one\r\nstatus: in_progress\r\nx: ü\r\nassigned_persona: \"tester\"\r\n---\r\n# T\r\n",
            ),
            (
                "assigned_persona: Tester # him\r\n",
                "---\r\nid: 1  # one\r\nassigned_persona: Tester # him\r\nx: ü\r\nstatus: \"in_progress\"\r\n---\r\n# T\r\n",
            ),
        ] {
            let tree = Tree::from_texts([(".jules/tasks/todo/1.md", text(head))]);
            let change = claim_task(&tree, "1", "tester", Claim::Free).unwrap();
            assert_eq!(change.text, after);
            assert_eq!(change.to, ".jules/tasks/in_progress/1.md");
        }
        let tree = Tree::from_texts([(".jules/tasks/todo/1.md", "# Bare\n")]);
        let change = claim_task(&tree, "1", "tester", Claim::Free).unwrap();
        assert_eq!(
            change.text,
            "---\nstatus: in_progress\nassigned_persona: \"tester\"\n---\n# Bare\n"
        );
        assert_eq!(
            move_task(&tree, "1", TaskState::Done).unwrap().text,
            "# Bare\n"
        );
    }

    #[test]
    fn an_assignment_moves_only_when_that_is_said() {
        for (key, state) in [("persona", "in_progress"), ("assigned_persona", "todo")] {
            let path = format!(".jules/tasks/{state}/1.md");
            let text = format!("---\nstatus: {state}\n{key}: curator # him\n---\nBody.\n");
            let prompt = |id: &str| {
                (
                    format!(".jules/personas/{id}/prompt.md"),
                    "Work.\n".to_owned(),
                )
            };
            let tree = Tree::from_texts([(path, text), prompt("curator"), prompt("tester")]);
            assert!(claim_task(&tree, "1", "tester", Claim::Free).is_err());
            let change = claim_task(&tree, "1", "tester", Claim::Reassign).unwrap();
            assert_eq!(change.to, ".jules/tasks/in_progress/1.md");
            assert_eq!(
                change.text,
                format!("---\nstatus: in_progress\n{key}: tester # him\n---\nBody.\n")
            );
            assert_eq!(change.done, "tester is at it in place of curator");
            let error = claim_task(&tree, "1", "testor", Claim::Reassign).unwrap_err();
            assert!(
                error.to_string().contains("did you mean `tester`?"),
                "{error}"
            );
            let error = claim_task(&tree, "1", "absent", Claim::Free).unwrap_err();
            assert!(
                error.to_string().contains("there are `curator`, `tester`"),
                "{error}"
            );
        }
        let done = Tree::from_texts([(".jules/tasks/done/1.md", "---\npersona: a\n---\n")]);
        let error = claim_task(&done, "1", "b", Claim::Reassign).unwrap_err();
        assert!(
            error.to_string().contains("so move it to todo first"),
            "{error}"
        );
    }

    #[test]
    fn what_cannot_be_claimed_says_why() {
        let tree = Tree::from_texts([
            (
                ".jules/tasks/todo/20260105-0900-a.md",
                "---\npersona: curator\n---\n",
            ),
            (
                ".jules/tasks/in_progress/20260106-0900-b.md",
                "---\npersona: curator\n---\n",
            ),
            (
                ".jules/tasks/todo/20260117-0900-c.md",
                "---\ntitle: [\n---\n",
            ),
            (".jules/tasks/todo/20260108-0900-d.md", "---\n---\n"),
            (".jules/tasks/done/20260108-0900-d.md", "---\n---\n"),
            (
                ".jules/tasks/todo/20260109-0900-e.md",
                "---\nstatus:\n---\n",
            ),
            (".jules/tasks/todo/20260110-0900-f.md", "---\n{a: b}\n---\n"),
        ]);
        for (id, word) in [
            ("20260105-0900-a", "is for curator"),
            ("20260106", "is in_progress, by curator"),
            ("20260117", "cannot be read"),
            ("20260108-0900-d", "several states"),
            ("20260109", "cannot be changed"),
            ("20260110", "cannot be changed"),
            ("2026010", "several tasks begin with"),
            ("20260105-0900-b", "did you mean `20260105-0900-a`?"),
            ("", "there is no task ``"),
        ] {
            let error = claim_task(&tree, id, "tester", Claim::Free)
                .unwrap_err()
                .to_string();
            assert!(error.contains(word), "{id}: {error}");
        }
    }

    /// A refusal because of a task's frontmatter refers to `task check`, so lint must report an error for that file.
    #[test]
    fn lint_names_each_form_for_which_a_claim_is_refused() {
        use crate::Diagnostic;
        use crate::board::{Kind, lint};
        let head = "title: Do it\n";
        let (mut refused, mut taken) = (Vec::new(), Vec::new());
        for (index, text) in [
            format!("---\n{head}status:\n---\n"),
            format!("---\n{head}status: ~ # when?\n---\n"),
            format!("---\n{head}assigned_persona:\n---\n"),
            format!("---\n{head}assigned_persona: null\n---\n"),
            format!("---\n{head}assigned_persona: |\n  tester\n---\n"),
            format!("---\n{head}status: >-\n  todo\n---\n"),
            format!("---\n{head}...\n---\n"),
            "---\n{title: Do it}\n---\n".to_owned(),
            "---\n  title: Do it\n  status: todo\n---\n".to_owned(),
            format!("---\n{head}tags: `x`\n---\n"),
            format!("---\n{head}status: [todo]\n---\n"),
            format!("---\n{head}status: todo\n"),
            format!("---\n{head}assigned_persona: \"\"\n---\n"),
            format!("---\n{head}persona:\n---\n"),
            format!("---\n{head}status: todo\npersona: tester\n---\n"),
            "Do it.\n".to_owned(),
        ]
        .into_iter()
        .enumerate()
        {
            let path = format!(".jules/tasks/todo/20260105-0900-{index}.md");
            let tree = Tree::from_texts([(path.as_str(), text.as_str())]);
            let day = "2026-01-05".parse().unwrap();
            let linted = lint(&tree, &[Kind::Tasks], &BTreeSet::new(), None, day);
            let untitled = |one: &Diagnostic| one.message.contains("no title");
            let is_untitled = linted.diagnostics.iter().any(untitled);
            assert!(!is_untitled || !text.contains("title:"), "{text}");
            let errors: Vec<String> = linted
                .diagnostics
                .iter()
                .filter(|one| one.is_error())
                .map(ToString::to_string)
                .collect();
            let id = format!("20260105-0900-{index}");
            match claim_task(&tree, &id, "tester", Claim::Free) {
                Ok(_) => taken.push(index),
                Err(
                    TaskError::NotEditable { .. }
                    | TaskError::Unreadable { .. }
                    | TaskError::AssignedToOther { .. },
                ) => {
                    assert!(!errors.is_empty(), "{text}");
                    refused.push(index);
                }
                Err(other) => panic!("{text}: {other}"),
            }
        }
        assert_eq!(taken, [12, 13, 14, 15]);
        assert_eq!(refused, Vec::from_iter(0..12));
    }

    #[test]
    fn a_key_without_a_value_is_told_and_the_status_has_one_answer() {
        use crate::board::{Kind, lint};
        let path = ".jules/tasks/todo/20260105-0900-a.md";
        let text = "---\ntitle: A\nstatus:  # when?\nassigned_persona:\n---\nBody.\n";
        let day = "2026-01-05".parse().unwrap();
        let tree = Tree::from_texts([(path, text)]);
        let linted = lint(&tree, &[Kind::Tasks], &BTreeSet::new(), None, day);
        let said: Vec<String> = linted.diagnostics.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                format!(
                    "{path}:3:1: error: `status` has no value (at status); write `status: todo`; until then the task cannot be claimed or moved"
                ),
                format!(
                    "{path}:4:1: error: `assigned_persona` has no value (at assigned_persona); write a persona's name behind it, or remove `assigned_persona`; until then the task cannot be claimed"
                ),
            ]
        );
        let text = text.replace("  # when?", "");
        let tree = Tree::from_texts([(path, text.as_str())]);
        let linted = lint(&tree, &[Kind::Tasks], &BTreeSet::new(), None, day);
        assert_eq!(linted.changes.len(), 1);
        assert_eq!(
            linted.changes[0].text,
            text.replace("status:", "status: todo")
        );
    }
}
