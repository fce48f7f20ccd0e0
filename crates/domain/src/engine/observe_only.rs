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

/// Keeps the reads that decide what is due. An observing tick sends no prompt and no message, and merges nothing. Each
/// field is named, so that a new one must be decided.
fn reads_without_prompts(reads: ReadRequests) -> ReadRequests {
    ReadRequests {
        listing: reads.listing,
        sessions: reads.sessions,
        activities: reads.activities,
        pulls: reads.pulls,
        pull_activity: reads.pull_activity,
        subjects: reads.subjects,
        comments: reads.comments,
        permissions: reads.permissions,
        exchange: reads.exchange,
        layers: reads.layers,
        session_files: reads.session_files,
        commits: reads.commits,
        texts: Default::default(),
        folders: Default::default(),
        sources: Default::default(),
        single_sessions: Default::default(),
        failed_checks: Default::default(),
        merges: Default::default(),
        remarks: Default::default(),
        reviews: Default::default(),
        pull_files: Default::default(),
        refusal_texts: Default::default(),
        work_files: Default::default(),
        plan_commit: Default::default(),
        prompts: Default::default(),
    }
}
