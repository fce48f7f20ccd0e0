//! Which pull requests must not be repeated, and whose work is judged by that.

use std::rc::Rc;

use super::protected_paths::is_protected_by;
use super::work_files::{changed_files, hot_records, open_work};
use crate::engine::input::pull::PullState;
use crate::engine::input::session::{Activity, PlanStep};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::WORK_AT_ONCE;
use crate::engine::text::markdown::sanitize_word;
use crate::model::{PullNumber, Slot, TrackName, TurnId};
use crate::plan::{Automation, NoveltyMode, Plan, Policy};
use crate::state::{HistoryEntry, RepeatedPlan};
use crate::work::{Fingerprint, PlannedWork, WorkFile, WorkRecord};

/// Whether a person or a layer asked for the work of an entry, or for another attempt at it.
pub(crate) fn is_requested(entry: &HistoryEntry) -> bool {
    is_requested_turn(&entry.track_name(), entry.slot.as_ref(), entry.attempt)
}

fn is_requested_turn(track: &TrackName, slot: Option<&Slot>, attempt: Option<u32>) -> bool {
    let is_of_layer = slot.is_some_and(|slot| !slot.as_str().is_empty());
    let is_retry = attempt.is_some_and(|attempt| attempt > 1);
    track.as_str().starts_with("request:") || is_of_layer || is_retry
}

/// Whether the plan of a turn's session is judged before it is approved.
pub(crate) fn judges_plan(
    plan: &Plan,
    policy: &Policy,
    (track, slot): (&TrackName, &Slot),
    attempt: u32,
) -> bool {
    let novelty = &plan.novelty;
    novelty.plan
        && novelty.mode > NoveltyMode::Off
        // Without a pull request nothing is repeated that people would have to read.
        && policy.automation != Automation::None
        && !is_requested_turn(track, Some(slot), Some(attempt))
}

/// Whether a record is as GitHub shows the pull request now, and its refusal is not withdrawn.
fn is_current(builder: &DecisionBuilder<'_>, record: &WorkRecord) -> bool {
    let number = PullNumber(record.pr);
    let pull = builder.snapshot.pulls.get(&number);
    let is_shown_open = pull.is_none_or(|pull| pull.state == PullState::Open);
    let is_forgotten = builder.state.work.forgotten.contains(&number);
    if record.is_open() {
        is_shown_open
    } else {
        !is_forgotten
    }
}

/// The oldest pull request that the plan of a turn repeats. Requests the reads that it needs. `None`: there is none, or it
/// cannot be read.
pub(crate) fn planned_twin(
    builder: &mut DecisionBuilder<'_>,
    turn: &TurnId,
    (made, steps): (&Activity, &[PlanStep]),
) -> Option<RepeatedPlan> {
    let texts = steps
        .iter()
        .flat_map(|step| [step.title.as_str(), step.description.as_str()]);
    let planned = PlannedWork::from_steps(texts, is_protected_by(&builder.snapshot.plan));
    let hot = match builder.state.work.remembered {
        0 => Rc::default(),
        _ => hot_records(builder)?,
    };
    let is_of_turn = |record: &&WorkRecord| record.turn.as_deref() == Some(turn.as_str());
    let others = hot.records().filter(|record| !is_of_turn(record));
    for record in others.filter(|record| planned.repeats(&record.fingerprint)) {
        match repeat_of(builder, record) {
            Repeat::Wanted => {}
            Repeat::Unread => return None,
            Repeat::Unwanted { refused, merged } => {
                return Some(RepeatedPlan {
                    refused,
                    merged,
                    ..RepeatedPlan::new(made.id.clone(), PullNumber(record.pr))
                });
            }
        }
    }
    let number = unrecorded_twin(builder, turn, &hot, &planned)?;
    Some(RepeatedPlan::new(made.id.clone(), number))
}

/// Whether work may be done again.
enum Repeat {
    Wanted,
    /// The pull request is being read.
    Unread,
    /// It is open, was refused for this reason, or was merged.
    Unwanted {
        refused: Option<String>,
        merged: bool,
    },
}

/// Whether the same work as that of a record must not be done again, as far as GitHub shows the pull request now.
pub(crate) fn forbids_repeats(builder: &DecisionBuilder<'_>, record: &WorkRecord) -> bool {
    does_merge_count(builder, record)
        || record.forbids_repeats(builder.now()) && is_current(builder, record)
}

/// Whether a pull request was merged, and that counts. A tick that starts a session leaves its record to the next one, so
/// the record may not know of the merge.
pub(crate) fn does_merge_count(builder: &DecisionBuilder<'_>, record: &WorkRecord) -> bool {
    let number = PullNumber(record.pr);
    let snapshot = builder.snapshot;
    let (now, span) = (snapshot.now, snapshot.plan.novelty.count_merged());
    if builder.state.work.forgotten.contains(&number) {
        return false;
    }
    let shown = snapshot.pulls.get(&number);
    match shown.filter(|pull| record.is_open() && pull.state == PullState::Merged) {
        Some(pull) => now.duration_since(pull.closed_at.unwrap_or(now)) < span,
        None => record.is_merged_within(now, span),
    }
}

/// Whether the work of a record may be done again. The record may be older than what people did with the pull request.
fn repeat_of(builder: &mut DecisionBuilder<'_>, record: &WorkRecord) -> Repeat {
    let number = PullNumber(record.pr);
    let snapshot = builder.snapshot;
    let is_gone = snapshot.missing_pulls.contains(&number);
    if is_gone || !forbids_repeats(builder, record) {
        return Repeat::Wanted;
    }
    // A merge is final, so the pull request need not be read again.
    if does_merge_count(builder, record) {
        return Repeat::Unwanted {
            refused: None,
            merged: true,
        };
    }
    let Some(pull) = snapshot.pulls.get(&number) else {
        builder.reads.pulls.insert(number);
        return Repeat::Unread;
    };
    let refusal = record.refused.as_ref().filter(|_| !record.is_open());
    // One that was refused may have been reopened or merged since.
    let is_closed = pull.state == PullState::Closed;
    if refusal.is_some() != is_closed {
        return Repeat::Wanted;
    }
    Repeat::Unwanted {
        refused: refusal.map(|refusal| refusal.reason.as_str().to_owned()),
        merged: false,
    }
}

/// The oldest open pull request without a record that a plan repeats: a tick that starts a session leaves its record to
/// the next one, which may see the plan first. Requests its files.
fn unrecorded_twin(
    builder: &mut DecisionBuilder<'_>,
    turn: &TurnId,
    hot: &WorkFile,
    planned: &PlannedWork,
) -> Option<PullNumber> {
    let open = open_work(builder).into_iter();
    let others = open.filter(|(number, (_, entry))| {
        let of_turn = entry.and_then(|entry| entry.turn.as_ref());
        hot.get(number.0).is_none() && of_turn != Some(turn)
    });
    let others = others.take(WORK_AT_ONCE);
    let others: Vec<(PullNumber, String)> = others
        .map(|(number, (pull, _))| (number, pull.title.clone()))
        .collect();
    let snapshot = builder.snapshot;
    let is_protected = is_protected_by(&snapshot.plan);
    let mut found = None;
    for (number, title) in others {
        match snapshot.pull_files.get(&number) {
            Some(Some(files)) => {
                let work = Fingerprint::from_pull(&title, &changed_files(files), &is_protected);
                if planned.repeats(&work) {
                    found = found.or(Some(number));
                }
            }
            // GitHub does not list its files.
            Some(None) => {}
            None => {
                builder.request_pull_files(number);
            }
        }
    }
    found
}

/// What a plan repeats, as the end of a sentence about it.
pub(crate) fn twin_text(repeated: &RepeatedPlan) -> String {
    let PullNumber(twin) = repeated.twin;
    match &repeated.refused {
        Some(reason) => format!(
            "does the same as pull request #{twin}, which was refused ({})",
            sanitize_word(reason)
        ),
        None => {
            let what = if repeated.merged {
                "was merged"
            } else {
                "is open"
            };
            format!("does the same as pull request #{twin}, which {what}")
        }
    }
}
