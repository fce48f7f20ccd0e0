//! What a layer's session brings into the ledger.
//!
//! A session worked on a picture that may be old, and its files are only a proposal: each is checked against the head
//! that the commit builds on. What fits is taken, the rest is told; links, ids and moves between states are phileas'
//! own. The same change set imported again changes nothing. Keys and invisible characters are taken out of every file
//! before anything is looked at, as out of the words that phileas writes into comments.

mod clean;
mod decider;
mod desk;
mod innovator;
mod narrator;
mod observer;
mod planner;
mod screen;

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::diagnostic::Diagnostic;
use crate::model::{Mode, Tree};

use clean::cleaned;
use desk::Desk;

/// Who produced a change set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author<'a> {
    /// The narrator.
    Narrator,
    /// An observer, by its role.
    Observer(&'a str),
    /// The decider of the stream.
    Decider,
    /// The planner of one work item, by its path.
    Planner(&'a str),
    /// An innovator, by its role.
    Innovator(&'a str),
    /// An implementer: its work is a pull request, and nothing of it enters the ledger.
    Implementer,
    /// The integrator, likewise.
    Integrator,
}

impl Author<'_> {
    /// What it is called: `observers/taxonomy`.
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

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// It was written: the whole of it.
    Text(String),
    /// It was removed.
    Removed,
    /// It is there, and is no text that could be read: a link, a submodule, binary, too large.
    Other(Mode),
}

/// One file of a change set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The path, from the repository's root, as the session wrote it.
    pub path: String,
    /// What became of it.
    pub content: Content,
}

/// The commits that a narrator is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitRange<'a> {
    /// The commit before the first one.
    pub from: &'a str,
    /// The last one.
    pub to: &'a str,
}

/// A change set, and what it is held against.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The ledger at the head that the commit will build on.
    pub tree: &'a Tree,
    /// Who produced it.
    pub author: Author<'a>,
    /// The stream it was produced for; the flat layout's is [`super::FLAT_STREAM`].
    pub stream: &'a str,
    /// When the session was created: what it saw is as old as that.
    pub session_created: Timestamp,
    /// The ledger as the session was given it; its blob ids are enough. Where a work item is another one by now, nothing
    /// of it is written over. `None`: nobody knows any more, and every work item counts as another one by now.
    pub base: Option<&'a Tree>,
    /// The commits that the narrator was told of, among workstreams. The summary's cursor is made of them, whatever the
    /// agent wrote; `None` leaves the agent's.
    pub range: Option<CommitRange<'a>>,
    /// The issues that proposals became, by [`super::Publication::key`].
    pub published: &'a BTreeMap<String, u64>,
    /// The files, in any order.
    pub changes: &'a [Changed],
}

/// What is to be committed, and what is to be told.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Import {
    /// Files to write, and (without a text) to remove. Empty: there is nothing to commit.
    pub files: BTreeMap<String, Option<String>>,
    /// What was taken, a fragment each: `event a1b2c3`.
    pub taken: Vec<String>,
    /// What was not taken, and why. Errors concern files that were left out, warnings what was put right.
    pub found: Vec<Diagnostic>,
}

impl Import {
    /// What the commit is called: `import observers/taxonomy 2 events`; `None` when there is nothing to commit.
    #[must_use]
    pub fn subject(&self, author: &Author<'_>) -> Option<String> {
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

/// Imports a change set.
#[must_use]
pub fn import(request: &Request<'_>) -> Import {
    let (changes, cleaned) = cleaned(request.changes);
    let request = Request {
        changes: &changes,
        ..request.clone()
    };
    let mut import = import_clean(&request);
    import.found.extend(cleaned);
    import.found.sort();
    import
}

fn import_clean(request: &Request<'_>) -> Import {
    let mut desk = match Desk::open(request) {
        Ok(desk) => desk,
        Err(found) => {
            return Import {
                found,
                ..Import::default()
            };
        }
    };
    match request.author {
        Author::Narrator => narrator::take(&mut desk),
        Author::Observer(role) => observer::take(&mut desk, role),
        Author::Decider => decider::take(&mut desk),
        Author::Planner(item) => planner::take(&mut desk, item),
        Author::Innovator(role) => innovator::take(&mut desk, role),
        Author::Implementer | Author::Integrator => {}
    }
    desk.close()
}
