//! Records what pull requests are about, so that no session does the same again.
//!
//! A record is made when phileas first sees a pull request of Jules, and completed when that is merged or closed. Both
//! read its files from GitHub, so that records made again are the same.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::exhaustion::note_rest;
use super::reverts::{Revert, judge_reverts, unjudged_reverts};
use super::work_facts::{note_facts, outdated_facts, renew_twins};
use super::work_outcome::{mark_entry, record_refusal, refine_outcome};
use super::work_verdict::judge_work;
use crate::engine::input::pull::{Pull, PullFile, PullState};
use crate::engine::input::snapshot::Ledger;
use crate::engine::lookup::policy::only_observes;
use crate::engine::lookup::protected_paths::is_protected_by;
use crate::engine::lookup::pull_owner::pull_owners;
use crate::engine::lookup::work_files::{
    changed_files, entry_of, hot_records, open_work, work_file,
};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{PULLS_FOLLOWED, WORK_AT_ONCE};
use crate::model::PullNumber;
use crate::plan::{NoveltyMode, Plan};
use crate::state::{Outcome, State};
use crate::work::files::LEAVING_AT_ONCE;
use crate::work::{
    Fingerprint, HOT_PATH, Refusal, RefusalReason, WorkFile, WorkRecord, segment_path,
};

/// A pull request whose record is written now.
enum Due<'a> {
    /// It is open or ended, with its files where GitHub lists them.
    Pull(&'a Pull, Option<&'a [PullFile]>),
    /// GitHub does not show it any more, or it is not from this repository.
    Gone(PullNumber),
}

/// Makes and completes the records of pull requests.
pub(crate) fn record_work(builder: &mut DecisionBuilder<'_>) {
    let is_off = builder.snapshot.plan.novelty.mode == NoveltyMode::Off;
    // Without a ledger no session of phileas has run, and an observing tick writes nothing.
    let has_ledger = matches!(builder.snapshot.ledger, Ledger::Present { .. });
    if is_off || !has_ledger || only_observes(builder.snapshot).is_some() {
        return;
    }
    // A tick that starts a session takes no more requests than that needs; a later one records.
    if builder.starts_session() || is_starting(builder) || !builder.reads.is_empty() {
        let settled = settled_now(builder);
        builder.state.work.open.extend(settled);
        return;
    }
    let ended = ended_pulls(builder);
    let mut numbers: BTreeSet<PullNumber> =
        ended.union(&unrecorded_pulls(builder)).copied().collect();
    let outdated = outdated_facts(builder);
    numbers.extend(&outdated);
    let reverts = unjudged_reverts(builder);
    if numbers.is_empty() && reverts.is_empty() {
        return;
    }
    // The files of pull requests would be read in vain while the records cannot be read.
    let written = match hot_records(builder) {
        Some(hot) => record_pulls(builder, (*hot).clone(), &numbers, &outdated, &reverts),
        None => BTreeSet::new(),
    };
    // Their end is visible only now, so it is remembered until it can be recorded.
    builder
        .state
        .work
        .open
        .extend(ended.difference(&written).copied());
}

/// Records those of these pull requests that were read, and returns the numbers of the records that are complete.
/// `outdated`: those that are judged already, and only have new commits.
fn record_pulls(
    builder: &mut DecisionBuilder<'_>,
    mut hot: WorkFile,
    numbers: &BTreeSet<PullNumber>,
    outdated: &BTreeSet<PullNumber>,
    reverts: &[Revert<'_>],
) -> BTreeSet<PullNumber> {
    // A rebuilt state does not know them, nor what a person put back with an earlier version of the file.
    let open = hot.records().filter(|record| record.is_open());
    let open = open.map(|record| PullNumber(record.pr));
    // Those that are due are known once they are judged.
    let open = open.filter(|number| !numbers.contains(number));
    builder.state.work.open.extend(open);
    let due = read_due(builder, numbers);
    let is_due = !due.is_empty();
    let written = write_records(builder, &mut hot, due, outdated);
    let is_protected = is_protected_by(&builder.snapshot.plan);
    let is_reverted = judge_reverts(builder, &mut hot, reverts, numbers, is_protected);
    if !is_due && !is_reverted {
        return written;
    }
    let mut files = leave_hot_file(builder, &mut hot);
    files.insert(HOT_PATH.to_owned(), Some(hot.text()));
    builder.state.work.remembered = hot.len() as u64;
    builder.write_files(files);
    written
}

/// Whether an earlier round of this tick announced a session.
fn is_starting(builder: &DecisionBuilder<'_>) -> bool {
    let Ledger::Present { state, .. } = &builder.snapshot.ledger else {
        return false;
    };
    let mut turns = state.tracks.values().flat_map(|track| track.turns.values());
    turns.any(|turn| turn.intent.is_some() && turn.session_id.is_none())
}

/// Open pull requests of Jules without a record.
fn unrecorded_pulls(builder: &DecisionBuilder<'_>) -> BTreeSet<PullNumber> {
    let known = &builder.state.work.open;
    let open = open_work(builder).into_keys();
    open.filter(|number| !known.contains(number)).collect()
}

/// Pull requests that were merged or closed and whose record is not complete.
fn ended_pulls(builder: &mut DecisionBuilder<'_>) -> BTreeSet<PullNumber> {
    let snapshot = builder.snapshot;
    let mut ended = settled_now(builder);
    let mut unread = Vec::new();
    // The end of a session's pull request is recorded together with its turn's outcome.
    let followed = pull_owners(&builder.state);
    let open = builder.state.work.open.iter();
    let work = &builder.state.work;
    // A refusal, or its withdrawal, goes into the record of a closed pull request.
    let changed = work.refused.keys().chain(&work.forgotten);
    let unsettled = open.chain(changed);
    for number in unsettled.filter(|number| !followed.contains_key(number)) {
        match snapshot.pulls.get(number) {
            Some(pull) if pull.state == PullState::Open => {}
            Some(_) => {
                ended.insert(*number);
            }
            None if snapshot.missing_pulls.contains(number) => {
                ended.insert(*number);
            }
            None => unread.push(*number),
        }
    }
    builder
        .reads
        .pulls
        .extend(unread.into_iter().take(PULLS_FOLLOWED));
    ended
}

/// Pull requests of entries that this decision has settled.
fn settled_now(builder: &DecisionBuilder<'_>) -> BTreeSet<PullNumber> {
    let Ledger::Present { state: before, .. } = &builder.snapshot.ledger else {
        return BTreeSet::new();
    };
    let turns = before
        .tracks
        .values()
        .flat_map(|track| track.turns.values());
    let live = turns.filter_map(|turn| turn.history_key);
    let open = before.history.open_entries().map(|(key, _)| *key);
    let pulls = builder.snapshot.pulls.keys();
    let rejected = pulls.flat_map(|number| before.history.rejected_entries(*number));
    let keys = live.chain(open).chain(rejected.map(|(key, _)| *key));
    let settled = keys.filter_map(|key| {
        let entry = builder.state.history.get(&key)?;
        let is_new = before.history.get(&key)?.outcome != entry.outcome;
        let is_settled = matches!(entry.outcome, Some(Outcome::Merged | Outcome::Rejected));
        entry.pr_number.filter(|_| is_new && is_settled)
    });
    settled.collect()
}

/// Those that were read; requests the others.
fn read_due<'a>(builder: &mut DecisionBuilder<'a>, numbers: &BTreeSet<PullNumber>) -> Vec<Due<'a>> {
    let snapshot = builder.snapshot;
    let mut due = Vec::new();
    for number in numbers.iter().take(WORK_AT_ONCE) {
        let Some(pull) = snapshot.pulls.get(number) else {
            match snapshot.missing_pulls.contains(number) {
                true => due.push(Due::Gone(*number)),
                false => {
                    builder.reads.pulls.insert(*number);
                }
            }
            continue;
        };
        if !pull.same_repository {
            due.push(Due::Gone(*number));
            continue;
        }
        // What people did on it is figured once it has ended.
        if pull.state != PullState::Open && !snapshot.pull_activity.contains_key(number) {
            builder.reads.pull_activity.insert(*number);
            continue;
        }
        match snapshot.pull_files.get(number) {
            Some(files) => due.push(Due::Pull(pull, files.as_deref())),
            None => {
                builder.request_pull_files(*number);
            }
        }
    }
    due
}

/// Writes the records, and returns the numbers of those that are complete.
fn write_records(
    builder: &mut DecisionBuilder<'_>,
    hot: &mut WorkFile,
    due: Vec<Due<'_>>,
    outdated: &BTreeSet<PullNumber>,
) -> BTreeSet<PullNumber> {
    let now = builder.now();
    let mut complete = BTreeSet::new();
    for one in due {
        let (number, record) = match one {
            Due::Pull(pull, files) => {
                let earlier = hot.get(pull.number.0);
                let source = RecordSource {
                    plan: &builder.snapshot.plan,
                    state: &builder.state,
                    now,
                };
                let mut record = record_of(&source, pull, files.unwrap_or_default(), earlier);
                if record.is_open() {
                    if !outdated.contains(&pull.number) {
                        judge_work(builder, pull, files, &record, hot);
                    }
                    note_facts(builder, pull, files, &record, hot);
                } else {
                    refine_outcome(builder, &mut record, files, hot);
                    record_refusal(builder, &record);
                    mark_entry(builder, pull);
                    note_rest(builder, &record, hot);
                }
                (pull.number, Some(record))
            }
            Due::Gone(number) => (
                number,
                hot.get(number.0).map(|known| gone_record(known, now)),
            ),
        };
        let is_open = record.as_ref().is_some_and(WorkRecord::is_open);
        match is_open {
            true => builder.state.work.open.insert(number),
            false => {
                complete.insert(number);
                builder.state.work.refused.remove(&number);
                builder.state.work.forgotten.remove(&number);
                builder.state.work.marks.remove(&number);
                builder.state.work.facts.remove(&number);
                builder.state.work.open.remove(&number)
            }
        };
        if let Some(record) = record {
            hot.insert(record);
        }
    }
    renew_twins(builder, &complete, hot);
    complete
}

fn gone_record(known: &WorkRecord, now: Timestamp) -> WorkRecord {
    WorkRecord {
        closed_at: Some(now),
        outcome: Some(Outcome::Rejected),
        ..known.clone()
    }
}

/// What a record says beyond GitHub's facts of its pull request.
pub(super) struct RecordSource<'a> {
    pub(super) plan: &'a Plan,
    pub(super) state: &'a State,
    pub(super) now: Timestamp,
}

/// The record of a pull request as it is now.
pub(super) fn record_of(
    source: &RecordSource<'_>,
    pull: &Pull,
    files: &[PullFile],
    earlier: Option<&WorkRecord>,
) -> WorkRecord {
    let is_protected = is_protected_by(source.plan);
    let entry = entry_of(source.state, pull.number);
    // The history of long ago lies in archives.
    let settled = entry.and_then(|entry| entry.outcome.clone().filter(Outcome::is_final));
    let settled = settled.or_else(|| earlier?.outcome.clone());
    let (outcome, closed_at) = match pull.state {
        PullState::Open => (None, None),
        PullState::Merged => {
            let is_reverted = settled == Some(Outcome::Reverted);
            let outcome = if is_reverted {
                Outcome::Reverted
            } else {
                Outcome::Merged
            };
            (Some(outcome), pull.closed_at)
        }
        PullState::Closed => (settled.or(Some(Outcome::Rejected)), pull.closed_at),
    };
    WorkRecord {
        pr: pull.number.0,
        persona: entry
            .map(|entry| entry.persona_id.to_string())
            .or_else(|| earlier?.persona.clone()),
        turn: entry
            .and_then(|entry| Some(entry.turn.as_ref()?.to_string()))
            .or_else(|| earlier?.turn.clone()),
        opened_at: pull.created_at,
        closed_at: outcome.as_ref().map(|_| closed_at.unwrap_or(source.now)),
        fingerprint: fingerprint_of(&pull.title, files, is_protected),
        // A reopened one is refused no more.
        refused: refusal_of(source, pull, earlier)
            .filter(|_| outcome.as_ref().is_some_and(Outcome::is_closed_unmerged)),
        forgotten: outcome.is_some()
            && !source.state.work.refused.contains_key(&pull.number)
            && (source.state.work.forgotten.contains(&pull.number)
                || earlier.is_some_and(|earlier| earlier.forgotten)),
        outcome,
        unknown: earlier.map_or_else(BTreeMap::new, |earlier| earlier.unknown.clone()),
    }
}

/// The refusal of a closed pull request: the newest command, or what its record says.
fn refusal_of(
    source: &RecordSource<'_>,
    pull: &Pull,
    earlier: Option<&WorkRecord>,
) -> Option<Refusal> {
    let work = &source.state.work;
    if work.forgotten.contains(&pull.number) {
        return None;
    }
    let Some(refusal) = work.refused.get(&pull.number) else {
        return earlier.and_then(|earlier| earlier.refused.clone());
    };
    let remember = source.plan.novelty.remember();
    let at = refusal.at.unwrap_or(source.now);
    Some(Refusal {
        reason: RefusalReason::parse(&refusal.reason)?,
        comment: refusal.comment,
        digest: refusal.digest.clone(),
        until: (!refusal.never).then(|| at.checked_add(remember).unwrap_or(Timestamp::MAX)),
        never: refusal.never,
        unknown: BTreeMap::new(),
    })
}

fn fingerprint_of(
    title: &str,
    files: &[PullFile],
    is_protected: impl Fn(&str) -> bool,
) -> Fingerprint {
    Fingerprint::from_pull(title, &changed_files(files), is_protected)
}

/// Moves records that are no longer remembered from the hot file to their segments, without paths and lines. Records
/// whose segment is still being read, or cannot be read, stay.
fn leave_hot_file(
    builder: &mut DecisionBuilder<'_>,
    hot: &mut WorkFile,
) -> BTreeMap<String, Option<String>> {
    let remember = builder.snapshot.plan.novelty.remember();
    let mut segments: BTreeMap<String, Option<WorkFile>> = BTreeMap::new();
    let mut leaving = 0;
    for pr in hot.leaving(builder.now(), remember) {
        if leaving == LEAVING_AT_ONCE {
            break;
        }
        let path = segment_path(pr);
        let segment = segments
            .entry(path.clone())
            .or_insert_with(|| work_file(builder, &path));
        let Some(segment) = segment else {
            // One that cannot be read must not hold back the others.
            leaving += usize::from(builder.reads.work_files.contains(&path));
            continue;
        };
        if let Some(mut record) = hot.remove(pr) {
            record.compact();
            segment.insert(record);
            leaving += 1;
        }
    }
    let moved = segments
        .into_iter()
        .filter_map(|(path, file)| Some((path, Some(file?.text()))));
    moved.collect()
}
