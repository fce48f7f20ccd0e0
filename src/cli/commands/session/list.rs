//! `phileas session list`: lists the sessions of a repository.

use std::io::Write;

use phileas_domain::engine::{ListingNeed, Session, SessionState};
use phileas_domain::state::State;
use serde_json::{Value, json};

use super::lookup::observe_repository;
use crate::cli::arguments::Repository;
use crate::cli::context::clients::Connection;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::decision_line::short_time;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize::sanitize;
use crate::cli::terminal::table::Table;
use crate::runtime::ports::ReadJules as _;

/// How many characters of a title the table shows.
pub(super) const TITLE_CHARS: usize = 50;

pub(super) async fn run(
    archived: bool,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let connection = Connection::from_environment(&arguments.repo)?;
    let (observation, state) = observe_repository(&connection).await?;
    let need = if archived {
        ListingNeed::Everything
    } else {
        ListingNeed::Since(jiff::Timestamp::MIN)
    };
    let listing = connection
        .jules
        .list_sessions(&observation.repository, &need, observation.now)
        .await?;
    if listing.since.is_some() {
        tracing::warn!("Jules has more sessions than are read; the oldest are not shown");
    }
    let sessions = listing
        .sessions
        .iter()
        .rev()
        .filter(|session| archived || !session.archived)
        // Hide sessions of other repositories. The ledger knows a session from before a rename.
        .filter(|session| !session.elsewhere || ledger_location(session, state.as_ref()).is_some());
    if arguments.json {
        for session in sessions {
            screen.print_line(&session_json(session, state.as_ref()).to_string())?;
        }
        return Ok(Exit::Done);
    }
    let mut table = Table::new([
        "session",
        "state",
        "created (UTC)",
        "turn",
        "pulls",
        "title",
    ]);
    let mut count = 0;
    for session in sessions {
        count += 1;
        table.push_row([
            session.id.to_string(),
            state_text(session),
            short_time(session.created_at),
            ledger_location(session, state.as_ref()).unwrap_or_else(|| "not ours".to_owned()),
            pulls_text(session),
            sanitize(&session.title, TITLE_CHARS),
        ]);
    }
    if count == 0 {
        screen.print_line("Jules shows no session of this repository")?;
    } else {
        screen.print_lines(&table.table_text())?;
    }
    Ok(Exit::Done)
}

/// One session as JSON.
pub(super) fn session_json(session: &Session, state: Option<&State>) -> Value {
    let id = session.id.as_str();
    let live = state.and_then(|state| state.live_turn(id));
    let entry = state.and_then(|state| state.entry_of_session(&session.id));
    json!({
        "session_id": id,
        "state": state_code(&session.state),
        "archived": session.archived,
        "title": session.title,
        "created_at": session.created_at.to_string(),
        "updated_at": session.updated_at.map(|at| at.to_string()),
        "pulls": session.pulls.iter().map(|number| number.0).collect::<Vec<_>>(),
        "has_changes": session.has_changes,
        "track": live.map(|(track, _, _)| track.to_string())
            .or_else(|| Some(entry?.1.track_name().to_string())),
        "turn": live.map(|(_, _, turn)| turn.turn.to_string())
            .or_else(|| Some(entry?.1.turn.as_ref()?.to_string())),
        "persona": live.map(|(_, _, turn)| turn.persona_id.to_string())
            .or_else(|| Some(entry?.1.persona_id.to_string())),
        "live": live.is_some(),
        "history_key": entry.map(|(key, _)| key),
        "outcome": entry.and_then(|(_, entry)| Some(entry.outcome.as_ref()?.to_string())),
    })
}

/// `default#7 curator`, if the ledger knows the session.
pub(super) fn ledger_location(session: &Session, state: Option<&State>) -> Option<String> {
    let (_, entry) = state?.entry_of_session(&session.id)?;
    let seq = entry.seq.map_or_else(String::new, |seq| format!("#{seq}"));
    Some(format!("{}{seq} {}", entry.track_name(), entry.persona_id))
}

pub(super) fn pulls_text(session: &Session) -> String {
    let numbers: Vec<String> = session
        .pulls
        .iter()
        .map(|number| format!("#{number}"))
        .collect();
    numbers.join(" ")
}

fn state_text(session: &Session) -> String {
    let archived = if session.archived { " (archived)" } else { "" };
    format!(
        "{}{archived}",
        sanitize(&state_code(&session.state), TITLE_CHARS)
    )
}

/// The state as Jules writes it.
pub(super) fn state_code(state: &SessionState) -> String {
    state.as_str().to_owned()
}
