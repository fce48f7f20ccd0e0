//! `phileas session retry` and `phileas session cancel`: a person decides what becomes of a turn.

use std::cell::RefCell;
use std::io::Write;

use phileas_domain::engine::{self, Ask};
use phileas_domain::model::{PersonaId, Slot, TrackName};
use phileas_domain::state::{State, Turn};
use serde_json::json;

use super::super::arguments::Repository;
use super::super::connect::{self, Connection};
use super::super::exit::{Exit, Stopped};
use super::super::output::Screen;
use super::{carry_out, end_only};
use crate::runtime::{Edit, EditError, edit};

/// What became of the wish.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Found {
    /// The turn is live, and was changed.
    Live { place: String },
    /// The turn is over.
    Over { persona: PersonaId, outcome: String },
}

/// A turn that is held goes on; one that is over is asked for anew.
pub(super) async fn retry(
    id: &str,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let connection = Connection::from_environment(&arguments.repo)?;
    let found = change(&connection, id, &format!("retry {id}"), |state| {
        let Some((track, slot, turn)) = live(state, id) else {
            return over(state, id);
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
            engine::go_on(turn);
        }
        Ok(Found::Live { place })
    })
    .await?;
    let ask = match found {
        Found::Live { place } => {
            say(id, "goes on", &place, arguments, screen)?;
            Ask::Due
        }
        Found::Over { persona, outcome } => {
            let text = format!("`{persona}` is asked for anew; the turn ended as {outcome}");
            say(id, "asked anew", &text, arguments, screen)?;
            Ask::Persona(persona)
        }
    };
    carry_out(&connection, ask, arguments.json, screen).await
}

/// A live turn ends; its session is archived.
pub(super) async fn cancel(
    id: &str,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let connection = Connection::from_environment(&arguments.repo)?;
    let found = change(&connection, id, &format!("cancel {id}"), |state| {
        let Some((track, slot, turn)) = live(state, id) else {
            return over(state, id);
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
            end_only(&connection, arguments.json, screen).await
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

fn over(state: &State, id: &str) -> Result<Found, String> {
    let (_, entry) = state
        .entry_named(id)
        .ok_or_else(|| format!("the ledger knows neither a session nor a turn `{id}`"))?;
    let outcome = entry.outcome.as_ref();
    Ok(Found::Over {
        persona: entry.persona_id.clone(),
        outcome: outcome.map_or_else(|| "unknown".to_owned(), ToString::to_string),
    })
}

async fn change(
    connection: &Connection,
    id: &str,
    headline: &str,
    change: impl Fn(&mut State) -> Result<Found, String>,
) -> Result<Found, EditError> {
    let holder = connect::this_run().map_err(|stopped| EditError::Refused(stopped.message))?;
    let wish = Edit {
        headline,
        holder: &holder,
        moves_pointer_of: None,
    };
    let found = RefCell::new(None);
    edit(&connection.github, &wish, |state, _| {
        found.replace(Some(change(state)?));
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
