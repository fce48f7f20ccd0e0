//! Writes events of turns for the user's own agent into the events file of the job monitor: turns
//! that wait for a person, and outcomes of sessions.
//!
//! An event is written before it is remembered. After a kill in between, the next process finds it
//! at the end of the file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::Ledger;
use phileas_domain::jobs::{
    EventKind, FeedMemory, JobId, NewEvent, SentNews, SessionRead, TurnNews, turn_event,
};
use phileas_domain::model::RepositoryId;
use phileas_domain::state::State;

use crate::jobs::{EventsFile, StoreError, files};
use crate::runtime::TickReport;
use crate::runtime::ports::account::{AccountFailure, ReadAccount};
use crate::server::repositories::Member;

/// The name of the memory's file in the data directory.
pub const FILE: &str = "feed.json";
/// The largest memory that is read, in bytes.
const MAX_BYTES: usize = 64 << 20;
/// How many sessions are read after one tick. The others are read after the next one, which comes
/// soon.
const MAX_AT_ONCE: usize = 20;
/// How soon the repository is ticked again after a first failure to read or write.
const FIRST_PAUSE: Duration = Duration::from_secs(60);
/// How often the text of a session is read before its event is written without it. Each pause is
/// twice the previous one.
const MAX_TRIES: u32 = 5;
/// How far this machine's clock may be ahead of GitHub's.
const SKEW: SignedDuration = SignedDuration::from_mins(2);
/// A turn that ended this shortly before a repository was first seen may have been ended by the
/// tick that saw it, so it is reported. Both times are GitHub's.
const JUST_ENDED: SignedDuration = SignedDuration::from_mins(2);

/// Writes events of turns.
#[derive(Debug)]
pub struct Feed {
    events: EventsFile,
    path: PathBuf,
    known: Mutex<FeedState>,
}

#[derive(Debug)]
struct FeedState {
    memory: FeedMemory,
    /// New repositories that are not in the memory's file yet, by GitHub's numbers. A later process
    /// would take turns that end until then for their past.
    unwritten: BTreeSet<u64>,
    /// The failures in a row to read each session.
    tries: BTreeMap<JobId, u32>,
    /// The failures in a row to write.
    failures: u32,
    /// How many events of each kind this process has written.
    written: BTreeMap<EventKind, u64>,
}

impl Feed {
    /// Opens a feed into this file. Its memory is in the data directory.
    ///
    /// # Errors
    ///
    /// [`StoreError`], when the memory cannot be read, or cannot be created.
    pub fn open(data_dir: &Path, events: EventsFile, now: Timestamp) -> Result<Self, StoreError> {
        let path = data_dir.join(FILE);
        let (memory, found) = files::read_state(
            &path,
            MAX_BYTES,
            files::Unreadable::MoveAside,
            FeedMemory::parse,
        )?;
        for wrong in found {
            tracing::warn!("{wrong}");
        }
        let memory = match memory {
            Some(memory) => memory,
            None => {
                let memory = FeedMemory::new(now.checked_sub(SKEW).unwrap_or(now));
                files::write_whole(&path, &memory.render())?;
                memory
            }
        };
        Ok(Self {
            events,
            path,
            known: Mutex::new(FeedState {
                memory,
                unwritten: BTreeSet::new(),
                tries: BTreeMap::new(),
                failures: 0,
                written: BTreeMap::new(),
            }),
        })
    }

    /// How many events of each kind this process has written.
    #[must_use]
    pub fn written_counts(&self) -> BTreeMap<EventKind, u64> {
        self.lock_state().written.clone()
    }

    /// Writes the events of a tick. `Some`: how soon to try again, because Jules or the disk
    /// failed.
    pub async fn send_events(&self, member: &Member, report: &TickReport) -> Option<Duration> {
        // A stopped tick has not seen everything; the next one does.
        if report.stopped {
            return None;
        }
        let Ledger::Present { state, .. } = &report.seen.as_deref()?.ledger else {
            return None;
        };
        let (mut told, is_new) = self.sent_events(member.id, state, report.now);
        let news = told.news(state, report.waiting.iter().map(|(_, line)| line));
        if news.is_empty() && !is_new {
            self.remember_sent(member.id, told);
            return None;
        }
        let mut again = (news.len() > MAX_AT_ONCE).then_some(FIRST_PAUSE);
        let mut drafts = Vec::new();
        for one in news.iter().take(MAX_AT_ONCE) {
            match self.read_event(member, one).await {
                Ok(draft) => {
                    let cause = draft.as_ref().map(NewEvent::dedup_key);
                    let new = told.record_sent(one, cause.as_deref());
                    drafts.extend(draft.filter(|_| new));
                }
                Err(pause) => {
                    again = Some(again.map_or(pause, |again| again.min(pause)));
                    // The tick waits for this, and a failure most likely concerns the other
                    // sessions, too.
                    break;
                }
            }
        }
        told.tidy(state);
        if let Err(error) = self.write_drafts(member.id, told, drafts, report.now) {
            tracing::warn!(repository = %member.name, "events of turns were not written: {error}");
            let mut known = self.lock_state();
            known.failures = known.failures.saturating_add(1);
            again = Some(FIRST_PAUSE * 2_u32.pow(known.failures.min(MAX_TRIES)));
        } else {
            self.lock_state().failures = 0;
        }
        again
    }

    /// Builds the event of one session. The error says when to try again.
    async fn read_event(
        &self,
        member: &Member,
        news: &TurnNews,
    ) -> Result<Option<NewEvent>, Duration> {
        let read = match &member.jules {
            Ok(key) => read_session(&*key.client, &news.session).await,
            Err(no_key) => {
                tracing::debug!("{no_key}");
                Ok(SessionRead::Unread)
            }
        };
        match read {
            Ok(read) => {
                self.lock_state().tries.remove(&news.session);
                Ok(turn_event(news, &member.name, &read))
            }
            Err(failure) => {
                let mut known = self.lock_state();
                let tries = known.tries.entry(news.session.clone()).or_default();
                *tries += 1;
                if *tries < MAX_TRIES {
                    tracing::warn!(job = %news.session, "its event waits, because its session cannot be read: \
                        {failure}");
                    return Err(FIRST_PAUSE * 2_u32.pow(*tries - 1));
                }
                tracing::warn!(job = %news.session, "its event is written without its text, because its session cannot \
                    be read: {failure}");
                known.tries.remove(&news.session);
                Ok(turn_event(news, &member.name, &SessionRead::Unread))
            }
        }
    }

    /// Returns the sent events of a repository, and whether they still have to be stored. For a new
    /// repository all earlier outcomes count as sent: they may be older than its management by this
    /// service.
    fn sent_events(&self, id: RepositoryId, state: &State, now: Timestamp) -> (SentNews, bool) {
        let mut known = self.lock_state();
        if let Some(told) = known.memory.repositories.get(&id.0) {
            return (told.clone(), known.unwritten.contains(&id.0));
        }
        let since = now.checked_sub(JUST_ENDED).unwrap_or(now);
        let told = SentNews::from_state(state, since.max(known.memory.since));
        known.memory.repositories.insert(id.0, told.clone());
        known.unwritten.insert(id.0);
        (told, true)
    }

    /// Remembers without writing to disk: no event was written, so a later process finds the same.
    fn remember_sent(&self, id: RepositoryId, told: SentNews) {
        self.lock_state().memory.repositories.insert(id.0, told);
    }

    fn write_drafts(
        &self,
        id: RepositoryId,
        told: SentNews,
        drafts: Vec<NewEvent>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut known = self.lock_state();
        let events = self.events.append_events(drafts, now)?;
        for event in &events {
            if let Some(kind) = event.event_kind() {
                *known.written.entry(kind).or_default() += 1;
            }
            tracing::info!(
                event = event.event,
                id = event.id.map_or(0, |id| id.0),
                job = event.job_id.as_ref().map(tracing::field::display),
                "an event is written"
            );
        }
        known.memory.repositories.insert(id.0, told);
        files::write_whole(&self.path, &known.memory.render())?;
        known.unwritten.clear();
        Ok(())
    }

    fn lock_state(&self) -> MutexGuard<'_, FeedState> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a session and its activities.
async fn read_session(
    account: &impl ReadAccount,
    id: &JobId,
) -> Result<SessionRead, AccountFailure> {
    let Some(session) = account.read_session(id).await? else {
        return Ok(SessionRead::Missing);
    };
    let session = Box::new(session);
    let log = account
        .read_session_activities(id)
        .await?
        .unwrap_or_default();
    Ok(SessionRead::Found { session, log })
}
