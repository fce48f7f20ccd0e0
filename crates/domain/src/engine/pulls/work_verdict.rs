//! Judges whether a pull request is unwanted: whether it does the same as another one, or changes nothing.
//!
//! The verdict is recorded with the pull request's record; [`work_marks`](super::work_marks) acts on it.

use crate::engine::input::commands::{HOLD, KEEP};
use crate::engine::input::pull::{Pull, PullFile};
use crate::engine::lookup::twins::{forbids_repeats, is_requested};
use crate::engine::lookup::work_files::{changed_files, entry_of};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::PULL_FILES_READ;
use crate::model::PullNumber;
use crate::plan::NoveltyMode;
use crate::state::{PullAction, WorkMark};
use crate::work::no_op::{NoOp, no_op};
use crate::work::{WorkFile, WorkRecord};

/// Notes that an open pull request is unwanted, so that it is labelled. `files`: `None` where GitHub does not list them.
pub(crate) fn judge_work(
    builder: &mut DecisionBuilder<'_>,
    pull: &Pull,
    files: Option<&[PullFile]>,
    record: &WorkRecord,
    hot: &WorkFile,
) {
    if builder.snapshot.plan.novelty.mode < NoveltyMode::Label {
        return;
    }
    // The verdict on its new commits takes the place of the earlier one.
    let earlier = builder.state.work.marks.remove(&pull.number);
    if is_kept(builder, pull.number) {
        return;
    }
    let Some(entry) = entry_of(&builder.state, pull.number) else {
        // Nothing tells who asked for a session that phileas did not start.
        return;
    };
    if is_requested(entry) {
        return;
    }
    let persona = entry.persona_id.as_str();
    let mark = match files.and_then(|files| no_op_of(files, persona)) {
        Some(kind) => Some(WorkMark {
            white_space: kind == NoOp::WhiteSpace,
            ..WorkMark::new(pull.head_oid.clone())
        }),
        None => twin_of(builder, record, hot).map(|twin| WorkMark {
            twin: Some(PullNumber(twin.pr)),
            ..WorkMark::new(pull.head_oid.clone())
        }),
    };
    if let Some(mark) = mark {
        let mark = match earlier {
            Some(earlier) => renew_mark(earlier, mark),
            None => mark,
        };
        builder.state.work.marks.insert(pull.number, mark);
        // The next decision labels it.
        let now = builder.now();
        builder.wake_by(now);
    }
}

/// A mark with what was done for an earlier one. A comment that gives another reason is written again.
fn renew_mark(earlier: WorkMark, mark: WorkMark) -> WorkMark {
    let is_same_reason = (earlier.twin, earlier.white_space) == (mark.twin, mark.white_space);
    let comment = match is_same_reason {
        true => earlier.comment,
        false => earlier
            .comment
            .map(|comment| PullAction::new(mark.head.clone(), comment.at)),
    };
    match earlier.twin.is_some() == mark.twin.is_some() {
        // It has its label already, and is closed when the comment says so.
        true => WorkMark {
            head: mark.head,
            twin: mark.twin,
            white_space: mark.white_space,
            comment,
            ..earlier
        },
        false => WorkMark { comment, ..mark },
    }
}

/// Whether a label of people keeps it from being marked.
fn is_kept(builder: &DecisionBuilder<'_>, pull: PullNumber) -> bool {
    let labels = builder.snapshot.labelled.get(&pull.0);
    labels.is_some_and(|labels| labels.contains(HOLD) || labels.contains(KEEP))
}

/// Whether it changes nothing. More files than phileas reads are a change.
pub(crate) fn no_op_of(files: &[PullFile], persona: &str) -> Option<NoOp> {
    if files.len() >= PULL_FILES_READ {
        return None;
    }
    no_op(&changed_files(files), persona)
}

/// The oldest pull request that a newer one repeats. Attempts of one turn are no twins.
pub(crate) fn twin_of<'h>(
    builder: &DecisionBuilder<'_>,
    record: &WorkRecord,
    hot: &'h WorkFile,
) -> Option<&'h WorkRecord> {
    let is_same_turn = |other: &WorkRecord| record.turn.is_some() && other.turn == record.turn;
    hot.records().find(|other| {
        !is_same_turn(other)
            && forbids_repeats(builder, other)
            && other.is_repeated_by(record.pr, &record.fingerprint)
    })
}
