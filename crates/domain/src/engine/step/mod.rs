//! One file for each kind of step. A kind says what work a step fans out into, and what a live turn has come to.

mod layer;
mod persona;

use jiff::Timestamp;

pub(super) use persona::{by_pull, outcome};

use super::{Activity, Pull, Reason, Session, Snapshot};
use crate::model::{PersonaId, Slot, TrackName};
use crate::plan::{Persona, Plan, Policy, StepKind};
use crate::state::{Outcome, TrackState, Turn};

/// A step as the engine sees it.
pub(super) enum Step<'a> {
    /// A persona's turn.
    Persona(persona::PersonaStep<'a>),
    /// A layer of the hand-over pipeline.
    Layer(layer::LayerStep<'a>),
}

/// What a step fans out into.
pub(super) enum Slots {
    /// These slots are due, side by side.
    Ready(Vec<Work>),
    /// The step is left out this time.
    Skip { reason: Reason, detail: String },
}

/// One slot's work.
#[derive(Debug, Clone)]
pub(super) struct Work {
    pub(super) slot: Slot,
    pub(super) persona: PersonaId,
}

/// A live turn with everything that is known of its session.
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

impl<'a> Step<'a> {
    pub(super) fn new(kind: &'a StepKind) -> Self {
        match kind {
            StepKind::Persona(id) => Self::Persona(persona::PersonaStep { id }),
            StepKind::Layer(name) => Self::Layer(layer::LayerStep { name }),
        }
    }

    /// What the step fans out into now. `asked`: a person named it, so it runs even where it takes no part by itself.
    pub(super) fn slots(&self, snapshot: &Snapshot, policy: &Policy, asked: bool) -> Slots {
        match self {
            Self::Persona(step) => step.slots(snapshot, policy, asked),
            Self::Layer(step) => step.slots(),
        }
    }
}

/// The layer that a live turn belongs to. Only a newer version starts such turns; it alone knows how to import what
/// comes of them. A persona's turn has one slot, without a name.
pub(super) fn layer_of(
    plan: &Plan,
    track: &TrackName,
    state: &TrackState,
    slot: &Slot,
) -> Option<String> {
    let turn = state.turns.get(slot)?;
    let is_named = !slot.as_str().is_empty();
    let index = state.index.and_then(|index| usize::try_from(index).ok());
    let planned = plan
        .tracks
        .get(track)
        .and_then(|known| known.steps.get(index?));
    match planned.map(|step| &step.kind) {
        Some(StepKind::Layer(name))
            if is_named || !plan.personas.contains_key(&turn.persona_id) =>
        {
            Some(name.clone())
        }
        _ => is_named.then(|| slot.to_string()),
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
        let names = |step: &&crate::plan::Step| step.kind == StepKind::Persona(persona.clone());
        let at_index = index
            .and_then(|index| known.steps.get(usize::try_from(index).ok()?))
            .filter(names);
        if let Some(step) = at_index.or_else(|| known.steps.iter().find(names)) {
            return step.policy.clone();
        }
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
