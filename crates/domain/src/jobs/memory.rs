//! Stores what the monitor remembers between checks: `.zai_monitor_state.json`, with additional keys.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::job::JobId;
use super::line::{first_value, limit_diagnostics};
use crate::Diagnostic;
use crate::json::{self, JsonValueError};

/// The key of everything that belongs to no job. A job id never contains `$`.
const OWN: &str = "$monitor";

/// How many causes of a job are remembered. Only the newest activity can be a cause, so older ones do not come back.
pub const MAX_SENT: usize = 64;

/// How long a job that left the jobs file is remembered, so that its events are not sent again if it returns.
pub const REMEMBERED_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);

/// What is remembered about one job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobMemory {
    /// The newest activity that was read: its time and its id.
    pub cursor: Option<String>,
    /// The session's last known state, as Jules names it.
    pub last_status: Option<String>,
    /// When something last happened.
    pub last_activity: Option<Timestamp>,
    /// When the session was first seen in its state, by Jules' clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_since: Option<Timestamp>,
    /// The session's last update time, as Jules reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
    /// When the job was first checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_seen: Option<Timestamp>,
    /// An event will be sent once more of the session can be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pending: bool,
    /// The session's activities are not read before this time, by Jules' clock, unless the session changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_again_at: Option<Timestamp>,
    /// The causes of the events that were sent, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<String>,
    /// How many checks failed in a row.
    #[serde(skip_serializing_if = "is_zero")]
    pub failures: u32,
    /// When the first of these checks failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<Timestamp>,
    /// How often in a row Jules did not know the session.
    #[serde(skip_serializing_if = "is_zero")]
    pub missing: u32,
    /// The job is not polled on its own before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_poll_at: Option<Timestamp>,
    /// The URL of its pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull: Option<String>,
    /// When the job left the jobs file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absent_since: Option<Timestamp>,
    /// Keys of other writers.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl JobMemory {
    /// Whether the event of a cause was sent.
    #[must_use]
    pub fn was_sent(&self, cause: &str) -> bool {
        self.sent.iter().any(|told| told == cause)
    }

    /// Records that the event of a cause was sent.
    pub fn record_sent(&mut self, cause: impl Into<String>) {
        self.sent.push(cause.into());
        if self.sent.len() > MAX_SENT {
            self.sent.remove(0);
        }
    }

    /// Records a successful check.
    pub fn record_success(&mut self) {
        self.failures = 0;
        self.failing_since = None;
        self.missing = 0;
        self.next_poll_at = None;
    }
}

/// What is remembered about an account: a Jules API key, by its configured name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AccountMemory {
    /// How often in a row its sessions could not be listed. Rate limiting is no failure.
    #[serde(skip_serializing_if = "is_zero")]
    pub failures: u32,
    /// When the first of these failures happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<Timestamp>,
    /// How often in a row it was rate limited.
    #[serde(skip_serializing_if = "is_zero")]
    pub throttled: u32,
    /// It is not polled before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_poll_at: Option<Timestamp>,
    /// When it was last polled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub polled_at: Option<Timestamp>,
    /// Since when its key has been refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused_since: Option<Timestamp>,
    /// A fingerprint of the key that was refused last; empty if something else has failed since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused_key: Option<String>,
    /// The causes of the events that were sent, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<String>,
}

impl AccountMemory {
    /// Records a successful listing.
    pub fn record_success(&mut self) {
        *self = Self {
            polled_at: self.polled_at,
            ..Self::default()
        };
    }

    /// The refused key was replaced, so polling can resume.
    pub fn key_replaced(&mut self) {
        self.refused_key = None;
        self.refused_since = None;
        self.next_poll_at = None;
    }

    /// Records a cause; returns whether it is new.
    pub fn record_sent(&mut self, cause: &str) -> bool {
        let new = self.sent.iter().all(|told| told != cause);
        if new {
            self.sent.push(cause.to_owned());
            if self.sent.len() > MAX_SENT {
                self.sent.remove(0);
            }
        }
        new
    }
}

/// What belongs to no job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OwnMemory {
    /// The accounts.
    pub accounts: BTreeMap<String, AccountMemory>,
    /// How many events of each kind were written.
    pub events: BTreeMap<String, u64>,
    /// How many cycles were run.
    pub cycles: u64,
    /// How many requests were sent to Jules.
    pub requests: u64,
    /// When the last cycle ran.
    pub cycle_at: Option<Timestamp>,
    /// Keys of other writers.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Everything that the monitor remembers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MonitorMemory {
    /// The jobs.
    pub jobs: BTreeMap<JobId, JobMemory>,
    /// What belongs to no job.
    pub own: OwnMemory,
    /// Entries that are neither, unchanged.
    foreign: Map<String, Value>,
}

impl MonitorMemory {
    /// Reads the file. An invalid entry is named and starts again; the others are kept.
    ///
    /// # Errors
    ///
    /// Nothing in the file can be read.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<(Self, Vec<Diagnostic>), Box<Diagnostic>> {
        let (value, behind) = first_value(file, bytes)?;
        let Value::Object(map) = value else {
            let wrong = Diagnostic::error(file, "the file is not a JSON object").at(1, 1);
            return Err(Box::new(wrong));
        };
        let mut found = Vec::from_iter(behind);
        let mut memory = Self::default();
        for (key, value) in map {
            let mut wrong = |error: JsonValueError| {
                let told = Diagnostic::warning(file, error.what).key(key.as_str());
                found.push(told.help("nothing needs to be done; the entry is begun again"));
            };
            if key == OWN {
                memory.own = json::read_json_value(value)
                    .map_err(wrong)
                    .unwrap_or_default();
            } else if let Ok(id) = key.parse::<JobId>() {
                match json::read_json_value(value) {
                    Ok(known) => drop(memory.jobs.insert(id, known)),
                    Err(error) => wrong(error),
                }
            } else {
                memory.foreign.insert(key, value);
            }
        }
        Ok((memory, limit_diagnostics(file, found)))
    }

    /// The file's text, with sorted keys.
    #[must_use]
    pub fn render(&self) -> String {
        let mut map: BTreeMap<String, Value> = BTreeMap::new();
        let value = |known: &JobMemory| {
            serde_json::to_value(known).expect("the keys of what is remembered are texts")
        };
        map.extend(self.foreign.clone());
        map.extend(
            self.jobs
                .iter()
                .map(|(id, known)| (id.to_string(), value(known))),
        );
        let own =
            serde_json::to_value(&self.own).expect("the keys of what is remembered are texts");
        map.insert(OWN.to_owned(), own);
        let mut text = serde_json::to_string_pretty(&map).expect("its keys are texts");
        text.push('\n');
        text
    }

    /// Forgets jobs that left the jobs file long ago.
    pub fn forget(&mut self, is_known: impl Fn(&JobId) -> bool, now: Timestamp) {
        self.jobs.retain(|id, known| {
            if is_known(id) {
                known.absent_since = None;
                return true;
            }
            let since = *known.absent_since.get_or_insert(now);
            now.duration_since(since) < REMEMBERED_FOR
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_the_first_monitor_is_read_and_kept() {
        let text = r#"{"77": {"cursor": null, "last_activity": "2026-02-15T11:20:40.123456+00:00", "last_status": "IN_PROGRESS"},
                       "session:1": {"last_status": "Q"}}"#;
        let memory = MonitorMemory::parse("state.json", text.as_bytes())
            .unwrap()
            .0;
        let id: JobId = "77".parse().unwrap();
        assert_eq!(memory.jobs[&id].last_status.as_deref(), Some("IN_PROGRESS"));
        let again = MonitorMemory::parse("state.json", memory.render().as_bytes())
            .unwrap()
            .0;
        assert_eq!(again, memory);
        assert!(memory.render().contains("session:1"));
    }

    /// Upstream: one entry that could not be read ended the monitor.
    #[test]
    fn what_cannot_be_read_is_named_and_costs_the_rest_nothing() {
        for text in ["", "[]", "{", "\0\0\0\0"] {
            let wrong = MonitorMemory::parse("state.json", text.as_bytes()).unwrap_err();
            assert!(wrong.to_string().starts_with("state.json:1:"), "{wrong}");
        }
        let text = "\u{feff}{\"77\": 3, \"78\": {\"last_status\": \"PLANNING\"}, \"$monitor\": {\"cycles\": \"x\"}}\n{\"79\"";
        let (memory, found) = MonitorMemory::parse("state.json", text.as_bytes()).unwrap();
        let id: JobId = "78".parse().unwrap();
        assert_eq!(memory.jobs[&id].last_status.as_deref(), Some("PLANNING"));
        let keys: Vec<_> = found.iter().map(|told| told.key.as_str()).collect();
        assert_eq!(keys, ["", "77", "$monitor"]);
        assert_eq!(found[0].line, Some(1));
    }

    #[test]
    fn memory_is_bounded() {
        let mut known = JobMemory::default();
        for cause in 0..=MAX_SENT {
            known.record_sent(cause.to_string());
        }
        assert_eq!((known.sent.len(), known.was_sent("0")), (MAX_SENT, false));
        let mut memory = MonitorMemory::default();
        memory.jobs.insert("1".parse().unwrap(), known);
        let gone = |_: &JobId| false;
        memory.forget(gone, Timestamp::UNIX_EPOCH);
        assert_eq!(memory.jobs.len(), 1);
        memory.forget(gone, Timestamp::UNIX_EPOCH + REMEMBERED_FOR);
        assert!(memory.jobs.is_empty());
    }
}
