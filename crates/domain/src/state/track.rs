//! A track's pointer and its live turns.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::extra::Extra;
use super::pause::Pause;
use super::timing::Timing;
use crate::model::{BranchName, Holder, Oid, PersonaId, PullNumber, SessionId, Slot, TurnId};

/// Where a track stands.
///
/// `persona_id`, `session_id`, `pr_number` and `updated_at` are seed 004's: the newest turn as people read it.
/// The pointer itself is `index`, because the same persona may stand in a track twice.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrackState {
    /// Who ran last, or runs.
    pub persona_id: Option<PersonaId>,
    /// Its newest session.
    pub session_id: Option<SessionId>,
    /// Its newest pull request.
    pub pr_number: Option<PullNumber>,
    /// When this entry last changed.
    pub updated_at: Option<Timestamp>,
    /// The index of the step that ran last, or runs. `None`: never ran, or only by a program that knew no index.
    pub index: Option<u64>,
    /// How many turns this track has had, for ever; the number of the newest one.
    pub seq: u64,
    /// How often the pointer has come round.
    pub passes: u64,
    /// For a track with a start time: the newest start that was answered with a pass.
    pub last_started: Option<Timestamp>,
    /// For a track with a start time: nothing of the rest of its pass could run when it was looked at last, so the next
    /// start begins a pass.
    pub pass_stalled: bool,
    /// Since when it has its start time.
    pub timing: Timing,
    /// The default branch's head at each persona's newest turn in this track.
    pub base_shas: BTreeMap<PersonaId, Oid>,
    /// Personas whose last session in this track Jules refused for what the turn says.
    pub refused: BTreeMap<PersonaId, Refusal>,
    /// What the layers of this track looked at when none of them had anything to do, as the beginning of a SHA-256 in
    /// lower-case hexadecimal. While that is the same, nobody reads the exchange for them.
    pub idle: Option<String>,
    /// The live turns of the present step by slot. Empty: the step is done, the next one is due.
    pub turns: BTreeMap<Slot, Turn>,
    /// Why this track does not go on, when a person paused it.
    pub paused: Option<Pause>,
    /// Unknown keys.
    pub extra: Extra,
}

/// Jules refuses the sessions of a persona in a track for what its turn says.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// How often in a row.
    pub times: u32,
    /// The track leaves the persona out until then.
    pub until: Timestamp,
    /// Why, as it was told last.
    pub why: String,
    /// Whether an issue has told people of the last one.
    pub notified: bool,
    /// Unknown keys.
    pub extra: Extra,
}

/// A turn that is under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Its id.
    pub turn: TurnId,
    /// The present attempt, from 1. A turn has at most one session an attempt.
    pub attempt: u32,
    /// Who.
    pub persona_id: PersonaId,
    /// Where it stands in the history, once its session is known.
    pub history_key: Option<u64>,
    /// Who is about to create, or has created, this attempt's session. `None`: the attempt is still to be started.
    pub intent: Option<Intent>,
    /// This attempt's session, once known.
    pub session_id: Option<SessionId>,
    /// Its pull request, once known.
    pub pr_number: Option<PullNumber>,
    /// How many standard answers were sent to it.
    pub nudges: u32,
    /// When the newest of them was decided.
    pub nudged_at: Option<Timestamp>,
    /// When it was reminded that it ended without a result; that happens once.
    pub reminded_at: Option<Timestamp>,
    /// How often the newest answer or reminder was decided on again, because it did not arrive.
    pub repeats: u32,
    /// When a complete listing, taken after the grace, did not show this attempt's session.
    pub listed_empty_at: Option<Timestamp>,
    /// How many attempts ended because a complete listing did not show their session.
    pub ambiguous: u32,
    /// How many sessions of earlier attempts showed up after such a listing.
    pub late_finds: u32,
    /// How many attempts failed by Jules' own word.
    pub failures: u32,
    /// How many creates in a row were refused. They use up no retry: no session came of them.
    pub refusals: u32,
    /// Why the last of these creates was refused.
    pub refusal: Option<String>,
    /// The attempt is not started before this.
    pub not_before: Option<Timestamp>,
    /// When people were told that it waits for them or does not move.
    pub warned_at: Option<Timestamp>,
    /// The default branch's head when the attempt was decided.
    pub base_sha: Option<Oid>,
    /// The branch that the session starts from.
    pub branch: Option<BranchName>,
    /// The work items that its session was given, by path: the beginning of the SHA-256 of each text, in lower-case
    /// hexadecimal. What is another one when the session's work is imported is not written over.
    pub given: BTreeMap<String, String>,
    /// A person asked to cancel it.
    pub cancel: bool,
    /// Login of the person who approved the plan that its session waits with.
    pub approved_by: Option<String>,
    /// When that person said so. A plan that was made later is not meant.
    pub approved_at: Option<Timestamp>,
    /// The activity of the plan that people were shown last.
    pub plan_shown: Option<String>,
    /// Unknown keys.
    pub extra: Extra,
}

/// The right to create one session, taken by a commit before Jules is called.
#[derive(Debug, Clone, PartialEq)]
pub struct Intent {
    /// When it was decided.
    pub created_at: Timestamp,
    /// The holder may call Jules only before this.
    pub not_after: Timestamp,
    /// Who holds it.
    pub holder: Holder,
    /// SHA-256 of the prompt in lower-case hexadecimal.
    pub prompt_sha256: String,
    /// Unknown keys.
    pub extra: Extra,
}

impl Turn {
    /// A turn whose first attempt is still to be started.
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
            given: BTreeMap::new(),
            cancel: false,
            approved_by: None,
            approved_at: None,
            plan_shown: None,
            extra: Extra::new(),
        }
    }
}
