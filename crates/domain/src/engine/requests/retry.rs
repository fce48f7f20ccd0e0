//! The command `retry`.

use super::command_result::{CommandResult, Refusal};
use super::request::Request;
use crate::engine::input::session::Listing;
use crate::engine::lookup::request_origin::newest_request;
use crate::engine::lookup::waiting_turns::{waits_for_person, waits_for_plan_approval};
use crate::engine::lookup::{plan_approval, pull_owner, work_items};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::Reason;
use crate::engine::record::steer::resume_turn;
use crate::model::{PullNumber, Slot, TrackName, TurnId};

/// Resumes a turn that waits for a person, sends reviews to the session of an open pull request, or requests finished
/// work again.
pub(crate) fn retry_turns(
    builder: &mut DecisionBuilder<'_>,
    request: &Request<'_>,
    live: &[(TrackName, Slot)],
) -> CommandResult {
    for (track, slot) in live {
        let turn = builder.find_turn(track, slot);
        let Some(turn) = turn.filter(|turn| waits_for_person(turn)) else {
            continue;
        };
        if let Some(id) = &turn.session_id {
            match &builder.snapshot.sessions {
                Listing::NotTaken => return CommandResult::NeedsRead,
                // Only an approval lets a session continue that waits with a plan.
                Listing::Taken(listing) if waits_for_plan_approval(listing, id) => {
                    let text = plan_approval::unapproved_text(builder, track, turn, id);
                    return CommandResult::Refused(Reason::NothingToDo, text);
                }
                Listing::Taken(_) | Listing::Failed(_) => {}
            }
        }
        if let Some(turn) = builder.find_turn_mut(track, slot) {
            resume_turn(turn);
        }
        return CommandResult::Executed("what waited goes on".to_owned());
    }
    request_again(builder, request, !live.is_empty())
}

/// Requests finished work again. `is_live`: a session is at work here.
fn request_again(
    builder: &DecisionBuilder<'_>,
    request: &Request<'_>,
    is_live: bool,
) -> CommandResult {
    let subject = request.subject;
    // An open pull request is not made again: its session gets the reviews.
    if let Some(ends) = &subject.pull
        && subject.open
        && pull_owner::is_own_pull(builder, PullNumber(subject.number))
    {
        return CommandResult::SendReviews(ends.head_oid.clone());
    }
    if is_live {
        return CommandResult::nothing_to_do("it is at work");
    }
    let newest = newest_request(builder, &subject.id);
    if newest.is_some_and(|request| request.is_pending()) {
        return CommandResult::nothing_to_do("it waits for its turn");
    }
    let of_pull = || {
        let number = Some(PullNumber(subject.number)).filter(|_| subject.pull.is_some())?;
        let mut newest_first = builder.state.history.values().rev();
        let entry = newest_first.find(|entry| entry.pr_number == Some(number))?;
        Some(entry.persona_id.clone())
    };
    let persona = newest
        .and_then(|request| request.persona.clone())
        .or_else(of_pull);
    let Some(persona) = persona else {
        return CommandResult::nothing_to_do("no session was requested here before");
    };
    if work_items::implementer_role(&persona).is_some() {
        return work_items::requested_item(builder, subject).into();
    }
    if !builder.snapshot.plan.personas.contains_key(&persona) {
        let text = format!("there is no persona `{persona}`");
        return CommandResult::Refused(Reason::Unknown, text);
    }
    CommandResult::StartSession(persona)
}

/// Resumes one turn, if it still waits for a person.
pub(crate) fn resume_waiting_turn(
    builder: &mut DecisionBuilder<'_>,
    id: &TurnId,
) -> Result<String, Refusal> {
    let tracks = builder.state.tracks.values_mut();
    let mut turns = tracks.flat_map(|track| track.turns.values_mut());
    match turns.find(|turn| turn.turn == *id && waits_for_person(turn)) {
        Some(turn) => {
            resume_turn(turn);
            Ok("what waited goes on".to_owned())
        }
        None => Err((
            Reason::NothingToDo,
            "it does not wait for a person".to_owned(),
        )),
    }
}
