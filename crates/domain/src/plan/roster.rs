//! The roster: the roles of the layers, and the approval of work items.

use crate::layers::{DEFAULT_INNOVATORS, DEFAULT_OBSERVERS};

/// The layers with several roles.
pub const ROLE_LAYERS: [&str; 2] = ["observers", "innovators"];

/// The roles of the layers, from `.jlo/config.toml` or by default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roster {
    /// The observers, in the order in which they take their turns.
    pub observers: Vec<Member>,
    /// The innovators, likewise.
    pub innovators: Vec<Member>,
    /// The labels whose work items go to an implementer without a request. `None`: all of them.
    pub labels: Option<Vec<String>>,
    /// Who lets a work item through to an implementer.
    pub approval: Approval,
}

/// Who lets a work item through to an implementer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Approval {
    /// The decider approves it.
    #[default]
    Auto,
    /// A person with write access, by a label on the issue that the item is shown as.
    Human,
}

impl Approval {
    /// The words for them in `.jlo/config.toml`.
    pub const WORDS: [(&str, Self); 2] = [("auto", Self::Auto), ("human", Self::Human)];
}

/// A role on the roster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The role's id.
    pub role: String,
    /// Whether it works by itself.
    pub enabled: bool,
    /// Whether a role whose findings should not be public may work in a public repository.
    pub sensitive: bool,
}

impl Member {
    /// A role that works by itself.
    #[must_use]
    pub fn enabled(role: impl Into<String>) -> Self {
        Self {
            role: role.into(),
            enabled: true,
            sensitive: false,
        }
    }
}

impl Default for Roster {
    fn default() -> Self {
        let members = |roles: &[&str]| roles.iter().copied().map(Member::enabled).collect();
        Self {
            observers: members(&DEFAULT_OBSERVERS),
            innovators: members(&DEFAULT_INNOVATORS),
            labels: None,
            approval: Approval::default(),
        }
    }
}

impl Roster {
    /// The members of a layer, in the plan's spelling; a layer without roles has none.
    #[must_use]
    pub fn of(&self, layer: &str) -> &[Member] {
        match layer {
            "observers" => &self.observers,
            "innovators" => &self.innovators,
            _ => &[],
        }
    }

    /// The member of a role, in whichever layer.
    #[must_use]
    pub fn member(&self, layer: &str, role: &str) -> Option<&Member> {
        self.of(layer).iter().find(|member| member.role == role)
    }
}
