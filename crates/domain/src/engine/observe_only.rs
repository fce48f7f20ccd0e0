//! Removes every effect where phileas only observes.

use super::input::snapshot::Snapshot;
use super::lookup::policy::only_observes;
use super::output::decision::Decision;
use super::output::read_requests::ReadRequests;
use super::output::report::{Line, Verdict};

/// Removes from a decision what an observing tick does not do.
pub(crate) fn drop_effects_if_observing(
    (mut decision, mut needs): (Decision, ReadRequests),
    snapshot: &Snapshot,
) -> (Decision, ReadRequests) {
    let Some((reason, text)) = only_observes(snapshot) else {
        return (decision, needs);
    };
    decision.change = None;
    decision.effects.clear();
    for line in &mut decision.report.lines {
        if matches!(
            line.verdict,
            Verdict::Dispatched | Verdict::Adopted | Verdict::Advanced | Verdict::Settled
        ) {
            line.detail = format!("would be {}: {}", line.verdict.as_str(), line.detail);
            line.verdict = Verdict::Waiting;
            line.reason = reason;
        }
    }
    decision
        .report
        .lines
        .insert(0, Line::about_repository(Verdict::Waiting, reason, text));
    // Only prompts and messages need these reads.
    needs.texts.clear();
    needs.folders.clear();
    needs.sources.clear();
    needs.plan_commit = false;
    needs.failed_checks.clear();
    needs.single_sessions.clear();
    needs.merges.clear();
    needs.remarks.clear();
    needs.reviews.clear();
    needs.pull_files.clear();
    needs.refusal_texts.clear();
    needs.work_files.clear();
    (decision, needs)
}
