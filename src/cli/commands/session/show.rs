//! `phileas session show`: one session, what happened in it, and which turn it belongs to.

use std::borrow::Cow;
use std::io::Write;

use phileas_domain::engine::{Activity, ActivityKind, PlanStep};
use phileas_domain::model::SessionId;
use phileas_domain::state::{HistoryEntry, State};
use serde_json::{Value, json};

use super::list;
use super::lookup::{observe, of_repository, session_named};
use crate::cli::arguments::Repository;
use crate::cli::context::clients::Connection;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::decision_line::short;
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize::plain;
use crate::runtime::ports::ReadJules as _;

/// How much of a title or a message is printed, in characters.
const TEXT_CHARS: usize = 240;

pub(super) async fn run(
    id: &str,
    arguments: &Repository,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let connection = Connection::from_environment(&arguments.repo)?;
    let (_, state) = observe(&connection).await?;
    let id = &session_named(state.as_ref(), id)?;
    let session = of_repository(&connection, id).await?;
    let activities = connection
        .jules
        .activities(&SessionId::from(id.as_str()))
        .await?;
    let state = state.as_ref();
    if arguments.json {
        let mut document = list::document(&session, state);
        document["activities"] = match &activities {
            Some(activities) => activities.iter().map(activity_json).collect(),
            None => Value::Null,
        };
        document["prompt"] = json!(session.prompt);
        screen.line(&document.to_string())?;
        return Ok(Exit::Done);
    }
    let mut say = |name: &str, text: &str| screen.line(&format!("{name:<10} {text}"));
    say("session", id)?;
    say("title", &plain(&session.title, TEXT_CHARS))?;
    let archived = if session.archived { ", archived" } else { "" };
    let code = plain(&list::state_code(&session.state), TEXT_CHARS);
    say("state", &format!("{code}{archived}"))?;
    say("created", &format!("{} UTC", short(session.created_at)))?;
    say("turn", &turn(state, &session.id))?;
    let outputs = match (session.pulls.is_empty(), session.has_changes) {
        (false, _) => format!("pull requests {}", list::pulls(&session)),
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
                let words = plain(&activity_words(&one.kind), TEXT_CHARS);
                say(
                    "activity",
                    &format!("{} UTC  {words}{changes}", short(one.at)),
                )?;
            }
        }
    }
    Ok(Exit::Done)
}

/// Which turn it belongs to, as a sentence.
fn turn(state: Option<&State>, id: &SessionId) -> String {
    let Some(state) = state else {
        return "the ledger cannot be read, or there is none".to_owned();
    };
    let Some((key, entry)) = state.entry_of_session(id) else {
        return "none: the ledger does not know this session".to_owned();
    };
    let live = state.live_turn(id.as_str()).is_some();
    format!("{}, entry {key}, {}", named(entry, id), fate(entry, live))
}

fn named(entry: &HistoryEntry, id: &SessionId) -> String {
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

fn fate(entry: &HistoryEntry, live: bool) -> String {
    match (&entry.outcome, live) {
        (_, true) => "under way".to_owned(),
        (Some(outcome), false) => outcome.to_string(),
        (None, false) => "outcome unknown".to_owned(),
    }
}

fn activity_json(activity: &Activity) -> Value {
    let (kind, text) = words_of(&activity.kind);
    json!({
        "id": activity.id,
        "at": activity.at.to_string(),
        "kind": kind,
        "text": text,
        "has_changes": activity.has_changes,
    })
}

fn activity_words(kind: &ActivityKind) -> String {
    match words_of(kind) {
        (kind, Some(text)) if !text.is_empty() => format!("{kind}: {text}"),
        (kind, _) => kind.to_owned(),
    }
}

/// The titles of a plan's steps, with their numbers.
fn steps_of(steps: &[PlanStep]) -> String {
    let steps = steps.iter().enumerate();
    let titles: Vec<String> = steps
        .map(|(index, step)| format!("{}. {}", index + 1, step.title))
        .collect();
    titles.join("\n")
}

fn words_of(kind: &ActivityKind) -> (&str, Option<Cow<'_, str>>) {
    let borrowed = |text| Some(Cow::Borrowed(text));
    match kind {
        ActivityKind::AgentMessaged(text) => ("agent_messaged", borrowed(text.as_str())),
        ActivityKind::UserMessaged(text) => ("user_messaged", borrowed(text.as_str())),
        ActivityKind::PlanGenerated(steps) => ("plan_generated", Some(Cow::Owned(steps_of(steps)))),
        ActivityKind::PlanApproved => ("plan_approved", None),
        ActivityKind::Progress => ("progress", None),
        ActivityKind::Completed => ("completed", None),
        ActivityKind::Failed(reason) => ("failed", borrowed(reason.as_str())),
        ActivityKind::Unknown(kind) => (kind, None),
    }
}
