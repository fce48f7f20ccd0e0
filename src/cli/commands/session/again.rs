//! `phileas session retry` and `phileas session cancel`: a person decides what becomes of a turn.

use std::cell::RefCell;
use std::io::Write;

use jiff::Timestamp;
use phileas_domain::engine::{self, RunRequest};
use phileas_domain::model::{PersonaId, Slot, TrackName};
use phileas_domain::state::{State, Turn};
use serde_json::json;

use super::follow_up::{carry_out, end_only};
use super::lookup::turn_named;
use crate::cli::arguments::Repository;
use crate::cli::context::clients::Connection;
use crate::cli::context::run_identity;
use crate::cli::deadline::Deadline;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::runtime::{Edit, EditError, edit};

/// What became of the wish.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Found {
    /// The turn is live, and was changed.
    Live { place: String },
    /// It was a request that had not started, and is taken back.
    Withdrawn { persona: String },
    /// The turn is over.
    Over { persona: PersonaId, outcome: String },
}

/// A turn that is held goes on; one that is over is asked for anew.
pub(super) async fn retry(
    id: &str,
    arguments: &Repository,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let connection = Connection::from_environment(&arguments.repo)?;
    let found = change(&connection, id, &format!("retry {id}"), |state, _| {
        if let Some(persona) = waiting(state, id) {
            return Err(format!("`{persona}` is asked for as {id} already, and waits for its place"));
        }
        let turn = turn_named(state, id);
        let Some((track, slot, turn)) = live(state, &turn) else {
            return over(state, id, &turn);
        };
        if let Some(session) = &turn.session_id {
            return Err(format!(
                "session {session} of `{}` is at work in track `{track}`; `phileas session cancel` ends it first",
                turn.persona_id
            ));
        }
        let place = format!("{track}, {}", turn.persona_id);
        let (track, slot) = (track.clone(), slot.clone());
        let turn = state
            .tracks
            .get_mut(&track)
            .and_then(|track| track.turns.get_mut(&slot));
        if let Some(turn) = turn {
            engine::resume_turn(turn);
        }
        Ok(Found::Live { place })
    })
    .await?;
    let ask = match found {
        // A wish is taken back by `cancel` alone.
        Found::Withdrawn { .. } => RunRequest::Due,
        Found::Live { place } => {
            say(id, "goes on", &place, arguments, screen)?;
            RunRequest::Due
        }
        Found::Over { persona, outcome } => {
            let text = format!("`{persona}` is asked for anew; the turn ended as {outcome}");
            say(id, "asked anew", &text, arguments, screen)?;
            RunRequest::Persona(persona)
        }
    };
    carry_out(&connection, ask, arguments.json, deadline, screen).await
}

/// A live turn ends; its session is archived. A request that has not started is taken back.
pub(super) async fn cancel(
    id: &str,
    arguments: &Repository,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let connection = Connection::from_environment(&arguments.repo)?;
    let found = change(&connection, id, &format!("cancel {id}"), |state, now| {
        if let Some(persona) = waiting(state, id)
            && let Some(number) = TrackName::from(id).request_number()
            && engine::withdraw_request(state, number, now)
        {
            return Ok(Found::Withdrawn { persona });
        }
        let turn = turn_named(state, id);
        let Some((track, slot, turn)) = live(state, &turn) else {
            return over(state, id, &turn);
        };
        let place = format!("{track}, {}", turn.persona_id);
        let (track, slot) = (track.clone(), slot.clone());
        let turn = state
            .tracks
            .get_mut(&track)
            .and_then(|track| track.turns.get_mut(&slot));
        if let Some(turn) = turn {
            turn.cancel = true;
        }
        Ok(Found::Live { place })
    })
    .await?;
    match found {
        Found::Live { place } => {
            say(id, "cancelled", &place, arguments, screen)?;
            end_only(&connection, arguments.json, deadline, screen).await
        }
        Found::Withdrawn { persona } => {
            let text = format!("`{persona}` is asked for no more");
            say(id, "taken back", &text, arguments, screen)?;
            Ok(Exit::Done)
        }
        Found::Over { outcome, .. } => {
            let text = format!("the turn is over already, as {outcome}");
            say(id, "over already", &text, arguments, screen)?;
            Ok(Exit::Done)
        }
    }
}

/// The live turn that is meant, also by the session of an earlier attempt at it.
fn live<'s>(state: &'s State, id: &str) -> Option<(&'s TrackName, &'s Slot, &'s Turn)> {
    state.live_turn(id).or_else(|| {
        let (_, entry) = state.entry_named(id)?;
        state.live_turn(entry.turn.as_ref()?.as_str())
    })
}

/// The persona of a request that has not started, by the request's name.
fn waiting(state: &State, id: &str) -> Option<String> {
    let number = TrackName::from(id).request_number()?;
    let pending = engine::pending_requests(state).find(|(one, _)| *one == number);
    pending.map(|(_, persona)| persona.to_string())
}

/// What became of a turn that is not live, or of a request that has none.
fn over(state: &State, id: &str, turn: &str) -> Result<Found, String> {
    let outcome_of = |outcome: Option<String>| outcome.unwrap_or_else(|| "unknown".to_owned());
    if let Some((_, entry)) = state.entry_named(turn) {
        return Ok(Found::Over {
            persona: entry.persona_id.clone(),
            outcome: outcome_of(entry.outcome.as_ref().map(ToString::to_string)),
        });
    }
    let number = TrackName::from(id).request_number();
    let mut requests = state.requests.values();
    let asked = number.and_then(|number| requests.find(|one| one.number == Some(number)));
    let persona = asked.and_then(engine::requested_persona);
    match (asked, persona) {
        (Some(request), Some(persona)) => Ok(Found::Over {
            persona,
            outcome: outcome_of(request.outcome.clone()),
        }),
        _ => Err(format!(
            "the ledger knows neither a session nor a turn nor a request `{id}`"
        )),
    }
}

async fn change(
    connection: &Connection,
    id: &str,
    headline: &str,
    change: impl Fn(&mut State, Timestamp) -> Result<Found, String>,
) -> Result<Found, EditError> {
    let holder = run_identity::this_run().map_err(|stopped| EditError::Refused(stopped.message))?;
    let wish = Edit {
        headline,
        holder: &holder,
        moves_pointer_of: None,
    };
    let found = RefCell::new(None);
    edit(&connection.github, &wish, |state, observation| {
        found.replace(Some(change(state, observation.now)?));
        Ok(())
    })
    .await?;
    found
        .into_inner()
        .ok_or_else(|| EditError::Refused(format!("nothing was found out about `{id}`")))
}

fn say(
    id: &str,
    word: &str,
    text: &str,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<(), Stopped> {
    if arguments.json {
        screen.line(&json!({ "id": id, "done": word, "detail": text }).to_string())?;
    } else {
        screen.line(&format!("{id} {word}: {text}"))?;
    }
    Ok(())
}
