//! An inbox in memory that can be away, as one on another machine can.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use jiff::{SignedDuration, Timestamp};
use phileas::runtime::inbox::{
    Accepted, Counts, Delivery, DeliveryId, Fault, Inbox, InboxError, Lease, Page, Record,
    Replayed, Settled, Wake,
};
use phileas::runtime::ports::Clock as _;
use phileas_domain::model::{Holder, RepositoryId};
use tokio::sync::watch;

use super::clock::StillClock;
use crate::support::held;
use crate::support::memory_inbox::MemoryInbox;

/// How an inbox fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mood {
    Well,
    /// Every call fails at once.
    Refuses,
    /// Every call fails, after so long.
    Silent(SignedDuration),
    /// Everything is done at once, and answered after so long.
    Slow(SignedDuration),
}

/// An inbox in memory that can be away. Every call sends a notification, whether it was done or not.
#[derive(Debug)]
pub(super) struct Troubled {
    inbox: MemoryInbox,
    clock: StillClock,
    mood: Mutex<Mood>,
    calls: Mutex<BTreeMap<&'static str, usize>>,
    news: watch::Sender<u64>,
}

impl Troubled {
    pub(super) fn new(clock: StillClock) -> Self {
        Self {
            inbox: MemoryInbox::new(100_000),
            clock,
            mood: Mutex::new(Mood::Well),
            calls: Mutex::default(),
            news: watch::Sender::new(0),
        }
    }

    pub(super) fn is(&self, mood: Mood) {
        *held(&self.mood) = mood;
    }

    /// What is stored, whether it can be reached or not.
    pub(super) fn stored(&self) -> &MemoryInbox {
        &self.inbox
    }

    /// How often it was asked for this.
    pub(super) fn calls(&self, name: &str) -> usize {
        held(&self.calls).get(name).copied().unwrap_or(0)
    }

    async fn reach(&self, name: &'static str) -> Result<Option<SignedDuration>, InboxError> {
        *held(&self.calls).entry(name).or_default() += 1;
        let mood = *held(&self.mood);
        let away = || Err(InboxError::Unavailable("it is away".to_owned()));
        match mood {
            Mood::Well => Ok(None),
            Mood::Slow(length) => Ok(Some(length)),
            Mood::Refuses => away(),
            Mood::Silent(length) => {
                self.clock.sleep_until(self.clock.now() + length).await;
                away()
            }
        }
    }
}

macro_rules! reached {
    ($self:ident.$call:ident($($argument:expr),*)) => {{
        let answer = match $self.reach(stringify!($call)).await {
            Ok(late) => {
                let answer = $self.inbox.$call($($argument),*).await;
                if let Some(late) = late {
                    $self.clock.sleep_until($self.clock.now() + late).await;
                }
                answer
            }
            Err(error) => Err(error),
        };
        $self.news.send_modify(|count| *count += 1);
        answer
    }};
}

/// As [`reached`], for what changes nothing.
macro_rules! read {
    ($self:ident.$call:ident($($argument:expr),*)) => {
        match $self.reach(stringify!($call)).await {
            Ok(_) => $self.inbox.$call($($argument),*).await,
            Err(error) => Err(error),
        }
    };
}

impl Inbox for Troubled {
    async fn accept_delivery(&self, delivery: Delivery) -> Result<Accepted, InboxError> {
        reached!(self.accept_delivery(delivery))
    }

    async fn wake_repository(
        &self,
        repository: RepositoryId,
        at: Timestamp,
    ) -> Result<(), InboxError> {
        reached!(self.wake_repository(repository, at))
    }

    async fn list_due(&self, now: Timestamp, most: usize) -> Result<Vec<RepositoryId>, InboxError> {
        read!(self.list_due(now, most))
    }

    async fn claim_leases(
        &self,
        holder: &Holder,
        now: Timestamp,
        length: SignedDuration,
        repositories: &[RepositoryId],
    ) -> Result<Vec<Lease>, InboxError> {
        reached!(self.claim_leases(holder, now, length, repositories))
    }

    async fn due_alone(&self, now: Timestamp) -> Result<Vec<RepositoryId>, InboxError> {
        read!(self.due_alone(now))
    }

    async fn claim_alone(
        &self,
        holder: &Holder,
        now: Timestamp,
        length: SignedDuration,
        repository: RepositoryId,
    ) -> Result<Option<Lease>, InboxError> {
        reached!(self.claim_alone(holder, now, length, repository))
    }

    async fn end_pauses(
        &self,
        repositories: &[RepositoryId],
    ) -> Result<BTreeSet<RepositoryId>, InboxError> {
        reached!(self.end_pauses(repositories))
    }

    async fn call_back(&self, now: Timestamp) -> Result<usize, InboxError> {
        read!(self.call_back(now))
    }

    async fn extend_leases(
        &self,
        leases: &[Lease],
        now: Timestamp,
        length: SignedDuration,
    ) -> Result<BTreeSet<RepositoryId>, InboxError> {
        reached!(self.extend_leases(leases, now, length))
    }

    async fn finish_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        next: Option<Timestamp>,
    ) -> Result<Settled, InboxError> {
        reached!(self.finish_lease(lease, now, next))
    }

    async fn fail_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        fault: &Fault,
    ) -> Result<Settled, InboxError> {
        reached!(self.fail_lease(lease, now, fault))
    }

    async fn release_lease(&self, lease: &Lease, now: Timestamp) -> Result<Settled, InboxError> {
        reached!(self.release_lease(lease, now))
    }

    async fn abandon_lease(&self, lease: &Lease) -> Result<Settled, InboxError> {
        reached!(self.abandon_lease(lease))
    }

    async fn read_wake(&self, repository: RepositoryId) -> Result<Option<Wake>, InboxError> {
        read!(self.read_wake(repository))
    }

    async fn suspended_repositories(&self) -> Result<Vec<Wake>, InboxError> {
        read!(self.suspended_repositories())
    }

    async fn resume_repository(
        &self,
        repository: RepositoryId,
        now: Timestamp,
    ) -> Result<bool, InboxError> {
        reached!(self.resume_repository(repository, now))
    }

    async fn forget_repository(&self, repository: RepositoryId) -> Result<(), InboxError> {
        reached!(self.forget_repository(repository))
    }

    async fn list_deliveries(&self, page: Page) -> Result<Vec<Record>, InboxError> {
        read!(self.list_deliveries(page))
    }

    async fn replay_delivery(
        &self,
        id: &DeliveryId,
        now: Timestamp,
    ) -> Result<Replayed, InboxError> {
        reached!(self.replay_delivery(id, now))
    }

    async fn prune_deliveries(&self, now: Timestamp) -> Result<usize, InboxError> {
        read!(self.prune_deliveries(now))
    }

    async fn read_counts(&self, now: Timestamp) -> Result<Counts, InboxError> {
        read!(self.read_counts(now))
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, InboxError> {
        read!(self.next_due())
    }

    fn problem_text(&self) -> Option<String> {
        None
    }

    fn watch_changes(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }
}
