//! A track's pointer and its live turns.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::extra::Extra;
use super::pause::Pause;
use super::timing::Timing;
use crate::model::{BranchName, Holder, Oid, PersonaId, PullNumber, SessionId, Slot, TurnId};

/// The pointer of a track, and its live turns.
///
/// `persona_id`, `session_id`, `pr_number` and `updated_at` describe the newest turn for readers of the file.
/// The pointer itself is `index`, because a persona may occur twice in a track.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrackState {
    /// The persona of the newest turn.
    pub persona_id: Option<PersonaId>,
    /// Its newest session.
    pub session_id: Option<SessionId>,
    /// Its newest pull request.
    pub pr_number: Option<PullNumber>,
    /// When this entry last changed.
    pub updated_at: Option<Timestamp>,
    /// The index of the newest step. `None`: no step ran yet, or only under a program that kept no index.
    pub index: Option<u64>,
    /// How many turns this track has had in all: the number of the newest one.
    pub seq: u64,
    /// How many passes were completed.
    pub passes: u64,
    /// For a track with a start time: the newest start for which a pass began.
    pub last_started: Option<Timestamp>,
    /// For a track with a start time: no remaining step of the pass could run at the last tick, so the next start begins
    /// a new pass.
    pub pass_stalled: bool,
    /// Since when it has had its start time.
    pub timing: Timing,
    /// The default branch's head at each persona's newest turn in this track.
    pub base_shas: BTreeMap<PersonaId, Oid>,
    /// Personas whose newest session in this track Jules refused because of the turn's content.
    pub refused: BTreeMap<PersonaId, Refusal>,
    /// The beginning of a SHA-256, in lower-case hexadecimal, of what the layers read when none of them had work. While it
    /// stays the same, phileas does not read the exchange for them.
    pub idle_reason: Option<String>,
    /// The live turns of the current step by slot. Empty: the step is done, and the next one is due.
    pub turns: BTreeMap<Slot, Turn>,
    /// Set while a person has paused this track.
    pub paused: Option<Pause>,
    /// Unknown keys.
    pub extra: Extra,
}

/// Jules refuses the sessions of a persona in a track because of the turn's content.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// How often in a row.
    pub times: u32,
    /// The track skips the persona until then.
    pub until: Timestamp,
    /// The newest reason.
    pub why: String,
    /// Whether a notice reports the newest refusal.
    pub notified: bool,
    /// Unknown keys.
    pub extra: Extra,
}

/// A turn that is running.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Its id.
    pub turn: TurnId,
    /// The current attempt, from 1. An attempt has at most one session.
    pub attempt: u32,
    /// The persona.
    pub persona_id: PersonaId,
    /// The key of its history entry, once its session is known.
    pub history_key: Option<u64>,
    /// The right to create this attempt's session. `None`: the attempt has not started.
    pub intent: Option<Intent>,
    /// This attempt's session, once known.
    pub session_id: Option<SessionId>,
    /// Its pull request, once known.
    pub pr_number: Option<PullNumber>,
    /// How many standard answers phileas sent to it.
    pub nudges: u32,
    /// When phileas decided the newest of them.
    pub nudged_at: Option<Timestamp>,
    /// When phileas reminded it that it ended without a result. That happens once.
    pub reminded_at: Option<Timestamp>,
    /// How often phileas decided the newest answer or reminder again, because it did not arrive.
    pub repeats: u32,
    /// When a complete listing after the grace period did not show this attempt's session.
    pub listed_empty_at: Option<Timestamp>,
    /// How many attempts ended because a complete listing did not show their session.
    pub ambiguous: u32,
    /// How many sessions of earlier attempts appeared after such a listing.
    pub late_finds: u32,
    /// How many attempts Jules reported as failed.
    pub failures: u32,
    /// How many creations in a row Jules refused. They use no retry, because no session came of them.
    pub refusals: u32,
    /// Why Jules refused the newest of them.
    pub refusal: Option<String>,
    /// The attempt does not start before this time.
    pub not_before: Option<Timestamp>,
    /// When phileas opened a notice that the turn waits for a person or makes no progress.
    pub warned_at: Option<Timestamp>,
    /// The default branch's head when the attempt was decided.
    pub base_sha: Option<Oid>,
    /// The branch that the session starts from.
    pub branch: Option<BranchName>,
    /// The work items in its session's prompt, by path: the beginning of the SHA-256 of each text, in lower-case
    /// hexadecimal. The import does not overwrite an item whose text has changed since.
    pub inputs: BTreeMap<String, String>,
    /// A person asked to cancel it.
    pub cancel: bool,
    /// The login of the person who approved the plan of its session.
    pub approved_by: Option<String>,
    /// When that person approved. The approval does not cover a later plan.
    pub approved_at: Option<Timestamp>,
    /// The activity of the plan that phileas last showed.
    pub plan_shown: Option<String>,
    /// The activity of the newest plan that phileas judged and approves.
    pub approved_plan: Option<String>,
    /// The newest plan of its session that repeats a pull request.
    pub repeated_plan: Option<RepeatedPlan>,
    /// Unknown keys.
    pub extra: Extra,
}

/// A plan that does what a pull request does that is open, was refused, or was merged.
#[derive(Debug, Clone, PartialEq)]
pub struct RepeatedPlan {
    /// The activity of the plan.
    pub plan: String,
    /// That pull request.
    pub twin: PullNumber,
    /// The reason of its refusal; `None`: it was open or merged.
    pub refused: Option<String>,
    /// Whether it was merged.
    pub merged: bool,
    /// When phileas decided to ask the session for another task. `None`: a person decides about the plan.
    pub requested_at: Option<Timestamp>,
    /// How often phileas decided that message again, because it did not arrive.
    pub repeats: u32,
    /// Unknown keys.
    pub extra: Extra,
}

impl RepeatedPlan {
    /// A plan that repeats an open pull request, and about which phileas did nothing yet.
    #[must_use]
    pub fn new(plan: String, twin: PullNumber) -> Self {
        Self {
            plan,
            twin,
            refused: None,
            merged: false,
            requested_at: None,
            repeats: 0,
            extra: Extra::new(),
        }
    }
}

/// The right to create one session. A commit takes it before phileas calls Jules.
#[derive(Debug, Clone, PartialEq)]
pub struct Intent {
    /// When phileas decided to create the session.
    pub created_at: Timestamp,
    /// The holder may call Jules only before this.
    pub not_after: Timestamp,
    /// The process that holds it.
    pub holder: Holder,
    /// SHA-256 of the prompt in lower-case hexadecimal.
    pub prompt_sha256: String,
    /// Unknown keys.
    pub extra: Extra,
}

impl Turn {
    /// A turn whose first attempt has not started.
    #[must_use]
    pub fn new(turn: TurnId, persona_id: PersonaId) -> Self {
        Self {
            turn,
            attempt: 1,
            persona_id,
            history_key: None,
            intent: None,
            session_id: None,
            pr_number: None,
            nudges: 0,
            nudged_at: None,
            reminded_at: None,
            repeats: 0,
            listed_empty_at: None,
            ambiguous: 0,
            late_finds: 0,
            failures: 0,
            refusals: 0,
            refusal: None,
            not_before: None,
            warned_at: None,
            base_sha: None,
            branch: None,
            inputs: BTreeMap::new(),
            cancel: false,
            approved_by: None,
            approved_at: None,
            plan_shown: None,
            approved_plan: None,
            repeated_plan: None,
            extra: Extra::new(),
        }
    }
}
