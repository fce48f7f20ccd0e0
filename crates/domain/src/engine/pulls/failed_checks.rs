//! Sends failed checks back to the session of the pull request: once for each commit, up to a maximum of rounds, then
//! to a person.

use jiff::Timestamp;

use super::backoff;
use super::message::{self, Feedback, Pusher};
use super::tracked::{self, OpenPull};
use crate::engine::input::pull::{Checks, FailedCheck, FailedChecks, Mergeable};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{
    CHECKS_GRACE, CHECKS_READ, CLOCK_TOLERANCE, MAX_FIX_ROUNDS, PULL_POLL,
};
use crate::engine::output::report::{Reason, Verdict};
use crate::engine::text::markers;
use crate::plan::MainRed;
use crate::prompt::{self, CheckReport};

/// Processes every open pull request whose newest commit has failed checks.
pub(crate) fn run(builder: &mut DecisionBuilder<'_>) {
    for tracked in tracked::open_pulls(builder) {
        // Conflicts are fixed first, because merging the base makes another commit.
        let conflicts = tracked.pull.mergeable == Mergeable::Conflicting;
        if tracked.pull.checks == Checks::Failed && !conflicts {
            process_failure(builder, &tracked);
        }
    }
}

fn process_failure(builder: &mut DecisionBuilder<'_>, tracked: &OpenPull<'_>) {
    let number = tracked.number();
    let soon = builder.now_plus(PULL_POLL);
    let snapshot = builder.snapshot;
    let is_main_red = snapshot.repository.default_checks == Checks::Failed;
    if is_main_red && snapshot.plan.gate.main_red != MainRed::Ignore {
        let text = format!(
            "the checks of pull request #{number} failed, and so do those of the default branch"
        );
        let line = tracked.report_line(Verdict::Waiting, Reason::DefaultChecksFailed, text);
        return builder.report_line(line.with_until(soon));
    }
    let head = &tracked.pull.head_oid;
    let (told, rounds) = tracked.record(builder).map_or((None, 0), |known| {
        let told = message::message_about(known.checks.as_ref(), &known.notified_heads, head);
        (told, known.fix_rounds)
    });
    let feedback = Feedback {
        problem: "its checks failed",
        marker: markers::checks_marker(number, head),
        earlier: told,
        rounds,
        max_rounds: MAX_FIX_ROUNDS,
        waiting_reason: Reason::ChecksFailed,
        sent_reason: Reason::ChecksReported,
    };
    if !message::may_send(builder, tracked, &feedback) {
        return;
    }
    let Some(red) = known_failure(builder, tracked) else {
        return;
    };
    match message::newest_pusher(builder, tracked, red.committed_at, red.by_jules) {
        Pusher::Session => {}
        Pusher::Others => {
            backoff::lengthen_wait(builder, tracked, None);
            let text = "its checks failed, and its newest commit is not the session's";
            tracked.open_notice(builder, Reason::ChecksFailed, text);
            return;
        }
        Pusher::Unread => return report_unread(builder, tracked),
    }
    if feedback.earlier.is_none() && !is_grace_over(builder, tracked, red) {
        return;
    }
    let now = builder.now();
    let text = checks_message(builder, tracked, &red.failed, &feedback.marker);
    let remark = match red.failed.iter().any(|check| check.log_hidden) {
        true => ", without the logs: this credential may not read them (`actions: read`)",
        false => "",
    };
    let record = tracked.record_mut(builder);
    if feedback.earlier.is_none() {
        record.fix_rounds += 1;
    }
    message::count_message(&mut record.checks, &mut record.notified_heads, head, now);
    tracked.add_headline(builder, "failed checks");
    message::send_feedback(builder, tracked, feedback, text, remark);
}

/// What is known of the checks that failed, once they all have ended. `None`: a line says what is waited for, or a notice
/// is open.
fn known_failure<'s>(
    builder: &mut DecisionBuilder<'s>,
    tracked: &OpenPull<'_>,
) -> Option<&'s FailedChecks> {
    let number = tracked.number();
    let head = &tracked.pull.head_oid;
    let soon = builder.now_plus(PULL_POLL);
    let Some(red) = builder.snapshot.failed_checks.get(head) else {
        if builder.snapshot.failed_checks.len() + builder.reads.failed_checks.len() < CHECKS_READ {
            builder.reads.failed_checks.insert(head.clone());
        }
        let text =
            format!("the checks of pull request #{number} failed; what they say is read next");
        builder.report_line(
            tracked
                .report_line(Verdict::Waiting, Reason::ChecksFailed, text)
                .with_until(soon),
        );
        return None;
    };
    if red.running > 0 {
        let text = format!(
            "checks of pull request #{number} failed, and {} have not ended yet",
            red.running
        );
        let soon = backoff::lengthen_wait(builder, tracked, None);
        builder.report_line(
            tracked
                .report_line(Verdict::Waiting, Reason::ChecksFailed, text)
                .with_until(soon),
        );
        return None;
    }
    if red.failed.is_empty() && !red.hidden {
        let soon = backoff::lengthen_wait(builder, tracked, None);
        let text = "its checks did not pass, and none of them failed: they were cancelled, or wait for a person";
        // Cancelled checks may be run again.
        if backoff::count_waits(builder, tracked) > 1 {
            tracked.open_notice(builder, Reason::ChecksFailed, text);
        } else {
            let text = format!("pull request #{number}: {text}");
            let line = tracked.report_line(Verdict::Waiting, Reason::ChecksFailed, text);
            builder.report_line(line.with_until(soon));
        }
        return None;
    }
    Some(red)
}

/// Whether Jules has had its time to fix the checks itself (CI Fixer, changelog of 2026-02-19): neither a commit nor a
/// check nor an activity has appeared for a while. Otherwise reports until when it has.
fn is_grace_over(
    builder: &mut DecisionBuilder<'_>,
    tracked: &OpenPull<'_>,
    red: &FailedChecks,
) -> bool {
    let Some(activities) = message::read_activities(builder, tracked) else {
        report_unread(builder, tracked);
        return false;
    };
    let own = activities.iter().filter(|one| message::is_by_jules(one));
    let newest = own.map(|one| one.at).max();
    let newest = [red.committed_at, red.failed_at, newest];
    // Committers and apps write their own times. Ignore those in the future.
    let latest = builder.now_plus(CLOCK_TOLERANCE);
    let newest = newest.into_iter().flatten().filter(|at| *at <= latest);
    let Some(newest) = newest.max() else {
        return true;
    };
    let until = newest.checked_add(CHECKS_GRACE).unwrap_or(Timestamp::MAX);
    if builder.now() >= until {
        return true;
    }
    let text = format!(
        "the checks of pull request #{} failed; Jules may fix them itself",
        tracked.number()
    );
    let line = tracked.report_line(Verdict::Waiting, Reason::ChecksFailed, text);
    builder.report_line(line.with_until(until));
    false
}

fn report_unread(builder: &mut DecisionBuilder<'_>, tracked: &OpenPull<'_>) {
    let text = format!(
        "the checks of pull request #{} failed; what its session does is read next",
        tracked.number()
    );
    let line = tracked.report_line(Verdict::Waiting, Reason::ChecksFailed, text);
    builder.report_line(line.with_until(builder.now_plus(PULL_POLL)));
}

fn checks_message(
    builder: &DecisionBuilder<'_>,
    tracked: &OpenPull<'_>,
    failed: &[FailedCheck],
    marker: &str,
) -> String {
    let number = tracked.number();
    let head = &tracked.pull.head_oid;
    let reports: Vec<CheckReport<'_>> = failed
        .iter()
        .map(|check| CheckReport {
            name: &check.name,
            conclusion: &check.conclusion,
            summary: &check.summary,
            annotations: &check.annotations,
            log: &check.log,
            log_hidden: check.log_hidden,
        })
        .collect();
    let said = if reports.is_empty() {
        "What they say cannot be read from here; run the project's own checks to see.".to_owned()
    } else {
        prompt::failed_checks(&builder.snapshot.entropy, marker, &reports)
    };
    format!(
        "The checks of your pull request #{number} failed on its newest commit {head}. Find the cause, fix it, and push \
         to the same branch. Do not switch checks off, do not delete or loosen tests, and do not change workflow files to \
         make them pass. If the failure does not come from your changes, say so and change nothing.\n\n{said}\n\n{marker}"
    )
}
