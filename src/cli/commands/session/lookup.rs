//! Finds the session or turn that a person names.

use phileas_domain::engine::{Ledger, Session};
use phileas_domain::model::{Marker, RepositoryName, SessionId, TrackName};
use phileas_domain::state::State;

use crate::cli::context::clients::Connection;
use crate::cli::exit::Stopped;
use crate::runtime::ledger_of;
use crate::runtime::ports::{Observation, ReadGitHub as _, ReadJules as _};

/// The session that is meant: a turn's id, or a request's name, stands for the newest session of it.
pub(crate) fn session_named(state: Option<&State>, id: &str) -> Result<String, Stopped> {
    let Some(state) = state else {
        return Ok(id.to_owned());
    };
    let turn = turn_named(state, id);
    if TrackName::from(turn.as_str()).request_number().is_some() {
        return Err(Stopped::usage(format!("{id} has no session")));
    }
    if let Some((_, _, live)) = state.live_turn(&turn) {
        return match &live.session_id {
            // The session of an earlier attempt, or a second one, is meant by its own id.
            _ if live.turn.as_str() != turn => Ok(id.to_owned()),
            Some(session) => Ok(session.to_string()),
            None => Err(Stopped::usage(format!("turn {turn} has no session yet"))),
        };
    }
    let entry = state.entry_named(&turn).map(|(_, entry)| entry);
    let by_turn = entry.filter(|entry| entry.turn.as_ref().is_some_and(|id| id.as_str() == turn));
    let session = by_turn.and_then(|entry| entry.session_id.as_ref());
    Ok(session.map_or_else(|| id.to_owned(), ToString::to_string))
}

/// The turn of a request, where `request:<number>` is meant; any other id stays what it is.
pub(crate) fn turn_named(state: &State, id: &str) -> String {
    let track = TrackName::from(id);
    let Some(number) = track.request_number() else {
        return id.to_owned();
    };
    let live = state
        .tracks
        .get(&track)
        .and_then(|track| track.turns.values().next());
    let live = live.map(|turn| &turn.turn);
    let mut requests = state.requests.values();
    let asked = requests.find(|request| request.number == Some(number));
    let turn = live.or_else(|| asked?.turn.as_ref());
    turn.map_or_else(|| id.to_owned(), ToString::to_string)
}

/// A session that Jules knows and that works on this repository. Of others nothing is shown.
pub(crate) async fn of_repository(connection: &Connection, id: &str) -> Result<Session, Stopped> {
    if TrackName::from(id).request_number().is_some() {
        return Err(Stopped::usage(format!(
            "{id} is a request; give the id of its session"
        )));
    }
    let session = connection.jules.session(&SessionId::from(id)).await?;
    let session = session
        .ok_or_else(|| Stopped::usage(format!("Jules knows no session {id} under this key")))?;
    let works_on = |name| session.source.as_ref() == Some(name);
    if works_on(&connection.repository) {
        return Ok(session);
    }
    // Jules keeps the name that a session was created under; what the repository is called now, GitHub says.
    let repository = connection.github.observe().await?.repository;
    let line = session.prompt.as_deref().and_then(Marker::in_prompt);
    if works_on(&repository.name) || line.is_some_and(|line| line.repository == repository.id) {
        Ok(session)
    } else {
        Err(stranger(id, &connection.repository))
    }
}

pub(crate) fn stranger(id: &str, repository: &RepositoryName) -> Stopped {
    Stopped::usage(format!(
        "session {id} does not work on {repository}, so it is left alone"
    ))
}

/// What GitHub shows, and the state where it can be read.
pub(crate) async fn observe(
    connection: &Connection,
) -> Result<(Observation, Option<State>), Stopped> {
    let observation = connection.github.observe().await?;
    let state = match ledger_of(observation.ledger.clone()) {
        Ledger::Present { state, .. } => Some(*state),
        Ledger::Missing { .. } => None,
        Ledger::Corrupt { diagnostics, .. } => {
            if let Some(first) = diagnostics.first() {
                tracing::warn!("the ledger cannot be read: {first}");
            }
            None
        }
    };
    Ok((observation, state))
}
