//! Reads the facts of a delivery from its headers and its payload.

use axum::http::HeaderValue;
use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::RepositoryId;
use serde::de::MapAccess;

use super::events::{self, EventFamiliarity};
use super::json_values::{Number, PickJson, Text, Truth, read_document, read_value};
use crate::runtime::inbox::{Delivery, MAX_WORD};
use crate::runtime::is_of_service;
use crate::runtime::ports::LEDGER_BRANCH;

/// The longest `owner/name`, in bytes.
const MAX_NAME: usize = 201;

/// The longest name of a branch or tag that is read, in bytes.
const MAX_REFERENCE: usize = 100;

/// A commit of the service that is older than this was put back later: GitHub reports a new one
/// within seconds.
const NEW: SignedDuration = SignedDuration::from_mins(10);

/// The reply to a body that is not JSON.
const NO_JSON: &str = "the body is not JSON\n";
/// The reply to a missing or invalid event header.
const NO_EVENT: &str = "X-GitHub-Event is missing or no name of an event\n";
/// The reply to a missing or invalid delivery header.
const NO_DELIVERY: &str = "X-GitHub-Delivery is missing or no delivery id\n";

/// Parts of a payload that may be the subject of a delivery, most specific first.
const SUBJECTS: [&str; 14] = [
    "comment",
    "review",
    "thread",
    "pull_request",
    "issue",
    "check_run",
    "check_suite",
    "workflow_run",
    "workflow_job",
    "discussion",
    "release",
    "deployment",
    "label",
    "repository",
];

/// The facts of a delivery, and what they mean for phileas.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) delivery: Delivery,
    pub(super) familiar: EventFamiliarity,
}

impl Facts {
    /// Reads the facts. The error text is sent to the sender, who has the secret.
    pub(super) fn read_facts(
        id: Option<&HeaderValue>,
        event: Option<&HeaderValue>,
        payload: &[u8],
        received_at: Timestamp,
    ) -> Result<Self, &'static str> {
        let word = |header: Option<&HeaderValue>| {
            header
                .and_then(|value| value.to_str().ok())
                .map(|text| text.trim().to_owned())
        };
        let id = word(id).and_then(|id| id.parse().ok()).ok_or(NO_DELIVERY)?;
        let event = word(event).filter(|name| is_event(name)).ok_or(NO_EVENT)?;
        let mut picked = Payload::default();
        read_document(payload, &mut picked).map_err(|_| NO_JSON)?;
        let is_own = event == "push" && picked.is_push_of_service(received_at);
        let action = picked.action.0;
        let interest = events::event_interest(&event, action.as_deref());
        let subject = picked.subjects.into_iter().flatten().next();
        Ok(Self {
            familiar: interest.familiar,
            delivery: Delivery {
                id,
                event,
                action,
                repository: picked.repository.id.0.map(RepositoryId),
                repository_name: picked.repository.name.0.and_then(|name| name.parse().ok()),
                installation: picked.installation.id.0,
                subject,
                sender: picked.sender.id.0,
                received_at,
                wakes: interest.wakes && !is_own,
            },
        })
    }
}

fn is_event(name: &str) -> bool {
    (1..=MAX_WORD).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic())
}

#[derive(Debug, Default)]
struct Payload {
    action: Text<MAX_WORD>,
    repository: Repository,
    installation: NumberedThread,
    sender: NumberedThread,
    /// The reference that a push changed.
    reference: Text<MAX_REFERENCE>,
    /// Whether a push created the branch, or removed commits.
    created: Truth,
    forced: Truth,
    head_commit: Commit,
    /// Node ids by their positions in [`SUBJECTS`].
    subjects: [Option<String>; SUBJECTS.len()],
}

impl<'de> PickJson<'de> for Payload {
    fn entry<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "action" => read_value(map, &mut self.action),
            "installation" => read_value(map, &mut self.installation),
            "sender" => read_value(map, &mut self.sender),
            "ref" => read_value(map, &mut self.reference),
            "created" => read_value(map, &mut self.created),
            "forced" => read_value(map, &mut self.forced),
            "head_commit" => read_value(map, &mut self.head_commit),
            "repository" => {
                let picked = read_value(map, &mut self.repository)?;
                self.read_subject(key, self.repository.node_id.0.clone());
                Ok(picked)
            }
            _ if SUBJECTS.contains(&key) => {
                let mut thing = NumberedThread::default();
                let picked = read_value(map, &mut thing)?;
                self.read_subject(key, thing.node_id.0);
                Ok(picked)
            }
            _ => Ok(false),
        }
    }
}

impl Payload {
    /// Whether a push is a new commit of the service to the ledger. The service that made it knows
    /// its content and the time of the next check, so a wake would only cost ticks. An older commit
    /// was put back by a person.
    fn is_push_of_service(&self, received_at: Timestamp) -> bool {
        let branch = self.reference.0.as_deref();
        let made_at = self.head_commit.made_at.0.as_deref();
        let made_at = made_at.and_then(|at| at.parse::<Timestamp>().ok());
        branch.and_then(|name| name.strip_prefix("refs/heads/")) == Some(LEDGER_BRANCH)
            && self.head_commit.of_service.0
            && made_at.is_some_and(|at| received_at.duration_since(at).abs() < NEW)
            && !self.created.0
            && !self.forced.0
    }

    fn read_subject(&mut self, key: &str, node_id: Option<String>) {
        let place = SUBJECTS.iter().position(|subject| *subject == key);
        if let Some(slot) = place.and_then(|place| self.subjects.get_mut(place)) {
            *slot = node_id;
        }
    }
}

/// An object with an id.
#[derive(Debug, Default)]
struct NumberedThread {
    id: Number,
    node_id: Text<MAX_WORD>,
}

impl<'de> PickJson<'de> for NumberedThread {
    fn entry<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "id" => read_value(map, &mut self.id),
            "node_id" => read_value(map, &mut self.node_id),
            _ => Ok(false),
        }
    }
}

/// A commit.
#[derive(Debug, Default)]
struct Commit {
    made_at: Text<MAX_WORD>,
    of_service: IsOwnMessage,
}

impl<'de> PickJson<'de> for Commit {
    fn entry<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "timestamp" => read_value(map, &mut self.made_at),
            "message" => read_value(map, &mut self.of_service),
            _ => Ok(false),
        }
    }
}

/// Whether the message of a commit names the service as its author.
#[derive(Debug, Default)]
struct IsOwnMessage(bool);

impl PickJson<'_> for IsOwnMessage {
    fn read_text(&mut self, text: &str) {
        self.0 = is_of_service(text);
    }
}

/// A repository.
#[derive(Debug, Default)]
struct Repository {
    id: Number,
    name: Text<MAX_NAME>,
    node_id: Text<MAX_WORD>,
}

impl<'de> PickJson<'de> for Repository {
    fn entry<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "id" => read_value(map, &mut self.id),
            "full_name" => read_value(map, &mut self.name),
            "node_id" => read_value(map, &mut self.node_id),
            _ => Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(event: &str, payload: &str) -> Result<Delivery, &'static str> {
        let id = HeaderValue::from_static("72d3162e-cc78-11e3-81ab-4c9367dc0958");
        let event = HeaderValue::from_str(event).unwrap();
        let now = Timestamp::from_second(1_000).unwrap();
        Facts::read_facts(Some(&id), Some(&event), payload.as_bytes(), now)
            .map(|facts| facts.delivery)
    }

    #[test]
    fn facts_are_picked_from_their_places() {
        let read = read(
            "issue_comment",
            r#"{"action": "created", "issue": {"id": 1, "node_id": "I_1", "labels": [{"id": 2}]},
                "comment": {"user": {"id": 3, "node_id": "U_3"}, "node_id": "IC_4"},
                "repository": {"id": 5, "node_id": "R_5", "full_name": "acme/widget", "owner": {"id": 6}},
                "installation": {"id": 7}, "sender": {"login": "mona", "id": 8}, "extra": [1, {"id": 9}]}"#,
        )
        .unwrap();
        assert_eq!(read.action.as_deref(), Some("created"));
        assert_eq!(read.repository, Some(RepositoryId(5)));
        assert_eq!(read.repository_name.unwrap().to_string(), "acme/widget");
        assert_eq!((read.installation, read.sender), (Some(7), Some(8)));
        assert_eq!(read.subject.as_deref(), Some("IC_4"));
        assert!(read.wakes);
    }

    #[test]
    fn what_the_service_wrote_itself_wakes_no_repository() {
        let wakes = |reference: &str, holder: &str, more: &str| {
            let message =
                format!("phileas: intent\\n\\nPhileas-Holder: {holder}\\nskip-checks: true");
            let payload = format!(
                r#"{{"ref": "{reference}", "created": false, "forced": false,
                    "head_commit": {{"message": "{message}", "timestamp": "1970-01-01T00:16:00Z"}} {more}}}"#
            );
            read("push", &payload).unwrap().wakes
        };
        let (jules, service) = ("refs/heads/jules", "serve:1:2");
        assert!(!wakes(jules, service, ""));
        // A commit of a workflow wakes, and so does a person's on the default branch.
        assert!(wakes(jules, "action:1/1:2", ""));
        assert!(wakes("refs/heads/main", service, ""));
        // So does a ledger that was put back: by force, by recreating the branch, or by an older
        // commit; and a commit without a time.
        assert!(wakes(jules, service, r#", "forced": true"#));
        assert!(wakes(jules, service, r#", "created": true"#));
        let older = r#", "head_commit": {"message": "Phileas-Holder: serve:1", "timestamp": "1970-01-01T00:06:00Z"}"#;
        assert!(wakes(jules, service, older));
        let deleted = r#"{"ref": "refs/heads/jules", "deleted": true, "head_commit": null}"#;
        assert!(read("push", deleted).unwrap().wakes);
    }

    /// A delivery of any shape is accepted; another shape only gives fewer facts.
    #[test]
    fn other_shapes_are_passed_over() {
        for payload in [
            "{}",
            "[]",
            "null",
            "17",
            "\"text\"",
            r#"{"action": 5, "repository": null, "installation": [], "sender": "mona"}"#,
            r#"{"action": {"action": "x"}, "repository": {"id": "5", "full_name": 7, "node_id": []}}"#,
            r#"{"repository": {"id": -5, "full_name": "no name"}, "sender": {"id": 1.5}}"#,
            r#"{"repository": {"id": 18446744073709551615}, "issue": 3, "comment": true}"#,
            r#"{"repository": {"id": 123456789012345678901234567890}}"#,
        ] {
            let read = read("issues", payload).unwrap_or_else(|word| panic!("{payload}: {word}"));
            assert_eq!(read.action, None, "{payload}");
            assert_eq!(read.repository, None, "{payload}");
            assert_eq!(read.repository_name, None, "{payload}");
            assert_eq!((read.sender, read.subject), (None, None), "{payload}");
        }
    }

    #[test]
    fn what_is_no_json_is_told() {
        let deep = "[".repeat(1_000_000);
        for payload in [
            "",
            "{",
            "{}{}",
            "payload=%7B%7D",
            "{\"a\": \"\u{1}\"}",
            &deep,
        ] {
            assert_eq!(read("issues", payload).unwrap_err(), NO_JSON);
        }
    }

    /// People choose the action of `repository_dispatch` freely, and not every database stores
    /// every character.
    #[test]
    fn control_characters_are_dropped() {
        let payload =
            r#"{"action": "\u0000re\u001bbuild\u0085\n", "issue": {"node_id": "\u0000"}}"#;
        let read = read("repository_dispatch", payload).unwrap();
        assert_eq!(read.action.as_deref(), Some("rebuild"));
        assert_eq!(read.subject.as_deref(), Some(""));
    }

    #[test]
    fn long_words_are_cut_and_wrong_headers_refused() {
        let long = "ä".repeat(MAX_WORD);
        let cut = read("issues", &format!(r#"{{"action": "{long}"}}"#)).unwrap();
        assert_eq!(cut.action.unwrap().len(), MAX_WORD);
        assert_eq!(read(&"x".repeat(MAX_WORD + 1), "{}").unwrap_err(), NO_EVENT);
        assert_eq!(read("two words", "{}").unwrap_err(), NO_EVENT);
        let now = Timestamp::UNIX_EPOCH;
        let event = HeaderValue::from_static("issues");
        for wrong in ["", "a b", "a\tb", "ü"] {
            let id = HeaderValue::from_bytes(wrong.as_bytes()).unwrap();
            let read = Facts::read_facts(Some(&id), Some(&event), b"{}", now);
            assert_eq!(read.unwrap_err(), NO_DELIVERY);
        }
    }
}
