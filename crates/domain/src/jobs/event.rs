//! An event: something that is worth waking an agent for, on a line of the events file.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::job::{JobId, Priority};

/// The version of the line's shape.
pub const SCHEMA: u32 = 1;

/// The longest text of somebody else that stands in an event, in characters. The whole of it can be asked for.
pub const MAX_MESSAGE_CHARS: usize = 4_000;

/// The most steps of a plan that stand in an event.
pub const MAX_STEPS: usize = 20;

/// The longest step of a plan that stands in an event, in characters.
pub const MAX_STEP_CHARS: usize = 200;

/// The place of an event among all of its file: 1 is the first one. A cursor is the id of the last event that was read.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// Jules waits for an answer.
    Question,
    /// Jules says that its work is done.
    Completed,
    /// The session failed, or it cannot be looked at.
    Error,
    /// Nothing has happened for long, and nobody is waited for.
    Stuck,
    /// A plan waits for somebody's approval.
    PlanReview,
}

/// A word that names no kind of event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no kind of event; there are question, completed, error, stuck and plan_review")]
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

    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Completed => "completed",
            Self::Error => "error",
            Self::Stuck => "stuck",
            Self::PlanReview => "plan_review",
        }
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

/// What an agent needs beside the event itself, and no more: everything else it can ask for.
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
    /// What a completed session has brought: `pull_request`, `changes`, `nothing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// The activity that the event is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activity_id: Option<String>,
    /// The plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<String>,
    /// The titles of the plan's steps, the first [`MAX_STEPS`] of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
    /// How many steps the plan has, where not all are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps_total: Option<usize>,
    /// A stable word for the cause of an error: `session_failed`, `given_up`, `not_found`, `unreachable`, `credential`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The track of phileas whose turn the session is; missing where it is nobody's turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub track: Option<String>,
    /// The persona whose turn it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    /// The turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// How many live jobs an error of the whole monitor keeps from being looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<usize>,
    /// The job's priority, where it is not the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// Whether the message is longer than it is shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// What others have written into it.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// An event before it has its place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// What happened.
    pub kind: EventKind,
    /// The job; `None`: it concerns the monitor as a whole.
    pub job_id: Option<JobId>,
    /// Where the session stands, in Jules' word.
    pub status: Option<String>,
    /// A question, a reason, a sentence about what is wrong.
    pub message: Option<String>,
    /// When something happened last.
    pub last_activity: Option<Timestamp>,
    /// What an agent needs beside.
    pub payload: Payload,
    /// The cause in a word that no other cause of this job has.
    pub cause: String,
}

impl Draft {
    /// The text by which the event is known: no two lines of a file have the same.
    #[must_use]
    pub fn dedup_key(&self) -> String {
        let job = self.job_id.as_ref().map_or("-", JobId::as_str);
        format!("{job}:{}:{}", self.kind, self.cause)
    }

    /// The event at its place.
    #[must_use]
    pub fn placed(self, id: EventId, observed_at: Timestamp) -> Event {
        let dedup_key = self.dedup_key();
        let (message, cut) = shortened(self.message, MAX_MESSAGE_CHARS);
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

/// A line of the events file. Lines of other writers lack what is ours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The version of the shape; missing in lines of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<u32>,
    /// Its place; missing in lines of others.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient"
    )]
    pub id: Option<EventId>,
    /// The kind as it is written; see [`Event::kind`].
    pub event: String,
    /// The job; `null` where the event concerns the monitor as a whole.
    #[serde(default, deserialize_with = "lenient")]
    pub job_id: Option<JobId>,
    /// When it was seen.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient"
    )]
    pub observed_at: Option<Timestamp>,
    /// Where the session stood, in Jules' word.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient"
    )]
    pub status: Option<String>,
    /// The text, or what another writer put there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Value>,
    /// When something happened last.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient"
    )]
    pub last_activity: Option<Timestamp>,
    /// What an agent needs beside.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient"
    )]
    pub payload: Option<Payload>,
    /// The text by which it is known.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "lenient"
    )]
    pub dedup_key: Option<String>,
    /// What others have written into it.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Event {
    /// Reads a line.
    ///
    /// # Errors
    ///
    /// A line that is no JSON object with a text `event`.
    pub fn parse(line: &str) -> Result<Self, String> {
        let value: Value =
            serde_json::from_str(line).map_err(|error| format!("the line is no JSON: {error}"))?;
        if !value.is_object() {
            return Err("the line is JSON, but no object".to_owned());
        }
        serde_json::from_value(value).map_err(|error| format!("the line is no event: {error}"))
    }

    /// The line, with its end.
    #[must_use]
    pub fn render(&self) -> String {
        let mut line = serde_json::to_string(self).expect("an event's keys are texts");
        line.push('\n');
        line
    }

    /// The kind; `None` for one that is not known here.
    #[must_use]
    pub fn kind(&self) -> Option<EventKind> {
        self.event.parse().ok()
    }

    /// The message's text. Others wrote the whole message of the API there, with the text in `content`.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        let message = self.message.as_ref()?;
        message
            .as_str()
            .or_else(|| message.get("content")?.as_str())
    }
}

fn lenient<'de, D: serde::Deserializer<'de>, T: Default + serde::de::DeserializeOwned>(
    from: D,
) -> Result<T, D::Error> {
    let value = Value::deserialize(from)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

/// A text of at most so many characters, and whether any are missing.
pub(super) fn shortened(text: Option<String>, most: usize) -> (Option<String>, bool) {
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

    fn draft() -> Draft {
        Draft {
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
        let event = draft().placed(EventId(3), at);
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

    /// Upstream defect 11: the whole answer of the API, prompts and patches included, went into the events file.
    #[test]
    fn defect_11_an_event_is_small_however_much_is_said() {
        let mut draft = draft();
        draft.message = Some("é".repeat(1_000_000));
        let event = draft.placed(EventId(1), Timestamp::UNIX_EPOCH);
        assert!(event.render().len() < 10_000);
        assert!(event.payload.unwrap().truncated);
    }

    #[test]
    fn lines_of_the_first_writer_are_events() {
        let line = r#"{"event": "question", "job_id": "7", "observed_at": "2026-02-15T11:20:40.123456+00:00",
            "message": {"role": "assistant", "content": "Which?"}}"#;
        let event = Event::parse(&line.replace('\n', " ")).unwrap();
        assert_eq!(
            (event.kind(), event.text()),
            (Some(EventKind::Question), Some("Which?"))
        );
        let line = r#"{"event": "error", "job_id": null, "observed_at": "x", "message": "Monitor error: y", "payload": 3}"#;
        assert_eq!(Event::parse(line).unwrap().job_id, None);
        for line in ["7", "[]", "{", "{}", "{\"event\": 3}"] {
            assert!(Event::parse(line).is_err(), "{line}");
        }
    }
}
