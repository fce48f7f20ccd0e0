//! Which policy a step of a track has, and whether phileas only observes here.

use crate::Diagnostic;
use crate::engine::input::snapshot::{Ask, Snapshot};
use crate::engine::output::report::Reason;
use crate::model::{PersonaId, TrackName};
use crate::plan::{Driver, Mode, Persona, Plan, Policy, SCHEDULES_PATH, StepKind};

/// Whether a mistake of a plan keeps every new turn from starting: it is about budgets, gates, or what applies where nothing
/// else is said.
#[must_use]
pub fn holds_all_back(mistake: &Diagnostic) -> bool {
    let section = mistake.key.split(['.', '[']).next().unwrap_or_default();
    mistake.is_error()
        && mistake.file == SCHEDULES_PATH
        && matches!(section, "budget" | "gate" | "defaults")
}

/// Why a tick reports and touches nothing: the plan names another driver, or only observes.
///
/// Such a tick writes nothing down, so that what it reads is read again by the next one. It reads what tells what is due,
/// and not what only a session would need.
pub(crate) fn only_observes(snapshot: &Snapshot) -> Option<(Reason, &'static str)> {
    let other = match snapshot.plan.gate.driver {
        Driver::Any => false,
        named => named != snapshot.driver && snapshot.ask == Ask::Due,
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

/// Whether a step is the one that this persona, or this role of a layer, is at work in.
pub(crate) fn is_step_of(step: &crate::plan::Step, persona: &PersonaId) -> bool {
    match &step.kind {
        StepKind::Persona(id) => id == persona,
        StepKind::Layer(name) => {
            let layer = persona.as_str().split('/').next();
            layer == Some(name.as_str())
        }
    }
}

/// What applies to a live turn, from the plan as it stands now. A step that was taken out of the plan while its turn
/// was under way ends by the defaults.
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
        let names = |step: &&crate::plan::Step| is_step_of(step, persona);
        let at_index = index
            .and_then(|index| known.steps.get(usize::try_from(index).ok()?))
            .filter(names);
        if let Some(step) = at_index.or_else(|| known.steps.iter().find(names)) {
            return step.policy.clone();
        }
    }
    // What a person asked for of a layer goes by the step that would have done it.
    let mut steps = plan.tracks.values().flat_map(|track| &track.steps);
    if track.request_number().is_some()
        && let Some(step) =
            steps.find(|step| matches!(step.kind, StepKind::Layer(_)) && is_step_of(step, persona))
    {
        return step.policy.clone();
    }
    with_persona(plan.defaults.clone(), plan.personas.get(persona))
}

/// What applies to a persona in a track, whichever of its steps.
pub(crate) fn policy_of_persona(plan: &Plan, track: &TrackName, persona: &PersonaId) -> Policy {
    policy_of(plan, track, None, persona)
}

/// A policy with what the persona itself says.
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
