//! Personas: `.jules/personas/<id>/prompt.md[.j2]` with YAML frontmatter.

use super::policy::{Automation, Branch, PlanApproval, Priority};
use crate::model::PersonaId;

/// A role that Jules is asked to play.
#[derive(Debug, Clone, PartialEq)]
pub struct Persona {
    /// Its id: the frontmatter's, which must be the folder's name.
    pub id: PersonaId,
    /// Stands before the id in every title; may be empty.
    pub emoji: String,
    /// What it is for; may be empty.
    pub description: String,
    /// Path of its prompt in the repository.
    pub path: String,
    /// The template below the frontmatter.
    pub body: String,
    /// The line of the file on which the template begins, from 1.
    pub body_line: u32,
    /// `false`: it takes no part in cycles and schedules, and can only be asked for.
    pub scheduled: bool,
    /// A title template of its own, without the marker.
    pub title: Option<String>,
    /// Overrides the policy of track and defaults, not of a step.
    pub plan_approval: Option<PlanApproval>,
    /// Overrides the policy of track and defaults, not of a step.
    pub automation: Option<Automation>,
    /// Overrides the policy of track and defaults, not of a step.
    pub branch: Option<Branch>,
    /// Overrides the policy of track and defaults, not of a step.
    pub priority: Option<Priority>,
    /// Its findings would be published by a public ledger: on public repositories it runs only when it says
    /// `sensitive: true` itself. `None`: it says nothing.
    pub sensitive: Option<bool>,
    /// All keys of the frontmatter, for the template.
    pub frontmatter: serde_json::Map<String, serde_json::Value>,
}
