//! Defines an event that is worth waking an agent for: one line of the events file.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::job::{JobId, Priority};
use crate::json;

/// The version of the line's format.
pub const SCHEMA: u32 = 1;

/// The longest message of an event, in characters. The whole text can be requested from Jules.
pub const MAX_MESSAGE_CHARS: usize = 4_000;

/// The largest number of plan steps in an event.
pub const MAX_STEPS: usize = 20;

/// The longest plan step in an event, in characters.
pub const MAX_STEP_CHARS: usize = 200;

/// The position of an event in its file: the first one is 1. A cursor is the id of the last event that was read.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct EventId(pub u64);

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What happened.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum EventKind {
    /// Jules waits for an answer.
    Question,
    /// Jules says that its work is done.
    Completed,
    /// The session failed, or it cannot be read.
    Error,
    /// Nothing has happened for a long time, and Jules waits for no answer.
    Stuck,
    /// A plan waits for approval.
    PlanReview,
}

/// A word that names no kind of event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a kind of event; there are question, completed, error, stuck and plan_review"
)]
pub struct EventKindError(String);

impl EventKind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Question,
        Self::Completed,
        Self::Error,
        Self::Stuck,
        Self::PlanReview,
    ];

    /// The kind's name in the file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for EventKind {
    type Err = EventKindError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|kind| kind.as_str() == text);
        known.ok_or_else(|| EventKindError(text.to_owned()))
    }
}

/// What an agent needs besides the event itself. Everything else can be requested.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Payload {
    /// The repository, `owner/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// The session's title, shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The session's page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The pull request's page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull: Option<String>,
    /// What a completed session produced: `pull_request`, `changes`, `nothing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The activity that the event is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activity_id: Option<String>,
    /// The plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<String>,
    /// The titles of the plan's first [`MAX_STEPS`] steps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
    /// How many steps the plan has, if not all are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps_total: Option<usize>,
    /// A stable code for the cause of an error: `session_failed`, `given_up`, `not_found`, `unreachable`, `credential`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The track whose turn the session is; missing if the session is no turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub track: Option<String>,
    /// The persona whose turn it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    /// The turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// How many live jobs cannot be checked because of an error of the whole monitor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<usize>,
    /// The job's priority, if it is not `normal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// Whether the message was shortened.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Keys of other writers.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// An event that has no position in a file yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// What happened.
    pub kind: EventKind,
    /// The job; `None` if the event concerns the whole monitor.
    pub job_id: Option<JobId>,
    /// The session's state, as Jules names it.
    pub status: Option<String>,
    /// A question, a reason, or a sentence about the problem.
    pub message: Option<String>,
    /// When something last happened.
    pub last_activity: Option<Timestamp>,
    /// What an agent needs besides the event itself.
    pub payload: Payload,
    /// The cause, by a name that no other cause of this job has.
    pub cause: String,
}

impl NewEvent {
    /// The key that identifies the event: it is unique in a file.
    #[must_use]
    pub fn dedup_key(&self) -> String {
        let job = self.job_id.as_ref().map_or("-", JobId::as_str);
        format!("{job}:{}:{}", self.kind, self.cause)
    }

    /// The event with its position in the file.
    #[must_use]
    pub fn into_event(self, id: EventId, observed_at: Timestamp) -> Event {
        let dedup_key = self.dedup_key();
        let (message, cut) = shorten_text(self.message, MAX_MESSAGE_CHARS);
        let mut payload = self.payload;
        payload.truncated |= cut;
        Event {
            schema: Some(SCHEMA),
            id: Some(id),
            event: self.kind.as_str().to_owned(),
            job_id: self.job_id,
            observed_at: Some(observed_at),
            status: self.status,
            message: message.map(Value::String),
            last_activity: self.last_activity,
            payload: Some(payload),
            dedup_key: Some(dedup_key),
            rest: Map::new(),
        }
    }
}

/// A line of the events file. Lines of other writers lack the keys that phileas adds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The version of the format; missing in lines of other writers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<u32>,
    /// Its position; missing in lines of other writers.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "or_default"
    )]
    pub id: Option<EventId>,
    /// The kind as it is written; see [`Event::event_kind`].
    pub event: String,
    /// The job; `null` if the event concerns the whole monitor.
    #[serde(default, deserialize_with = "or_default")]
    pub job_id: Option<JobId>,
    /// When the event was observed.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "or_default"
    )]
    pub observed_at: Option<Timestamp>,
    /// The session's state, as Jules names it.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "or_default"
    )]
    pub status: Option<String>,
    /// The text, or whatever another writer put there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Value>,
    /// When something last happened.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "or_default"
    )]
    pub last_activity: Option<Timestamp>,
    /// What an agent needs besides the event itself.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "or_default"
    )]
    pub payload: Option<Payload>,
    /// The key that identifies the event.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "or_default"
    )]
    pub dedup_key: Option<String>,
    /// Keys of other writers.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Event {
    /// Reads a line.
    ///
    /// # Errors
    ///
    /// The line is no JSON object with a text `event`.
    pub fn parse(line: &str) -> Result<Self, String> {
        let value: Value =
            serde_json::from_str(line).map_err(|error| format!("the line is not JSON: {error}"))?;
        if !value.is_object() {
            return Err("the line is JSON, but not an object".to_owned());
        }
        json::read_json_value(value).map_err(|error| format!("the line is not an event: {error}"))
    }

    /// The line, with its line end.
    #[must_use]
    pub fn render(&self) -> String {
        let mut line = serde_json::to_string(self).expect("an event's keys are texts");
        line.push('\n');
        line
    }

    /// The kind; `None` if this version does not know it.
    #[must_use]
    pub fn event_kind(&self) -> Option<EventKind> {
        self.event.parse().ok()
    }

    /// The message's text. Other writers put the API's whole message there, with the text in `content`.
    #[must_use]
    pub fn message_text(&self) -> Option<&str> {
        let message = self.message.as_ref()?;
        message
            .as_str()
            .or_else(|| message.get("content")?.as_str())
    }
}

fn or_default<'de, D: serde::Deserializer<'de>, T: Default + serde::de::DeserializeOwned>(
    from: D,
) -> Result<T, D::Error> {
    let value = Value::deserialize(from)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

/// A text of at most `most` characters, and whether it was shortened.
pub(super) fn shorten_text(text: Option<String>, most: usize) -> (Option<String>, bool) {
    let Some(text) = text else {
        return (None, false);
    };
    match text.char_indices().nth(most) {
        Some((cut, _)) => (Some(text[..cut].to_owned()), true),
        None => (Some(text), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft() -> NewEvent {
        NewEvent {
            kind: EventKind::Question,
            job_id: Some("77".parse().unwrap()),
            status: Some("AWAITING_USER_FEEDBACK".to_owned()),
            message: Some("Tabs\nor spaces?".to_owned()),
            last_activity: None,
            payload: Payload::default(),
            cause: "a1".to_owned(),
        }
    }

    #[test]
    fn an_event_is_one_line_with_the_keys_of_the_seed() {
        let at = "2026-01-05T00:00:00Z".parse().unwrap();
        let event = draft().into_event(EventId(3), at);
        let line = event.render();
        assert_eq!(line.matches('\n').count(), 1);
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["event"], "question");
        assert_eq!(value["job_id"], "77");
        assert_eq!(value["observed_at"], "2026-01-05T00:00:00Z");
        assert_eq!(value["message"], "Tabs\nor spaces?");
        assert_eq!(value["dedup_key"], "77:question:a1");
        assert_eq!(Event::parse(&line).unwrap(), event);
    }

    /// Upstream defect 11: the API's whole response, prompts and patches included, went into the events file.
    #[test]
    fn defect_11_an_event_is_small_however_much_is_said() {
        let mut draft = draft();
        draft.message = Some("é".repeat(1_000_000));
        let event = draft.into_event(EventId(1), Timestamp::UNIX_EPOCH);
        assert!(event.render().len() < 10_000);
        assert!(event.payload.unwrap().truncated);
    }

    #[test]
    fn lines_of_the_first_writer_are_events() {
        let line = r#"{"event": "question", "job_id": "7", "observed_at": "2026-02-15T11:20:40.123456+00:00",
            "message": {"role": "assistant", "content": "Which?"}}"#;
        let event = Event::parse(&line.replace('\n', " ")).unwrap();
        assert_eq!(
            (event.event_kind(), event.message_text()),
            (Some(EventKind::Question), Some("Which?"))
        );
        let line = r#"{"event": "error", "job_id": null, "observed_at": "x", "message": "Monitor error: y", "payload": 3}"#;
        assert_eq!(Event::parse(line).unwrap().job_id, None);
        for line in ["7", "[]", "{", "{}", "{\"event\": 3}"] {
            assert!(Event::parse(line).is_err(), "{line}");
        }
    }
}
