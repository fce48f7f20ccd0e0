//! Failed checks go back to the session whose commit they looked at: once for each commit, for so many rounds, and then
//! to a person.

use jiff::Timestamp;

use super::backoff;
use super::message::{self, Matter, Pusher};
use super::tracked::{self, Watched};
use crate::engine::input::pull::{Checks, FailedCheck, Mergeable, RedChecks};
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{
    CHECKS_GRACE, CHECKS_READ, CLOCK_TOLERANCE, MAX_FIX_ROUNDS, PULL_POLL,
};
use crate::engine::output::report::{Reason, Verdict};
use crate::engine::text::markers;
use crate::plan::MainRed;
use crate::prompt::{self, CheckReport};

/// Looks after every open pull request of ours whose newest commit's checks are red.
pub(crate) fn run(draft: &mut Draft<'_>) {
    for watched in tracked::open(draft) {
        // What conflicts is mended first: merging the base makes another commit.
        let conflicts = watched.pull.mergeable == Mergeable::Conflicting;
        if watched.pull.checks == Checks::Red && !conflicts {
            tend(draft, &watched);
        }
    }
}

fn tend(draft: &mut Draft<'_>, watched: &Watched<'_>) {
    let number = watched.number();
    let soon = draft.after(PULL_POLL);
    let snapshot = draft.snapshot;
    let is_main_red = snapshot.repository.default_checks == Checks::Red;
    if is_main_red && snapshot.plan.gate.main_red != MainRed::Ignore {
        let text = format!(
            "the checks of pull request #{number} failed, and so do those of the default branch"
        );
        let line = watched.line(Verdict::Waiting, Reason::MainRed, text);
        return draft.say(line.until(soon));
    }
    let head = &watched.pull.head_oid;
    let (told, rounds) = watched.known(draft).map_or((None, 0), |known| {
        let told = message::told_about(known.checks.as_ref(), &known.fix_heads, head);
        (told, known.fix_rounds)
    });
    let matter = Matter {
        problem: "its checks failed",
        marker: markers::checks_marker(number, head),
        told,
        rounds,
        most: MAX_FIX_ROUNDS,
        waits: Reason::ChecksFailed,
        said: Reason::ChecksTold,
    };
    if !message::is_time(draft, watched, &matter) {
        return;
    }
    let Some(red) = draft.snapshot.red.get(head) else {
        if draft.snapshot.red.len() + draft.needs.red.len() < CHECKS_READ {
            draft.needs.red.insert(head.clone());
        }
        let text =
            format!("the checks of pull request #{number} failed; what they say is read next");
        draft.say(
            watched
                .line(Verdict::Waiting, Reason::ChecksFailed, text)
                .until(soon),
        );
        return;
    };
    if red.running > 0 {
        let text = format!(
            "checks of pull request #{number} failed, and {} have not ended yet",
            red.running
        );
        let soon = backoff::wait_longer(draft, watched, None);
        draft.say(
            watched
                .line(Verdict::Waiting, Reason::ChecksFailed, text)
                .until(soon),
        );
        return;
    }
    if red.failed.is_empty() && !red.hidden {
        let soon = backoff::wait_longer(draft, watched, None);
        let text = "its checks are red, and none of them failed: they were cancelled, or wait for a person";
        // What was cancelled may be run again by itself.
        if backoff::waits(draft, watched) > 1 {
            watched.call(draft, Reason::ChecksFailed, text);
        } else {
            let text = format!("pull request #{number}: {text}");
            let line = watched.line(Verdict::Waiting, Reason::ChecksFailed, text);
            draft.say(line.until(soon));
        }
        return;
    }
    match message::pusher(draft, watched, red.committed_at, red.by_jules) {
        Pusher::Session => {}
        Pusher::Others => {
            backoff::wait_longer(draft, watched, None);
            let text = "its checks failed, and its newest commit is not the session's";
            watched.call(draft, Reason::ChecksFailed, text);
            return;
        }
        Pusher::Unread => return say_unread(draft, watched),
    }
    if matter.told.is_none() && !is_left_alone(draft, watched, red) {
        return;
    }
    let now = draft.now();
    let text = message(draft, watched, &red.failed, &matter.marker);
    let remark = match red.failed.iter().any(|check| check.log_hidden) {
        true => ", without the logs: this credential may not read them (`actions: read`)",
        false => "",
    };
    let record = watched.record(draft);
    if matter.told.is_none() {
        record.fix_rounds += 1;
    }
    message::count(&mut record.checks, &mut record.fix_heads, head, now);
    watched.headline(draft, "failed checks");
    message::say(draft, watched, matter, text, remark);
}

/// Whether Jules has had its time to fix the checks by itself (CI Fixer, changelog of 2026-02-19): neither a commit nor a
/// check nor an activity has appeared for a while. Otherwise the report tells until when it has.
fn is_left_alone(draft: &mut Draft<'_>, watched: &Watched<'_>, red: &RedChecks) -> bool {
    let Some(activities) = message::read_activities(draft, watched) else {
        say_unread(draft, watched);
        return false;
    };
    let own = activities.iter().filter(|one| message::is_by_jules(one));
    let newest = own.map(|one| one.at).max();
    let newest = [red.committed_at, red.failed_at, newest];
    // A committer and an app write their times themselves. One in the future says nothing of how long Jules has had.
    let latest = draft.after(CLOCK_TOLERANCE);
    let newest = newest.into_iter().flatten().filter(|at| *at <= latest);
    let Some(newest) = newest.max() else {
        return true;
    };
    let until = newest.checked_add(CHECKS_GRACE).unwrap_or(Timestamp::MAX);
    if draft.now() >= until {
        return true;
    }
    let text = format!(
        "the checks of pull request #{} failed; Jules may fix them by itself",
        watched.number()
    );
    let line = watched.line(Verdict::Waiting, Reason::ChecksFailed, text);
    draft.say(line.until(until));
    false
}

fn say_unread(draft: &mut Draft<'_>, watched: &Watched<'_>) {
    let text = format!(
        "the checks of pull request #{} failed; what its session does is read next",
        watched.number()
    );
    let line = watched.line(Verdict::Waiting, Reason::ChecksFailed, text);
    draft.say(line.until(draft.after(PULL_POLL)));
}

fn message(
    draft: &Draft<'_>,
    watched: &Watched<'_>,
    failed: &[FailedCheck],
    marker: &str,
) -> String {
    let number = watched.number();
    let head = &watched.pull.head_oid;
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
        prompt::failed_checks(&draft.snapshot.entropy, marker, &reports)
    };
    format!(
        "The checks of your pull request #{number} failed on its newest commit {head}. Find the cause, mend it, and push \
         to the same branch. Do not switch checks off, do not delete or loosen tests, and do not change workflow files to \
         make them pass. If the failure does not come from your changes, say so and change nothing.\n\n{said}\n\n{marker}"
    )
}
