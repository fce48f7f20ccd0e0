//! Invariants of a review.

use super::checker::Checker;
use crate::pipeline::artifact::Artifact;
use crate::pipeline::read::Part::{Index, Key};
use crate::pipeline::values::{ReviewFinding, ReviewResult, Verdict};

const REVIEW: Artifact = Artifact::Review;

pub(super) fn check_review(checker: &mut Checker<'_>) {
    let review: Option<ReviewResult> =
        checker.read_artifact(REVIEW, "review_result_exists", "review_result_valid");
    let Some(review) = review else { return };
    let place = (REVIEW, &[Key("verdict")][..]);
    let found = !review.blockers.is_empty() || !review.concerns.is_empty();
    match review.verdict {
        Verdict::Pass if !review.blockers.is_empty() => {
            let wrong = "the verdict is PASS, and there are blockers";
            checker.report_error("verdict_consistent", place, wrong, "write FAIL");
        }
        Verdict::Pass if found => {
            let wrong = "the verdict is PASS, and there are concerns";
            checker.report_warning(
                "verdict_consistent",
                place,
                wrong,
                "only nits are left where a review passes",
            );
        }
        Verdict::Fail if !found => {
            let wrong = "the verdict is FAIL, and nothing was found";
            checker.report_warning("verdict_consistent", place, wrong, "name what is to change");
        }
        _ => {}
    }
    if review.verdict == Verdict::Fail && review.trim_instructions.is_none() {
        let wrong = "the work goes back, and nothing says what is to change";
        checker.report_warning(
            "fail_has_instructions",
            place,
            wrong,
            "write `trim_instructions`",
        );
    }
    for (key, findings) in [
        ("blockers", &review.blockers),
        ("concerns", &review.concerns),
    ] {
        for (index, finding) in findings.iter().enumerate() {
            check_finding(checker, (key, index), finding);
        }
    }
    checker.tier_fits(REVIEW, review.tier_used);
}

fn check_finding(checker: &mut Checker<'_>, (key, index): (&str, usize), finding: &ReviewFinding) {
    let place = (REVIEW, &[Key(key), Index(index)][..]);
    if finding.file.is_none() {
        let wrong = format!("entry {} of `{key}` names no file", index + 1);
        checker.report_error(
            "finding_has_file",
            place,
            wrong,
            "write `file`, from the repository's root",
        );
    }
    if finding.line.unwrap_or(0) == 0 {
        let wrong = format!("entry {} of `{key}` names no line", index + 1);
        checker.report_error("finding_has_line", place, wrong, "write `line`, from 1");
    }
}
