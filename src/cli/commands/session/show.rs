//! `phileas session show`: shows one session, its activities, and its turn.

use std::borrow::Cow;
use std::io::Write;

use phileas_domain::engine::{Activity, ActivityKind, PlanStep};
use phileas_domain::model::SessionId;
use phileas_domain::state::{HistoryEntry, State};
use serde_json::{Value, json};

use super::list;
use super::lookup::{observe_repository, read_own_session, resolve_session};
use crate::cli::arguments::Repository;
use crate::cli::context::clients::Connection;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::decision_line::short_time;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize::sanitize;
use crate::runtime::ports::ReadJules as _;

/// How many characters of a title or a message are printed.
const TEXT_CHARS: usize = 240;

pub(super) async fn run(
    id: &str,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let connection = Connection::from_environment(&arguments.repo)?;
    let (_, state) = observe_repository(&connection).await?;
    let id = &resolve_session(state.as_ref(), id)?;
    let session = read_own_session(&connection, id).await?;
    let activities = connection
        .jules
        .read_activities(&SessionId::from(id.as_str()))
        .await?;
    let state = state.as_ref();
    if arguments.json {
        let mut document = list::session_json(&session, state);
        document["activities"] = match &activities {
            Some(activities) => activities.iter().map(activity_json).collect(),
            None => Value::Null,
        };
        document["prompt"] = json!(session.prompt);
        screen.print_line(&document.to_string())?;
        return Ok(Exit::Done);
    }
    let mut say = |name: &str, text: &str| screen.print_line(&format!("{name:<10} {text}"));
    say("session", id)?;
    say("title", &sanitize(&session.title, TEXT_CHARS))?;
    let archived = if session.archived { ", archived" } else { "" };
    let code = sanitize(&list::state_code(&session.state), TEXT_CHARS);
    say("state", &format!("{code}{archived}"))?;
    say(
        "created",
        &format!("{} UTC", short_time(session.created_at)),
    )?;
    say("turn", &turn_text(state, &session.id))?;
    let outputs = match (session.pulls.is_empty(), session.has_changes) {
        (false, _) => format!("pull requests {}", list::pulls_text(&session)),
        (true, true) => "changes, without a pull request".to_owned(),
        (true, false) => "nothing yet".to_owned(),
    };
    say("outputs", &outputs)?;
    say("page", &format!("https://jules.google.com/session/{id}"))?;
    match activities {
        None => say("activity", "Jules does not show any (yet)")?,
        Some(activities) => {
            for one in &activities {
                let changes = if one.has_changes { " [changes]" } else { "" };
                let words = sanitize(&activity_text(&one.kind), TEXT_CHARS);
                say(
                    "activity",
                    &format!("{} UTC  {words}{changes}", short_time(one.at)),
                )?;
            }
        }
    }
    Ok(Exit::Done)
}

/// A sentence about the session's turn.
fn turn_text(state: Option<&State>, id: &SessionId) -> String {
    let Some(state) = state else {
        return "the ledger cannot be read, or there is none".to_owned();
    };
    let Some((key, entry)) = state.entry_of_session(id) else {
        return "none: the ledger does not know this session".to_owned();
    };
    let live = state.live_turn(id.as_str()).is_some();
    format!(
        "{}, entry {key}, {}",
        named_session(entry, id),
        outcome_text(entry, live)
    )
}

fn named_session(entry: &HistoryEntry, id: &SessionId) -> String {
    let turn = entry
        .turn
        .as_ref()
        .map_or_else(|| "a turn without an id".to_owned(), ToString::to_string);
    let attempt = entry.attempt.unwrap_or(1);
    let duplicate = if entry.duplicates.contains(id) {
        " (a duplicate)"
    } else {
        ""
    };
    format!(
        "{turn}.{attempt}{duplicate}: {} of track `{}`",
        entry.persona_id,
        entry.track_name()
    )
}

fn outcome_text(entry: &HistoryEntry, live: bool) -> String {
    match (&entry.outcome, live) {
        (_, true) => "under way".to_owned(),
        (Some(outcome), false) => outcome.to_string(),
        (None, false) => "outcome unknown".to_owned(),
    }
}

fn activity_json(activity: &Activity) -> Value {
    let (kind, text) = activity_detail(&activity.kind);
    json!({
        "id": activity.id,
        "at": activity.at.to_string(),
        "kind": kind,
        "text": text,
        "has_changes": activity.has_changes,
    })
}

fn activity_text(kind: &ActivityKind) -> String {
    match activity_detail(kind) {
        (kind, Some(text)) if !text.is_empty() => format!("{kind}: {text}"),
        (kind, _) => kind.to_owned(),
    }
}

/// The titles of a plan's steps, with their numbers.
fn plan_steps(steps: &[PlanStep]) -> String {
    let steps = steps.iter().enumerate();
    let titles: Vec<String> = steps
        .map(|(index, step)| format!("{}. {}", index + 1, step.title))
        .collect();
    titles.join("\n")
}

fn activity_detail(kind: &ActivityKind) -> (&str, Option<Cow<'_, str>>) {
    let borrowed = |text| Some(Cow::Borrowed(text));
    match kind {
        ActivityKind::AgentMessaged(text) => ("agent_messaged", borrowed(text.as_str())),
        ActivityKind::UserMessaged(text) => ("user_messaged", borrowed(text.as_str())),
        ActivityKind::PlanGenerated { steps, .. } => {
            ("plan_generated", Some(Cow::Owned(plan_steps(steps))))
        }
        ActivityKind::PlanApproved => ("plan_approved", None),
        ActivityKind::Progress { .. } => ("progress", None),
        ActivityKind::Completed => ("completed", None),
        ActivityKind::Failed(reason) => ("failed", borrowed(reason.as_str())),
        ActivityKind::Unknown(kind) => (kind, None),
    }
}
