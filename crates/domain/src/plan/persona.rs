//! Personas: `.jules/personas/<id>/prompt.md[.j2]` with YAML frontmatter.

mod folders;
mod keys;

use std::collections::BTreeMap;

use super::overrides::Overrides;
use super::policy::{Automation, Branch, PlanApproval, Policy, Priority};
use super::suggest::closest;
use crate::Diagnostic;
use crate::model::{PersonaId, Tree};

pub use folders::{MAX_ID_BYTES, MAX_PERSONAS, MAX_PROMPT_BYTES, PROMPT_FILES};
pub(super) use folders::{folder_of, folder_switched_off, is_id, is_prompt_switched_off};

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
    /// Overrides the plan's defaults; a track, a schedule or a step overrides it. Policies in the plan contain it.
    pub plan_approval: Option<PlanApproval>,
    /// Overrides the plan's defaults; a track, a schedule or a step overrides it. Policies in the plan contain it.
    pub automation: Option<Automation>,
    /// Overrides the plan's defaults; a track, a schedule or a step overrides it. Policies in the plan contain it.
    pub branch: Option<Branch>,
    /// Overrides the plan's defaults; a track, a schedule or a step overrides it. Policies in the plan contain it.
    pub priority: Option<Priority>,
    /// Its findings would be published by a public ledger: on public repositories it runs only when it says
    /// `sensitive: true` itself. `None`: it says nothing.
    pub sensitive: Option<bool>,
    /// All keys of the frontmatter, for the template.
    pub frontmatter: serde_json::Map<String, serde_json::Value>,
}

impl Persona {
    /// What applies to a turn of this persona outside tracks and schedules: the plan's defaults with what its
    /// frontmatter overrides.
    #[must_use]
    pub fn policy(&self, defaults: &Policy) -> Policy {
        self.overrides().over(defaults)
    }

    pub(super) fn overrides(&self) -> Overrides {
        Overrides {
            plan_approval: self.plan_approval,
            automation: self.automation,
            branch: self.branch.clone(),
            priority: self.priority,
            ..Overrides::default()
        }
    }
}

/// Reads all personas of a commit, and what is wrong with the others.
///
/// `prompt.md.j2` counts before `prompt.md`. Folders that begin with `_` or `.`, `blocks` and `partials` hold
/// something else. A persona with a mistake is left out, except where the mistake is only a warning.
#[must_use]
pub fn read_personas(tree: &Tree) -> (BTreeMap<PersonaId, Persona>, Vec<Diagnostic>) {
    let (prompts, mut diagnostics) = folders::prompts(tree);
    let mut personas = BTreeMap::new();
    for prompt in prompts {
        let (persona, found) = keys::read(prompt.id, prompt.path, prompt.text);
        diagnostics.extend(found);
        if let Some(persona) = persona {
            personas.insert(persona.id.clone(), persona);
        }
    }
    (personas, diagnostics)
}

/// How to mend a word that is none of `known`.
fn word_mend(word: &str, known: &[&str]) -> String {
    let all = super::suggest::either_of(known.iter().copied());
    match closest(word, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`? it is one of {all}"),
        None => format!("write {all}"),
    }
}

#[cfg(test)]
mod tests;
