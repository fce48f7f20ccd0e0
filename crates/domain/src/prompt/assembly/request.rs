//! Defines the request for a layer's prompt, and the result.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::Tree;

/// The path of the rules for all layers.
pub const RULES_PATH: &str = ".jules/JULES.md";

/// Everything that a layer's prompt is made from.
#[derive(Debug, Clone, Copy)]
pub struct Assembly<'a> {
    /// The layer, in any spelling: `observers`, `observer`.
    pub layer: &'a str,
    /// The files of the default branch: templates, contracts, tasks, schemas, roles.
    pub tree: &'a Tree,
    /// The files of the ledger: the exchange and the roles' memories.
    pub ledger: &'a Tree,
    /// The variables of the template, such as `role` or `run_mode`.
    pub variables: &'a BTreeMap<String, String>,
    /// The task, a file of the layer's folder `tasks`. Its text is the variable `task`, its name `task_name`.
    pub task: Option<&'a str>,
    /// Untrusted texts that are appended to the template's sections, each fenced.
    pub attached: &'a [Attached<'a>],
    /// A text that is unique to this prompt, such as the turn's id, so that no two prompts of one tick share a fence.
    pub turn: &'a str,
    /// The current time, for new memories.
    pub now: Timestamp,
    /// Randomness that was unknown when the quoted texts were written.
    pub entropy: &'a [u8; 32],
}

/// An untrusted text that belongs to one turn, such as its requirement.
#[derive(Debug, Clone, Copy)]
pub struct Attached<'a> {
    /// Its heading.
    pub title: &'a str,
    /// What the text is, for the fence: `the file .jules/exchange/requirements/x.yml`.
    pub what: &'a str,
    /// The text.
    pub text: &'a str,
}

/// A layer's prompt without its marker, and its sources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assembled {
    /// The prompt.
    pub prompt: String,
    /// The included files, in order, each once.
    pub included: Vec<Include>,
    /// Requested files that were left out, in order.
    pub skipped: Vec<Skipped>,
    /// Memories to write to the ledger, because they were requested and do not exist yet.
    pub seeds: Vec<Seed>,
}

/// An included file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Include {
    /// From the repository's root.
    pub path: String,
    /// The source of the text.
    pub from: Origin,
}

/// The source of an [`Include`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Origin {
    /// The file itself, on the default branch or on the ledger.
    Repository,
    /// phileas' built-in file, because the repository has none.
    BuiltIn,
    /// The schema at this path, because the file does not exist yet.
    Schema(String),
    /// The file's initial text, because it neither exists nor has a schema.
    Seed,
}

/// A file that was left out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Skipped {
    /// From the repository's root.
    pub path: String,
    /// The reason.
    pub reason: String,
}

/// A memory to write. Rendering itself writes nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Seed {
    /// The path.
    pub to: String,
    /// The text, from [`crate::exchange::seed_text`]. It passes the exchange's checks.
    pub text: String,
    /// Whether the template required it.
    pub required: bool,
}

/// What the functions of one template record.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) included: Vec<Include>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) seeds: Vec<Seed>,
}
