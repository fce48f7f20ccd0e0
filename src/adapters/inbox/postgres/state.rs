//! The state of the database, as far as this process knows.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::adapters::inbox::FULL;
use crate::runtime::inbox::{InboxError, NEARLY_FULL};

/// The room of a delivery in tables and indexes, in bytes: 338 with a million of them in PostgreSQL 15, plus room for
/// rewritten rows.
pub(super) const DELIVERY: u64 = 400;
/// How often an unusable database is logged.
const SAID_EVERY: Duration = Duration::from_secs(60);

/// The state that all parts of the inbox share.
#[derive(Debug)]
pub(super) struct State {
    /// How many deliveries fit.
    room: u64,
    /// How many are stored, as far as this process knows: others store some, too, and all are counted again from time
    /// to time.
    stored: AtomicU64,
    last_failure: Mutex<Option<RepeatedFailure>>,
    /// Why this version cannot use the tables any more.
    unreadable: Mutex<Option<String>>,
    /// The problem of this machine's clock, if it is too far from the database's.
    apart: Mutex<Option<String>>,
    news: watch::Sender<u64>,
}

#[derive(Debug)]
struct RepeatedFailure {
    because: String,
    said: Instant,
}

impl State {
    pub(super) fn new(room: u64) -> Self {
        Self {
            room: room / DELIVERY,
            stored: AtomicU64::new(0),
            last_failure: Mutex::default(),
            unreadable: Mutex::default(),
            apart: Mutex::default(),
            news: watch::Sender::new(0),
        }
    }

    /// Sets the count of stored deliveries.
    pub(super) fn set_stored(&self, stored: u64) {
        self.stored.store(stored, Ordering::Relaxed);
    }

    /// Adds to the count of stored deliveries.
    pub(super) fn add_stored(&self, more: usize) {
        self.stored.fetch_add(more as u64, Ordering::Relaxed);
    }

    /// Whether there is no room for another delivery beside those that wait for the same commit.
    pub(super) fn is_full(&self, waiting: usize) -> bool {
        self.used_bytes(waiting) >= self.room
    }

    /// Whether the remaining room is reserved for deliveries that wake a repository.
    pub(super) fn is_nearly_full(&self, waiting: usize) -> bool {
        self.used_bytes(waiting) as f64 >= self.room as f64 * NEARLY_FULL
    }

    fn used_bytes(&self, waiting: usize) -> u64 {
        self.stored.load(Ordering::Relaxed) + waiting as u64
    }

    /// The room for deliveries, in bytes.
    pub(super) fn limit_bytes(&self) -> u64 {
        self.room * DELIVERY
    }

    /// Notifies that a repository may be due earlier than before.
    pub(super) fn notify_change(&self) {
        self.news.send_modify(|count| *count += 1);
    }

    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Records a failure, and logs it once a minute.
    pub(super) fn record_failure(&self, error: &InboxError) {
        let because = error.to_string();
        let mut trouble = self.lock_failure();
        let said = trouble.as_ref().map(|trouble| trouble.said);
        let now = Instant::now();
        if said.is_none_or(|said| now.duration_since(said) >= SAID_EVERY) {
            tracing::error!("{because}; deliveries are refused until it works again");
            *trouble = Some(RepeatedFailure { because, said: now });
        } else if let Some(trouble) = trouble.as_mut() {
            trouble.because = because;
        }
    }

    /// Records a success.
    pub(super) fn record_success(&self) {
        if self.lock_failure().take().is_some() {
            tracing::warn!("the database works again");
        }
    }

    /// Sets why this version cannot use the tables. Until it can, no connection is available.
    pub(super) fn set_tables_problem(&self, unreadable: Option<String>) {
        *lock_mutex(&self.unreadable) = unreadable;
    }

    /// Why this version cannot use the tables.
    pub(super) fn tables_problem(&self) -> Option<String> {
        lock_mutex(&self.unreadable).clone()
    }

    /// Sets the problem of the clocks, if they are too far apart.
    pub(super) fn set_clock_problem(&self, apart: Option<String>) {
        let mut known = lock_mutex(&self.apart);
        if let Some(apart) = apart.as_ref().filter(|_| known.is_none()) {
            tracing::error!("{apart}");
        }
        *known = apart;
    }

    /// Why no repository may be claimed.
    pub(super) fn clock_problem(&self) -> Option<String> {
        lock_mutex(&self.apart).clone()
    }

    /// The current problem.
    pub(super) fn current_problem(&self) -> Option<String> {
        let because = self.lock_failure().as_ref().map(|one| one.because.clone());
        because
            .or_else(|| self.clock_problem())
            .or_else(|| self.is_full(0).then(|| FULL.to_owned()))
    }

    fn lock_failure(&self) -> MutexGuard<'_, Option<RepeatedFailure>> {
        lock_mutex(&self.last_failure)
    }
}

/// Locks a value. It is valid even after a panic elsewhere, because each write is complete.
fn lock_mutex<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
