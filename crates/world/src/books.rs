//! The books of a world: a record of everything that happened, for judges.
//!
//! They serialise in a stable order as `world.json`.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::faults::{Face, Fault};

/// Everything that happened in one world.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Books {
    /// Requests in the order in which they came.
    pub requests: Vec<Request>,
    /// Jules sessions in the order of their creation.
    pub sessions: Vec<Session>,
    /// Everything that was written on GitHub.
    pub github_writes: Vec<Write>,
    /// Webhook deliveries and what became of them.
    pub deliveries: Vec<Delivery>,
    /// Questions that sessions asked.
    pub questions: Vec<Question>,
    /// Reviews of pull requests and other verdicts by the maintainer.
    pub reviews: Vec<Review>,
    /// Other facts worth knowing, for example that a knob took effect.
    pub notes: Vec<Note>,
}

/// One request to one of the services.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Request {
    /// Counted over both services, from 1.
    pub n: u64,
    /// When it came.
    pub at: Timestamp,
    /// The service.
    pub face: Face,
    /// The method.
    pub method: String,
    /// The path and query as they came.
    pub path: String,
    /// The route, for example `/repos/{owner}/{repo}/issues`; `unknown` when there is none.
    pub route: String,
    /// The status of the reply; absent when none was sent.
    pub status: Option<u16>,
    /// The name of the caller's token or key, never its value.
    pub identity: Option<String>,
    /// What GitHub's secondary limit counts for it.
    pub points: u32,
    /// The fault that hit it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// Whether the service did what it was asked, as far as the fault goes.
    pub took_effect: bool,
    /// For GraphQL: the names of the operation's top-level fields.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub fields: Vec<String>,
}

/// One Jules session.
#[derive(Debug, Clone, Default, Serialize, Deserialize, PartialEq)]
pub struct Session {
    /// The session's id.
    pub id: String,
    /// The account of the key.
    pub account: String,
    /// The source, for example `sources/github/o/r`; absent for a session without repository.
    pub source: Option<String>,
    /// The starting branch.
    pub starting_branch: Option<String>,
    /// The title as the client sent it, even where the service changed it.
    pub title: Option<String>,
    /// The prompt as it was given.
    pub prompt: String,
    /// When it was made.
    pub created_at: Option<Timestamp>,
    /// Whether the creating client got no reply.
    pub reply_lost: bool,
    /// Its states with the instants from which they held.
    pub states: Vec<(Timestamp, String)>,
    /// The pull request that it opened.
    pub pull: Option<u64>,
    /// Whether a person made it in the web app, and not the client under test.
    pub foreign: bool,
    /// Whether it was archived.
    pub archived: bool,
    /// Whether it was deleted.
    pub deleted: bool,
    /// Messages, approvals, archiving and the like, in their order.
    pub acts: Vec<SessionAct>,
    /// The branch that it pushed.
    pub branch: Option<String>,
    /// The titles of the ideas that it planned, where the agent has ideas of its own.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub ideas: Vec<String>,
}

/// Something that was done to a session from outside.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct SessionAct {
    /// When.
    pub at: Timestamp,
    /// `message`, `approve`, `archive`, `unarchive`, `pause`, `resume` or `delete`.
    pub what: String,
    /// Whether a person did it in the web app, not a client through the API.
    pub in_web_app: bool,
    /// The text of a message.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub text: String,
}

/// One write on GitHub.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Write {
    /// When.
    pub at: Timestamp,
    /// `owner/name` at that time.
    pub repository: String,
    /// The actor's login.
    pub actor: String,
    /// What: `commit`, `ref.created`, `ref.moved`, `pull.opened`, `issue.labeled`, `comment.created`, …
    pub what: String,
    /// Details of the write.
    pub detail: Value,
}

/// One webhook delivery.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Delivery {
    /// The attempt's number.
    pub id: u64,
    /// The event's GUID.
    pub guid: String,
    /// The event.
    pub event: String,
    /// The action.
    pub action: Option<String>,
    /// The repository's number.
    pub repository: Option<u64>,
    /// When the event happened.
    pub created_at: Timestamp,
    /// When it was posted.
    pub due: Option<Timestamp>,
    /// Whether it was asked for again.
    pub redelivery: bool,
    /// `waiting`, `lost`, `posted`, `accepted` or `failed`.
    #[serde(rename = "fate")]
    pub state: String,
    /// The status of the answer.
    pub status: Option<u16>,
}

/// One question of a session.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Question {
    /// When it was asked.
    pub at: Timestamp,
    /// The session's id.
    pub session: String,
    /// The question.
    pub text: String,
    /// When it was answered.
    pub answered_at: Option<Timestamp>,
    /// The answer.
    pub answer: Option<String>,
}

/// One verdict on a pull request.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Review {
    /// When.
    pub at: Timestamp,
    /// `owner/name`.
    pub repository: String,
    /// The pull request.
    pub number: u64,
    /// Who.
    pub by: String,
    /// `approved`, `changes-requested`, `merged`, `closed`, `ignored`, …
    pub verdict: String,
}

/// Another fact worth knowing.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub struct Note {
    /// When.
    pub at: Timestamp,
    /// What.
    pub text: String,
}

impl Books {
    /// Requests that no route knew, for a test to fail on.
    pub fn unknown_routes(&self) -> impl Iterator<Item = &Request> {
        self.requests
            .iter()
            .filter(|request| request.route == "unknown")
    }

    /// Forgets the requests, so that a measurement starts from here.
    pub fn reset_requests(&mut self) {
        self.requests.clear();
    }
}
