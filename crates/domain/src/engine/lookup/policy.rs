//! Which policy applies to a step, and whether phileas only observes.

use crate::Diagnostic;
use crate::engine::input::snapshot::{RunRequest, Snapshot};
use crate::engine::output::report::Reason;
use crate::model::{PersonaId, TrackName, Tree};
use crate::plan::{self, Driver, Mode, Persona, Plan, Policy, SCHEDULES_PATH, StepKind};

/// The mistakes in the plan that block every start, because a limit, a gate or a default may be lost.
#[must_use]
pub fn blocking_mistakes<'d>(mistakes: &'d [Diagnostic], tree: &Tree) -> Vec<&'d Diagnostic> {
    // Without a plan the usual limits apply: the service may serve all repositories of an account.
    let is_absent = plan::is_absent(tree);
    let blocks = |one: &&Diagnostic| {
        one.is_error() && one.file == SCHEDULES_PATH && plan::may_concern_everything(&one.key)
    };
    mistakes
        .iter()
        .filter(|_| !is_absent)
        .filter(blocks)
        .collect()
}

/// Why a tick only reports: the plan names another driver, or has the mode "observe".
///
/// Such a tick writes nothing, so the next one repeats its reads. It reads what decides what is due, but nothing that
/// only a session needs.
pub(crate) fn only_observes(snapshot: &Snapshot) -> Option<(Reason, &'static str)> {
    let other = match snapshot.plan.gate.driver {
        Driver::Any => false,
        named => named != snapshot.driver && snapshot.run_request == RunRequest::Due,
    };
    let observe = snapshot.plan.defaults.mode == Mode::Observe;
    if other {
        let text = "the plan's `gate.driver` names another driver; this one only observes";
        Some((Reason::OtherDriver, text))
    } else if observe {
        let text = "`defaults.mode` is \"observe\"; nothing is started and nothing is written";
        Some((Reason::ObserveMode, text))
    } else {
        None
    }
}

/// Whether a step is that of this persona, or of this role of a layer.
pub(crate) fn is_step_of(step: &plan::Step, persona: &PersonaId) -> bool {
    match &step.kind {
        StepKind::Persona(id) => id == persona,
        StepKind::Layer(name) => {
            let layer = persona.as_str().split('/').next();
            layer == Some(name.as_str())
        }
    }
}

/// The policy of a live turn, by the current plan. A turn whose step was removed ends by the defaults.
pub(crate) fn policy_of(
    plan: &Plan,
    track: &TrackName,
    index: Option<u64>,
    persona: &PersonaId,
) -> Policy {
    if let Some(scheduled) = track.schedule_persona() {
        if let Some(schedule) = plan.schedules.get(&scheduled) {
            return schedule.policy.clone();
        }
    } else if let Some(known) = plan.tracks.get(track) {
        let names = |step: &&plan::Step| is_step_of(step, persona);
        let at_index = index
            .and_then(|index| known.steps.get(usize::try_from(index).ok()?))
            .filter(names);
        if let Some(step) = at_index.or_else(|| known.steps.iter().find(names)) {
            return step.policy.clone();
        }
    }
    if let Some(policy) = plan.stopped.get(track) {
        return policy.clone();
    }
    // A request for a layer's work uses the policy of the layer's step.
    let mut steps = plan.tracks.values().flat_map(|track| &track.steps);
    if track.request_number().is_some()
        && let Some(step) =
            steps.find(|step| matches!(step.kind, StepKind::Layer(_)) && is_step_of(step, persona))
    {
        return step.policy.clone();
    }
    with_persona(plan.defaults.clone(), plan.personas.get(persona))
}

/// The policy of a persona in a track, in any of its steps.
pub(crate) fn policy_of_persona(plan: &Plan, track: &TrackName, persona: &PersonaId) -> Policy {
    policy_of(plan, track, None, persona)
}

/// Applies the persona's own settings to a policy.
pub(crate) fn with_persona(mut policy: Policy, persona: Option<&Persona>) -> Policy {
    let Some(persona) = persona else {
        return policy;
    };
    if let Some(approval) = persona.plan_approval {
        policy.plan_approval = approval;
    }
    if let Some(automation) = persona.automation {
        policy.automation = automation;
    }
    if let Some(branch) = &persona.branch {
        policy.branch = branch.clone();
    }
    if let Some(priority) = persona.priority {
        policy.priority = priority;
    }
    policy
}
