//! Whether a persona or work item may start now, and why not.

use super::candidate::SlotWork;
use crate::engine::input::snapshot::Snapshot;
use crate::engine::lookup::in_progress::is_in_progress;
use crate::engine::lookup::rest::{self, Rest};
use crate::engine::lookup::slot::SlotRole;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::Reason;
use crate::engine::text::time::format_utc;
use crate::model::{PersonaId, Slot, TrackName};
use crate::plan::{Persona, Policy};

/// Why a persona is skipped that could run: its prompt failed, it rests, its last session was refused, or the default
/// branch has not moved since its last turn.
pub(crate) fn skip_reason(
    builder: &DecisionBuilder<'_>,
    track: &TrackName,
    passes: u64,
    work: &SlotWork,
    policy: &Policy,
) -> Option<(Reason, String)> {
    let persona = &work.persona;
    let place = (track.clone(), work.slot.clone(), persona.clone());
    if let Some(why) = builder.unable_slots.get(&place) {
        return Some(why.clone());
    }
    if let Some(rest) = rest::rest_of(builder, track, passes, persona, policy) {
        return Some((Reason::PersonaResting, rest_text(persona, &rest)));
    }
    if let Some(refused) = refusal_text(builder, track, persona) {
        return Some((Reason::PersonaRefused, refused));
    }
    let head = builder.snapshot.repository.default_head.as_ref();
    let last = builder
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

/// What a persona that rests waits for.
fn rest_text(persona: &PersonaId, rest: &Rest<'_>) -> String {
    let until = rest.until;
    let rests = match rest::change_text(rest.paths) {
        None => "it rests".to_owned(),
        Some(change) => format!("it rests until {change} on the default branch"),
    };
    format!("`{persona}`'s last work was not wanted; {rests}, at the latest until {until}")
}

/// Why a track skips a persona whose last session there was refused for its content. Another track may use another
/// branch or prompt.
fn refusal_text(
    builder: &DecisionBuilder<'_>,
    track: &TrackName,
    persona: &PersonaId,
) -> Option<String> {
    let refusal = builder.state.tracks.get(track)?.refused.get(persona)?;
    (refusal.until > builder.now()).then(|| {
        format!(
            "the last session of `{persona}` was refused; it is tried again at {}: {}",
            format_utc(refusal.until),
            refusal.why
        )
    })
}

/// Whether another track has a live turn of a slot's work item.
pub(crate) fn is_held_elsewhere(
    builder: &DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
) -> bool {
    let names_item =
        SlotRole::from_slot(slot).is_some_and(|slot_role| slot_role.item_id().is_some());
    let mut others = builder.state.tracks.iter();
    names_item && others.any(|(name, other)| name != track && other.turns.contains_key(slot))
}

/// The work of a request for a work item.
///
/// # Errors
///
/// The item is in progress.
pub(crate) fn work_item_work(
    builder: &DecisionBuilder<'_>,
    slot_role: &SlotRole,
) -> Result<SlotWork, (Reason, String)> {
    if is_in_progress(builder, slot_role) {
        let text = "another session is at work on it, or its pull request is open".to_owned();
        return Err((Reason::NothingToDo, text));
    }
    Ok(SlotWork {
        slot: slot_role.to_slot(),
        persona: slot_role.persona_id(),
    })
}

/// The work of a persona's step, or why it has none. `requested`: a person named it, so it runs even with
/// `scheduled: false`.
pub(crate) fn persona_work(
    snapshot: &Snapshot,
    id: &PersonaId,
    policy: &Policy,
    requested: bool,
) -> Result<SlotWork, (Reason, String)> {
    let Some(persona) = snapshot.plan.personas.get(id) else {
        let why = snapshot
            .plan_diagnostics
            .iter()
            .find(|one| one.is_error() && one.file.contains(&format!("/personas/{id}/")))
            .map_or_else(
                || match id.as_str().strip_prefix('(') {
                    // So the plan names a step that has a mistake.
                    Some(step) => {
                        format!("the step `{}` has a mistake", step.trim_end_matches(')'))
                    }
                    None => format!("there is no persona `{id}`"),
                },
                ToString::to_string,
            );
        return Err((Reason::PersonaInvalid, why));
    };
    if !persona.scheduled && !requested {
        let why = format!("`{id}` says `scheduled: false`");
        return Err((Reason::PersonaUnscheduled, why));
    }
    match sensitive_reason(snapshot, persona, policy) {
        Some(why) => Err((Reason::PersonaSensitive, why)),
        None => Ok(SlotWork {
            slot: Slot::from(""),
            persona: id.clone(),
        }),
    }
}

/// The ledger is as public as the repository, and so would be a sensitive persona's findings.
fn sensitive_reason(snapshot: &Snapshot, persona: &Persona, policy: &Policy) -> Option<String> {
    let withheld =
        snapshot.repository.public && persona.sensitive == Some(true) && !policy.sensitive;
    withheld.then(|| {
        format!(
            "`{}` is sensitive and the repository, with its ledger, is public; name it with `sensitive = true` to run it",
            persona.id
        )
    })
}
