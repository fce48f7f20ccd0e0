//! How the database fares, as far as this process knows.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::runtime::inbox::{CROWDED, InboxError};

/// What a delivery takes in the tables and their indexes, in bytes: 338 with a million of them in PostgreSQL 15, and
/// room for what is rewritten.
pub(super) const DELIVERY: u64 = 400;
/// How often it is said that the database cannot be used while that is so.
const SAID_EVERY: Duration = Duration::from_secs(60);

/// What all parts of the inbox know.
#[derive(Debug)]
pub(super) struct State {
    /// How many deliveries there is room for.
    room: u64,
    /// How many are stored, as this process knows: others store some, too, and all are counted anew now and then.
    stored: AtomicU64,
    trouble: Mutex<Option<Trouble>>,
    /// Why this version cannot work with the tables any more.
    unreadable: Mutex<Option<String>>,
    /// How far this machine's clock is from the database's, where that is too far.
    apart: Mutex<Option<String>>,
    news: watch::Sender<u64>,
}

#[derive(Debug)]
struct Trouble {
    because: String,
    said: Instant,
}

impl State {
    pub(super) fn new(room: u64) -> Self {
        Self {
            room: room / DELIVERY,
            stored: AtomicU64::new(0),
            trouble: Mutex::default(),
            unreadable: Mutex::default(),
            apart: Mutex::default(),
            news: watch::Sender::new(0),
        }
    }

    /// All were counted.
    pub(super) fn counted(&self, stored: u64) {
        self.stored.store(stored, Ordering::Relaxed);
    }

    /// So many were stored.
    pub(super) fn stored(&self, more: usize) {
        self.stored.fetch_add(more as u64, Ordering::Relaxed);
    }

    /// Whether there is no room for one more beside those that wait for the same commit.
    pub(super) fn is_full(&self, waiting: usize) -> bool {
        self.used(waiting) >= self.room
    }

    /// Whether there is little room, which is kept for those that wake somebody.
    pub(super) fn is_crowded(&self, waiting: usize) -> bool {
        self.used(waiting) as f64 >= self.room as f64 * CROWDED
    }

    fn used(&self, waiting: usize) -> u64 {
        self.stored.load(Ordering::Relaxed) + waiting as u64
    }

    /// The room for deliveries, in bytes.
    pub(super) fn limit(&self) -> u64 {
        self.room * DELIVERY
    }

    /// Something may be due earlier than before.
    pub(super) fn tell(&self) {
        self.news.send_modify(|count| *count += 1);
    }

    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Something could not be done. It is said once a minute.
    pub(super) fn failed(&self, error: &InboxError) {
        let because = error.to_string();
        let mut trouble = self.trouble();
        let said = trouble.as_ref().map(|trouble| trouble.said);
        let now = Instant::now();
        if said.is_none_or(|said| now.duration_since(said) >= SAID_EVERY) {
            tracing::error!("{because}; deliveries are refused until it works again");
            *trouble = Some(Trouble { because, said: now });
        } else if let Some(trouble) = trouble.as_mut() {
            trouble.because = because;
        }
    }

    /// It works.
    pub(super) fn works(&self) {
        if self.trouble().take().is_some() {
            tracing::warn!("the database works again");
        }
    }

    /// Whether this version can work with the tables, and why it cannot. While it cannot, nobody is given a connection.
    pub(super) fn tables(&self, unreadable: Option<String>) {
        *held(&self.unreadable) = unreadable;
    }

    /// Why this version cannot work with the tables.
    pub(super) fn unreadable(&self) -> Option<String> {
        held(&self.unreadable).clone()
    }

    /// How far the clocks are apart, where that is too far.
    pub(super) fn clock(&self, apart: Option<String>) {
        let mut known = held(&self.apart);
        if let Some(apart) = apart.as_ref().filter(|_| known.is_none()) {
            tracing::error!("{apart}");
        }
        *known = apart;
    }

    /// Why nothing may be claimed.
    pub(super) fn apart(&self) -> Option<String> {
        held(&self.apart).clone()
    }

    /// Why it does not work as it should.
    pub(super) fn why(&self) -> Option<String> {
        let because = self.trouble().as_ref().map(|one| one.because.clone());
        because.or_else(|| self.apart())
    }

    fn trouble(&self) -> MutexGuard<'_, Option<Trouble>> {
        held(&self.trouble)
    }
}

/// What a lock guards. What a panic elsewhere has left is still right: each is written at once.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
