//! Invariants of a trace.

use super::checker::Checker;
use crate::pipeline::artifact::Artifact;
use crate::pipeline::read::Part::{Index, Key};
use crate::pipeline::values::Trace;

const TRACE: Artifact = Artifact::Trace;

pub(super) fn check_trace(checker: &mut Checker<'_>) {
    let trace: Option<Trace> = checker.read_artifact(TRACE, "trace_exists", "trace_valid");
    let Some(trace) = trace else { return };
    if trace.issue_id != checker.run.issue.as_str() {
        let wrong = format!("it is of the issue `{}`", trace.issue_id.escape_debug());
        let help = format!("write `{}`", checker.run.issue);
        checker.report_error("trace_issue", (TRACE, &[Key("issue_id")]), wrong, help);
    }
    let sum: u128 = trace
        .stages
        .iter()
        .map(|one| u128::from(one.duration_ms))
        .sum();
    if sum != u128::from(trace.total_duration_ms) {
        let wrong = format!(
            "the stages took {sum} ms, and it says {}",
            trace.total_duration_ms
        );
        let place = (TRACE, &[Key("total_duration_ms")][..]);
        checker.report_error("trace_total", place, wrong, format!("write {sum}"));
    }
    for (index, pair) in trace.stages.windows(2).enumerate() {
        if pair[1].started_at < pair[0].started_at {
            let wrong = format!(
                "{} began before {}, which stands above it",
                pair[1].stage, pair[0].stage
            );
            let place = [Key("stages"), Index(index + 1), Key("started_at")];
            checker.report_error(
                "trace_order",
                (TRACE, &place),
                wrong,
                "list the stages as they ran",
            );
        }
    }
}
