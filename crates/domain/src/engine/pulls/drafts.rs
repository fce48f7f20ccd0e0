//! Marks a draft as ready for review when its session is done, because drafts get no reviews, and Jules leaves some
//! behind.
//!
//! This happens once. A person who turns it back into a draft does so on purpose.

use super::message::{self, Reachability};
use super::tracked::{self, OpenPull};
use crate::engine::input::pull::{Checks, Mergeable};
use crate::engine::input::session::SessionState;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::PULL_POLL;
use crate::engine::output::report::{Reason, Verdict};
use crate::engine::record::attempts::{self, NextAttempt};
use crate::model::PullNumber;

/// Processes every draft. One with failed checks or a conflict is not ready.
pub(crate) fn run(builder: &mut DecisionBuilder<'_>) {
    for tracked in tracked::open_pulls(builder) {
        let pull = tracked.pull;
        // Those two are fixed and reported elsewhere.
        let needs_fix = pull.checks == Checks::Failed || pull.mergeable == Mergeable::Conflicting;
        if pull.draft && !needs_fix {
            process_draft(builder, &tracked);
        }
    }
}

fn process_draft(builder: &mut DecisionBuilder<'_>, tracked: &OpenPull<'_>) {
    let number = tracked.number();
    let now = builder.now();
    let known = tracked
        .record(builder)
        .and_then(|known| known.draft_ready.as_ref());
    match attempts::next_attempt(known, now) {
        // A person turned it back into a draft.
        NextAttempt::Over if known.is_some_and(|known| known.notified) => return,
        NextAttempt::Over => {
            let text = "it is a draft, and GitHub did not let it be marked as ready";
            return tracked.open_notice(builder, Reason::DraftUnfinished, text);
        }
        NextAttempt::Later(at) => return builder.wake_by(at),
        NextAttempt::Now => {}
    }
    if tracked.is_held(builder) {
        let text =
            format!("pull request #{number} is a draft, and `phileas:hold` keeps it for people");
        return builder.report_line(tracked.report_line(
            Verdict::Paused,
            Reason::SubjectHeld,
            text,
        ));
    }
    if tracked.pull.checks == Checks::Pending {
        let text = format!("pull request #{number} is a draft, and its checks are not over");
        let line = tracked.report_line(Verdict::Waiting, Reason::DraftUnfinished, text);
        return builder.report_line(line.with_until(builder.now_plus(PULL_POLL)));
    }
    let session = match message::find_session(builder, tracked) {
        Ok(session) => session,
        Err(Reachability::Later { why, until }) => {
            let text = format!("pull request #{number} is a draft; {why}");
            let line = tracked.report_line(Verdict::Waiting, Reason::DraftUnfinished, text);
            return builder.report_line(line.with_until(until));
        }
        Err(Reachability::Gone(why)) => return leave_to_people(builder, tracked, why),
        Err(Reachability::Listens) => return,
    };
    if session.state == SessionState::Failed {
        message::next_session_check(builder, tracked, None);
        return leave_to_people(builder, tracked, "its session has failed");
    }
    if session.state != SessionState::Completed {
        let until = message::next_session_check(builder, tracked, None);
        let text = format!("pull request #{number} is a draft, and its session is not done");
        let line = tracked.report_line(Verdict::Waiting, Reason::DraftUnfinished, text);
        return builder.report_line(line.with_until(until));
    }
    let head = &tracked.pull.head_oid;
    attempts::count_attempt(&mut tracked.record_mut(builder).draft_ready, head, now);
    tracked.add_headline(builder, "end of the draft");
    builder.add_effect(Effect::MarkReady { pull: number });
    // GitHub may refuse it, so success is reported only with GitHub's answer.
    let text = format!(
        "pull request #{number} is a draft whose session is done; phileas marks it as ready"
    );
    builder.report_line(tracked.report_line(Verdict::Waiting, Reason::DraftUnfinished, text));
}

/// Leaves a draft to people whose session cannot be seen to be done.
fn leave_to_people(builder: &mut DecisionBuilder<'_>, tracked: &OpenPull<'_>, why: &str) {
    let text = format!("it is a draft, and {why}");
    tracked.open_notice(builder, Reason::DraftUnfinished, &text);
}

/// Records that a draft was marked as ready.
pub(crate) fn record_ready(builder: &mut DecisionBuilder<'_>, pull: PullNumber) {
    if let Some(known) = builder.state.pulls.get_mut(&pull)
        && let Some(ready) = &mut known.draft_ready
    {
        ready.notified = true;
    }
    let readied = tracked::open_pulls(builder)
        .into_iter()
        .find(|tracked| tracked.number() == pull);
    if let Some(tracked) = readied {
        let text = format!("pull request #{pull} is marked as ready, since its session is done");
        builder.report_line(tracked.report_line(Verdict::Settled, Reason::DraftReady, text));
    }
}
