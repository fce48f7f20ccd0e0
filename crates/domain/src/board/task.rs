//! A task, and the states that it goes through.

use std::fmt;

use serde_json::{Value, json};

/// Where tasks lie, on the default branch.
pub const TASKS_FOLDER: &str = ".jules/tasks";

/// Where a task stands: the folder that its file lies in, whatever the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaskState {
    /// It waits.
    Todo,
    /// Somebody is at it.
    InProgress,
    /// It is done.
    Done,
    /// Nobody will do it.
    Canceled,
}

impl TaskState {
    /// All of them, in the order in which a task goes through them.
    pub const ALL: [Self; 4] = [Self::Todo, Self::InProgress, Self::Done, Self::Canceled];

    /// The name of its folder, and its word in a task's `status`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Todo => "todo",
            Self::InProgress => "in_progress",
            Self::Done => "done",
            Self::Canceled => "canceled",
        }
    }

    /// The state that a word means, in any spelling: `In-Progress`, `cancelled`.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
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

    /// Its folder.
    #[must_use]
    pub fn folder(self) -> String {
        format!("{TASKS_FOLDER}/{self}")
    }

    /// Whether there is still something to do.
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

/// A task that can be read. Agents write them, so all texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The stem of its file's name; what the file says of its id does not count.
    pub id: String,
    /// Where it stands, by its folder.
    pub state: TaskState,
    /// Its file.
    pub path: String,
    /// Its title; else its first heading, else its id.
    pub title: String,
    /// Its tags, in order.
    pub tags: Vec<String>,
    /// Who is to do it, or is at it.
    pub persona: Option<String>,
    /// Who wrote it down.
    pub created_by: Option<String>,
    /// When, as it says.
    pub created_at: Option<String>,
    /// Which part of the repository it is about.
    pub target: Option<String>,
    /// What follows the frontmatter.
    pub body: String,
}

impl Task {
    /// For programs, without its body.
    #[must_use]
    pub fn json(&self) -> Value {
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

    /// Whether it has a tag, in any capitals.
    #[must_use]
    pub fn has_tag(&self, tag: &str) -> bool {
        let tag = tag.to_lowercase();
        self.tags.iter().any(|one| one.to_lowercase() == tag)
    }

    /// Whether it is for a persona, in any capitals.
    #[must_use]
    pub fn is_for(&self, persona: &str) -> bool {
        let persona = persona.to_lowercase();
        self.persona
            .as_ref()
            .is_some_and(|one| one.to_lowercase() == persona)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_known_in_any_spelling() {
        for state in TaskState::ALL {
            assert_eq!(TaskState::of(state.as_str()), Some(state));
        }
        assert_eq!(TaskState::of("In-Progress"), Some(TaskState::InProgress));
        assert_eq!(TaskState::of("cancelled"), Some(TaskState::Canceled));
        assert_eq!(TaskState::of("finished"), None);
        assert_eq!(TaskState::of(""), None);
    }
}
