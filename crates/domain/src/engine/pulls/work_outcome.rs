//! Says what became of an ended pull request more exactly than merged or closed, once its files are read.

use super::work_verdict::{no_op_of, twin_of};
use crate::engine::input::pull::{Pull, PullFile, PullState};
use crate::engine::lookup::twins::is_requested;
use crate::engine::lookup::work_files::entry_of;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::{Line, Reason};
use crate::engine::record::rest::record_rest;
use crate::model::PullNumber;
use crate::state::{HistoryEntry, Outcome};
use crate::work::{Similarity, WorkFile, WorkRecord};

/// Finds out whether a closed pull request was a copy, a repeat or changed nothing. One that a person refused for a
/// reason stays rejected.
pub(crate) fn refine_outcome(
    builder: &mut DecisionBuilder<'_>,
    record: &mut WorkRecord,
    files: Option<&[PullFile]>,
    hot: &WorkFile,
) {
    if record.outcome != Some(Outcome::Rejected) || record.refused.is_some() {
        return;
    }
    let number = PullNumber(record.pr);
    let entry = entry_of(&builder.state, number);
    let persona = entry.map(|entry| entry.persona_id.clone());
    let is_free = entry.is_some_and(|entry| !is_requested(entry));
    let is_no_op = || {
        let files = files.zip(persona.as_ref());
        files.is_some_and(|(files, persona)| no_op_of(files, persona.as_str()).is_some())
    };
    let twin = is_free.then(|| twin_of(builder, record, hot)).flatten();
    // It came after the merge, and not before it.
    let repeats_merged = twin.is_some_and(|twin| {
        twin.outcome == Some(Outcome::Merged)
            && twin.closed_at.is_some_and(|at| at <= record.opened_at)
    });
    let outcome = if is_free && is_no_op() {
        Outcome::NoOp
    } else if !repeats_merged && hot.records().any(|other| is_merged_copy(record, other)) {
        Outcome::Superseded
    } else if twin.is_some() {
        Outcome::Repeated
    } else {
        return;
    };
    record.outcome = Some(outcome.clone());
    change_entry(builder, number, outcome);
}

/// Whether another pull request with the same changed lines was merged.
pub(crate) fn is_merged_copy(record: &WorkRecord, other: &WorkRecord) -> bool {
    other.outcome == Some(Outcome::Merged)
        && other.pr != record.pr
        && Similarity::between(&record.fingerprint, &other.fingerprint).changes_same_lines()
}

/// Records the outcome of a pull request in the history. An entry that is not settled keeps its own.
pub(crate) fn change_entry(
    builder: &mut DecisionBuilder<'_>,
    number: PullNumber,
    outcome: Outcome,
) {
    let Some(entry) = newest_entry_mut(builder, number) else {
        return;
    };
    let Some(known) = entry.outcome.clone() else {
        return;
    };
    if known == Outcome::PrOpen || known == outcome || !known.may_become(&outcome) {
        return;
    }
    entry.outcome = Some(outcome.clone());
    let entry = entry.clone();
    let track = entry.track_name();
    record_rest(builder, &track, &entry.persona_id, Some(&known), &outcome);
    let text = format!("pull request #{number} is {outcome}");
    builder.add_headline(text, entry.turn.as_ref());
    // The others are found together with the end of the pull request, which has a line.
    if outcome == Outcome::Reverted {
        let text =
            format!("pull request #{number} was merged, and another one took its change back");
        builder.report_line(Line::about_entry(&entry, Reason::PullReverted, text));
    }
}

/// Records in the history why a person refused a closed pull request, or that the refusal was withdrawn.
pub(crate) fn record_refusal(builder: &mut DecisionBuilder<'_>, record: &WorkRecord) {
    let number = PullNumber(record.pr);
    let refused = record.refused.as_ref();
    let refused = refused.map(|refusal| refusal.reason.as_str().to_owned());
    let Some(entry) = newest_entry_mut(builder, number) else {
        return;
    };
    if entry.refused == refused {
        return;
    }
    entry.refused.clone_from(&refused);
    let entry = entry.clone();
    if let Some(reason) = refused {
        let text = format!("pull request #{number} was refused as `{reason}`");
        builder.report_line(Line::about_entry(&entry, Reason::PullRefused, text));
    }
}

/// Records how much an ended pull request asked of people.
pub(crate) fn mark_entry(builder: &mut DecisionBuilder<'_>, pull: &Pull) {
    let Some(Some(activity)) = builder.snapshot.pull_activity.get(&pull.number) else {
        return;
    };
    let is_merged = pull.state == PullState::Merged;
    let zero_touch = activity
        .is_zero_touch(pull.created_at)
        .filter(|_| is_merged);
    let reviewed_after = activity
        .first_review()
        .map(|at| at.duration_since(pull.created_at).as_secs());
    if let Some(entry) = newest_entry_mut(builder, pull.number) {
        entry.zero_touch = zero_touch;
        entry.review_secs = reviewed_after.and_then(|secs| u64::try_from(secs).ok());
    }
}

fn newest_entry_mut<'b>(
    builder: &'b mut DecisionBuilder<'_>,
    number: PullNumber,
) -> Option<&'b mut HistoryEntry> {
    let history = &builder.state.history;
    let key = {
        let mut newest_first = history.range(..).rev();
        let newest = newest_first.find(|(_, entry)| entry.pr_number == Some(number));
        newest.map(|(key, _)| *key)?
    };
    builder.state.history.get_mut(&key)
}
