//! The ledger's memory: `cycle_state.json` and its archive.
//!
//! The types here are what the engine reads and changes; [`codec`] alone knows how they stand in the file.
//! Keys that this version does not know survive a round trip at every level, in the `extra` of each type.

#[cfg(test)]
mod arbitrary;
mod conflict;
mod decode;
mod encode;
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
mod request;
mod timing;
mod track;
mod values;
mod watched;
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
pub use track::{Intent, Refusal, TrackState, Turn};
pub use watched::{Look, Told, WatchedPull};

/// The state file on the branch `jules`.
pub const STATE_PATH: &str = ".jules/cycle_state.json";
/// The folder of archived history.
pub const HISTORY_FOLDER: &str = ".jules/history";
/// The newest version of the state file that this program writes, and the newest that it reads.
pub const STATE_VERSION: u64 = 5;

/// Everything that the ledger remembers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    /// When and for whom the ledger was born. `None` in files older than version 5, until the first write.
    pub genesis: Option<Genesis>,
    /// What ran, by consecutive number. Only what was not yet moved to an archive segment.
    pub history: History,
    /// Later news of archived entries, until the next rotation folds them in.
    pub amendments: BTreeMap<u64, Amendment>,
    /// Each track's pointer and live turns. Schedules and requests have tracks of their own.
    pub tracks: BTreeMap<TrackName, TrackState>,
    /// When each schedule last fired.
    pub schedules: BTreeMap<String, ScheduleState>,
    /// Requests by the id of the event that made them.
    pub requests: BTreeMap<String, RequestState>,
    /// What was done about pull requests of sessions of ours. Dropped when nothing more can come of them.
    pub pulls: BTreeMap<PullNumber, WatchedPull>,
    /// What is remembered of each persona.
    pub personas: BTreeMap<PersonaId, PersonaState>,
    /// What was spent lately.
    pub budget: BudgetState,
    /// How far polling has read.
    pub cursors: Cursors,
    /// Issues that were published once, by key.
    pub published: BTreeMap<String, u64>,
    /// What is known of issues that are to be published and are not open yet, by the same key.
    pub publishing: BTreeMap<String, PublishingState>,
    /// What GitHub refused to do, by kind and object: it is tried again less and less often.
    pub refused_effects: BTreeMap<String, RefusedEffect>,
    /// The number of the dashboard issue.
    pub dashboard_issue: Option<u64>,
    /// What it was last made to say.
    pub dashboard: Option<DashboardState>,
    /// The sprint's number, where sprints are used.
    pub sprint: Option<u64>,
    /// Why nothing starts, when a person paused everything here.
    pub paused: Option<Pause>,
    /// Unknown keys.
    pub extra: Extra,
}

/// The birth of a ledger. The nonce makes its turn ids unlike those of any other ledger of the repository.
#[derive(Debug, Clone, PartialEq)]
pub struct Genesis {
    /// GitHub's id of the repository.
    pub repository_id: RepositoryId,
    /// When.
    pub born_at: Timestamp,
    /// 12 lower-case hexadecimal digits, drawn once.
    pub nonce: String,
    /// Unknown keys.
    pub extra: Extra,
}

/// What is remembered of a schedule.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScheduleState {
    /// The newest slot that was answered with a turn, or the time at which the schedule was first seen.
    pub last_fired: Option<Timestamp>,
    /// Since when it has run at its times.
    pub timing: Timing,
    /// Unknown keys.
    pub extra: Extra,
}

/// What is remembered of an issue that is to be published, until it is open.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishingState {
    /// When it was decided to open it, the last time.
    pub at: Timestamp,
    /// How often that was decided again, because it did not open.
    pub repeats: u32,
    /// Unknown keys.
    pub extra: Extra,
}

/// What the dashboard issue was last made to say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DashboardState {
    /// A person asked for it, and it is not open yet.
    pub wanted: bool,
    /// SHA-256 of its text.
    pub digest: Option<String>,
    /// SHA-256 of the text that stood there before, in case the newer one never arrived.
    pub before: Option<String>,
    /// SHA-256 over the very version that the text takes the place of: what a person did to it was heard.
    pub replaces: Option<String>,
    /// The boxes that were ticked in that version.
    pub heard: Vec<String>,
    /// When it was last decided to say it.
    pub at: Option<Timestamp>,
    /// How often in a row it did not arrive.
    pub repeats: u32,
    /// Unknown keys.
    pub extra: Extra,
}

/// What is remembered of a persona across its turns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PersonaState {
    /// Rejected, ignored or empty turns in a row.
    pub empty_streak: u32,
    /// It rests until its track has made this many passes.
    pub rests_until_pass: Option<u64>,
    /// When it was sent to rest. A rest also ends with time, so that a track where everybody rests wakes again.
    pub rested_at: Option<Timestamp>,
    /// Unknown keys.
    pub extra: Extra,
}

/// What was spent lately.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BudgetState {
    /// When sessions were started, oldest first; older than a day is dropped.
    pub created: Vec<Timestamp>,
    /// Jules said that its quota is spent: nothing starts before this.
    pub paused_until: Option<Timestamp>,
    /// Why.
    pub reason: Option<String>,
    /// How often in a row the key was found spent; the pause doubles with it.
    pub strikes: u32,
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

/// How far polling has read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cursors {
    /// Comments up to here were read.
    pub comments_since: Option<Timestamp>,
    /// The newest commit of the default branch that the narrator's summary tells of, or that holds nothing to tell.
    pub narrated: Option<Oid>,
    /// Unknown keys.
    pub extra: Extra,
}

impl State {
    /// A new ledger's state.
    #[must_use]
    pub fn born(repository_id: RepositoryId, born_at: Timestamp, nonce: String) -> Self {
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

    /// The key of the next history entry. Archived keys count: history never starts again.
    #[must_use]
    pub fn next_history_key(&self) -> u64 {
        self.history.last_key_value().map_or(0, |(key, _)| key + 1)
    }
}
