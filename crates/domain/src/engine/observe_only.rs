//! Turns a decision into a report where phileas only observes: no effect, no change, and fewer reads.

use super::input::snapshot::Snapshot;
use super::lookup::policy::only_observes;
use super::output::decision::Decision;
use super::output::read_requests::ReadRequests;
use super::output::report::{Line, Verdict};

/// Removes from a decision what an observing tick does not do.
pub(crate) fn drop_effects_if_observing(
    (mut decision, reads): (Decision, ReadRequests),
    snapshot: &Snapshot,
) -> (Decision, ReadRequests) {
    let Some((reason, text)) = only_observes(snapshot) else {
        return (decision, reads);
    };
    decision.change = None;
    decision.effects.clear();
    for line in &mut decision.report.lines {
        if says_done(line.verdict) {
            line.detail = format!("would be {}: {}", line.verdict.as_str(), line.detail);
            line.verdict = Verdict::Waiting;
            line.reason = reason;
        }
    }
    decision
        .report
        .lines
        .insert(0, Line::about_repository(Verdict::Waiting, reason, text));
    (decision, reads_without_prompts(reads))
}

/// Whether a line says that something was done, which an observing tick does not do.
fn says_done(verdict: Verdict) -> bool {
    match verdict {
        Verdict::Dispatched
        | Verdict::Adopted
        | Verdict::Advanced
        | Verdict::Settled
        | Verdict::Imported => true,
        Verdict::Waiting
        | Verdict::Skipped
        | Verdict::Refused
        | Verdict::Paused
        | Verdict::Held => false,
    }
}

/// Keeps the reads that decide what is due. An observing tick sends no prompt and no message, and merges nothing.
fn reads_without_prompts(reads: ReadRequests) -> ReadRequests {
    let ReadRequests {
        listing,
        sessions,
        activities,
        pulls,
        subjects,
        comments,
        permissions,
        exchange,
        layers,
        session_files,
        commits,
        texts: _,
        folders: _,
        sources: _,
        single_sessions: _,
        failed_checks: _,
        merges: _,
        remarks: _,
        reviews: _,
        pull_files: _,
        pull_activity: _,
        refusal_texts: _,
        work_files: _,
        plan_commit: _,
        prompts: _,
    } = reads;
    ReadRequests {
        listing,
        sessions,
        activities,
        pulls,
        subjects,
        comments,
        permissions,
        exchange,
        layers,
        session_files,
        commits,
        ..ReadRequests::default()
    }
}
