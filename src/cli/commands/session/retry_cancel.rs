//! `phileas session retry` and `phileas session cancel`.

use std::io::Write;

use phileas_domain::engine::{self, RunRequest};
use phileas_domain::model::{PersonaId, TrackName};
use phileas_domain::state::{State, Turn};
use serde_json::json;

use super::follow_up::{run_follow_up, run_without_starts};
use super::lookup::resolve_turn;
use crate::cli::arguments::Repository;
use crate::cli::context::clients::Connection;
use crate::cli::context::edit_ledger::edit_ledger;
use crate::cli::deadline::Deadline;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;

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
    let headline = format!("retry {id}");
    let found = edit_ledger(&connection.github, &headline, |state, _| {
        if let Some(persona) = waiting_persona(state, id) {
            let why = format!("`{persona}` is requested as {id} already, and waits");
            return Ok(TurnChange::Refused { why });
        }
        let change = change_live_turn(state, id, |track, turn| {
            if let Some(session) = &turn.session_id {
                return Err(format!(
                    "session {session} of `{}` is at work in track `{track}`; `phileas session cancel` ends it first",
                    turn.persona_id
                ));
            }
            engine::resume_turn(turn);
            Ok(())
        })?;
        let why = match &change {
            TurnChange::Over { persona, .. } => why_not_again(state, id, persona),
            _ => None,
        };
        Ok(why.map_or(change, |why| TurnChange::Refused { why }))
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
    let headline = format!("cancel {id}");
    let found = edit_ledger(&connection.github, &headline, |state, observation| {
        if let Some(persona) = waiting_persona(state, id)
            && let Some(number) = TrackName::from(id).request_number()
            && engine::withdraw_request(state, number, observation.now)
        {
            return Ok(TurnChange::Withdrawn { persona });
        }
        change_live_turn(state, id, |_, turn| {
            turn.cancel = true;
            Ok(())
        })
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

/// Changes the live turn with this id, or with the session of an earlier attempt. The change may refuse, and says why.
fn change_live_turn(
    state: &mut State,
    id: &str,
    change: impl FnOnce(&TrackName, &mut Turn) -> Result<(), String>,
) -> Result<TurnChange, String> {
    let id_of_turn = resolve_turn(state, id);
    let live = state.live_turn(&id_of_turn).or_else(|| {
        let (_, entry) = state.entry_named(&id_of_turn)?;
        state.live_turn(entry.turn.as_ref()?.as_str())
    });
    let Some((track, slot)) = live.map(|(track, slot, _)| (track.clone(), slot.clone())) else {
        return finished_turn(state, id, &id_of_turn);
    };
    let turns = state.tracks.get_mut(&track).map(|known| &mut known.turns);
    let Some(turn) = turns.and_then(|turns| turns.get_mut(&slot)) else {
        return finished_turn(state, id, &id_of_turn);
    };
    let place = format!("{track}, {}", turn.persona_id);
    Ok(match change(&track, turn) {
        Ok(()) => TurnChange::Live { place },
        Err(why) => TurnChange::Refused { why },
    })
}

/// Why a finished turn is not requested again: only a request on its issue gives the session the text, or it was
/// requested again already.
fn why_not_again(state: &State, id: &str, persona: &PersonaId) -> Option<String> {
    let entry = state.entry_named(&resolve_turn(state, id));
    let turn = entry.and_then(|(_, entry)| entry.turn.as_ref());
    let number = TrackName::from(id).request_number();
    let mut requests = state.requests.values();
    let origin = requests.find(|one| {
        let is_of_turn = turn.is_some() && one.turn.as_ref() == turn;
        is_of_turn || (number.is_some() && one.number == number)
    });
    if let Some(thread) = origin.and_then(|request| request.thread) {
        return Some(format!(
            "it was requested on #{thread}, and only a request there gives the session its text: comment `/phileas retry` on \
             #{thread}"
        ));
    }
    if let Some((number, _)) = engine::pending_requests(state).find(|(_, one)| *one == *persona) {
        return Some(format!(
            "`{persona}` is requested already, as request:{number}, and waits"
        ));
    }
    let mut tracks = state.tracks.iter();
    let (track, _) = tracks.find(|(name, track)| {
        let mut turns = track.turns.values();
        name.request_number().is_some() && turns.any(|turn| turn.persona_id == *persona)
    })?;
    Some(format!("`{persona}` is at work already, as {track}"))
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
