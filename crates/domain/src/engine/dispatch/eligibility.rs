//! Whether a persona or work item may start now, and why not.

use super::candidate::Work;
use crate::engine::input::snapshot::Snapshot;
use crate::engine::lookup::in_progress::in_hand;
use crate::engine::lookup::rest;
use crate::engine::lookup::slot::Seat;
use crate::engine::output::builder::Draft;
use crate::engine::output::report::Reason;
use crate::model::{PersonaId, Slot, TrackName};
use crate::plan::{Persona, Policy};

/// Why a persona that could run should not: its prompt cannot be made, it rests, or nothing has moved since its last
/// turn.
pub(crate) fn reluctance(
    draft: &Draft<'_>,
    track: &TrackName,
    passes: u64,
    work: &Work,
    policy: &Policy,
) -> Option<(Reason, String)> {
    let persona = &work.persona;
    let place = (track.clone(), work.slot.clone(), persona.clone());
    if let Some(why) = draft.unable.get(&place) {
        return Some(why.clone());
    }
    if let Some(until) = rest::resting(draft, track, passes, persona, policy) {
        let text =
            format!("nobody took `{persona}`'s last work; it rests, at the latest until {until}");
        return Some((Reason::PersonaResting, text));
    }
    if let Some(refused) = refused(draft, track, persona) {
        return Some((Reason::PersonaRefused, refused));
    }
    let head = draft.snapshot.repository.default_head.as_ref();
    let last = draft
        .state
        .tracks
        .get(track)
        .and_then(|known| known.base_shas.get(persona));
    (policy.skip_unchanged && last.is_some() && last == head).then(|| {
        (
            Reason::Unchanged,
            format!("the default branch has not moved since `{persona}`'s last turn"),
        )
    })
}

/// Why a track leaves out a persona whose last session there was refused for what it said. Another track may ask for
/// another branch, or another prompt.
fn refused(draft: &Draft<'_>, track: &TrackName, persona: &PersonaId) -> Option<String> {
    let refusal = draft.state.tracks.get(track)?.refused.get(persona)?;
    (refusal.until > draft.now()).then(|| {
        format!(
            "the last session of `{persona}` was refused; it is tried again at {}: {}",
            refusal.until, refusal.why
        )
    })
}

/// Whether the work item of a slot is in the hands of another track.
pub(crate) fn is_held_elsewhere(draft: &Draft<'_>, track: &TrackName, slot: &Slot) -> bool {
    let names_item = Seat::of(slot).is_some_and(|seat| seat.item().is_some());
    let mut others = draft.state.tracks.iter();
    names_item && others.any(|(name, other)| name != track && other.turns.contains_key(slot))
}

/// The work of a persona that is asked for or scheduled, or why it has none.
pub(crate) fn slot_work(
    draft: &Draft<'_>,
    persona: &PersonaId,
    policy: &Policy,
    asked: bool,
) -> Result<Work, (Reason, String)> {
    persona_work(draft.snapshot, persona, policy, asked)
}

/// The work of a request for a work item.
///
/// # Errors
///
/// Somebody is at it.
pub(crate) fn work(draft: &Draft<'_>, seat: &Seat) -> Result<Work, (Reason, String)> {
    if in_hand(draft, seat) {
        let text = "somebody is at work on it, or its pull request is open".to_owned();
        return Err((Reason::NothingToDo, text));
    }
    Ok(Work {
        slot: seat.slot(),
        persona: seat.persona(),
    })
}

pub(crate) struct PersonaStep<'a> {
    pub(crate) id: &'a PersonaId,
}

impl PersonaStep<'_> {
    pub(crate) fn work(
        &self,
        snapshot: &Snapshot,
        policy: &Policy,
        asked: bool,
    ) -> Result<Work, (Reason, String)> {
        let id = self.id;
        let Some(persona) = snapshot.plan.personas.get(id) else {
            let why = snapshot
                .plan_diagnostics
                .iter()
                .find(|one| one.is_error() && one.file.contains(&format!("/personas/{id}/")))
                .map_or_else(
                    || format!("there is no persona `{id}`"),
                    ToString::to_string,
                );
            return Err((Reason::PersonaInvalid, why));
        };
        if !persona.scheduled && !asked {
            let why = format!("`{id}` says `scheduled: false`");
            return Err((Reason::PersonaUnscheduled, why));
        }
        match sensitive(snapshot, persona, policy) {
            Some(why) => Err((Reason::PersonaSensitive, why)),
            None => Ok(Work {
                slot: Slot::from(""),
                persona: id.clone(),
            }),
        }
    }
}

/// The ledger is as public as the repository, so what a sensitive persona finds would be, too.
fn sensitive(snapshot: &Snapshot, persona: &Persona, policy: &Policy) -> Option<String> {
    let withheld =
        snapshot.repository.public && persona.sensitive == Some(true) && !policy.sensitive;
    withheld.then(|| {
        format!(
            "`{}` is sensitive and the repository, with its ledger, is public; name it with `sensitive = true` to run it",
            persona.id
        )
    })
}

/// The work of a persona's step, or why it has none. `asked`: a person named it, so it runs even where it takes no part
/// by itself.
pub(crate) fn persona_work(
    snapshot: &Snapshot,
    persona: &PersonaId,
    policy: &Policy,
    asked: bool,
) -> Result<Work, (Reason, String)> {
    PersonaStep { id: persona }.work(snapshot, policy, asked)
}
