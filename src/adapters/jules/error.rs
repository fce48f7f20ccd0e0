//! Classifies failed calls.

use std::time::Duration;

use http::{HeaderMap, Response, header};
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use phileas_domain::engine::CreateFailure;
use phileas_domain::prompt;
use serde::Deserialize;
use serde_json::Value;

use super::key::JulesKey;
use crate::adapters::transport::TransportError;
use crate::runtime::ports::{Disposition, Failure};

/// The length at which Jules' messages are cut, in characters.
const MAX_MESSAGE_CHARS: usize = 300;

/// Longer quotations, in bytes, are left out of messages, because they may be an echoed prompt.
const MAX_QUOTED_BYTES: usize = 60;

/// A failed call. Its text is one line, without the key and without long quotations, which may be an echoed prompt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{cause} (Jules: {route})")]
pub struct ApiError {
    /// The called method.
    pub route: &'static str,
    /// What happened.
    pub cause: Cause,
}

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// An id or name that cannot be part of a path. Nothing was sent.
    #[error("{0:?} is not the id of anything; ids are made of letters, digits, `-`, `_` and `.`")]
    BadName(String),
    /// Its deadline passed before its turn. Nothing was sent.
    #[error("nothing was sent: the deadline passed while other creates were in flight")]
    TooLate,
    /// There was no answer.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// Jules refused.
    #[error("{0}")]
    Answer(Box<Answer>),
    /// Jules answered with success, but the body cannot be read.
    #[error("status {status}, but {detail}")]
    Unreadable {
        /// The HTTP status.
        status: u16,
        /// What is wrong with it.
        detail: String,
    },
    /// The session was queued, and did not accept the message.
    #[error("the session was still queued and took no message; send it again in some minutes")]
    Queued,
    /// A listing that exceeds the limit of pages.
    #[error("more than {pages} pages; the rest was not read")]
    TooManyPages {
        /// The limit.
        pages: usize,
    },
}

/// An answer other than a success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The name of Google's status (`INVALID_ARGUMENT`); empty if the body has none.
    pub code: String,
    /// The reason of an `ErrorInfo` (`CREDENTIALS_MISSING`); empty if there is none.
    pub reason: String,
    /// Its message, shortened, in one line.
    pub message: String,
    /// The wait that it asks for.
    pub retry_after: Option<Duration>,
    /// Its date.
    pub date: Option<Timestamp>,
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut status = format!("status {}", self.status);
        for part in [&self.code, &self.reason] {
            if !part.is_empty() {
                status.push(' ');
                status.push_str(part);
            }
        }
        // Google's text explains at length how to sign in; the first sentence is enough.
        match self.message.split_once(". ") {
            Some((first, _)) if self.is_credential() => write!(f, "{first} ({status})")?,
            _ if self.message.is_empty() => f.write_str(&status)?,
            _ => write!(f, "{} ({status})", self.message)?,
        }
        if (300..400).contains(&self.status) {
            write!(
                f,
                " (redirects are not followed; look at {})",
                super::api_url::VARIABLE
            )?;
        }
        Ok(())
    }
}

impl Answer {
    /// Reads an answer: Google's envelope, or the text of a proxy.
    pub(super) fn from_response(response: &Response<bytes::Bytes>, key: &JulesKey) -> Self {
        let headers = response.headers();
        let date = header_time(headers, header::DATE);
        let status = response.status().as_u16();
        let (code, reason, message) = match parse_envelope(response.body()) {
            Some(error) => {
                let reason = error.failure_reason();
                (error.status, reason, error.message)
            }
            None => (
                String::new(),
                String::new(),
                describe_foreign_body(response),
            ),
        };
        Self {
            status,
            code: one_line(&code, key),
            reason: one_line(&reason, key),
            message: one_line(&message, key),
            retry_after: retry_after(headers, date),
            date,
        }
    }

    /// Whether a quota is used up.
    #[must_use]
    pub fn is_quota(&self) -> bool {
        self.status == 429
            || ((400..500).contains(&self.status) && self.code == "RESOURCE_EXHAUSTED")
    }

    /// Whether the key is missing, wrong or lacks permissions. Google answers 400 to an unknown key.
    #[must_use]
    pub fn is_credential(&self) -> bool {
        matches!(self.status, 401 | 403) || (self.status == 400 && self.reason == "API_KEY_INVALID")
    }

    /// Whether it refuses the content of the request: a prompt, a title, a branch (`INVALID_ARGUMENT`), or its
    /// length. A failed precondition (`FAILED_PRECONDITION`) concerns the account.
    #[must_use]
    pub fn is_about_content(&self) -> bool {
        let invalid = matches!(self.code.as_str(), "" | "INVALID_ARGUMENT");
        (self.status == 400 && invalid) || matches!(self.status, 413 | 422)
    }

    /// Whether it is unknown if the request took effect: a server error, or a time-out on the server.
    #[must_use]
    pub fn is_ambiguous(&self) -> bool {
        matches!(self.status, 408 | 499) || !(300..500).contains(&self.status)
    }
}

impl ApiError {
    /// The answer, if there was one.
    #[must_use]
    pub fn answer(&self) -> Option<&Answer> {
        match &self.cause {
            Cause::Answer(answer) => Some(answer),
            _ => None,
        }
    }

    /// Whether the answer has this HTTP status.
    #[must_use]
    pub fn is_status(&self, status: u16) -> bool {
        self.answer().is_some_and(|answer| answer.status == status)
    }

    /// The same failure as if Jules had answered this much later: a part of the wait that it asks for is over.
    pub(super) fn after_a_wait(&self, passed: Duration) -> Self {
        let mut later = self.clone();
        if let Cause::Answer(answer) = &mut later.cause {
            answer.retry_after = answer.retry_after.map(|wait| wait.saturating_sub(passed));
            answer.date = answer.date.and_then(|date| date.checked_add(passed).ok());
        }
        later
    }

    /// Whether the call may be repeated: it changes nothing, or nothing more the second time.
    #[must_use]
    pub fn is_repeatable(&self) -> bool {
        self.route.starts_with("GET ") || self.route.starts_with("DELETE ")
    }

    /// How the runtime should react.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        let unsure = |after| {
            if self.is_repeatable() {
                Disposition::Retry { after }
            } else {
                Disposition::Unknown
            }
        };
        match &self.cause {
            Cause::BadName(_) => Disposition::Refused,
            Cause::TooLate | Cause::Queued | Cause::TooManyPages { .. } => {
                Disposition::Retry { after: None }
            }
            Cause::Transport(TransportError::NotSent(_)) => Disposition::Retry { after: None },
            Cause::Transport(TransportError::Lost(_) | TransportError::TooLarge { .. })
            | Cause::Unreadable { .. } => unsure(None),
            Cause::Answer(answer) if answer.is_quota() => Disposition::Retry {
                after: answer.retry_after,
            },
            Cause::Answer(answer) if answer.is_credential() => Disposition::Denied,
            Cause::Answer(answer) if answer.status == 404 => Disposition::NotFound,
            Cause::Answer(answer) if answer.is_ambiguous() => unsure(answer.retry_after),
            Cause::Answer(_) => Disposition::Refused,
        }
    }

    /// What is known about the session that should have been created. `now` is the time of the answer.
    #[must_use]
    pub fn create_failure(&self, now: Option<Timestamp>) -> CreateFailure {
        let detail = self.to_string();
        match &self.cause {
            Cause::BadName(_) | Cause::TooLate | Cause::Transport(TransportError::NotSent(_)) => {
                CreateFailure::NotSent { detail }
            }
            Cause::Answer(answer) if answer.is_quota() => CreateFailure::Quota {
                retry_at: answer
                    .retry_after
                    .zip(now.or(answer.date))
                    .and_then(|(wait, now)| now.checked_add(wait).ok()),
            },
            Cause::Answer(answer) if answer.is_credential() => CreateFailure::Credential { detail },
            Cause::Answer(answer) if answer.is_about_content() => {
                CreateFailure::TurnRefused { detail }
            }
            Cause::Answer(answer) if !answer.is_ambiguous() => CreateFailure::Refused { detail },
            _ => CreateFailure::Unknown { detail },
        }
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self {
            disposition: error.disposition(),
            detail: error.to_string(),
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Envelope {
    error: Option<Status>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Status {
    message: String,
    status: String,
    details: Vec<Value>,
}

impl Status {
    fn failure_reason(&self) -> String {
        let reason = |detail: &Value| Some(detail.get("reason")?.as_str()?.to_owned());
        self.details.iter().find_map(reason).unwrap_or_default()
    }
}

fn parse_envelope(body: &[u8]) -> Option<Status> {
    serde_json::from_slice::<Envelope>(body).ok()?.error
}

/// One line about a body other than Google's envelope.
fn describe_foreign_body(response: &Response<bytes::Bytes>) -> String {
    let body = response.body();
    if body.is_empty() {
        return String::new();
    }
    let kind = response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .map(|kind| format!(" ({kind})"))
        .unwrap_or_default();
    let mut text = String::new();
    let mut inside_tag = false;
    for character in String::from_utf8_lossy(body).chars() {
        match character {
            '<' => inside_tag = true,
            '>' if inside_tag => {
                inside_tag = false;
                text.push(' ');
            }
            _ if inside_tag => {}
            _ => text.push(character),
        }
    }
    format!("a body of {} bytes{kind}: {text}", body.len())
}

/// One short line of Jules' text, without the key, anything that looks like another key, and long quotations.
pub(super) fn one_line(text: &str, key: &JulesKey) -> String {
    let text = prompt::without_secrets(&key.redact_key(text));
    let text = without_long_quotations(&text);
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        if !word.is_empty() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    if let Some((cut, _)) = line.char_indices().nth(MAX_MESSAGE_CHARS) {
        line.truncate(cut);
        line.push('…');
    }
    line
}

fn without_long_quotations(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('"') {
        kept.push_str(&rest[..=open]);
        rest = &rest[open + 1..];
        let close = closing_quote(rest).unwrap_or(rest.len());
        if close > MAX_QUOTED_BYTES {
            kept.push('…');
        } else {
            kept.push_str(&rest[..close]);
        }
        rest = &rest[close..];
        if let Some(after) = rest.strip_prefix('"') {
            kept.push('"');
            rest = after;
        }
    }
    kept.push_str(rest);
    kept
}

fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    })
}

pub(super) fn header_time(headers: &HeaderMap, name: header::HeaderName) -> Option<Timestamp> {
    let text = headers.get(name)?.to_str().ok()?;
    rfc2822::DateTimeParser::new().parse_timestamp(text).ok()
}

/// `Retry-After`: seconds, or an instant that is compared with the answer's own date.
fn retry_after(headers: &HeaderMap, date: Option<Timestamp>) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let then = header_time(headers, header::RETRY_AFTER)?;
    Some(Duration::try_from(then.duration_since(date?)).unwrap_or_default())
}

/// Jules has created a session whose id cannot be used.
pub(super) fn unusable_id_failure() -> CreateFailure {
    CreateFailure::Unknown {
        detail: "Jules answered with a session without a usable id".to_owned(),
    }
}

/// Turns a 404 into `None`.
pub(super) fn not_found_as_none<T>(answer: Result<T, ApiError>) -> Result<Option<T>, ApiError> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_status(404) => Ok(None),
        Err(error) => Err(error),
    }
}
