//! Holds back every effect where phileas only observes.

use super::input::snapshot::Snapshot;
use super::lookup::policy::only_observes;
use super::output::decision::Decision;
use super::output::needs::Needs;
use super::output::report::{Line, Verdict};

/// Takes from a decision what an observing tick does not do.
pub(crate) fn silence_observers(
    (mut decision, mut needs): (Decision, Needs),
    snapshot: &Snapshot,
) -> (Decision, Needs) {
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
        .insert(0, Line::repository(Verdict::Waiting, reason, text));
    // Nothing would be said with these.
    needs.texts.clear();
    needs.folders.clear();
    needs.sources.clear();
    needs.plan_commit = false;
    needs.red.clear();
    needs.alone.clear();
    needs.merges.clear();
    needs.remarks.clear();
    needs.reviews.clear();
    (decision, needs)
}
