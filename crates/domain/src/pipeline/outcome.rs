//! How an attempt ended, from what it wrote.

use super::artifact::Artifact;
use super::read::Reading;
use super::values::{
    Classification, Diagnosis, EscalationKind, GitResult, Outcome, ReviewResult, TestResult,
    Verdict, WorkerResult, WorkerStatus,
};

/// How the attempt ended that wrote a file.
pub(super) fn stage_outcome(reading: &Reading) -> Outcome {
    let known = match reading.artifact {
        Artifact::Plan => reading.is_sound().then_some(Outcome::Planned),
        Artifact::Worker => reading
            .value()
            .map(|worker: WorkerResult| match worker.status {
                WorkerStatus::Completed if worker.blockers.is_empty() => Outcome::Completed,
                WorkerStatus::Completed | WorkerStatus::Blocked => Outcome::Blocked,
                WorkerStatus::Escalate => Outcome::Escalate,
            }),
        Artifact::Test => reading.value().map(|test: TestResult| test_outcome(&test)),
        Artifact::Debug => reading.value().map(|diagnosis: Diagnosis| {
            match (diagnosis.classification, diagnosis.escalation_sub) {
                (Classification::FixTarget, _) => Outcome::FixTarget,
                (Classification::PlanDefect, _) => Outcome::PlanDefect,
                (Classification::Escalate, Some(EscalationKind::AmbiguousRequirement)) => {
                    Outcome::AmbiguousRequirement
                }
                (Classification::Escalate, _) => Outcome::TechnicalComplexity,
            }
        }),
        Artifact::Review => reading
            .value()
            .map(|review: ReviewResult| match review.verdict {
                Verdict::Fail => Outcome::Fail,
                // A blocker counts as a rejection, whatever the verdict says.
                _ if !review.blockers.is_empty() => Outcome::Fail,
                Verdict::Pass => Outcome::Pass,
                Verdict::Skip => Outcome::Skip,
            }),
        Artifact::Git => reading
            .value()
            .map(|git: GitResult| ci_outcome(git.ci_status.as_deref())),
        Artifact::State | Artifact::Trace | Artifact::Lessons => None,
    };
    known.unwrap_or(Outcome::Unusable)
}

fn test_outcome(test: &TestResult) -> Outcome {
    // A check that failed is a failure, whatever the verdict says.
    let failed = test.verdict == Verdict::Fail || !test.failed().is_empty();
    let inline = test.inline_triage == Some(true);
    match (failed, inline, test.classification.as_deref()) {
        (true, true, Some("plan_defect")) => Outcome::PlanDefect,
        (true, true, _) => Outcome::InlineFix,
        (true, false, _) => Outcome::Fail,
        (false, ..) if test.verdict == Verdict::Skip => Outcome::Skip,
        (false, ..) => Outcome::Pass,
    }
}

/// What a pull request's checks mean. Agents write it in words of their own.
fn ci_outcome(status: Option<&str>) -> Outcome {
    let status = status.unwrap_or_default().to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| status.contains(word));
    if says(&["fail", "error", "cancelled", "timed_out"]) {
        Outcome::CiFailed
    } else if says(&["pending", "queued", "progress", "running", "waiting"]) {
        Outcome::CiPending
    } else {
        Outcome::Completed
    }
}
