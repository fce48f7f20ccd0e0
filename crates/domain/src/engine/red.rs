//! Failed checks go back to the session whose commit they looked at: once for each commit, for so many rounds, and then
//! to a person.

use jiff::Timestamp;

use super::draft::Draft;
use super::limits::{CHECKS_READ, FIX_PATIENCE, INTENT_VALID, MAX_FIX_ROUNDS, PULL_POLL};
use super::watched::{self, Watched};
use super::word::{self, Heard, Listener};
use super::{Checks, Effect, FailedCheck, Reason, Verdict};
use crate::prompt::{self, CheckReport};

/// Looks after every open pull request of ours whose newest commit's checks are red.
pub(super) fn everybody(draft: &mut Draft<'_>) {
    for watched in watched::open(draft) {
        if watched.pull.checks == Checks::Red {
            tend(draft, &watched);
        }
    }
}

fn tend(draft: &mut Draft<'_>, watched: &Watched<'_>) {
    let number = watched.number();
    let soon = draft.after(PULL_POLL);
    if watched.is_held(draft) {
        let text = format!(
            "the checks of pull request #{number} failed, and `phileas:hold` keeps it for people"
        );
        draft.say(watched.line(Verdict::Paused, Reason::SubjectHeld, text));
        return;
    }
    let head = &watched.pull.head_oid;
    let marker = word::checks_marker(number, head);
    let (told, rounds) = watched
        .known(draft)
        .map_or((None, 0), |known| (known.checks.clone(), known.fix_rounds));
    let told = told.filter(|told| told.head == *head);
    match &told {
        Some(told) => match word::heard(draft, watched, told, &marker) {
            Heard::Yes => return wait_for_commit(draft, watched, told.at),
            Heard::Unknown { until } => {
                let text = format!(
                    "the session was told that the checks of pull request #{number} failed"
                );
                let line = watched.line(Verdict::Waiting, Reason::ChecksTold, text);
                return draft.say(line.until(until));
            }
            Heard::GivenUp => {
                let text = "its checks failed, and its session cannot be told";
                return watched.call(draft, Reason::ChecksFailed, text);
            }
            Heard::No => {}
        },
        None if rounds >= MAX_FIX_ROUNDS => {
            let text = format!(
                "its checks failed, also after {rounds} attempts of its session to mend them"
            );
            return watched.call(draft, Reason::ChecksFailed, &text);
        }
        None => {}
    }
    match word::listener(draft, watched) {
        Listener::Listens => {}
        Listener::Later { why, until } => {
            let text = format!("the checks of pull request #{number} failed; {why}");
            let line = watched.line(Verdict::Waiting, Reason::ChecksFailed, text);
            return draft.say(line.until(until));
        }
        Listener::Gone(why) => {
            let text = format!("its checks failed, and {why}");
            return watched.call(draft, Reason::ChecksFailed, &text);
        }
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
        draft.say(
            watched
                .line(Verdict::Waiting, Reason::ChecksFailed, text)
                .until(soon),
        );
        return;
    }
    if red.failed.is_empty() && !red.hidden {
        let text = format!(
            "the checks of pull request #{number} are red, and none of them failed: they were cancelled, or wait for a person"
        );
        draft.say(
            watched
                .line(Verdict::Waiting, Reason::ChecksFailed, text)
                .until(soon),
        );
        return;
    }
    let now = draft.now();
    let text = message(draft, watched, &red.failed, &marker);
    let record = watched.record(draft);
    if told.is_none() {
        record.fix_rounds += 1;
    }
    let round = record.fix_rounds;
    word::count(&mut record.checks, head, now);
    watched.headline(draft, "failed checks");
    let without = match red.failed.iter().any(|check| check.log_hidden) {
        true => ", without the logs: this credential may not read them (`actions: read`)",
        false => "",
    };
    let session = watched.session.clone();
    let not_after = draft.after(INTENT_VALID);
    draft.effect(Effect::TellPull {
        pull: number,
        session,
        marker,
        text,
        not_after,
    });
    let text = format!(
        "the checks of pull request #{number} failed; its session is told, {round} of {MAX_FIX_ROUNDS} times{without}"
    );
    draft.say(
        watched
            .line(Verdict::Settled, Reason::ChecksTold, text)
            .until(soon),
    );
}

/// The session knows. Its next commit is looked at anew.
fn wait_for_commit(draft: &mut Draft<'_>, watched: &Watched<'_>, since: Timestamp) {
    let number = watched.number();
    let until = since.checked_add(FIX_PATIENCE).unwrap_or(Timestamp::MAX);
    if draft.now() >= until {
        let text = "its checks failed, and its session has not mended them since it was told";
        return watched.call(draft, Reason::ChecksFailed, text);
    }
    let text = format!("the session was told that the checks of pull request #{number} failed");
    draft.say(
        watched
            .line(Verdict::Waiting, Reason::ChecksTold, text)
            .until(until),
    );
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
