//! Defines the change of one file, and moves a task's file to another state.

use super::markdown::{MarkdownDocument, apply_edits};
use super::task::{PERSONA_KEYS, Task, TaskState};
use crate::Diagnostic;
use crate::model::Tree;
use crate::plan::limits::MAX_ID_BYTES;
use crate::yaml::quoted;

/// A file that is created, edited, or moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its current path; `None` for a new file.
    pub from: Option<String>,
    /// Its new path.
    pub to: String,
    /// Its new text.
    pub text: String,
    /// What was done, as a sentence without a period.
    pub done: String,
}

/// Why a task cannot be created, claimed or moved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TaskError {
    /// The title is empty, too long or more than one line.
    #[error("the title is {0}; say in one line what is to be done")]
    Title(&'static str),
    /// There are too many tags, or one contains a comma or a line break.
    #[error("{0}")]
    Tags(String),
    /// There is no such task.
    #[error("there is no task `{id}`{help}")]
    Unknown {
        /// The id that was given.
        id: String,
        /// A similar id, or how to list all.
        help: String,
    },
    /// Its file cannot be read.
    #[error("the task `{id}` cannot be read: {wrong}")]
    Unreadable {
        /// The task's id.
        id: String,
        /// Where, and why.
        wrong: Box<Diagnostic>,
    },
    /// The given prefix matches several tasks.
    #[error("several tasks begin with `{id}`: {}; say more of the name", .names.join(", "))]
    AmbiguousId {
        /// The prefix that was given.
        id: String,
        /// The first matches.
        names: Vec<String>,
    },
    /// The task has files in several states.
    #[error("the task `{id}` is in several states; see `phileas task check`")]
    InSeveralStates {
        /// The task's id.
        id: String,
    },
    /// No persona can have this name.
    #[error(
        "`{}` cannot be a persona's id, so nothing was written; use letters, digits, `_` and `-`, begin with a letter or \
         digit, and keep to {MAX_ID_BYTES} characters",
        .0.escape_debug()
    )]
    PersonaId(String),
    /// No persona has this name.
    #[error("there is no persona `{persona}`, so nothing was written; {help}")]
    UnknownPersona {
        /// The name that was given.
        persona: String,
        /// A similar name, or all names.
        help: String,
    },
    /// The task is not in a state in which it can be claimed.
    #[error(
        "the task `{id}` is {state}{}; only what is todo can be claimed, {}",
        .by.as_ref().map(|by| format!(", by {by}")).unwrap_or_default(),
        if .state.is_open() { "and with --reassign what is in_progress" } else { "so move it to todo first" }
    )]
    NotTodo {
        /// The task's id.
        id: String,
        /// Its state.
        state: TaskState,
        /// The persona that works on it.
        by: Option<String>,
    },
    /// The task is assigned to another persona.
    #[error("the task `{id}` is for {persona}; use --reassign to assign it to another persona")]
    AssignedToOther {
        /// The task's id.
        id: String,
        /// The persona.
        persona: String,
    },
    /// Its frontmatter cannot be edited.
    #[error("the frontmatter of {path} cannot be changed; see `phileas task check`")]
    NotEditable {
        /// The task's file.
        path: String,
    },
}

/// Whether `task claim` and `task move` can edit a task's frontmatter.
pub(super) fn is_changeable(tree: &Tree, task: &Task) -> bool {
    let (state, persona) = match task.state.is_open() {
        true => (TaskState::InProgress, Some("persona")),
        false => (TaskState::Todo, None),
    };
    change_task(tree, task, state, persona, String::new()).is_ok()
}

/// The file of a task in another state. Existing keys are edited in place; new ones are added at the end.
pub(super) fn change_task(
    tree: &Tree,
    task: &Task,
    state: TaskState,
    persona: Option<&str>,
    done: String,
) -> Result<Change, TaskError> {
    let unsound = || TaskError::NotEditable {
        path: task.path.clone(),
    };
    let text = tree.text(&task.path).ok_or_else(unsound)?;
    let mut found = Vec::new();
    let document = MarkdownDocument::read_document(&task.path, text, &mut found);
    let to = format!("{}/{}.md", state.folder_path(), task.id);
    let mut change = Change {
        from: Some(task.path.clone()),
        to,
        text: text.to_owned(),
        done,
    };
    if !document.has_head() {
        // Without frontmatter the folder alone states the task's state, but the persona must be written.
        if let Some(persona) = persona {
            let head = format!(
                "---\nstatus: {state}\n{}: {}\n---\n",
                PERSONA_KEYS[0],
                quoted(persona)
            );
            change.text = head + text;
        }
        return Ok(change);
    }
    let mut wanted = vec![("status", state.as_str())];
    // If both keys name a persona, the first one counts.
    let named = PERSONA_KEYS
        .into_iter()
        .find(|key| document.get(key).is_some());
    let key = named.unwrap_or(PERSONA_KEYS[0]);
    wanted.extend(persona.map(|persona| (key, persona)));
    let (mut edits, mut lines) = (Vec::new(), String::new());
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    for (key, value) in wanted {
        match document.get(key) {
            Some(field) if field.node.text() == Some(value) => {}
            Some(field) => edits.push(document.edit_value(&field, value).ok_or_else(unsound)?),
            None if document.is_bare(key) => return Err(unsound()),
            None => lines.push_str(&format!("{key}: {}{end}", quoted(value))),
        }
    }
    edits.extend(document.insert_lines(&lines));
    if !document.is_read() {
        return Err(unsound());
    }
    change.text = apply_edits(text, edits);
    // Read the result back, to be sure that the edit took effect.
    let mut wrong = Vec::new();
    let after = MarkdownDocument::read_document(&task.path, &change.text, &mut wrong);
    let said = after.text_value("status", &mut wrong);
    let assigned = after.text_value(key, &mut wrong);
    if said.as_deref() != Some(state.as_str())
        || persona.is_some_and(|persona| assigned.as_deref() != Some(persona))
    {
        return Err(unsound());
    }
    Ok(change)
}
