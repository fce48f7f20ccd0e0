//! Invariants of a diagnosis.

use super::checker::Checker;
use crate::pipeline::artifact::Artifact;
use crate::pipeline::read::Part::Key;
use crate::pipeline::values::{Classification, Diagnosis};

const DEBUG: Artifact = Artifact::Debug;

pub(super) fn check_debug(checker: &mut Checker<'_>) {
    let diagnosis: Option<Diagnosis> =
        checker.read_artifact(DEBUG, "diagnosis_exists", "diagnosis_valid");
    let Some(diagnosis) = diagnosis else { return };
    let (missing, key) = match diagnosis.classification {
        Classification::FixTarget => (diagnosis.fix_instructions.is_none(), "fix_instructions"),
        Classification::PlanDefect => (
            diagnosis.plan_fix_instructions.is_none(),
            "plan_fix_instructions",
        ),
        Classification::Escalate => (diagnosis.escalation_sub.is_none(), "escalation_sub"),
    };
    if missing {
        let wrong = format!("`{key}` is missing, which this classification calls for");
        let place = (DEBUG, &[Key("classification")][..]);
        checker.report_warning(
            "classification_has_instructions",
            place,
            wrong,
            format!("write `{key}`"),
        );
    }
    checker.tier_fits(DEBUG, diagnosis.tier_used);
}
