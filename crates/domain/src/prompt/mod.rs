//! What exactly is said to Jules.
//!
//! A persona's prompt is assembled from the files of **one commit of the default branch** and from facts about the
//! repository. Nothing else can be reached from a template.
//!
//! **Templates.** A prompt whose name ends in `.j2` is a Jinja2 template, with the settings of seed 004's system:
//! undefined names are errors, tags take their line with them (`trim_blocks`, `lstrip_blocks`), nothing is escaped.
//! A plain `prompt.md` is not a template: it is said word for word.
//!
//! **Where a name is looked for** (`{% extends %}`, `{% include %}`, `{% import %}`): `.jules/…` and `.jlo/…` from the
//! repository's root, `./…` beside the template that names it, anything else in the persona's own folder, then in
//! `.jules/personas`, `.jules`, `.jules/templates` and `.jules/jules/templates`. The first that exists is taken.
//!
//! **What a template can name**: `id emoji description`, every key of the frontmatter, `owner repo repo_full track`,
//! `open_prs open_prs_text journal_entries sprint sprint_context_text tasks_text notes request_text`, every file of a `partials` folder by
//! its name and every file of a `blocks` folder by its name and `_block`, each rendered when it is first used;
//! `empty_queue_celebration` is another name of `celebration`. `password` is derived from the id alone (a UUID of
//! version 5) and therefore known to everybody: it exists because old templates name it, and protects nothing.
//! `include_required("path")` and `include_optional("path")` put a file's text in as it stands.
//!
//! **What is added.** A text that uses neither inheritance nor blocks gets the sections that it did not use itself:
//! the journal entries, the sprint's context and its tasks. Seed 004's system added the sprint's context alone, and left a
//! persona of that kind without its memory. Notes on earlier turns, and what a person asked for it on, are added wherever they were not used.
//!
//! **What is bounded**: see the constants below. The engine offers no way to bound the memory of a text that a template
//! puts together without printing it (`{% set x = x ~ x %}` again and again), nor the time of one filter or comparison. So
//! the program renders templates of repositories in a child process with limits of its own; see [`RenderRequest`]. A
//! rendering runs on a stack of its own, because the template engine follows nesting by recursion.
//!
//! **Who is trusted.** Templates, frontmatter and partials were merged by people who may write to the default branch.
//! Everything that others or agents wrote (titles of pull requests, journals, sprint papers, tasks, exchange files)
//! is cleaned, stands inside a fence that nobody could foresee, and is never parsed as a template.

mod assembly;
mod checks;
mod context;
mod cycler;
mod environment;
mod failure;
mod fence;
mod files;
mod jinja;
mod journals;
mod limits;
mod marker;
mod needed;
mod partials;
mod percent;
mod pulls;
mod python;
mod render;
mod rendering;
mod reviews;
mod secrets;
mod sections;
mod sprint;
mod stack;
mod subject;
mod tasks;
#[cfg(test)]
mod tests;
mod title;
mod untrusted;
mod validate;
mod wrap;

pub use assembly::{
    Assembled, Assembly, Attached, Include, Origin, RULES_PATH, Seed, Skipped, assemble,
    canonical_layer, read_orders,
};
pub use checks::{CheckReport, failed_checks};
pub use files::{SOURCE_FOLDERS, is_feedback_of_role, is_source};
pub use journals::{journals_to_read, shown_journal};
pub use limits::*;
pub use marker::{is_sent, sha256, title_with_marker, with_marker};
pub use needed::folders_to_read;
pub use render::render;
pub use rendering::{
    InProcess, LayerPrompt, PersonaPrompt, RenderAnswer, RenderPrompts, RenderRequest, SourceFiles,
    assemble_by, is_plain, render_by,
};
pub use reviews::{ReviewRemark, ReviewSaying, review_remarks};
pub use secrets::hide as without_secrets;
pub use untrusted::{clean, clean_line};
pub use validate::{unread_sources, validate};

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Diagnostic;
use crate::model::{PullNumber, RepositoryName, TrackName, Tree};
use crate::plan::Persona;

/// Everything that a prompt is made from.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The repository it works on.
    pub repository: &'a RepositoryName,
    /// Who.
    pub persona: &'a Persona,
    /// The files of the default branch at the plan's commit, with the texts of [`journals_to_read`] and of
    /// [`folders_to_read`]. Where it was read in parts, [`RenderError::Unread`] tells what else it must hold.
    pub tree: &'a Tree,
    /// The track of its turn.
    pub track: &'a TrackName,
    /// The repository's open pull requests.
    pub open_pulls: &'a [OpenPull],
    /// The sprint, in repositories that have one.
    pub sprint: Option<u64>,
    /// Randomness that nobody could know when they wrote what the prompt quotes.
    pub entropy: &'a [u8; 32],
    /// Findings on the persona's earlier turns, in our own words.
    pub notes: &'a [String],
    /// The issue or pull request that a person with write access asked for it on.
    pub subject: Option<Subject<'a>>,
}

/// An issue or a pull request, as a prompt shows it. All its texts are untrusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject<'a> {
    /// Its number.
    pub number: u64,
    /// Its title.
    pub title: &'a str,
    /// Its description.
    pub body: &'a str,
    /// The branch of a pull request; `None` for an issue.
    pub head: Option<&'a str>,
}

/// An open pull request, as a prompt shows it. All its texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenPull {
    /// Its number.
    pub number: PullNumber,
    /// Its title.
    pub title: String,
    /// The login of who opened it.
    pub author: String,
    /// Its branch.
    pub head: String,
    /// Whether it is a draft.
    pub draft: bool,
}

/// Why there is no prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RenderError {
    /// These files and folders of the default branch must be read first.
    Unread(BTreeSet<String>),
    /// What is wrong with the templates.
    Invalid(Vec<Diagnostic>),
    /// It was not rendered yet: the decision has asked for it.
    Unrendered,
    /// The machine could not render it, and why. The templates are not to blame.
    Unavailable(String),
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let diagnostics = self.clone().into_diagnostics();
        let lines: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl From<Diagnostic> for RenderError {
    fn from(wrong: Diagnostic) -> Self {
        Self::Invalid(vec![wrong])
    }
}

impl RenderError {
    /// What is wrong, as a person is told of it.
    #[must_use]
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        match self {
            Self::Invalid(diagnostics) => diagnostics,
            Self::Unread(paths) => paths
                .into_iter()
                .map(|path| {
                    Diagnostic::error(path, "it was not read, and a prompt is made from it")
                        .mend("run this again")
                })
                .collect(),
            Self::Unrendered => vec![
                Diagnostic::error(SOURCE_FOLDERS[0], "the prompt was not rendered yet")
                    .mend("run this again"),
            ],
            Self::Unavailable(why) => vec![
                Diagnostic::error(
                    SOURCE_FOLDERS[0],
                    format!("this machine could not render the prompt: {why}"),
                )
                .mend("give it more memory or processes, and run this again"),
            ],
        }
    }
}

/// A prompt without its marker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendered {
    /// The session's title, without the marker: one line, with the persona's emoji and id.
    pub title: String,
    /// The prompt, without the marker line.
    pub prompt: String,
    /// Paths of the files whose text went into it beside the persona's own, in byte order.
    pub included: Vec<String>,
}
