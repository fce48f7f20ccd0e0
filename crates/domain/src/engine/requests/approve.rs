//! The command `approve`.

use jiff::Timestamp;

use super::command_result::CommandResult;
use super::request::Request;
use crate::engine::input::session::{Activity, ActivityKind, Listing};
use crate::engine::lookup::waiting_turns::waits_for_plan_approval;
use crate::engine::lookup::{plan_approval, request_origin};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::Reason;
use crate::model::{PersonaId, SessionId, Slot, TrackName};
use crate::plan::PlanApproval;
use crate::state::Turn;

/// Why an approval of this time does not mean the newest plan. People approve only the plan that they could read.
fn outdated_approval(
    activities: &[Activity],
    turn: Option<&Turn>,
    at: Timestamp,
) -> Option<&'static str> {
    let is_plan = |one: &&Activity| matches!(one.kind, ActivityKind::PlanGenerated { .. });
    let mut plans = activities.iter().filter(is_plan);
    if plans.clone().any(|one| one.at > at) {
        return Some("the plan was made after this approval; read it and approve again");
    }
    let newest = plans.next_back()?;
    let shown = turn?.plan_shown.as_ref()?;
    (*shown != newest.id).then_some(
        "Jules has made another plan since the one that is shown; read it and approve again",
    )
}

/// A live turn with a session.
struct StartedTurn {
    track: TrackName,
    slot: Slot,
    persona: PersonaId,
    session: SessionId,
}

fn started_turns(builder: &DecisionBuilder<'_>, live: &[(TrackName, Slot)]) -> Vec<StartedTurn> {
    let started = live.iter().filter_map(|(track, slot)| {
        let turn = builder.find_turn(track, slot)?;
        Some(StartedTurn {
            track: track.clone(),
            slot: slot.clone(),
            persona: turn.persona_id.clone(),
            session: turn.session_id.clone()?,
        })
    });
    started.collect()
}

/// Approves the plan of a live turn; the turns stage then sends the approval.
pub(crate) fn approve_plan(
    builder: &mut DecisionBuilder<'_>,
    request: &Request<'_>,
    live: &[(TrackName, Slot)],
) -> CommandResult {
    let started = started_turns(builder, live);
    if started.is_empty() {
        return match live.len() {
            0 => misplaced_approval(builder, "no session of phileas is at work here"),
            _ => CommandResult::nothing_to_do("its session has not started yet"),
        };
    }
    let Listing::Taken(listing) = &builder.snapshot.sessions else {
        return CommandResult::NeedsRead;
    };
    let waits = |one: &&StartedTurn| waits_for_plan_approval(listing, &one.session);
    let Some(waiting) = started.iter().find(waits) else {
        return misplaced_approval(builder, "no plan waits here for approval");
    };
    let (track, slot) = (&waiting.track, &waiting.slot);
    let Some(activities) = builder.snapshot.activities.get(&waiting.session) else {
        builder.reads.activities.insert(waiting.session.clone());
        return CommandResult::NeedsRead;
    };
    let turn = builder.find_turn(track, slot);
    if let Some(text) = outdated_approval(activities, turn, request.at) {
        return CommandResult::nothing_to_do(text);
    }
    let policy = request_origin::turn_policy(builder, track, &waiting.persona);
    if policy.plan_approval == PlanApproval::Never {
        let text = "`plan_approval` is \"never\"; approve it in Jules".to_owned();
        return CommandResult::Refused(Reason::PlanForbids, text);
    }
    let by = request.actor.map(|actor| actor.login.to_string());
    if let Some(turn) = builder.find_turn_mut(track, slot) {
        turn.approved_by = by;
        turn.approved_at = Some(request.at);
    }
    CommandResult::Executed("the plan is approved".to_owned())
}

/// Refuses an approval where no plan waits, and names the places where one does.
fn misplaced_approval(builder: &DecisionBuilder<'_>, text: &str) -> CommandResult {
    let places = match &builder.snapshot.sessions {
        Listing::NotTaken if plan_approval::has_session(builder) => {
            return CommandResult::NeedsRead;
        }
        Listing::NotTaken | Listing::Failed(_) => Vec::new(),
        Listing::Taken(listing) => {
            plan_approval::approval_places(builder, |_, id| waits_for_plan_approval(listing, id))
        }
    };
    match plan_approval::list_places(&places) {
        Some(places) => CommandResult::nothing_to_do(&format!("{text}; one waits at {places}")),
        None => CommandResult::nothing_to_do(text),
    }
}
