//! What work a persona's step has, and what a live turn has come to. Steps of layers are in [`layers`](super::layers).

mod persona;

use jiff::Timestamp;

pub(super) use persona::{by_pull, outcome as by_session};

use super::layers::Seat;
use super::{Activity, Pull, Reason, Session, Snapshot};
use crate::model::{PersonaId, Slot, TrackName};
use crate::plan::{Persona, Plan, Policy, StepKind};
use crate::state::{Outcome, Turn};

/// The work of a persona's step, or why it has none. `asked`: a person named it, so it runs even where it takes no part
/// by itself.
pub(super) fn work_of(
    snapshot: &Snapshot,
    persona: &PersonaId,
    policy: &Policy,
    asked: bool,
) -> Result<Work, (Reason, String)> {
    persona::PersonaStep { id: persona }.work(snapshot, policy, asked)
}

/// One slot's work.
#[derive(Debug, Clone)]
pub(super) struct Work {
    pub(super) slot: Slot,
    pub(super) persona: PersonaId,
}

/// A live turn with everything that is known of its session.
#[derive(Clone, Copy)]
pub(super) struct Live<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) turn: &'a Turn,
    pub(super) policy: &'a Policy,
    /// The session as the listing shows it.
    pub(super) session: &'a Session,
    /// Its activities, oldest first, where they were read.
    pub(super) activities: Option<&'a [Activity]>,
    /// Its open pull request.
    pub(super) pull: Option<&'a Pull>,
}

/// What a live turn has come to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Progress {
    /// Its activities must be read first.
    ReadActivities,
    /// Nothing to do before `until`.
    Wait {
        reason: Reason,
        detail: String,
        until: Timestamp,
    },
    /// It asked something: give the standard answer with this number.
    Answer { number: u32 },
    /// It ended without a result: remind it, once.
    Remind,
    /// Approve its plan.
    Approve,
    /// It ended, and what it wrote is to be taken into the ledger.
    BringIn,
    /// A person is needed.
    CallPerson { reason: Reason, detail: String },
    /// It is over.
    End {
        outcome: Outcome,
        note: Option<String>,
        archive: bool,
    },
    /// This attempt failed, and another one is allowed.
    Retry { note: String },
}

/// Whether a slot is one that only a newer version starts; it alone knows what to do with what comes of it. A persona's
/// turn has one slot, without a name.
pub(super) fn is_of_newer_version(slot: &Slot) -> bool {
    !slot.as_str().is_empty() && Seat::of(slot).is_none()
}

/// Whether a step is the one that this persona, or this role of a layer, is at work in.
pub(super) fn is_step_of(step: &crate::plan::Step, persona: &PersonaId) -> bool {
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
pub(super) fn policy_of(
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
pub(super) fn policy_of_persona(plan: &Plan, track: &TrackName, persona: &PersonaId) -> Policy {
    policy_of(plan, track, None, persona)
}

/// A policy with what the persona itself says.
pub(super) fn with_persona(mut policy: Policy, persona: Option<&Persona>) -> Policy {
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
