//! The open pull requests of Jules in lanes, in the order in which a reviewer settles most with least effort, each with
//! what settles it.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::review_facts::ReviewFacts;
use super::review_lane::LaneKind;
use crate::engine::input::pull::Checks;
use crate::engine::lookup::work_files::open_work;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::PULL_FILES_READ;
use crate::engine::output::report::Line;
use crate::model::{PersonaId, PullNumber};
use crate::work::title::without_marker;

/// The pull requests of a lane.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewLane {
    /// Which lane.
    pub kind: LaneKind,
    /// Its pull requests, oldest first.
    pub pulls: Vec<ReviewPull>,
}

/// An open pull request, as a reviewer sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewPull {
    /// Its number.
    pub number: PullNumber,
    /// Its title: untrusted text.
    pub title: String,
    /// Whose work it is, where the ledger knows.
    pub persona: Option<PersonaId>,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// How many files it changes, where that is known.
    pub files: Option<u64>,
    /// How many lines it adds and removes. Only with [`files`](Self::files).
    pub lines: (u64, u64),
    /// The result of its checks.
    pub checks: Checks,
    /// What else a reviewer should know, one fact each: sentences as in all views.
    pub remarks: Vec<String>,
    /// What settles it: a sentence as in all views, with commands and labels in backticks.
    pub settles: String,
}

/// The lanes that have pull requests, in order. `lines`: the lines of the newest report.
pub(crate) fn review_lanes(builder: &DecisionBuilder<'_>, lines: &[&Line]) -> Vec<ReviewLane> {
    let mut lanes: BTreeMap<LaneKind, Vec<ReviewPull>> = BTreeMap::new();
    for (number, (pull, entry)) in open_work(builder) {
        let facts = ReviewFacts::new(builder, pull, lines);
        let kind = facts.lane();
        lanes.entry(kind).or_default().push(ReviewPull {
            number,
            title: without_marker(&pull.title).to_owned(),
            persona: entry.map(|entry| entry.persona_id.clone()),
            opened_at: pull.created_at,
            files: facts.read.and_then(|read| read.files),
            lines: facts.read.map_or((0, 0), |read| (read.added, read.removed)),
            checks: pull.checks,
            remarks: facts.remarks(),
            settles: facts.settles(kind),
        });
    }
    let lanes = lanes.into_iter();
    lanes
        .map(|(kind, pulls)| ReviewLane { kind, pulls })
        .collect()
}

impl ReviewPull {
    /// Its files and lines in short; `None` where they are not known.
    #[must_use]
    pub fn size_text(&self) -> Option<String> {
        let files = match self.files? {
            1 => "1 file".to_owned(),
            files if files >= PULL_FILES_READ as u64 => format!("{files} files or more"),
            files => format!("{files} files"),
        };
        let (added, removed) = self.lines;
        Some(format!("{files}, +{added} -{removed}"))
    }

    /// What its checks say, in a word or two.
    #[must_use]
    pub fn checks_text(&self) -> &'static str {
        match self.checks {
            Checks::None => "none",
            Checks::Pending => "running",
            Checks::Passed => "passed",
            Checks::Failed => "failed",
        }
    }
}
