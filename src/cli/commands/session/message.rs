//! `phileas session approve` and `phileas session message`.

use std::io::Write;

use phileas_domain::engine::{Activity, ActivityKind, SessionState};
use phileas_domain::model::SessionId;
use phileas_domain::state::State;
use serde_json::json;

use super::list::{TITLE_CHARS, state_code};
use super::lookup::{observe_repository, read_own_session, resolve_session};
use crate::cli::arguments::Repository;
use crate::cli::context::clients::Connection;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize::sanitize;
use crate::runtime::ports::{ReadJules as _, WriteJules as _};

/// The longest message, in characters. Jules names no limit; people type far less.
const MAX_MESSAGE_CHARS: usize = 100_000;

pub(super) async fn approve_plan(
    id: &str,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let connection = Connection::from_environment(&arguments.repo)?;
    let session = read_own_session(&connection, id).await?;
    let activities = connection
        .jules
        .read_activities(&SessionId::from(id))
        .await?;
    match plan_status(&session.state, &activities.unwrap_or_default()) {
        PlanStatus::Waits => {
            connection.jules.approve_plan(&SessionId::from(id)).await?;
            print_done(id, "approved", "its plan is approved", arguments, screen)
        }
        PlanStatus::Approved => {
            let sentence = "its plan was approved before; nothing was sent";
            print_done(id, "approved before", sentence, arguments, screen)
        }
        PlanStatus::Nothing => Err(CliError::finding(format!(
            "session {id} has no plan that waits for approval; its state is {}",
            sanitize(&state_code(&session.state), TITLE_CHARS)
        ))),
    }
}

/// Whether a session has a plan, and whether it is approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlanStatus {
    /// There is no plan.
    Nothing,
    /// It waits for an approval.
    Waits,
    /// A person or Jules has approved it.
    Approved,
}

/// Some sessions have the state COMPLETED and still wait for an approval, so check the activities, too.
fn plan_status(state: &SessionState, activities: &[Activity]) -> PlanStatus {
    if *state == SessionState::AwaitingPlanApproval {
        return PlanStatus::Waits;
    }
    let last = activities.iter().rev().find_map(|one| match one.kind {
        ActivityKind::PlanGenerated { .. } => Some(PlanStatus::Waits),
        ActivityKind::PlanApproved => Some(PlanStatus::Approved),
        _ => None,
    });
    last.unwrap_or(PlanStatus::Nothing)
}

pub(super) async fn send_message(
    id: &str,
    text: &str,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    if text.trim().is_empty() {
        return Err(CliError::usage("the message is empty"));
    }
    if text.chars().count() > MAX_MESSAGE_CHARS {
        return Err(CliError::usage(format!(
            "the message is longer than {MAX_MESSAGE_CHARS} characters"
        )));
    }
    let connection = Connection::from_environment(&arguments.repo)?;
    let (observation, state) = observe_repository(&connection).await?;
    let id = resolve_session(state.as_ref(), id)?;
    let id = id.as_str();
    let session = read_own_session(&connection, id).await?;
    let over = state.as_ref().and_then(|state| turn_outcome(state, id));
    if session.archived {
        let over = over.map_or_else(String::new, |outcome| {
            format!(", and its turn is over as {outcome}")
        });
        return Err(CliError::finding(format!(
            "session {id} is archived{over}, so it does not handle messages; nothing was sent (`phileas session \
             retry {id}` requests its persona again)"
        )));
    }
    let at = observation.now.as_second();
    let text = add_marker(text, state.as_ref(), id, at);
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
    print_done(id, "sent", &sentence, arguments, screen)
}

/// The outcome of the session's turn, if it is over.
fn turn_outcome(state: &State, id: &str) -> Option<String> {
    if state.live_turn(id).is_some() {
        return None;
    }
    let (_, entry) = state.entry_named(id)?;
    Some(entry.outcome.as_ref()?.to_string())
}

/// Appends a line that distinguishes the message from a standard answer. The message to a session that the ledger does
/// not know stays as typed.
fn add_marker(text: &str, state: Option<&State>, id: &str, at_second: i64) -> String {
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

fn print_done(
    id: &str,
    word: &str,
    sentence: &str,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    if arguments.json {
        screen.print_line(&json!({ "session_id": id, "done": word }).to_string())?;
    } else {
        screen.print_line(&format!("session {id}: {sentence}"))?;
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use phileas_domain::state::codec;

    #[test]
    fn a_message_to_a_turn_differs_from_a_standard_answer() {
        let state = codec::load(
            r#"{"version":5,"history":{"0":{"persona_id":"a","session_id":"77","pr_number":null,
            "created_at":"2026-01-05T00:00:00Z","track":"default","turn":"k3v9w2m1q8zt","seq":1,"slot":"","attempt":2}},
            "tracks":{}}"#,
        )
        .unwrap()
        .state;
        let said = add_marker("Go on.\n", Some(&state), "77", 5);
        assert_eq!(said, "Go on.\n\nphileas-message: k3v9w2m1q8zt.2/person-5");
        assert!(!said.contains("k3v9w2m1q8zt.2/q"));
        assert_eq!(add_marker("Go on.", Some(&state), "78", 5), "Go on.");
    }
}
