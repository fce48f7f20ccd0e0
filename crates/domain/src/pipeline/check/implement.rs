//! Invariants of the work: the plan's scope, and what the worker says.

use super::checker::Checker;
use crate::pipeline::artifact::Artifact;
use crate::pipeline::read::Part::{Index, Key};
use crate::pipeline::values::{Plan, WorkerResult, WorkerStatus};

const WORKER: Artifact = Artifact::Worker;

/// What lies below it belongs to the run and not to the work.
const RUNS: &str = ".pipeline/";

pub(super) fn check_implement(checker: &mut Checker<'_>, changed: Option<&[String]>) {
    let Some(plan) = checker.read_artifact::<Plan>(Artifact::Plan, "plan_exists", "plan_valid")
    else {
        return;
    };
    let changed: Option<Vec<&String>> = changed.map(|changed| {
        changed
            .iter()
            .filter(|path| !path.starts_with(RUNS))
            .collect()
    });
    if let Some(changed) = &changed {
        check_scope(checker, &plan, changed);
    }
    if checker.run.reading(WORKER).is_none() {
        let wrong = "worker-result.json is missing";
        checker.report_warning(
            "worker_result_exists",
            (WORKER, &[]),
            wrong,
            "let the worker write it",
        );
        return;
    }
    let worker: Option<WorkerResult> =
        checker.read_artifact(WORKER, "worker_result_exists", "worker_result_valid");
    let Some(worker) = worker else { return };
    check_status(checker, &worker);
    for (index, file) in worker.files_changed.iter().enumerate() {
        if changed
            .as_ref()
            .is_some_and(|changed| !changed.contains(&file))
        {
            let wrong = format!("`{file}` is said to be changed, and is not");
            let place = [Key("files_changed"), Index(index)];
            checker.report_warning(
                "files_changed_real",
                (WORKER, &place),
                wrong,
                "name what was changed",
            );
        }
    }
    checker.tier_fits(WORKER, worker.tier_used);
    checker.tiers_rise(WORKER, worker.escalation_history.as_deref());
}

fn check_scope(checker: &mut Checker<'_>, plan: &Plan, changed: &[&String]) {
    for file in changed {
        if !plan.affected_files.contains(file) {
            let wrong = format!("`{file}` was changed, and is not in `affected_files`");
            let place = [Key("affected_files")];
            let help = "take the change back, or let the plan be revised";
            checker.report_error("scope_extra", (Artifact::Plan, &place), wrong, help);
        }
    }
    for (index, file) in plan.affected_files.iter().enumerate() {
        if !changed.contains(&file) {
            let wrong = format!("`{file}` was not changed");
            let place = [Key("affected_files"), Index(index)];
            let help = "change it, or take it out of the plan";
            checker.report_warning("scope_missing", (Artifact::Plan, &place), wrong, help);
        }
    }
}

fn check_status(checker: &mut Checker<'_>, worker: &WorkerResult) {
    let place = (WORKER, &[Key("status")][..]);
    if worker.status == WorkerStatus::Completed && !worker.blockers.is_empty() {
        let wrong = "the work is completed, and something stands in its way";
        checker.report_error(
            "status_consistent",
            place,
            wrong,
            "write `blocked`, or no blockers",
        );
    } else if worker.status != WorkerStatus::Completed && worker.blockers.is_empty() {
        let wrong = "the work is not completed, and nothing stands in its way";
        checker.report_warning("status_consistent", place, wrong, "say in `blockers` why");
    }
}
