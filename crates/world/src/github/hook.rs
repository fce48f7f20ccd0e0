//! Webhooks and their deliveries: targets, signatures, results.

use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use sha2::Sha256;

use super::repo_id::RepoId;

/// Where a hook posts to.
#[derive(Debug, Clone)]
pub struct Target {
    /// The address.
    pub url: String,
    /// The secret; deliveries go unsigned without one.
    pub secret: Option<String>,
    /// `json` or `form`.
    pub content_type: String,
}

/// A repository's webhook.
#[derive(Debug, Clone)]
pub struct Hook {
    /// The number.
    pub id: u64,
    /// Where it posts to.
    pub target: Target,
    /// The events that it subscribes to; `*` is all.
    pub events: Vec<String>,
    /// Whether it is on.
    pub active: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// The hook that a delivery belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A repository's hook.
    Repository(RepoId, u64),
    /// An App's hook.
    App(u64),
}

/// One attempt to deliver an event.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// The attempt's number.
    pub id: u64,
    /// The event's GUID: the same for every attempt.
    pub guid: String,
    /// The hook.
    pub source: Source,
    /// Where it is posted to.
    pub target: Target,
    /// The event's name.
    pub event: String,
    /// The event's action.
    pub action: Option<String>,
    /// The payload.
    pub payload: Bytes,
    /// The repository of the event.
    pub repository: Option<RepoId>,
    /// The installation of the event.
    pub installation: Option<u64>,
    /// When the event happened, or when the redelivery was requested.
    pub created_at: Timestamp,
    /// When it is posted; absent before it is planned, and when it is lost.
    pub due: Option<Timestamp>,
    /// Whether it is a redelivery.
    pub redelivery: bool,
    /// Its status.
    pub status: DeliveryStatus,
}

/// The status of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryStatus {
    /// Not planned yet.
    New,
    /// Waiting for its time.
    Planned,
    /// Never sent.
    Lost,
    /// Given to the caller for posting.
    Taken,
    /// Answered with this status; none when the receiver did not answer.
    Done(Option<u16>),
}

impl DeliveryStatus {
    /// The name in the books.
    #[must_use]
    pub fn book_word(self) -> &'static str {
        match self {
            Self::New | Self::Planned => "waiting",
            Self::Lost => "lost",
            Self::Taken => "posted",
            Self::Done(Some(200..=299)) => "accepted",
            Self::Done(_) => "failed",
        }
    }
}

/// The value of `X-Hub-Signature-256`: HMAC-SHA256 over the raw body.
#[must_use]
pub fn payload_signature(secret: &str, body: &[u8]) -> String {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes keys of any length");
    mac.update(body);
    let digits: String = mac
        .finalize()
        .into_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("sha256={digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_that_of_githubs_documentation() {
        assert_eq!(
            payload_signature("It's a Secret to Everybody", b"Hello, World!"),
            "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
        );
    }
}
