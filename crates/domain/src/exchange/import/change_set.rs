//! Defines the change set of a layer's session, and the result of its import.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::diagnostic::Diagnostic;
use crate::model::{Mode, Tree};

/// The layer and role that produced a change set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author<'a> {
    /// The narrator.
    Narrator,
    /// An observer, with its role.
    Observer(&'a str),
    /// The decider of the stream.
    Decider,
    /// The planner of one work item, with its path.
    Planner(&'a str),
    /// An innovator, with its role.
    Innovator(&'a str),
    /// An implementer. Its work is a pull request, and nothing of it enters the ledger.
    Implementer,
    /// The integrator. Its work is a pull request, too.
    Integrator,
}

impl Author<'_> {
    /// Its name: `observers/taxonomy`.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Narrator => "narrator".to_owned(),
            Self::Observer(role) => format!("observers/{role}"),
            Self::Decider => "decider".to_owned(),
            Self::Planner(_) => "planner".to_owned(),
            Self::Innovator(role) => format!("innovators/{role}"),
            Self::Implementer => "implementer".to_owned(),
            Self::Integrator => "integrator".to_owned(),
        }
    }
}

/// What happened to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileContent {
    /// It was written, with this text.
    Text(String),
    /// It was removed.
    Removed,
    /// It exists, but is no readable text: a link, a submodule, binary, or too large.
    Other(Mode),
}

/// One file of a change set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path from the repository's root, as the session wrote it.
    pub path: String,
    /// What happened to it.
    pub content: FileContent,
}

/// The commits that a narrator summarizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitRange<'a> {
    /// The commit before the first one.
    pub from: &'a str,
    /// The last one.
    pub to: &'a str,
}

/// A change set, and the ledger that it is checked against.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The ledger at the head on which the commit builds.
    pub tree: &'a Tree,
    /// The layer and role that produced it.
    pub author: Author<'a>,
    /// The stream that it was produced for; in the flat layout this is [`FLAT_STREAM`](crate::exchange::FLAT_STREAM).
    pub stream: &'a str,
    /// When the session was created. Its view of the ledger is that old.
    pub session_created: Timestamp,
    /// The ledger that the session was given; blob ids suffice. A work item that has changed since is not overwritten.
    /// `None` if it is unknown: then every work item counts as changed.
    pub base: Option<&'a Tree>,
    /// The commits that the narrator was given, in the workstreams layout. The summary's cursor is set to them,
    /// whatever the agent wrote. `None` keeps the agent's.
    pub range: Option<CommitRange<'a>>,
    /// The issues of published proposals, by [`Publication::key`](crate::exchange::Publication::key).
    pub published: &'a BTreeMap<String, u64>,
    /// The files, in any order.
    pub changes: &'a [ChangedFile],
}

/// The files to commit, and the diagnostics to report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Import {
    /// Files to write and, without a text, to remove. Empty if there is nothing to commit.
    pub files: BTreeMap<String, Option<String>>,
    /// What was imported, one fragment each: `event a1b2c3`.
    pub taken: Vec<String>,
    /// What was not imported, and why. Errors are files that were left out; warnings are values that were corrected.
    pub diagnostics: Vec<Diagnostic>,
}

impl Import {
    /// The commit's subject: `import observers/taxonomy 2 events`; `None` if there is nothing to commit.
    #[must_use]
    pub fn commit_subject(&self, author: &Author<'_>) -> Option<String> {
        if self.files.is_empty() {
            return None;
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for one in &self.taken {
            let kind = one.split(' ').next().unwrap_or_default();
            *counts.entry(kind).or_default() += 1;
        }
        let counts: Vec<String> = counts
            .into_iter()
            .map(|(kind, count)| {
                let plural = if count == 1 || kind == "changes" || kind == "feedback" {
                    ""
                } else {
                    "s"
                };
                format!("{count} {kind}{plural}")
            })
            .collect();
        Some(format!("import {} {}", author.name(), counts.join(", ")))
    }
}
