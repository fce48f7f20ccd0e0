//! `phileas stop --all` and `phileas resume`: the emergency brake, and its release.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::Write;

use phileas_domain::engine::{Ledger, ListingNeed, Session};
use phileas_domain::model::{Marker, SessionId};
use phileas_domain::state::{Pause, State};
use serde_json::json;

use super::arguments::Repository;
use super::connect::{self, Connection};
use super::exit::{Exit, Stopped};
use super::output::Screen;
use crate::runtime::ports::{ReadGitHub as _, ReadJules as _, WriteJules as _};
use crate::runtime::{Edit, EditError, edit, ledger_of};

/// What the state says of a pause that this command made.
const REASON: &str = "phileas stop --all";

/// Pauses the repository, then archives every live session of ours. Whatever fails, the rest is still done.
pub(super) async fn run(
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let connection = Connection::from_environment(&arguments.repo)?;
    // The pause comes first, so that nothing starts behind our back.
    let paused = pause(&connection).await;
    let mut exit = Exit::Done;
    match &paused {
        Ok(by) => say(
            arguments,
            screen,
            &json!({ "paused": true, "by": by }),
            &format!("paused by {}", by.as_deref().unwrap_or("this command")),
        )?,
        Err(error) => say(
            arguments,
            screen,
            &json!({ "paused": false, "detail": error.to_string() }),
            &format!("NOT paused: {error}"),
        )?,
    }
    let live = live(&connection).await?;
    for session in &live {
        let id = session.as_str();
        match connection.jules.archive(session).await {
            Ok(()) => say(
                arguments,
                screen,
                &json!({ "session_id": id, "archived": true }),
                &format!("session {id} archived"),
            )?,
            Err(failure) => {
                exit = Exit::Unavailable;
                say(
                    arguments,
                    screen,
                    &json!({ "session_id": id, "archived": false, "detail": failure.detail }),
                    &format!("session {id} NOT archived: {failure}"),
                )?;
            }
        }
    }
    if live.is_empty() && !arguments.json {
        screen.line("no session of ours is live")?;
    }
    screen.flush()?;
    match paused {
        // Without a ledger nothing can start, so there is nothing to pause.
        Ok(_) | Err(EditError::NoLedger) => Ok(exit),
        Err(error) => Err(error.into()),
    }
}

fn say(
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
    document: &serde_json::Value,
    text: &str,
) -> Result<(), Stopped> {
    if arguments.json {
        screen.line(&document.to_string())?;
    } else {
        screen.line(text)?;
    }
    Ok(())
}

/// Writes the pause; one that stands already is left as it is. Answers with who paused.
async fn pause(connection: &Connection) -> Result<Option<String>, EditError> {
    let holder = connect::this_run().map_err(|stopped| EditError::Refused(stopped.message))?;
    let wish = Edit {
        headline: "stop",
        holder: &holder,
        moves_pointer_of: None,
    };
    let by = RefCell::new(None);
    edit(&connection.github, &wish, |state, observation| {
        let pause = state.paused.get_or_insert_with(|| Pause {
            at: Some(observation.now),
            by: connect::actor(),
            reason: Some(REASON.to_owned()),
            ..Pause::default()
        });
        by.replace(pause.by.clone());
        Ok(())
    })
    .await?;
    Ok(by.into_inner())
}

/// The live sessions that are ours: those of the ledger's turns, and those that bear the marker of this repository.
async fn live(connection: &Connection) -> Result<Vec<SessionId>, Stopped> {
    let observation = connection.github.observe().await?;
    let state = match ledger_of(observation.ledger) {
        Ledger::Present { state, .. } => *state,
        Ledger::Missing { .. } | Ledger::Corrupt { .. } => State::default(),
    };
    let need = ListingNeed::Since(jiff::Timestamp::MIN);
    let listing = connection
        .jules
        .list(&observation.repository, &need, observation.now)
        .await?;
    let known = known(&state);
    let ours = |session: &Session| {
        let line = session.prompt.as_deref().and_then(Marker::in_prompt);
        let by_marker = match (line, &session.prompt) {
            (Some(line), _) => line.repository == observation.repository.id,
            (None, Some(_)) => false,
            // The listing hides the prompt: the title's marker counts where the ledger knows its turn.
            (None, None) => Marker::in_title(&session.title).is_some_and(|marker| {
                state.live_turn(marker.turn.as_str()).is_some()
                    || state.entry_named(marker.turn.as_str()).is_some()
            }),
        };
        by_marker || known.contains(&session.id)
    };
    let mut live: Vec<SessionId> = listing
        .sessions
        .iter()
        .filter(|session| !session.archived && session.state.is_live() && ours(session))
        .map(|session| session.id.clone())
        .collect();
    // A listing may lag behind; what the ledger follows is looked at one by one.
    let of_turns = state.tracks.values().flat_map(|track| track.turns.values());
    for id in of_turns.filter_map(|turn| turn.session_id.as_ref()) {
        if live.contains(id) || listing.get(id).is_some() {
            continue;
        }
        let session = connection.jules.session(id).await?;
        let stops = |session: &Session| !session.archived && session.state.is_live();
        if session.as_ref().is_some_and(stops) {
            live.push(id.clone());
        }
    }
    Ok(live)
}

fn known(state: &State) -> BTreeSet<SessionId> {
    let history = state
        .history
        .values()
        .flat_map(|entry| entry.session_id.iter().chain(&entry.duplicates));
    let turns = state.tracks.values().flat_map(|track| track.turns.values());
    let live = turns.flat_map(|turn| turn.session_id.iter().chain(&turn.duplicates));
    history.chain(live).cloned().collect()
}

/// Takes the pause out of the state. Other pauses are named, because they stay.
pub(super) async fn resume(
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let github = connect::github(&arguments.repo)?;
    let holder = connect::this_run()?;
    let wish = Edit {
        headline: "resume",
        holder: &holder,
        moves_pointer_of: None,
    };
    let seen = RefCell::new((false, None));
    edit(&github, &wish, |state, observation| {
        let was = state.paused.take().is_some();
        seen.replace((was, observation.paused_by_label));
        Ok(())
    })
    .await?;
    let (was_paused, label) = seen.into_inner();
    let variable = connect::variable("PHILEAS_PAUSED").filter(|value| connect::is_set(value));
    if arguments.json {
        let document = json!({
            "resumed": was_paused, "paused_by_label": label, "paused_by_variable": variable,
        });
        screen.line(&document.to_string())?;
        return Ok(Exit::Done);
    }
    screen.line(if was_paused {
        "resumed; the next tick starts what is due"
    } else {
        "the state says nothing of a pause"
    })?;
    if let Some(number) = label {
        screen.line(&format!(
            "still paused: issue #{number} carries the label `phileas:pause`"
        ))?;
    }
    if let Some(value) = variable {
        screen.line(&format!(
            "still paused: the variable PHILEAS_PAUSED says `{value}`"
        ))?;
    }
    Ok(Exit::Done)
}
