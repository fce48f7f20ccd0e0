//! Invariants of a test's result.

use super::checker::Checker;
use crate::pipeline::artifact::Artifact;
use crate::pipeline::read::Part::Key;
use crate::pipeline::values::{TestResult, Verdict};

const TEST: Artifact = Artifact::Test;

pub(super) fn check_test(checker: &mut Checker<'_>) {
    let test: Option<TestResult> =
        checker.read_artifact(TEST, "test_result_exists", "test_result_valid");
    let Some(test) = test else { return };
    let first = test.failed_first();
    if let (Some(name), Some(_)) = (first.first(), &test.phase_2) {
        let wrong = format!("phase 2 ran although the check `{name}` of phase 1 failed");
        let help = "write null; integration tests run when phase 1 passes";
        checker.report_error("phase_2_gated", (TEST, &[Key("phase_2")]), wrong, help);
    }
    let failed = test.failed();
    let place = (TEST, &[Key("verdict")][..]);
    match (test.verdict, failed.first()) {
        (Verdict::Pass, Some(name)) => {
            let wrong = format!("the verdict is PASS, and the check `{name}` failed");
            checker.report_error("verdict_consistent", place, wrong, "write FAIL");
        }
        (Verdict::Fail, None) => {
            let wrong = "the verdict is FAIL, and no check failed";
            checker.report_warning(
                "verdict_consistent",
                place,
                wrong,
                "name the check that failed",
            );
        }
        (Verdict::Skip, _) => {
            let wrong = "the tests were skipped";
            checker.report_warning(
                "verdict_consistent",
                place,
                wrong,
                "run them, or say why not",
            );
        }
        _ => {}
    }
    if test.inline_triage == Some(true) && test.fix_instruction.is_none() {
        let wrong = "the failure is to be fixed at once, and nothing says how";
        let place = (TEST, &[Key("inline_triage")][..]);
        checker.report_warning(
            "inline_triage_has_fix",
            place,
            wrong,
            "write `fix_instruction`",
        );
    }
    checker.tier_fits(TEST, test.tier_used);
    checker.tiers_rise(TEST, test.escalation_history.as_deref());
}
