//! A persona as its prompt file defines it.

use crate::model::PersonaId;
use crate::plan::overrides::Overrides;
use crate::plan::policy::{Automation, Branch, PlanApproval, Priority};

/// A role that Jules plays.
#[derive(Debug, Clone, PartialEq)]
pub struct Persona {
    /// Its id: the frontmatter's, which must be the folder's name.
    pub id: PersonaId,
    /// The emoji before the id in every title; may be empty.
    pub emoji: String,
    /// What it is for; may be empty.
    pub description: String,
    /// Path of its prompt in the repository.
    pub path: String,
    /// The template below the frontmatter.
    pub body: String,
    /// The line of the file on which the template begins, from 1.
    pub body_line: u32,
    /// `false`: tracks and schedules skip it, and only requests start it.
    pub scheduled: bool,
    /// A title template of its own, without the marker.
    pub title: Option<String>,
    /// Overrides the plan's defaults; a track, a schedule or a step overrides it. Policies in the plan contain it.
    pub plan_approval: Option<PlanApproval>,
    /// Overrides the plan's defaults; a track, a schedule or a step overrides it. Policies in the plan contain it.
    pub automation: Option<Automation>,
    /// Overrides the plan's defaults; a track, a schedule or a step overrides it. Policies in the plan contain it.
    pub branch: Option<Branch>,
    /// Overrides the plan's defaults; a track, a schedule or a step overrides it. Policies in the plan contain it.
    pub priority: Option<Priority>,
    /// Whether a public ledger would publish its findings. `None`: the frontmatter does not set it.
    pub sensitive: Option<bool>,
    /// Patterns of the files that it works on; empty: it names none.
    pub paths: Vec<String>,
    /// All keys of the frontmatter, for the template.
    pub frontmatter: serde_json::Map<String, serde_json::Value>,
}

impl Persona {
    pub(in crate::plan) fn overrides(&self) -> Overrides {
        Overrides {
            plan_approval: self.plan_approval,
            automation: self.automation,
            branch: self.branch.clone(),
            priority: self.priority,
            ..Overrides::default()
        }
    }
}
