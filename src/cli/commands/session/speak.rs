//! `phileas session approve` and `phileas session message`: a person's word to a session.

use std::io::Write;

use phileas_domain::engine::{Activity, ActivityKind, SessionState};
use phileas_domain::model::SessionId;
use phileas_domain::state::State;
use serde_json::json;

use super::list::{TITLE_CHARS, state_code};
use super::lookup::{observe, of_repository, session_named};
use crate::cli::arguments::Repository;
use crate::cli::context::clients::Connection;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize::plain;
use crate::runtime::ports::{ReadJules as _, WriteJules as _};

/// The longest message, in characters. Jules names no limit; this is far above what people type.
const MAX_MESSAGE_CHARS: usize = 100_000;

pub(super) async fn approve(
    id: &str,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let connection = Connection::from_environment(&arguments.repo)?;
    let session = of_repository(&connection, id).await?;
    let activities = connection.jules.activities(&SessionId::from(id)).await?;
    match plan_of(&session.state, &activities.unwrap_or_default()) {
        Planned::Waits => {
            connection.jules.approve_plan(&SessionId::from(id)).await?;
            done(id, "approved", "its plan is approved", arguments, screen)
        }
        Planned::Approved => {
            let sentence = "its plan was approved before; nothing was sent";
            done(id, "approved before", sentence, arguments, screen)
        }
        Planned::Nothing => Err(Stopped::usage(format!(
            "session {id} has no plan that waits for approval; its state is {}",
            plain(&state_code(&session.state), TITLE_CHARS)
        ))),
    }
}

/// Whether a session has a plan, and what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Planned {
    /// There is none.
    Nothing,
    /// It waits for somebody's approval.
    Waits,
    /// Somebody has approved it, or Jules itself.
    Approved,
}

/// Some sessions read COMPLETED and wait for their plan's approval all the same, so the activities count, too.
fn plan_of(state: &SessionState, activities: &[Activity]) -> Planned {
    if *state == SessionState::AwaitingPlanApproval {
        return Planned::Waits;
    }
    let last = activities.iter().rev().find_map(|one| match one.kind {
        ActivityKind::PlanGenerated(_) => Some(Planned::Waits),
        ActivityKind::PlanApproved => Some(Planned::Approved),
        _ => None,
    });
    last.unwrap_or(Planned::Nothing)
}

pub(super) async fn message(
    id: &str,
    text: &str,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    if text.trim().is_empty() {
        return Err(Stopped::usage("the message is empty"));
    }
    if text.chars().count() > MAX_MESSAGE_CHARS {
        return Err(Stopped::usage(format!(
            "the message is longer than {MAX_MESSAGE_CHARS} characters"
        )));
    }
    let connection = Connection::from_environment(&arguments.repo)?;
    let (observation, state) = observe(&connection).await?;
    let id = session_named(state.as_ref(), id)?;
    let id = id.as_str();
    let session = of_repository(&connection, id).await?;
    let over = state.as_ref().and_then(|state| outcome_of(state, id));
    if session.archived {
        let over = over.map_or_else(String::new, |outcome| {
            format!(", and its turn is over as {outcome}")
        });
        return Err(Stopped::usage(format!(
            "session {id} is archived{over}, so nobody works on what is said to it; nothing was sent (`phileas session \
             retry {id}` asks for its persona anew)"
        )));
    }
    let at = observation.now.as_second();
    let text = marked(text, state.as_ref(), id, at);
    connection
        .jules
        .send_message(&SessionId::from(id), &text)
        .await?;
    let sentence = match over {
        Some(outcome) => format!(
            "the message is sent; its turn is over as {outcome}, so Jules may do nothing with it, and phileas does not \
             follow what it does"
        ),
        None => "the message is sent".to_owned(),
    };
    done(id, "sent", &sentence, arguments, screen)
}

/// How the session's turn has ended, where it has.
fn outcome_of(state: &State, id: &str) -> Option<String> {
    if state.live_turn(id).is_some() {
        return None;
    }
    let (_, entry) = state.entry_named(id)?;
    Some(entry.outcome.as_ref()?.to_string())
}

/// The message with a last line of its own, by which it is told from a standard answer. A session that the ledger does
/// not know gets the message as it was typed.
fn marked(text: &str, state: Option<&State>, id: &str, at_second: i64) -> String {
    let entry = state.and_then(|state| state.entry_named(id));
    let marker = entry.and_then(|(_, entry)| Some((entry.turn.as_ref()?, entry.attempt?)));
    match marker {
        Some((turn, attempt)) => format!(
            "{}\n\nphileas-message: {turn}.{attempt}/person-{at_second}",
            text.trim_end()
        ),
        None => text.to_owned(),
    }
}

fn done(
    id: &str,
    word: &str,
    sentence: &str,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    if arguments.json {
        screen.line(&json!({ "session_id": id, "done": word }).to_string())?;
    } else {
        screen.line(&format!("session {id}: {sentence}"))?;
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use phileas_domain::state::codec;

    #[test]
    fn a_message_to_a_turn_is_told_from_a_standard_answer() {
        let state = codec::load(
            r#"{"version":5,"history":{"0":{"persona_id":"a","session_id":"77","pr_number":null,
            "created_at":"2026-01-05T00:00:00Z","track":"default","turn":"k3v9w2m1q8zt","seq":1,"slot":"","attempt":2}},
            "tracks":{}}"#,
        )
        .unwrap()
        .state;
        let said = marked("Go on.\n", Some(&state), "77", 5);
        assert_eq!(said, "Go on.\n\nphileas-message: k3v9w2m1q8zt.2/person-5");
        assert!(!said.contains("k3v9w2m1q8zt.2/q"));
        assert_eq!(marked("Go on.", Some(&state), "78", 5), "Go on.");
    }
}
