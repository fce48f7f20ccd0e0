//! The state of the ledger: `cycle_state.json` and its archive.
//!
//! The engine reads and changes these types. Only [`codec`] knows their form in the file.
//! The `extra` of each type keeps keys that this version does not know, so that they survive a round trip.

#[cfg(test)]
mod arbitrary;
mod conflict;
mod entry;
mod extra;
mod fields;
#[cfg(test)]
mod fixtures;
mod history;
mod issues;
mod legacy;
mod merge;
mod pause;
#[cfg(test)]
mod property;
mod query;
mod records;
mod request;
mod timing;
mod track;
mod tracked_pull;
mod values;
mod work;
mod written;

pub mod codec;
pub mod invariant;
pub mod rebuild;
pub mod repair;
pub mod segment;

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::model::{Oid, PersonaId, PullNumber, RepositoryId, TrackName};

pub use entry::{Amendment, HistoryEntry, Outcome};
pub use extra::Extra;
pub use history::History;
pub use pause::Pause;
pub use request::{MergeState, RequestKind, RequestOutcome, RequestState, StatusState};
pub use timing::Timing;
pub use track::{Intent, Refusal, RepeatedPlan, TrackState, Turn};
pub use tracked_pull::{NextCheck, PullAction, TrackedPull};
pub use work::{WorkFacts, WorkMark, WorkRefusal, WorkState};

/// The state file on the branch `jules`.
pub const STATE_PATH: &str = ".jules/cycle_state.json";
/// The folder of archived history.
pub const HISTORY_FOLDER: &str = ".jules/history";
/// The version of the state file that phileas writes, and the newest that it reads.
pub const STATE_VERSION: u64 = 5;

/// Everything that the ledger keeps about one repository.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    /// When and for which repository the ledger was created. `None` in files older than version 5, until the first write.
    pub genesis: Option<Genesis>,
    /// The history entries by consecutive number, without those in archive segments.
    pub history: History,
    /// Later changes of archived entries, until the next rotation folds them in.
    pub amendments: BTreeMap<u64, Amendment>,
    /// Each track's pointer and live turns. Schedules and requests have tracks of their own.
    pub tracks: BTreeMap<TrackName, TrackState>,
    /// When each schedule last fired.
    pub schedules: BTreeMap<String, ScheduleState>,
    /// Requests by the id of the event that made them.
    pub requests: BTreeMap<String, RequestState>,
    /// What phileas did about the pull requests of its sessions. An entry is dropped when nothing more can follow.
    pub pulls: BTreeMap<PullNumber, TrackedPull>,
    /// Which work records are not complete.
    pub work: WorkState,
    /// Each persona's unsuccessful turns and rest.
    pub personas: BTreeMap<PersonaId, PersonaState>,
    /// Recently started sessions, and a pause after a spent quota.
    pub budget: BudgetState,
    /// How far phileas has read.
    pub cursors: Cursors,
    /// Issues that were published once, by key.
    pub published: BTreeMap<String, u64>,
    /// Issues that phileas has decided to publish and that are not open yet, by the same key.
    pub publishing: BTreeMap<String, PublishingState>,
    /// Effects that GitHub refused, by kind and object. phileas retries them with growing delays.
    pub refused_effects: BTreeMap<String, RefusedEffect>,
    /// The number of the dashboard issue.
    pub dashboard_issue: Option<u64>,
    /// The newest text of the dashboard issue.
    pub dashboard: Option<DashboardState>,
    /// The number of the current sprint, if the plan uses sprints.
    pub sprint: Option<u64>,
    /// Set while a person has paused the whole repository.
    pub paused: Option<Pause>,
    /// Unknown keys.
    pub extra: Extra,
}

/// The creation of a ledger. The nonce makes its turn ids differ from those of any other ledger of the repository.
#[derive(Debug, Clone, PartialEq)]
pub struct Genesis {
    /// GitHub's id of the repository.
    pub repository_id: RepositoryId,
    /// When the ledger was created.
    pub born_at: Timestamp,
    /// 12 random lower-case hexadecimal digits.
    pub nonce: String,
    /// Unknown keys.
    pub extra: Extra,
}

/// The state of a schedule.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScheduleState {
    /// The newest cron slot that started a turn, or the time at which phileas first saw the schedule.
    pub last_fired: Option<Timestamp>,
    /// Since when it has had its cron expression.
    pub timing: Timing,
    /// Unknown keys.
    pub extra: Extra,
}

/// An issue that phileas has decided to publish and that is not open yet.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishingState {
    /// When phileas last decided to open it.
    pub at: Timestamp,
    /// How often phileas decided that again, because the issue did not open.
    pub repeats: u32,
    /// Unknown keys.
    pub extra: Extra,
}

/// The newest text of the dashboard issue.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DashboardState {
    /// A person requested it, and it is not open yet.
    pub requested: bool,
    /// SHA-256 of its text.
    pub digest: Option<String>,
    /// SHA-256 of the text before that, in case the newer one was never written.
    pub before: Option<String>,
    /// SHA-256 of the exact version that the text replaces: phileas has read what a person changed in it.
    pub replaces: Option<String>,
    /// The checkboxes that were ticked in that version.
    pub comments_read: Vec<String>,
    /// When phileas last decided to write it.
    pub at: Option<Timestamp>,
    /// How often in a row the write did not succeed.
    pub repeats: u32,
    /// Unknown keys.
    pub extra: Extra,
}

/// The state of a persona across its turns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PersonaState {
    /// How many turns in a row ended without output or with an unwanted pull request.
    pub no_output_streak: u32,
    /// The persona rests until its track has made this many passes.
    pub rests_until_pass: Option<u64>,
    /// When the rest began. A rest also ends with time, so that a track in which all personas rest starts again.
    pub rested_at: Option<Timestamp>,
    /// Files that its pull requests changed, those of the newest first: a change of one on the default branch ends the
    /// rest. Where there are none, it ends with its track's passes or with time.
    pub rests_for: Vec<String>,
    /// The newest commit of the default branch of which phileas knows that these files are as they were.
    pub rests_since: Option<Oid>,
    /// Unknown keys.
    pub extra: Extra,
}

/// Recently started sessions, and a pause after a spent quota.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BudgetState {
    /// When sessions were started, oldest first. Times older than a day are dropped.
    pub created: Vec<Timestamp>,
    /// Jules reported a spent quota: no session starts before this time.
    pub paused_until: Option<Timestamp>,
    /// Why.
    pub reason: Option<String>,
    /// How often in a row Jules reported a spent quota. The pause doubles each time.
    pub quota_failures: u32,
    /// Unknown keys.
    pub extra: Extra,
}

/// An effect that GitHub refused.
#[derive(Debug, Clone, PartialEq)]
pub struct RefusedEffect {
    /// When it was refused last.
    pub at: Timestamp,
    /// How often in a row.
    pub times: u32,
    /// Unknown keys.
    pub extra: Extra,
}

/// How far phileas has read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cursors {
    /// phileas has read the comments up to this time.
    pub comments_since: Option<Timestamp>,
    /// The newest commit of the default branch that the narrator's summary covers, or that needs no summary.
    pub summarized_commit: Option<Oid>,
    /// Unknown keys.
    pub extra: Extra,
}

impl State {
    /// The state of a new ledger.
    #[must_use]
    pub fn new_ledger(repository_id: RepositoryId, born_at: Timestamp, nonce: String) -> Self {
        Self {
            genesis: Some(Genesis {
                repository_id,
                born_at,
                nonce,
                extra: Extra::new(),
            }),
            ..Self::default()
        }
    }

    /// The key of the next history entry. Archived keys count, so that no key is used twice.
    #[must_use]
    pub fn next_history_key(&self) -> u64 {
        self.history.last_key_value().map_or(0, |(key, _)| key + 1)
    }
}
