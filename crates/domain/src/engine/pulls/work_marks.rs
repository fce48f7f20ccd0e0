//! Labels unwanted pull requests, comments on them, and closes them where the plan says so.
//!
//! The ledger counts each label, comment and closing before it is made, and what happened on the pull request is read
//! right before: one that a person has taken up is left alone from then on.

use jiff::Timestamp;

use super::tracked::{self, OpenPull};
use super::work_verdict::{no_op_of, twin_of};
use crate::engine::input::commands::{DUPLICATE, HOLD, KEEP, NO_OP};
use crate::engine::input::pull::PullState;
use crate::engine::input::pull_activity::{PullActivity, PullChange};
use crate::engine::input::subject::LABEL_PREFIX;
use crate::engine::lookup::twins::does_merge_count;
use crate::engine::lookup::work_files::hot_records;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::{CLOSED_AFTER, INTENT_VALID, MARKED_AT_ONCE};
use crate::engine::output::report::{Reason, Verdict};
use crate::engine::record::attempts::{self, NextAttempt};
use crate::engine::text::time::format_utc;
use crate::model::PullNumber;
use crate::plan::NoveltyMode;
use crate::state::{PullAction, WorkMark};
use crate::work::RefusalReason;
use crate::work::no_op::NoOp;

/// Ends the comment, so that one whose answer was lost is found.
pub(crate) const MARK_MARKER: &str = "<!-- phileas:unwanted -->";

/// What is due for a marked pull request.
enum Due {
    /// A recheck, because it has new commits.
    Recheck,
    /// Its label and its comment, or one of them.
    Mark,
    /// Its closing.
    Close,
    /// Nothing before this.
    Later(Timestamp),
    /// Nothing more.
    Nothing,
}

/// Processes the marked pull requests.
pub(crate) fn run(builder: &mut DecisionBuilder<'_>) {
    if builder.snapshot.plan.novelty.mode < NoveltyMode::Label {
        return;
    }
    let mut count = 0;
    let marked: Vec<PullNumber> = builder.state.work.marks.keys().copied().collect();
    for number in marked {
        // It is closed, not shown, or left to people by the plan.
        let Some(tracked) = tracked::open_pull(builder, number) else {
            continue;
        };
        let Some(mark) = builder.state.work.marks.get(&number).cloned() else {
            continue;
        };
        let mark = without_closing(builder, mark);
        let due = match tracked.pull.head_oid == mark.head {
            true => due_for(builder, &mark),
            false if builder.state.work.open.contains(&number) => Due::Recheck,
            // Its record is about to be made again, and judges it.
            false => Due::Nothing,
        };
        match due {
            Due::Nothing => {}
            Due::Later(at) => builder.wake_by(at),
            Due::Recheck | Due::Mark | Due::Close if count == MARKED_AT_ONCE => {}
            Due::Recheck => {
                count += 1;
                process_mark(builder, &tracked, mark, |_, _, _, _| {});
            }
            Due::Mark => {
                count += 1;
                process_mark(builder, &tracked, mark, add_marks);
            }
            Due::Close => {
                count += 1;
                process_mark(builder, &tracked, mark, close_pull);
            }
        }
    }
}

/// A mark whose comment is due again where it announces a closing that the plan does not want any more.
fn without_closing(builder: &DecisionBuilder<'_>, mut mark: WorkMark) -> WorkMark {
    if mark.closes_at.is_some() && mark.closing.is_none() && !closes(builder, &mark) {
        let comment = mark.comment.filter(|comment| comment.notified);
        mark.comment = comment.map(|comment| PullAction::new(mark.head.clone(), comment.at));
        mark.closes_at = None;
    }
    mark
}

fn due_for(builder: &DecisionBuilder<'_>, mark: &WorkMark) -> Due {
    let now = builder.now();
    let comment = mark.comment.as_ref();
    let actions = [
        attempts::next_attempt(mark.label.as_ref(), now),
        comment.map_or(NextAttempt::Over, |comment| {
            attempts::next_attempt(Some(comment), now)
        }),
    ];
    let mut later = None;
    for action in actions {
        match action {
            NextAttempt::Now => return Due::Mark,
            NextAttempt::Later(at) => {
                later = Some(later.map_or(at, |known: Timestamp| known.min(at)))
            }
            NextAttempt::Over => {}
        }
    }
    if let Some(at) = later {
        return Due::Later(at);
    }
    // Without its comment people would not know the way back.
    let is_told = comment.is_some_and(|comment| comment.notified);
    let closes_at = mark.closes_at.filter(|_| is_told && closes(builder, mark));
    let Some(closes_at) = closes_at else {
        return Due::Nothing;
    };
    match attempts::next_attempt(mark.closing.as_ref(), now) {
        NextAttempt::Now if now < closes_at => Due::Later(closes_at),
        // One that is open although it was closed was reopened; what happened on it says so.
        NextAttempt::Now | NextAttempt::Over => Due::Close,
        NextAttempt::Later(at) => Due::Later(at),
    }
}

/// Acts on a mark, unless the pull request was changed or taken up by a person.
fn process_mark(
    builder: &mut DecisionBuilder<'_>,
    tracked: &OpenPull<'_>,
    mark: WorkMark,
    act: fn(&mut DecisionBuilder<'_>, &OpenPull<'_>, WorkMark, &PullActivity),
) {
    let number = tracked.number();
    let snapshot = builder.snapshot;
    let Some(activity) = snapshot.pull_activity.get(&number) else {
        builder.reads.pull_activity.insert(number);
        return;
    };
    let Some(activity) = activity else {
        // It would be read in vain each time, and hold back the others.
        return leave_to_people(builder, tracked, "GitHub does not show what happened on it");
    };
    if let Some(why) = why_kept(tracked, activity) {
        return leave_to_people(builder, tracked, &why);
    }
    if activity.head != mark.head {
        // Its record is made again, and judges its new commits.
        builder.state.work.open.remove(&number);
        tracked.add_headline(builder, "new commits");
        return;
    }
    if let Some(twin) = mark.twin {
        match is_twin_current(builder, twin) {
            Some(true) => {}
            Some(false) => {
                let why =
                    format!("#{twin} is not open any more, and the same work is allowed again");
                return leave_to_people(builder, tracked, &why);
            }
            None => return,
        }
    }
    act(builder, tracked, mark, activity);
}

/// Why people keep a marked pull request.
fn why_kept(tracked: &OpenPull<'_>, activity: &PullActivity) -> Option<String> {
    let kept = [KEEP, HOLD]
        .into_iter()
        .find(|word| activity.labels.contains(*word));
    if let Some(word) = kept {
        return Some(format!("it has the label `{LABEL_PREFIX}{word}`"));
    }
    person_action(activity, tracked.pull.created_at).map(str::to_owned)
}

/// Whether a pull request is still one that must not be repeated. `None`: it is being read, or cannot be read.
fn is_twin_current(builder: &mut DecisionBuilder<'_>, twin: PullNumber) -> Option<bool> {
    let snapshot = builder.snapshot;
    match snapshot.pulls.get(&twin).map(|pull| pull.state) {
        Some(PullState::Open) => Some(true),
        Some(PullState::Merged) => is_merge_current(builder, twin),
        Some(PullState::Closed) => is_condemned(builder, twin),
        None if snapshot.missing_pulls.contains(&twin) => Some(false),
        None => {
            builder.reads.pulls.insert(twin);
            None
        }
    }
}

/// Whether a merged pull request still counts. `None`: its record is being read, or cannot be read.
fn is_merge_current(builder: &mut DecisionBuilder<'_>, number: PullNumber) -> Option<bool> {
    if builder.snapshot.plan.novelty.count_merged().is_zero() {
        return Some(false);
    }
    let hot = hot_records(builder)?;
    let record = hot.get(number.0);
    Some(record.is_some_and(|record| does_merge_count(builder, record)))
}

/// Whether a person refused a closed pull request so that the same work again is not wanted. `None`: its record is being
/// read, or cannot be read.
fn is_condemned(builder: &mut DecisionBuilder<'_>, number: PullNumber) -> Option<bool> {
    let now = builder.now();
    let work = &builder.state.work;
    if work.forgotten.contains(&number) {
        return Some(false);
    }
    // Its record does not know the newest command yet.
    if let Some(refusal) = work.refused.get(&number) {
        return Some(refusal.never || refusal.reason == RefusalReason::OutOfScope.as_str());
    }
    let hot = hot_records(builder)?;
    let refusal = hot.get(number.0).and_then(|record| record.refused.as_ref());
    Some(refusal.is_some_and(|refusal| refusal.condemns_work(now)))
}

/// What a person did with a pull request since it was opened.
fn person_action(activity: &PullActivity, opened_at: Timestamp) -> Option<&'static str> {
    if activity.more {
        return Some("more happened on it than phileas reads");
    }
    let mut actions = activity
        .events
        .iter()
        .filter(|event| event.is_by_person())
        .filter_map(|event| {
            Some(match &event.what {
                PullChange::Commented => "a person commented on it",
                PullChange::Approved => "a person approved it",
                PullChange::RequestedChanges | PullChange::Reviewed => "a person reviewed it",
                PullChange::Reopened => "a person reopened it",
                PullChange::ForcePushed => "a person pushed to it",
                // The session's commits may bear the name of a person, but they are older than the pull request.
                PullChange::Committed { by_bot } if !by_bot && event.at > opened_at => {
                    "a person pushed to it"
                }
                PullChange::Unlabelled(label) if is_mark(label) => "a person removed its label",
                PullChange::Committed { .. } | PullChange::Unlabelled(_) => return None,
            })
        });
    actions.next()
}

fn is_mark(label: &str) -> bool {
    let label = label.to_lowercase();
    let word = label.strip_prefix(LABEL_PREFIX);
    word.is_some_and(|word| [DUPLICATE, NO_OP].contains(&word))
}

/// The label of a mark, without its prefix.
fn label_word(mark: &WorkMark) -> &'static str {
    match mark.twin {
        Some(_) => DUPLICATE,
        None => NO_OP,
    }
}

/// Adds the label and the comment that are due.
fn add_marks(
    builder: &mut DecisionBuilder<'_>,
    tracked: &OpenPull<'_>,
    mut mark: WorkMark,
    activity: &PullActivity,
) {
    let (number, now) = (tracked.number(), builder.now());
    let is_first = mark.label.is_none();
    let is_there = activity.labels.contains(label_word(&mark));
    if is_due(mark.label.as_ref(), now) {
        attempts::count_attempt(&mut mark.label, &activity.head, now);
        match &mut mark.label {
            Some(label) if is_there => label.notified = true,
            _ => builder.add_effect(Effect::AddLabel {
                pull: number,
                label: format!("{LABEL_PREFIX}{}", label_word(&mark)),
                not_after: builder.now_plus(INTENT_VALID),
            }),
        }
    }
    let closes = closes(builder, &mark);
    // Jules takes a comment of its own user for a task.
    let is_wanted = is_first && (mark.twin.is_some() || closes) && !activity.as_person;
    let is_repeated = mark.comment.is_some() && is_due(mark.comment.as_ref(), now);
    if is_wanted || is_repeated {
        attempts::count_attempt(&mut mark.comment, &activity.head, now);
        let closes_at = builder.now_plus(CLOSED_AFTER);
        mark.closes_at = mark.closes_at.or((is_first && closes).then_some(closes_at));
        builder.add_effect(Effect::CommentOnPull {
            pull: number,
            marker: MARK_MARKER.to_owned(),
            body: comment_text(builder, tracked, &mark),
            not_after: builder.now_plus(INTENT_VALID),
        });
    }
    tracked.add_headline(builder, "label");
    let is_known = mark.label.as_ref().is_some_and(|label| label.notified);
    builder.state.work.marks.insert(number, mark);
    if is_known && is_there {
        report_labelled(builder, number);
    }
}

fn is_due(action: Option<&PullAction>, now: Timestamp) -> bool {
    matches!(attempts::next_attempt(action, now), NextAttempt::Now)
}

fn closes(builder: &DecisionBuilder<'_>, mark: &WorkMark) -> bool {
    builder.snapshot.plan.novelty.mode == NoveltyMode::Close && !mark.white_space
}

fn comment_text(builder: &DecisionBuilder<'_>, tracked: &OpenPull<'_>, mark: &WorkMark) -> String {
    let why = reason_text(builder, mark);
    let persona = tracked.persona();
    let label = label_word(mark);
    let closing = mark.closes_at.map(|at| {
        let at = format_utc(at);
        format!(
            "\n\nphileas closes it after {at}, unless a person takes it up: by a comment, a review, a push, or the label \
             `phileas:keep`. Once it is closed, reopening it keeps it."
        )
    });
    let closing = closing.unwrap_or_default();
    format!(
        "**phileas**\n\nThis pull request of `{persona}` {why}. So it has the label `phileas:{label}`.{closing}\n\nThis \
         comment is for maintainers and asks nothing of Jules: no change is wanted.\n\n{MARK_MARKER}\n"
    )
}

/// Why a pull request is unwanted, as the end of a sentence about it.
fn reason_text(builder: &DecisionBuilder<'_>, mark: &WorkMark) -> String {
    match mark.twin {
        Some(twin) => {
            let pull = builder.snapshot.pulls.get(&twin);
            let what = match pull.map(|pull| pull.state) {
                Some(PullState::Open) => ", which is open",
                Some(PullState::Merged) => ", which was merged",
                Some(PullState::Closed) => ", which was refused",
                None => "",
            };
            format!("does the same as #{twin}{what}")
        }
        None if mark.white_space => "changes white space alone".to_owned(),
        None => "changes nothing".to_owned(),
    }
}

/// Archives the session and closes the pull request. What it repeats, or that it is empty, is read again first.
fn close_pull(
    builder: &mut DecisionBuilder<'_>,
    tracked: &OpenPull<'_>,
    mut mark: WorkMark,
    activity: &PullActivity,
) {
    let (number, now) = (tracked.number(), builder.now());
    let (is_unwanted, why) = match mark.twin {
        Some(twin) => (
            repeats_work(builder, number, twin),
            "it repeats nothing any more",
        ),
        None => (
            is_empty(builder, tracked),
            "its files do not show any more that it is empty",
        ),
    };
    match is_unwanted {
        Some(true) => {}
        Some(false) => return leave_to_people(builder, tracked, why),
        None => return,
    }
    if !is_due(mark.closing.as_ref(), now) {
        let text = match mark
            .closing
            .as_ref()
            .is_some_and(|closing| closing.notified)
        {
            true => "it was reopened",
            false => "GitHub did not close it",
        };
        return leave_to_people(builder, tracked, text);
    }
    attempts::count_attempt(&mut mark.closing, &activity.head, now);
    builder.state.work.marks.insert(number, mark);
    tracked.add_headline(builder, "closing");
    builder.add_effect(Effect::ArchiveSession {
        session: tracked.session.clone(),
    });
    builder.add_effect(Effect::ClosePull {
        pull: number,
        not_after: builder.now_plus(INTENT_VALID),
    });
}

/// Whether it still repeats another one. `None`: records are being read or completed, or cannot be read.
fn repeats_work(
    builder: &mut DecisionBuilder<'_>,
    number: PullNumber,
    twin: PullNumber,
) -> Option<bool> {
    if builder.state.work.refused.contains_key(&twin) {
        return None;
    }
    let hot = hot_records(builder)?;
    let record = hot.get(number.0);
    let found = record.and_then(|record| twin_of(builder, record, &hot));
    Some(found.is_some())
}

/// Whether it still changes nothing. `None`: its files are being read.
fn is_empty(builder: &mut DecisionBuilder<'_>, tracked: &OpenPull<'_>) -> Option<bool> {
    let snapshot = builder.snapshot;
    let Some(files) = snapshot.pull_files.get(&tracked.number()) else {
        builder.request_pull_files(tracked.number());
        return None;
    };
    let persona = tracked.persona().as_str();
    let found = files.as_deref().and_then(|files| no_op_of(files, persona));
    Some(found == Some(NoOp::Empty))
}

fn leave_to_people(builder: &mut DecisionBuilder<'_>, tracked: &OpenPull<'_>, why: &str) {
    let number = tracked.number();
    builder.state.work.marks.remove(&number);
    tracked.add_headline(builder, "end of the marks");
    let text = format!("pull request #{number} is left to people: {why}");
    builder.report_line(tracked.report_line(Verdict::Settled, Reason::KeptByPeople, text));
}

/// Records that a pull request has its label.
pub(crate) fn record_labelled(builder: &mut DecisionBuilder<'_>, pull: PullNumber) {
    let mark = builder.state.work.marks.get_mut(&pull);
    if let Some(label) = mark.and_then(|mark| mark.label.as_mut()) {
        label.notified = true;
        report_labelled(builder, pull);
    }
}

fn report_labelled(builder: &mut DecisionBuilder<'_>, pull: PullNumber) {
    let mark = builder.state.work.marks.get(&pull).cloned();
    let (Some(mark), Some(tracked)) = (mark, tracked::open_pull(builder, pull)) else {
        return;
    };
    let (reason, word) = match mark.twin {
        Some(_) => (Reason::RepeatsWork, DUPLICATE),
        None => (Reason::ChangesNothing, NO_OP),
    };
    let why = reason_text(builder, &mark);
    let text = format!("pull request #{pull} {why}; it has the label `{LABEL_PREFIX}{word}`");
    builder.report_line(tracked.report_line(Verdict::Settled, reason, text));
}

/// Records that the comment on a pull request was written.
pub(crate) fn record_comment(builder: &mut DecisionBuilder<'_>, pull: PullNumber) {
    let mark = builder.state.work.marks.get_mut(&pull);
    if let Some(comment) = mark.and_then(|mark| mark.comment.as_mut()) {
        comment.notified = true;
    }
}

/// Records that a pull request is closed.
pub(crate) fn record_closed(builder: &mut DecisionBuilder<'_>, pull: PullNumber) {
    let mark = builder.state.work.marks.get_mut(&pull);
    if let Some(closing) = mark.and_then(|mark| mark.closing.as_mut()) {
        closing.notified = true;
    }
}
