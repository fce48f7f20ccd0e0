//! `phileas session`: the sessions of a repository, looked at, spoken to, ended, taken in.

mod again;
mod import;
mod list;
mod show;
mod speak;

use std::io::Write;

use phileas_domain::engine::{Ask, Ledger, Line, Reason, Session};
use phileas_domain::model::{Marker, RepositoryName, SessionId, TrackName};
use phileas_domain::state::State;

use super::tick;
use crate::adapters::github;
use crate::adapters::jules::RepositoryJules;
use crate::adapters::stopwatch::SystemStopwatch;
use crate::cli::arguments::SessionCommand;
use crate::cli::context::clients::Connection;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::decision_line::Tense;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize::plain;
use crate::runtime::ports::{Observation, ReadGitHub as _, ReadJules as _};
use crate::runtime::{Settings, Tick, TickReport, ledger_of};

/// What stands before a session's id where people copy it from.
const PAGES: [&str; 3] = ["sessions", "/session", "/task"];
/// How much of a wrong id is printed, in characters.
const ID_CHARS: usize = 60;

pub(crate) async fn run(
    command: &SessionCommand,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    match command {
        SessionCommand::List {
            archived,
            repository,
        } => list::run(*archived, repository, screen).await,
        SessionCommand::Show { id, repository } => show::run(&id_of(id)?, repository, screen).await,
        SessionCommand::Approve { id, repository } => {
            speak::approve(&id_of(id)?, repository, screen).await
        }
        SessionCommand::Message {
            id,
            text,
            repository,
        } => speak::message(&id_of(id)?, text, repository, screen).await,
        SessionCommand::Retry { id, repository } => {
            again::retry(&id_of(id)?, repository, screen).await
        }
        SessionCommand::Cancel { id, repository } => {
            again::cancel(&id_of(id)?, repository, screen).await
        }
        SessionCommand::Import {
            id,
            persona,
            repository,
        } => import::run(&id_of(id)?, persona, repository, screen).await,
    }
}

/// An id as people copy it: bare, as `sessions/<id>`, or as the address of its page.
fn id_of(text: &str) -> Result<String, Stopped> {
    let bare = text.split(['?', '#']).next().unwrap_or_default();
    let bare = bare.trim().trim_end_matches('/');
    let id = match bare.rsplit_once('/') {
        None => bare,
        Some((before, last)) if PAGES.iter().any(|page| before.ends_with(page)) => last,
        Some(_) => "",
    };
    let is_request = TrackName::from(id).request_number().is_some();
    let names = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if id.is_empty() || !is_request && !id.chars().all(names) {
        return Err(Stopped::usage(format!(
            "`{}` is no session's id; give its digits, `sessions/<id>` or the address of its page, or a turn's id",
            plain(text, ID_CHARS)
        )));
    }
    Ok(id.to_owned())
}

/// The session that is meant: a turn's id, or a request's name, stands for the newest session of it.
fn session_named(state: Option<&State>, id: &str) -> Result<String, Stopped> {
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
fn turn_named(state: &State, id: &str) -> String {
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
async fn of_repository(connection: &Connection, id: &str) -> Result<Session, Stopped> {
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

fn stranger(id: &str, repository: &RepositoryName) -> Stopped {
    Stopped::usage(format!(
        "session {id} does not work on {repository}, so it is left alone"
    ))
}

/// What GitHub shows, and the state where it can be read.
async fn observe(connection: &Connection) -> Result<(Observation, Option<State>), Stopped> {
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

/// One tick, so that what was written is carried out at once.
async fn carry_out(
    connection: &Connection,
    ask: Ask,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let settings = connection.settings(ask)?;
    let report = tick_of(connection).run(&settings).await?;
    show(connection, &report, &settings.ask, json, screen)
}

/// One tick that follows what is live and starts nothing: whoever cancels does not ask for the next session.
async fn end_only(
    connection: &Connection,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let settings = connection.settings(Ask::Due)?;
    let paused_already = settings.paused_by_variable.is_some();
    let settings = Settings {
        paused_by_variable: Some("session cancel".to_owned()),
        ..settings
    };
    let mut report = tick_of(connection).run(&settings).await?;
    if !paused_already {
        // The pause was this command's own, for as long as it ran.
        let own = |line: &Line| line.reason == Reason::PausedVariable;
        report.waiting.retain(|(_, line)| !own(line));
        report.wake_at = Some(report.now);
    }
    show(connection, &report, &Ask::Due, json, screen)
}

fn tick_of(connection: &Connection) -> Tick<'_, github::Client, RepositoryJules, SystemStopwatch> {
    Tick {
        github: &connection.github,
        jules: &connection.jules,
        stopwatch: &connection.stopwatch,
    }
}

fn show(
    connection: &Connection,
    report: &TickReport,
    ask: &Ask,
    json: bool,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    tick::print(
        screen,
        &connection.repository,
        report,
        connection.cost(),
        Tense::Deed,
        json,
    )?;
    tick::ended(report, ask)
}

#[cfg(test)]
mod tests {
    use super::id_of;

    #[test]
    fn ids_are_taken_as_people_copy_them() {
        for text in [
            "15481661885092594092",
            "sessions/15481661885092594092",
            "https://jules.google.com/session/15481661885092594092/?x=1#top",
            "https://jules.google.com/task/15481661885092594092",
        ] {
            assert_eq!(id_of(text).unwrap(), "15481661885092594092", "{text}");
        }
        assert_eq!(id_of("request:3").unwrap(), "request:3");
    }

    #[test]
    fn what_is_no_id_is_refused_and_not_cut_to_one() {
        for text in ["../../x", "sessions/..", "x/y", "a b", "", "/", "é"] {
            assert!(id_of(text).is_err(), "{text}");
        }
    }
}
