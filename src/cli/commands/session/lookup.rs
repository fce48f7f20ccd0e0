//! Finds the session or turn that a person names.

use phileas_domain::engine::{Ledger, Session};
use phileas_domain::model::{Marker, RepositoryName, SessionId, TrackName};
use phileas_domain::state::State;

use crate::cli::context::clients::Connection;
use crate::cli::exit::CliError;
use crate::runtime::ledger_of;
use crate::runtime::ports::{GitHubObservation, ReadGitHub as _, ReadJules as _};

/// The id of the session. A turn's id, or a request's name, means its newest session.
pub(crate) fn resolve_session(state: Option<&State>, id: &str) -> Result<String, CliError> {
    let Some(state) = state else {
        return Ok(id.to_owned());
    };
    let turn = resolve_turn(state, id);
    if TrackName::from(turn.as_str()).request_number().is_some() {
        return Err(CliError::usage(format!("{id} has no session")));
    }
    if let Some((_, _, live)) = state.live_turn(&turn) {
        return match &live.session_id {
            // A session of an earlier attempt, or a second one, keeps its own id.
            _ if live.turn.as_str() != turn => Ok(id.to_owned()),
            Some(session) => Ok(session.to_string()),
            None => Err(CliError::usage(format!("turn {turn} has no session yet"))),
        };
    }
    let entry = state.entry_named(&turn).map(|(_, entry)| entry);
    let by_turn = entry.filter(|entry| entry.turn.as_ref().is_some_and(|id| id.as_str() == turn));
    let session = by_turn.and_then(|entry| entry.session_id.as_ref());
    Ok(session.map_or_else(|| id.to_owned(), ToString::to_string))
}

/// The turn of `request:<number>`. Any other id is returned unchanged.
pub(crate) fn resolve_turn(state: &State, id: &str) -> String {
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

/// Reads a session of this repository from Jules. Sessions of other repositories are not shown.
pub(crate) async fn read_own_session(
    connection: &Connection,
    id: &str,
) -> Result<Session, CliError> {
    if TrackName::from(id).request_number().is_some() {
        return Err(CliError::usage(format!(
            "{id} is a request; give the id of its session"
        )));
    }
    let session = connection.jules.read_session(&SessionId::from(id)).await?;
    let session = session
        .ok_or_else(|| CliError::usage(format!("Jules knows no session {id} under this key")))?;
    let works_on = |name| session.source.as_ref() == Some(name);
    if works_on(&connection.repository) {
        return Ok(session);
    }
    // Jules keeps the repository name of the session's creation; GitHub knows the current name.
    let repository = connection.github.observe_repository().await?.repository;
    let line = session.prompt.as_deref().and_then(Marker::from_prompt);
    if works_on(&repository.name) || line.is_some_and(|line| line.repository == repository.id) {
        Ok(session)
    } else {
        Err(foreign_session(id, &connection.repository))
    }
}

pub(crate) fn foreign_session(id: &str, repository: &RepositoryName) -> CliError {
    CliError::usage(format!(
        "session {id} does not work on {repository}, so it is left alone"
    ))
}

/// Reads the repository from GitHub, and the state if it is readable.
pub(crate) async fn observe_repository(
    connection: &Connection,
) -> Result<(GitHubObservation, Option<State>), CliError> {
    let observation = connection.github.observe_repository().await?;
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
