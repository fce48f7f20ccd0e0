//! Invariants of a plan.

use std::collections::{BTreeMap, BTreeSet};

use super::checker::Checker;
use crate::pipeline::artifact::Artifact;
use crate::pipeline::limits::CRITERION_SHOWN_CHARS;
use crate::pipeline::read::Part::{Index, Key};
use crate::pipeline::values::Plan;

const PLAN: Artifact = Artifact::Plan;

pub(super) fn check_plan(checker: &mut Checker<'_>) {
    let Some(plan) = checker.read_artifact::<Plan>(PLAN, "plan_exists", "plan_valid") else {
        return;
    };
    for (check, key, empty) in [
        (
            "affected_files",
            "affected_files",
            plan.affected_files.is_empty(),
        ),
        ("steps", "steps", plan.steps.is_empty()),
        (
            "ac_mapping",
            "acceptance_mapping",
            plan.acceptance_mapping.is_empty(),
        ),
    ] {
        if empty {
            let wrong = format!("`{key}` is empty");
            checker.report_error(
                check,
                (PLAN, &[Key(key)]),
                wrong,
                "a plan says what, where and how it is shown",
            );
        }
    }
    for (criterion, test) in &plan.acceptance_mapping {
        if test.as_str().is_none_or(|test| test.trim().is_empty()) {
            let shown: String = criterion.chars().take(CRITERION_SHOWN_CHARS).collect();
            let place = [Key("acceptance_mapping"), Key(criterion)];
            let wrong = format!("no test shows the criterion `{shown}`");
            checker.report_error(
                "ac_test_mapped",
                (PLAN, &place),
                wrong,
                "name the test or the check that shows it",
            );
        }
    }
    check_files(checker, &plan);
    check_order(checker, &plan);
}

fn check_files(checker: &mut Checker<'_>, plan: &Plan) {
    let named: BTreeSet<&str> = plan
        .steps
        .iter()
        .filter_map(|step| step.file.as_deref())
        .collect();
    for (index, file) in plan.affected_files.iter().enumerate() {
        if !named.contains(file.as_str()) {
            let place = [Key("affected_files"), Index(index)];
            let wrong = format!("no step names `{file}`");
            checker.report_error(
                "file_has_step",
                (PLAN, &place),
                wrong,
                "name it in the step that touches it",
            );
        }
    }
    for (index, step) in plan.steps.iter().enumerate() {
        if let Some(file) = &step.file
            && !plan.affected_files.contains(file)
        {
            let place = [Key("steps"), Index(index), Key("file")];
            let wrong = format!("`{file}` is not in `affected_files`");
            checker.report_error(
                "step_in_affected",
                (PLAN, &place),
                wrong,
                "add it there, or leave the step out",
            );
        }
    }
}

/// Numbers are there once, and what a step waits for is there and does not wait for it.
fn check_order(checker: &mut Checker<'_>, plan: &Plan) {
    let mut numbers: BTreeMap<u64, usize> = BTreeMap::new();
    for (index, step) in plan.steps.iter().enumerate() {
        if let Some(first) = numbers.insert(step.order, index) {
            let place = [Key("steps"), Index(index), Key("order")];
            let wrong = format!(
                "step {} is there twice, first as entry {}",
                step.order,
                first + 1
            );
            checker.report_error(
                "step_order_unique",
                (PLAN, &place),
                wrong,
                "number the steps from 1",
            );
        }
    }
    for (index, step) in plan.steps.iter().enumerate() {
        for (at, needed) in step.depends_on.iter().flatten().enumerate() {
            if !numbers.contains_key(needed) {
                let place = [Key("steps"), Index(index), Key("depends_on"), Index(at)];
                let wrong = format!(
                    "step {} waits for step {needed}, which is not there",
                    step.order
                );
                checker.report_error(
                    "depends_on_known",
                    (PLAN, &place),
                    wrong,
                    "name the `order` of a step",
                );
            }
        }
    }
    // What waits for nothing that is left can be done; what is left at the end waits in a circle.
    let mut left: Vec<usize> = (0..plan.steps.len()).collect();
    loop {
        let open: BTreeSet<u64> = left.iter().map(|at| plan.steps[*at].order).collect();
        let before = left.len();
        left.retain(|at| {
            let needs = plan.steps[*at].depends_on.iter().flatten();
            needs.into_iter().any(|needed| open.contains(needed))
        });
        if left.len() == before {
            break;
        }
    }
    if let Some(first) = left.first() {
        let circle: Vec<String> = left
            .iter()
            .map(|at| plan.steps[*at].order.to_string())
            .collect();
        let place = [Key("steps"), Index(*first), Key("depends_on")];
        let wrong = format!(
            "steps wait for one another in a circle: {}",
            circle.join(", ")
        );
        checker.report_error(
            "depends_on_acyclic",
            (PLAN, &place),
            wrong,
            "let one of them begin",
        );
    }
}
