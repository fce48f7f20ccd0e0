//! Defines a task and its states.

use std::fmt;

use serde_json::{Value, json};

/// The folder of all tasks, on the default branch.
pub const TASKS_FOLDER: &str = ".jules/tasks";

/// The state of a task: the folder of its file, whatever the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum TaskState {
    /// It waits.
    Todo,
    /// A persona works on it.
    InProgress,
    /// It is done.
    Done,
    /// It will not be done.
    Canceled,
}

impl TaskState {
    /// All states, in the order in which a task reaches them.
    pub const ALL: [Self; 4] = [Self::Todo, Self::InProgress, Self::Done, Self::Canceled];

    /// The name of its folder, and its value of `status`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The state for a word in any spelling: `In-Progress`, `cancelled`.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        let plain: String = word
            .chars()
            .filter(|c| !matches!(c, '-' | '_' | ' '))
            .flat_map(char::to_lowercase)
            .collect();
        match plain.as_str() {
            "todo" => Some(Self::Todo),
            "inprogress" => Some(Self::InProgress),
            "done" => Some(Self::Done),
            "canceled" | "cancelled" => Some(Self::Canceled),
            _ => None,
        }
    }

    /// The path of its folder.
    #[must_use]
    pub fn folder_path(self) -> String {
        format!("{TASKS_FOLDER}/{self}")
    }

    /// Whether work is left.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Todo | Self::InProgress)
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A task that could be read. Agents write tasks, so all texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The stem of its file name; the key `id` does not count.
    pub id: String,
    /// Its state, by its folder.
    pub state: TaskState,
    /// Its file.
    pub path: String,
    /// Its title, or its first heading, or its id.
    pub title: String,
    /// Its tags, in the file's order.
    pub tags: Vec<String>,
    /// The persona that it is assigned to.
    pub persona: Option<String>,
    /// The persona or person that created it.
    pub created_by: Option<String>,
    /// The creation time that the file states.
    pub created_at: Option<String>,
    /// The part of the repository that it is about.
    pub target: Option<String>,
    /// The text after the frontmatter.
    pub body: String,
}

impl Task {
    /// The task as JSON, without its body.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "id": self.id,
            "state": self.state.as_str(),
            "file": self.path,
            "title": self.title,
            "tags": self.tags,
            "persona": self.persona,
            "created_by": self.created_by,
            "created_at": self.created_at,
            "target_module": self.target,
        })
    }

    /// Whether it has a tag, ignoring case.
    #[must_use]
    pub fn has_tag(&self, tag: &str) -> bool {
        let tag = tag.to_lowercase();
        self.tags.iter().any(|one| one.to_lowercase() == tag)
    }

    /// Whether it is assigned to a persona, ignoring case.
    #[must_use]
    pub fn is_for(&self, persona: &str) -> bool {
        let persona = persona.to_lowercase();
        self.persona
            .as_ref()
            .is_some_and(|one| one.to_lowercase() == persona)
    }
}

/// The keys that assign a task, the preferred one first.
pub(super) const PERSONA_KEYS: [&str; 2] = ["assigned_persona", "persona"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_known_in_any_spelling() {
        for state in TaskState::ALL {
            assert_eq!(TaskState::from_word(state.as_str()), Some(state));
        }
        assert_eq!(
            TaskState::from_word("In-Progress"),
            Some(TaskState::InProgress)
        );
        assert_eq!(TaskState::from_word("cancelled"), Some(TaskState::Canceled));
        assert_eq!(TaskState::from_word("finished"), None);
        assert_eq!(TaskState::from_word(""), None);
    }
}
