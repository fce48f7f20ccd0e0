//! What GitHub does not let be read, and what it does not answer: owned up to, and no fault by itself.

use phileas_world::{Face, Fault, FaultPlan, FaultRule};

use super::patient::{found_in, healthy};

pub(super) fn answers(path: &str, status: u16) -> FaultPlan {
    FaultPlan {
        rules: vec![FaultRule {
            face: Some(Face::Github),
            method: Some("GET".to_owned()),
            path: Some(path.to_owned()),
            body: None,
            nth: None,
            probability: None,
            from: None,
            until: None,
            fault: Fault::Status {
                status,
                retry_after: None,
                html: false,
                done: false,
            },
        }],
    }
}

#[test]
fn what_may_not_be_read_is_not_known() {
    for (path, id) in [
        ("*/labels*", "labels.missing"),
        ("*/actions/workflows", "workflow.state"),
        ("*/actions/workflows/*/runs*", "workflow.runs"),
        ("*/contents/.github/workflows*", "workflow.files"),
        ("*/contents/.jules/.phileas-version*", "status.version"),
        ("*/contents/.jules/personas*", "plan.misplaced"),
        ("*/rules/branches/jules*", "ledger.protection"),
        ("*/git/matching-refs/*", "ledger.blocked"),
        ("*/hooks", "deliveries.hook"),
        ("*/hooks/*/deliveries*", "deliveries.hook"),
    ] {
        let patient = healthy();
        let mut world = patient.bench.shared.lock_world();
        world.faults_mut().replace_plan(answers(path, 403));
        drop(world);
        found_in(&patient, (id, "unknown", "may not read", 0));
    }
}

/// The twin: the same questions are answered where nothing is in the way, and where GitHub is away that is told apart.
#[test]
fn what_is_not_answered_is_unavailable() {
    let patient = healthy();
    patient.run(&["--json"]).done();
    let mut world = patient.bench.shared.lock_world();
    world.faults_mut().replace_plan(answers("*/labels*", 501));
    drop(world);
    found_in(
        &patient,
        ("labels.missing", "unavailable", "could not be read", 4),
    );
}
