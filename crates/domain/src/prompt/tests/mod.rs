//! Tests the guarantees of the module as a whole.

mod failure;
mod golden;
mod injection;
mod property;
mod rules;

use super::*;
use crate::Diagnostic;
use crate::model::{PersonaId, PullNumber, RepositoryName, TrackName, Tree};
use crate::plan::Persona;

/// A persona with an emoji, and its prompt as a template below five lines of frontmatter.
pub(super) fn persona(id: &str, body: &str) -> Persona {
    Persona {
        id: PersonaId::from(id),
        emoji: "🔧".to_owned(),
        description: "tidies up".to_owned(),
        path: format!(".jules/personas/{id}/prompt.md.j2"),
        body: body.to_owned(),
        body_line: 6,
        scheduled: true,
        title: None,
        plan_approval: None,
        automation: None,
        branch: None,
        priority: None,
        sensitive: None,
        paths: Vec::new(),
        frontmatter: serde_json::Map::new(),
    }
}

/// The parts of a request that a test may change.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub(super) persona: Persona,
    pub(super) tree: Tree,
    pub(super) pulls: Vec<OpenPull>,
    pub(super) sprint: Option<u64>,
    pub(super) notes: Vec<String>,
    pub(super) work: Vec<EarlierWork>,
}

impl Given {
    pub(super) fn body(body: &str) -> Self {
        Self {
            persona: persona("refactor", body),
            tree: Tree::new(),
            pulls: Vec::new(),
            sprint: None,
            notes: Vec::new(),
            work: Vec::new(),
        }
    }

    pub(super) fn file(mut self, path: &str, text: &str) -> Self {
        self.tree.insert_text(path, text);
        self
    }

    pub(super) fn pull(mut self, number: u64, title: &str) -> Self {
        self.pulls.push(OpenPull {
            number: PullNumber(number),
            title: title.to_owned(),
            author: "octocat".to_owned(),
            head: "feature".to_owned(),
            draft: number.is_multiple_of(2),
        });
        self
    }

    pub(super) fn render(&self) -> Result<Rendered, Vec<Diagnostic>> {
        render_prompt(&Request {
            repository: &RepositoryName {
                owner: "acme".to_owned(),
                name: "widget".to_owned(),
            },
            persona: &self.persona,
            tree: &self.tree,
            track: &TrackName::from("default"),
            open_pulls: &self.pulls,
            sprint: self.sprint,
            entropy: &[7; 32],
            notes: &self.notes,
            work: &self.work,
            subject: None,
        })
        .map_err(RenderError::into_diagnostics)
    }

    pub(super) fn prompt(&self) -> String {
        self.render().expect("the templates are right").prompt
    }

    /// The only mistake, as people read it.
    pub(super) fn mistake(&self) -> String {
        let said = self.render().expect_err("the templates are wrong");
        assert_eq!(said.len(), 1, "{said:?}");
        said[0].to_string()
    }
}
