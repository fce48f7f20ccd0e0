//! `phileas session retry` and `phileas session cancel`.

use std::cell::RefCell;
use std::io::Write;

use jiff::Timestamp;
use phileas_domain::engine::{self, RunRequest};
use phileas_domain::model::{PersonaId, Slot, TrackName};
use phileas_domain::state::{State, Turn};
use serde_json::json;

use super::follow_up::{run_follow_up, run_without_starts};
use super::lookup::resolve_turn;
use crate::cli::arguments::Repository;
use crate::cli::context::clients::Connection;
use crate::cli::context::run_identity;
use crate::cli::deadline::Deadline;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::runtime::{Edit, EditError, edit_state};

/// What happened to the turn.
#[derive(Debug, Clone, PartialEq, Eq)]
enum TurnChange {
    /// The turn is live, and was changed.
    Live { place: String },
    /// It was a request that had not started, and is withdrawn.
    Withdrawn { persona: String },
    /// The request is refused, because of this.
    Refused { why: String },
    /// The turn is over.
    Over { persona: PersonaId, outcome: String },
}

/// Resumes a held turn; requests a finished one again.
pub(super) async fn retry_turn(
    id: &str,
    arguments: &Repository,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let connection = Connection::from_environment(&arguments.repo)?;
    let found = change_state(&connection, id, &format!("retry {id}"), |state, _| {
        if let Some(persona) = waiting_persona(state, id) {
            let why = format!("`{persona}` is requested as {id} already, and waits");
            return Ok(TurnChange::Refused { why });
        }
        let turn = resolve_turn(state, id);
        let Some((track, slot, turn)) = live_turn(state, &turn) else {
            return finished_turn(state, id, &turn);
        };
        if let Some(session) = &turn.session_id {
            let why = format!(
                "session {session} of `{}` is at work in track `{track}`; `phileas session cancel` ends it first",
                turn.persona_id
            );
            return Ok(TurnChange::Refused { why });
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
        Ok(TurnChange::Live { place })
    })
    .await?;
    let (ask, done) = match found {
        // Only `cancel` withdraws a request.
        TurnChange::Withdrawn { .. } => (RunRequest::Due, None),
        TurnChange::Refused { why } => return Err(CliError::finding(why)),
        TurnChange::Live { place } => {
            // It stays resumed, whatever the tick does.
            print_result(id, "resumed", &place, arguments, screen)?;
            (RunRequest::Due, None)
        }
        TurnChange::Over { persona, outcome } => {
            let text = format!("`{persona}` is requested again; the turn ended as {outcome}");
            (RunRequest::Persona(persona), Some(text))
        }
    };
    run_follow_up(
        &connection,
        ask,
        arguments.json,
        deadline,
        screen,
        |screen| match done {
            Some(text) => print_result(id, "requested again", &text, arguments, screen),
            None => Ok(()),
        },
    )
    .await
}

/// Ends a live turn and archives its session, or withdraws a request that has not started.
pub(super) async fn cancel_turn(
    id: &str,
    arguments: &Repository,
    deadline: Option<Deadline>,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let connection = Connection::from_environment(&arguments.repo)?;
    let found = change_state(&connection, id, &format!("cancel {id}"), |state, now| {
        if let Some(persona) = waiting_persona(state, id)
            && let Some(number) = TrackName::from(id).request_number()
            && engine::withdraw_request(state, number, now)
        {
            return Ok(TurnChange::Withdrawn { persona });
        }
        let turn = resolve_turn(state, id);
        let Some((track, slot, turn)) = live_turn(state, &turn) else {
            return finished_turn(state, id, &turn);
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
        Ok(TurnChange::Live { place })
    })
    .await?;
    match found {
        TurnChange::Live { place } => {
            print_result(id, "cancelled", &place, arguments, screen)?;
            run_without_starts(&connection, arguments.json, deadline, screen).await
        }
        TurnChange::Withdrawn { persona } => {
            let text = format!("`{persona}` is no longer requested");
            print_result(id, "withdrawn", &text, arguments, screen)?;
            Ok(Exit::Done)
        }
        TurnChange::Refused { why } => Err(CliError::finding(why)),
        TurnChange::Over { outcome, .. } => {
            let text = format!("the turn is over already, as {outcome}");
            print_result(id, "over already", &text, arguments, screen)?;
            Ok(Exit::Done)
        }
    }
}

/// The live turn with this id, or with the session of an earlier attempt.
fn live_turn<'s>(state: &'s State, id: &str) -> Option<(&'s TrackName, &'s Slot, &'s Turn)> {
    state.live_turn(id).or_else(|| {
        let (_, entry) = state.entry_named(id)?;
        state.live_turn(entry.turn.as_ref()?.as_str())
    })
}

/// The persona of a request that has not started, by the request's name.
fn waiting_persona(state: &State, id: &str) -> Option<String> {
    let number = TrackName::from(id).request_number()?;
    let pending = engine::pending_requests(state).find(|(one, _)| *one == number);
    pending.map(|(_, persona)| persona.to_string())
}

/// The outcome of a turn that is not live, or of a request without a turn.
fn finished_turn(state: &State, id: &str, turn: &str) -> Result<TurnChange, String> {
    let outcome_of = |outcome: Option<String>| outcome.unwrap_or_else(|| "unknown".to_owned());
    if let Some((_, entry)) = state.entry_named(turn) {
        return Ok(TurnChange::Over {
            persona: entry.persona_id.clone(),
            outcome: outcome_of(entry.outcome.as_ref().map(ToString::to_string)),
        });
    }
    let number = TrackName::from(id).request_number();
    let mut requests = state.requests.values();
    let asked = number.and_then(|number| requests.find(|one| one.number == Some(number)));
    let persona = asked.and_then(engine::requested_persona);
    match (asked, persona) {
        (Some(request), Some(persona)) => Ok(TurnChange::Over {
            persona,
            outcome: outcome_of(request.outcome.clone()),
        }),
        _ => Err(format!(
            "the ledger knows neither a session nor a turn nor a request `{id}`"
        )),
    }
}

async fn change_state(
    connection: &Connection,
    id: &str,
    headline: &str,
    change: impl Fn(&mut State, Timestamp) -> Result<TurnChange, String>,
) -> Result<TurnChange, EditError> {
    let holder =
        run_identity::run_holder().map_err(|stopped| EditError::Refused(stopped.message))?;
    let request = Edit {
        headline,
        holder: &holder,
        moves_pointer_of: None,
    };
    let found = RefCell::new(None);
    edit_state(&connection.github, &request, |state, observation| {
        found.replace(Some(change(state, observation.now)?));
        Ok(())
    })
    .await?;
    found
        .into_inner()
        .ok_or_else(|| EditError::Refused(format!("nothing was found out about `{id}`")))
}

fn print_result(
    id: &str,
    word: &str,
    text: &str,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<(), CliError> {
    if arguments.json {
        screen.print_line(&json!({ "id": id, "done": word, "detail": text }).to_string())?;
    } else {
        screen.print_line(&format!("{id} {word}: {text}"))?;
    }
    Ok(())
}
