//! Finds merged pull requests that take back the change of a session's pull request.
//!
//! GitHub's button writes "Reverts OWNER/REPO#N" into the description. Any account can write that, so the changed lines
//! must be the inverse as well.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::work_outcome::change_entry;
use crate::engine::input::pull::{Pull, PullState};
use crate::engine::input::snapshot::Snapshot;
use crate::engine::lookup::work_files::{changed_files, entry_of};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{REVERTED_WITHIN, REVERTS_READ};
use crate::model::PullNumber;
use crate::state::Outcome;
use crate::work::similarity::is_change_of;
use crate::work::{Fingerprint, WorkFile};

/// Begins the line that GitHub writes.
const REVERTS: &str = "Reverts ";

/// A merged pull request that says that it reverts another one.
pub(crate) struct Revert<'a> {
    pub(crate) pull: &'a Pull,
    pub(crate) reverted: PullNumber,
}

/// Those that are not judged yet.
pub(crate) fn unjudged_reverts<'a>(builder: &DecisionBuilder<'a>) -> Vec<Revert<'a>> {
    let snapshot = builder.snapshot;
    let merged = snapshot
        .pulls
        .values()
        .filter(|pull| pull.state == PullState::Merged);
    let reverts = merged.filter_map(|pull| {
        let reverted = reverted_number(snapshot, &pull.body)?;
        let is_judged = builder.state.work.reverts.contains(&pull.number);
        let entry = entry_of(&builder.state, reverted).filter(|_| !is_judged)?;
        let is_merged = entry.outcome == Some(Outcome::Merged);
        let is_recent = is_within(entry.finished_at, pull.closed_at);
        (is_merged && is_recent).then_some(Revert { pull, reverted })
    });
    reverts.take(REVERTS_READ).collect()
}

fn is_within(merged_at: Option<Timestamp>, reverted_at: Option<Timestamp>) -> bool {
    let (Some(merged_at), Some(reverted_at)) = (merged_at, reverted_at) else {
        return false;
    };
    reverted_at.duration_since(merged_at) <= REVERTED_WITHIN
}

/// The pull request of this repository that a description says it reverts.
fn reverted_number(snapshot: &Snapshot, body: &str) -> Option<PullNumber> {
    let repository = snapshot.repository.name.to_string();
    body.split(REVERTS).skip(1).find_map(|rest| {
        let (name, rest) = rest.split_once('#')?;
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        name.eq_ignore_ascii_case(&repository).then_some(())?;
        digits.parse().ok().map(PullNumber)
    })
}

/// Judges those whose files are read. Requests what else is needed. Returns whether a record has changed. `due`: pull
/// requests whose records are to be written.
pub(crate) fn judge_reverts(
    builder: &mut DecisionBuilder<'_>,
    hot: &mut WorkFile,
    reverts: &[Revert<'_>],
    due: &BTreeSet<PullNumber>,
    is_protected: impl Fn(&str) -> bool,
) -> bool {
    let snapshot = builder.snapshot;
    let mut is_changed = false;
    for revert in reverts {
        let number = revert.pull.number;
        let Some(files) = snapshot.pull_files.get(&number) else {
            builder.request_pull_files(number);
            continue;
        };
        let Some(original) = snapshot.pulls.get(&revert.reverted) else {
            match snapshot.missing_pulls.contains(&revert.reverted) {
                true => drop(builder.state.work.reverts.insert(number)),
                false => drop(builder.reads.pulls.insert(revert.reverted)),
            }
            continue;
        };
        let record = hot.get(revert.reverted.0).cloned();
        if record.is_none() && due.contains(&revert.reverted) {
            // Its record is written first.
            continue;
        }
        // One that GitHub no longer shows among the recent ones needs no memory.
        let judged = &mut builder.state.work.reverts;
        judged.retain(|judged| snapshot.pulls.contains_key(judged));
        judged.insert(number);
        builder.add_headline(format!("revert by pull request #{number}"), None);
        let Some(mut record) = record.filter(|_| original.base == revert.pull.base) else {
            continue;
        };
        let files = changed_files(files.as_deref().unwrap_or_default());
        let inverse = Fingerprint::inverse_sketch(&files, &is_protected);
        if is_change_of(&record.fingerprint, &inverse) {
            record.outcome = Some(Outcome::Reverted);
            hot.insert(record);
            change_entry(builder, revert.reverted, Outcome::Reverted);
            is_changed = true;
        }
    }
    is_changed
}
