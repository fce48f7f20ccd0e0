//! A pull request of ours is merged where a person asks for it by a label: off unless the plan says `merge = "green"`,
//! never without the approval of a writer and green checks on the very commit, and only that commit.
//!
//! What the label asked for is taken up into the ledger and worked off from there: everything is looked at once more
//! right before, and GitHub is given the commit, so that one that was pushed meanwhile is not merged. That GitHub is
//! asked stands in the ledger before it is; one that may have been merged is looked at before it is asked again.

use jiff::Timestamp;

use super::merge_gates::{Gate, gates};
use crate::engine::input::merge_facts::MergeMethod;
use crate::engine::input::pull::PullState;
use crate::engine::input::request_kind::{DONE, REFUSED};
use crate::engine::input::subject::LABEL_PREFIX;
use crate::engine::lookup::pending_merges::{Open, open_wishes};
use crate::engine::output::builder::Draft;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::{
    CHECKS_POLL, INTENT_VALID, MERGE_AGAIN, MERGE_ATTEMPTS, MERGE_PUT_OFF, MERGE_UNKNOWN_LOOKS,
    POLL, PULL_POLL, RETRY_AFTER_LIMIT,
};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::text::markdown::neutral;
use crate::engine::text::time::later;
use crate::state::MergeState;

/// While everything is paused nothing is merged, and what became of it otherwise is written down.
pub(crate) fn say_paused(draft: &mut Draft<'_>, reason: Reason) {
    for open in open_wishes(draft) {
        if !settle(draft, &open) {
            let text = format!(
                "pull request #{} is not merged while everything is paused",
                open.pull
            );
            draft.say(Line::track(&open.track, Verdict::Paused, reason, text));
        }
    }
}

/// Works off what was asked for. `may_send`: there is another round that writes down what GitHub answers.
pub(crate) fn due(draft: &mut Draft<'_>, may_send: bool) {
    for open in open_wishes(draft) {
        if settle(draft, &open) || is_sent(draft, &open) {
            continue;
        }
        // What was looked at in this very tick tells more.
        let is_seen = draft.snapshot.merges.contains_key(&open.pull);
        if !is_seen && is_put_off(draft, &open) {
            continue;
        }
        let pull = open.pull;
        let line = |verdict, reason, text| Line::track(&open.track, verdict, reason, text);
        match gates(draft, &open) {
            // One merge moves the base of all others, so that each is looked at anew before it is merged.
            Gate::Open(_) if is_put_off(draft, &open) => {}
            Gate::Open(method) if may_send && !draft.is_merging() => send(draft, &open, method),
            Gate::Open(_) => {
                let text = format!("pull request #{pull} is merged by the next commit");
                let soon = draft.now();
                draft.say(line(Verdict::Waiting, Reason::NextCommit, text).until(soon));
            }
            Gate::Merged => found(draft, &open),
            Gate::Unread => {
                let text = format!("pull request #{pull} is looked at before it is merged");
                let soon = draft.after(POLL);
                draft.say(line(Verdict::Waiting, Reason::RequestUnread, text).until(soon));
            }
            Gate::Wait(Reason::MergeableUnknown, text) => unknown(draft, &open, &text, may_send),
            Gate::Wait(reason, text) => {
                let (verdict, pause) = match reason {
                    Reason::SubjectHeld | Reason::PausedTrack => (Verdict::Paused, PULL_POLL),
                    Reason::ChecksRunning | Reason::MergeNotYet => (Verdict::Waiting, CHECKS_POLL),
                    _ => (Verdict::Waiting, POLL),
                };
                let text = format!("pull request #{pull} is not merged yet: {text}");
                let until = draft.after(pause);
                draft.say(line(verdict, reason, text).until(until));
            }
            Gate::Shut(reason, text) => refuse(draft, &open, reason, text),
        }
    }
}

/// Writes down what became of it meanwhile. Whether anything did.
fn settle(draft: &mut Draft<'_>, open: &Open) -> bool {
    let known = draft.snapshot.pulls.get(&open.pull);
    match known.map(|pull| pull.state) {
        Some(PullState::Merged) => {
            found(draft, open);
            true
        }
        Some(PullState::Closed) => {
            let text = "it was closed unmerged".to_owned();
            refuse(draft, open, Reason::SubjectClosed, text);
            true
        }
        Some(PullState::Open) | None => false,
    }
}

/// It is merged, and nobody was told so. Whoever had it merged may have died before the label was off, and labels of what
/// is not open are not read any more.
fn found(draft: &mut Draft<'_>, open: &Open) {
    draft.effect(Effect::RemoveLabel {
        thread: open.pull.0,
        label: format!("{LABEL_PREFIX}merge"),
    });
    finish(draft, open);
}

fn finish(draft: &mut Draft<'_>, open: &Open) {
    let now = draft.now();
    let pull = open.pull;
    if let Some(request) = draft.state.requests.get_mut(&open.key) {
        request.outcome = Some(DONE.to_owned());
        request.answer = Some(format!("pull request #{pull} was merged"));
        request.finished_at = Some(now);
    }
    draft.headline(format!("{} merged pull request #{pull}", open.track), None);
    let text = format!("pull request #{pull} was merged");
    let line = Line::track(&open.track, Verdict::Settled, Reason::Obeyed, text);
    // The turn that it belongs to is settled by the next look.
    let soon = draft.after(POLL);
    draft.say(line.until(soon));
}

fn refuse(draft: &mut Draft<'_>, open: &Open, reason: Reason, text: String) {
    let now = draft.now();
    draft.headline(format!("refused {}", open.track), None);
    let line = format!("pull request #{} is not merged: {text}", open.pull);
    draft.say(Line::track(&open.track, Verdict::Refused, reason, line));
    if let Some(request) = draft.state.requests.get_mut(&open.key) {
        request.outcome = Some(REFUSED.to_owned());
        request.reason = Some(reason.code().to_owned());
        request.answer = Some(text);
        request.finished_at = Some(now);
    }
}

/// Whether GitHub was asked, and what it did may not show yet.
fn is_sent(draft: &mut Draft<'_>, open: &Open) -> bool {
    let merge = draft.state.requests.get(&open.key);
    let sent_at = merge.and_then(|one| one.merge.as_ref()?.sent_at);
    let Some(again) = sent_at.map(|at| later(at, MERGE_AGAIN)) else {
        return false;
    };
    let is_fresh = draft.now() < again;
    if is_fresh {
        say_sent(draft, open, again);
    }
    is_fresh
}

fn say_sent(draft: &mut Draft<'_>, open: &Open, until: Timestamp) {
    let text = format!("GitHub was asked to merge pull request #{}", open.pull);
    let line = Line::track(&open.track, Verdict::Waiting, Reason::MergeSent, text);
    draft.say(line.until(until));
    let soon = draft.after(POLL);
    draft.wake(soon);
}

/// Whether its time has not come again.
fn is_put_off(draft: &mut Draft<'_>, open: &Open) -> bool {
    let Some(at) = not_before(draft, open) else {
        return false;
    };
    let text = format!("pull request #{} could not be merged yet", open.pull);
    let line = Line::track(&open.track, Verdict::Waiting, Reason::MergePutOff, text);
    draft.say(line.until(at));
    true
}

/// GitHub has not worked out whether it can be merged. It is asked less and less often, and some never come to be known.
fn unknown(draft: &mut Draft<'_>, open: &Open, text: &str, may_write: bool) {
    let now = draft.now();
    let known = not_before(draft, open);
    let request = draft.state.requests.get_mut(&open.key);
    let Some(merge) = request.and_then(|request| request.merge.as_mut()) else {
        return;
    };
    if known.is_none() && may_write {
        if merge.put_off >= MERGE_UNKNOWN_LOOKS {
            let text = format!("{text}, after {MERGE_UNKNOWN_LOOKS} looks");
            return refuse(draft, open, Reason::NotMergeable, text);
        }
        wait_longer(merge, now, None);
    }
    let until = merge.not_before.unwrap_or(now);
    let text = format!("pull request #{} is not merged yet: {text}", open.pull);
    let line = Line::track(
        &open.track,
        Verdict::Waiting,
        Reason::MergeableUnknown,
        text,
    );
    draft.say(line.until(until));
}

fn not_before(draft: &Draft<'_>, open: &Open) -> Option<Timestamp> {
    let merge = draft.state.requests.get(&open.key)?.merge.as_ref()?;
    merge.not_before.filter(|at| draft.now() < *at)
}

/// It was not merged, and may be at another time: an attempt that GitHub did not carry out is none.
pub(crate) fn put_off(draft: &mut Draft<'_>, key: &str, retry_at: Option<Timestamp>) {
    let Some(open) = open_wishes(draft).into_iter().find(|one| one.key == key) else {
        return;
    };
    let now = draft.now();
    let request = draft.state.requests.get_mut(&open.key);
    let Some(merge) = request.and_then(|request| request.merge.as_mut()) else {
        return;
    };
    if merge.sent_at.take().is_some() {
        merge.attempts = merge.attempts.saturating_sub(1);
    }
    wait_longer(merge, now, retry_at);
    let pull = open.pull;
    draft.headline(
        format!("{} merge of pull request #{pull} put off", open.track),
        None,
    );
}

/// Waits before the next look, each time for longer.
fn wait_longer(merge: &mut MergeState, now: Timestamp, retry_at: Option<Timestamp>) {
    let pause = (0..merge.put_off).try_fold(MERGE_PUT_OFF, |pause, _| {
        (pause < PULL_POLL).then_some(pause * 2)
    });
    let own = later(now, pause.unwrap_or(PULL_POLL).min(PULL_POLL));
    let most = later(now, RETRY_AFTER_LIMIT);
    merge.not_before = Some(retry_at.map_or(own, |asked| asked.clamp(own, most)));
    merge.put_off = merge.put_off.saturating_add(1);
}

/// The intent goes into the ledger first, with the commit; then GitHub is asked, once.
fn send(draft: &mut Draft<'_>, open: &Open, method: MergeMethod) {
    let now = draft.now();
    let request = draft.state.requests.get_mut(&open.key);
    let Some(merge) = request.and_then(|request| request.merge.as_mut()) else {
        return;
    };
    if merge.attempts >= MERGE_ATTEMPTS {
        let text = format!("GitHub did not answer, {MERGE_ATTEMPTS} times");
        refuse(draft, open, Reason::MergeFailed, text);
        return;
    }
    merge.sent_at = Some(now);
    merge.attempts += 1;
    let head = merge.head.clone();
    let pull = open.pull;
    draft.effect(Effect::MergePull {
        request: open.key.clone(),
        pull,
        head,
        method,
        not_after: later(now, INTENT_VALID),
    });
    draft.headline(format!("{} merging pull request #{pull}", open.track), None);
    say_sent(draft, open, later(now, MERGE_AGAIN));
}

/// GitHub has answered; `refused` is what it said against it.
pub(crate) fn answered(draft: &mut Draft<'_>, key: &str, refused: Option<&str>) {
    let Some(open) = open_wishes(draft).into_iter().find(|one| one.key == key) else {
        return;
    };
    match refused {
        None => finish(draft, &open),
        Some(said) => {
            let text = format!("GitHub refused it: {}", neutral(said));
            refuse(draft, &open, Reason::MergeFailed, text);
        }
    }
}
