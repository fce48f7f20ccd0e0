//! Merges a pull request of phileas that a person labels for it: only with `merge = "green"` in the plan, the approval
//! of a writer and passed checks on that commit, and only that commit.
//!
//! The request is recorded in the ledger and processed from there. Everything is read again right before the merge, and
//! GitHub gets the commit, so that a newer one is not merged. The call is recorded before it is made; where its answer
//! is lost, the pull request is read before the next call.

use jiff::Timestamp;

use super::merge_gates::{Gate, check_gates};
use crate::engine::input::merge_facts::MergeMethod;
use crate::engine::input::pull::PullState;
use crate::engine::input::subject::LABEL_PREFIX;
use crate::engine::lookup::pending_merges::{PendingMerge, pending_merges};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::{
    CHECKS_POLL, INTENT_VALID, MERGE_AGAIN, MERGE_ATTEMPTS, MERGE_POSTPONED, MERGE_UNKNOWN_CHECKS,
    POLL, PULL_POLL, RETRY_AFTER_LIMIT,
};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::record::request::refuse_command;
use crate::engine::text::markdown::quote_as_code;
use crate::engine::text::time::time_after;
use crate::state::{MergeState, RequestOutcome};

/// Reports pending merges while the repository is paused, and settles those that happened elsewhere.
pub(crate) fn report_paused(builder: &mut DecisionBuilder<'_>, reason: Reason) {
    for open in pending_merges(builder) {
        if !settle_merge(builder, &open) {
            let text = format!(
                "pull request #{} is not merged while everything is paused",
                open.pull
            );
            builder.report_line(Line::about_track(
                &open.track,
                Verdict::Paused,
                reason,
                text,
            ));
        }
    }
}

/// Processes the pending merges. `may_send`: another round of this tick records GitHub's answer.
pub(crate) fn process_merges(builder: &mut DecisionBuilder<'_>, may_send: bool) {
    for open in pending_merges(builder) {
        if settle_merge(builder, &open) || is_sent(builder, &open) {
            continue;
        }
        // A read of this tick has newer facts.
        let is_seen = builder.snapshot.merges.contains_key(&open.pull);
        if !is_seen && is_postponed(builder, &open) {
            continue;
        }
        let pull = open.pull;
        let line = |verdict, reason, text| Line::about_track(&open.track, verdict, reason, text);
        match check_gates(builder, &open) {
            // One merge moves the base of all others, so each is read again before it is merged.
            Gate::Open(_) if is_postponed(builder, &open) => {}
            Gate::Open(method) if may_send && !builder.merges_pull() => {
                send_merge(builder, &open, method)
            }
            Gate::Open(_) => {
                let text = format!("pull request #{pull} is merged by the next commit");
                let soon = builder.now();
                builder
                    .report_line(line(Verdict::Waiting, Reason::NextCommit, text).with_until(soon));
            }
            Gate::Merged => record_merged(builder, &open),
            Gate::Unread => {
                let text = format!("pull request #{pull} is read again before it is merged");
                let soon = builder.now_plus(POLL);
                builder.report_line(
                    line(Verdict::Waiting, Reason::RequestUnread, text).with_until(soon),
                );
            }
            Gate::Wait(Reason::MergeableUnknown, text) => {
                wait_for_mergeability(builder, &open, &text, may_send)
            }
            Gate::Wait(reason, text) => {
                let (verdict, pause) = match reason {
                    Reason::SubjectHeld | Reason::PausedTrack => (Verdict::Paused, PULL_POLL),
                    Reason::ChecksRunning | Reason::MergeNotYet => (Verdict::Waiting, CHECKS_POLL),
                    _ => (Verdict::Waiting, POLL),
                };
                let text = format!("pull request #{pull} is not merged yet: {text}");
                let until = builder.now_plus(pause);
                builder.report_line(line(verdict, reason, text).with_until(until));
            }
            Gate::Shut(reason, text) => refuse_merge(builder, &open, reason, text),
        }
    }
}

/// Settles a pending merge whose pull request was merged or closed elsewhere. Returns whether it did.
fn settle_merge(builder: &mut DecisionBuilder<'_>, open: &PendingMerge) -> bool {
    let known = builder.snapshot.pulls.get(&open.pull);
    match known.map(|pull| pull.state) {
        Some(PullState::Merged) => {
            record_merged(builder, open);
            true
        }
        Some(PullState::Closed) => {
            let text = "it was closed unmerged".to_owned();
            refuse_merge(builder, open, Reason::SubjectClosed, text);
            true
        }
        Some(PullState::Open) | None => false,
    }
}

/// Records a merge that no event reported. The process may have died before it removed the label, and labels of closed
/// pull requests are not read again.
fn record_merged(builder: &mut DecisionBuilder<'_>, open: &PendingMerge) {
    builder.add_effect(Effect::RemoveLabel {
        thread: open.pull.0,
        label: format!("{LABEL_PREFIX}merge"),
    });
    finish_merge(builder, open);
}

fn finish_merge(builder: &mut DecisionBuilder<'_>, open: &PendingMerge) {
    let now = builder.now();
    let pull = open.pull;
    if let Some(request) = builder.state.requests.get_mut(&open.key) {
        request.set_outcome(&RequestOutcome::Done);
        request.answer = Some(format!("pull request #{pull} was merged"));
        request.finished_at = Some(now);
    }
    builder.add_headline(format!("{} merged pull request #{pull}", open.track), None);
    let text = format!("pull request #{pull} was merged");
    let line = Line::about_track(&open.track, Verdict::Settled, Reason::CommandExecuted, text);
    // The next tick settles its turn.
    let soon = builder.now_plus(POLL);
    builder.report_line(line.with_until(soon));
}

fn refuse_merge(
    builder: &mut DecisionBuilder<'_>,
    open: &PendingMerge,
    reason: Reason,
    text: String,
) {
    let line = format!("pull request #{} is not merged: {text}", open.pull);
    refuse_command(builder, &open.key, &open.track, reason, line, &text);
}

/// Whether GitHub was asked recently and may not show the result yet.
fn is_sent(builder: &mut DecisionBuilder<'_>, open: &PendingMerge) -> bool {
    let merge = builder.state.requests.get(&open.key);
    let sent_at = merge.and_then(|one| one.merge.as_ref()?.sent_at);
    let Some(again) = sent_at.map(|at| time_after(at, MERGE_AGAIN)) else {
        return false;
    };
    let is_fresh = builder.now() < again;
    if is_fresh {
        report_sent(builder, open, again);
    }
    is_fresh
}

fn report_sent(builder: &mut DecisionBuilder<'_>, open: &PendingMerge, until: Timestamp) {
    let text = format!("GitHub was asked to merge pull request #{}", open.pull);
    let line = Line::about_track(&open.track, Verdict::Waiting, Reason::MergeSent, text);
    builder.report_line(line.with_until(until));
    let soon = builder.now_plus(POLL);
    builder.wake_by(soon);
}

/// Whether it is postponed; reports it.
fn is_postponed(builder: &mut DecisionBuilder<'_>, open: &PendingMerge) -> bool {
    let Some(at) = postponed_until(builder, open) else {
        return false;
    };
    let text = format!("pull request #{} could not be merged yet", open.pull);
    let line = Line::about_track(&open.track, Verdict::Waiting, Reason::MergePostponed, text);
    builder.report_line(line.with_until(at));
    true
}

/// GitHub has not computed whether it can be merged. It is checked less and less often, because some are never
/// computed.
fn wait_for_mergeability(
    builder: &mut DecisionBuilder<'_>,
    open: &PendingMerge,
    text: &str,
    may_write: bool,
) {
    let now = builder.now();
    let known = postponed_until(builder, open);
    let request = builder.state.requests.get_mut(&open.key);
    let Some(merge) = request.and_then(|request| request.merge.as_mut()) else {
        return;
    };
    if known.is_none() && may_write {
        if merge.deferrals >= MERGE_UNKNOWN_CHECKS {
            let text = format!("{text}, after {MERGE_UNKNOWN_CHECKS} checks");
            return refuse_merge(builder, open, Reason::NotMergeable, text);
        }
        lengthen_wait(merge, now, None);
    }
    let until = merge.not_before.unwrap_or(now);
    let text = format!("pull request #{} is not merged yet: {text}", open.pull);
    let line = Line::about_track(
        &open.track,
        Verdict::Waiting,
        Reason::MergeableUnknown,
        text,
    );
    builder.report_line(line.with_until(until));
}

fn postponed_until(builder: &DecisionBuilder<'_>, open: &PendingMerge) -> Option<Timestamp> {
    let merge = builder.state.requests.get(&open.key)?.merge.as_ref()?;
    merge.not_before.filter(|at| builder.now() < *at)
}

/// Postpones a merge. A call that GitHub did not process does not count as an attempt.
pub(crate) fn postpone_merge(
    builder: &mut DecisionBuilder<'_>,
    key: &str,
    retry_at: Option<Timestamp>,
) {
    let Some(open) = pending_merges(builder)
        .into_iter()
        .find(|one| one.key == key)
    else {
        return;
    };
    let now = builder.now();
    let request = builder.state.requests.get_mut(&open.key);
    let Some(merge) = request.and_then(|request| request.merge.as_mut()) else {
        return;
    };
    if merge.sent_at.take().is_some() {
        merge.attempts = merge.attempts.saturating_sub(1);
    }
    lengthen_wait(merge, now, retry_at);
    let pull = open.pull;
    builder.add_headline(
        format!("{} merge of pull request #{pull} put off", open.track),
        None,
    );
}

/// Sets the next check, with a longer pause each time.
fn lengthen_wait(merge: &mut MergeState, now: Timestamp, retry_at: Option<Timestamp>) {
    let pause = (0..merge.deferrals).try_fold(MERGE_POSTPONED, |pause, _| {
        (pause < PULL_POLL).then_some(pause * 2)
    });
    let own = time_after(now, pause.unwrap_or(PULL_POLL).min(PULL_POLL));
    let most = time_after(now, RETRY_AFTER_LIMIT);
    merge.not_before = Some(retry_at.map_or(own, |asked| asked.clamp(own, most)));
    merge.deferrals = merge.deferrals.saturating_add(1);
}

/// Records the call in the ledger; after the commit GitHub is asked, once.
fn send_merge(builder: &mut DecisionBuilder<'_>, open: &PendingMerge, method: MergeMethod) {
    let now = builder.now();
    let request = builder.state.requests.get_mut(&open.key);
    let Some(merge) = request.and_then(|request| request.merge.as_mut()) else {
        return;
    };
    if merge.attempts >= MERGE_ATTEMPTS {
        let text = format!("GitHub did not answer, {MERGE_ATTEMPTS} times");
        refuse_merge(builder, open, Reason::MergeFailed, text);
        return;
    }
    merge.sent_at = Some(now);
    merge.attempts += 1;
    let head = merge.head.clone();
    let pull = open.pull;
    builder.add_effect(Effect::MergePull {
        request: open.key.clone(),
        pull,
        head,
        method,
        not_after: time_after(now, INTENT_VALID),
    });
    builder.add_headline(format!("{} merging pull request #{pull}", open.track), None);
    report_sent(builder, open, time_after(now, MERGE_AGAIN));
}

/// Records GitHub's answer; `refused`: its objection.
pub(crate) fn record_answer(builder: &mut DecisionBuilder<'_>, key: &str, refused: Option<&str>) {
    let Some(open) = pending_merges(builder)
        .into_iter()
        .find(|one| one.key == key)
    else {
        return;
    };
    match refused {
        None => finish_merge(builder, &open),
        Some(said) => {
            let text = format!("GitHub refused it: {}", quote_as_code(said));
            refuse_merge(builder, &open, Reason::MergeFailed, text);
        }
    }
}
