//! Sends a pull request that conflicts with its base, or must be updated, back to its session, once for each commit.

use super::backoff;
use super::message::{self, Feedback, Pusher};
use super::tracked::{self, OpenPull};
use crate::engine::input::pull::{Checks, Mergeable};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{CHECKS_READ, MAX_BASE_ROUNDS, PULL_POLL};
use crate::engine::output::report::{Reason, Verdict};
use crate::engine::text::markers;

/// Processes every open pull request that needs its base. What GitHub has not computed yet waits.
pub(crate) fn run(builder: &mut DecisionBuilder<'_>) {
    for tracked in tracked::open_pulls(builder) {
        // Failed checks are fixed before an update, because only then another run of the checks is useful.
        let passes = !matches!(tracked.pull.checks, Checks::Failed | Checks::Pending);
        match tracked.pull.mergeable {
            Mergeable::Conflicting => {
                process_conflict(builder, &tracked, "it conflicts with its base")
            }
            Mergeable::Behind if passes => {
                process_conflict(builder, &tracked, "it is behind its base")
            }
            Mergeable::Behind | Mergeable::Unknown | Mergeable::Yes => {}
        }
    }
}

fn process_conflict(
    builder: &mut DecisionBuilder<'_>,
    tracked: &OpenPull<'_>,
    problem: &'static str,
) {
    let number = tracked.number();
    let head = &tracked.pull.head_oid;
    let (told, rounds) = tracked.record(builder).map_or((None, 0), |known| {
        let told = message::message_about(known.conflicts.as_ref(), &known.conflict_heads, head);
        (told, known.conflict_rounds)
    });
    let wait = |builder: &mut DecisionBuilder<'_>, detail: &str| {
        let text = format!("pull request #{number}: {problem}; {detail}");
        let line = tracked.report_line(Verdict::Waiting, Reason::UpdateNeeded, text);
        builder.report_line(line.with_until(builder.now_plus(PULL_POLL)));
    };
    let feedback = Feedback {
        problem,
        marker: markers::base_marker(number, head),
        earlier: told,
        rounds,
        max_rounds: MAX_BASE_ROUNDS,
        waiting_reason: Reason::UpdateNeeded,
        sent_reason: Reason::UpdateRequested,
    };
    if !message::may_send(builder, tracked, &feedback) {
        return;
    }
    let Some(commit) = builder.snapshot.failed_checks.get(head) else {
        if builder.snapshot.failed_checks.len() + builder.reads.failed_checks.len() < CHECKS_READ {
            builder.reads.failed_checks.insert(head.clone());
        }
        return wait(builder, "the author of its newest commit is read next");
    };
    match message::newest_pusher(builder, tracked, commit.committed_at, commit.by_jules) {
        Pusher::Session => {}
        Pusher::Others => {
            backoff::lengthen_wait(builder, tracked, None);
            let text = format!("{problem}, and its newest commit is not the session's");
            tracked.open_notice(builder, Reason::UpdateNeeded, &text);
            return;
        }
        Pusher::Unread => return wait(builder, "what its session does is read next"),
    }
    let now = builder.now();
    let text = format!(
        "Your pull request #{number} cannot be merged as it stands on its newest commit {head}: {problem}. Merge the \
         newest commit of its base branch into your branch, keep what both sides meant, run the project's own checks, \
         and push to the same branch. Do not force-push and do not undo what others have done.\n\n{}",
        feedback.marker
    );
    let record = tracked.record_mut(builder);
    if feedback.earlier.is_none() {
        record.conflict_rounds += 1;
    }
    message::count_message(&mut record.conflicts, &mut record.conflict_heads, head, now);
    tracked.add_headline(builder, "base");
    message::send_feedback(builder, tracked, feedback, text, "");
}
