//! An inbox in memory, which ends with the process.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::{Holder, RepositoryId};
use tokio::sync::watch;

use phileas::runtime::inbox::{
    Accepted, Claimed, Counts, Delivery, DeliveryId, Fault, Inbox, InboxError, Lease, MAX_ALONE,
    MAX_PAGE, NEARLY_FULL, Outcome, PRUNE_BATCH, Page, REDELIVERY_WINDOW, RETENTION, Record,
    Replayed, Settled, Start, Wake, delivery_outcome,
};

/// An inbox in memory.
#[derive(Debug)]
pub(crate) struct MemoryInbox {
    tables: Mutex<Tables>,
    news: watch::Sender<u64>,
    /// How many deliveries fit.
    room: usize,
}

#[derive(Debug, Default)]
struct Tables {
    last_place: u64,
    deliveries: BTreeMap<u64, StoredDelivery>,
    positions: BTreeMap<DeliveryId, u64>,
    wakes: BTreeMap<RepositoryId, Wake>,
}

#[derive(Debug)]
struct StoredDelivery {
    delivery: Delivery,
    times: u32,
    generation: Option<u64>,
}

impl MemoryInbox {
    /// An empty inbox with room for this many deliveries.
    pub(crate) fn new(room: usize) -> Self {
        Self {
            tables: Mutex::default(),
            news: watch::Sender::new(0),
            room,
        }
    }

    /// A panic elsewhere leaves whole rows, because every rule is applied under this one lock.
    fn lock_tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notify_change(&self) {
        self.news.send_modify(|count| *count += 1);
    }

    /// Applies a rule to the row of a lease.
    fn settle_lease(&self, lease: &Lease, rule: impl FnOnce(&mut Wake) -> Settled) -> Settled {
        let settled = match self.lock_tables().wakes.get_mut(&lease.repository) {
            Some(wake) => rule(wake),
            None => Settled::Lost,
        };
        self.notify_change();
        settled
    }
}

/// Whether so much room is in use that only deliveries that wake a repository are kept.
fn is_full(used: usize, room: usize) -> bool {
    used as f64 >= room as f64 * NEARLY_FULL
}

impl Tables {
    fn wake(&mut self, repository: RepositoryId) -> &mut Wake {
        self.wakes
            .entry(repository)
            .or_insert_with(|| Wake::new(repository))
    }

    fn outcome(&self, kept: &StoredDelivery) -> Outcome {
        let repository = kept.delivery.repository;
        delivery_outcome(
            kept.generation,
            repository.and_then(|id| self.wakes.get(&id)),
        )
    }

    fn accept(&mut self, delivery: Delivery, room: usize) -> Accepted {
        let before = self.positions.get(&delivery.id).copied();
        if let Some(kept) = before.and_then(|place| self.deliveries.get(&place)) {
            if self.outcome(kept) != Outcome::Failed {
                return Accepted::Duplicate;
            }
        } else if delivery.gives_way() && is_full(self.deliveries.len(), room) {
            return Accepted::PassedOver;
        } else if self.deliveries.len() >= room {
            return Accepted::Overloaded;
        }
        let generation = delivery.woken_repository().map(|repository| {
            self.wake(repository)
                .record_delivery(delivery.repository_name.as_ref(), delivery.received_at)
        });
        // A delivery that arrives again moves to the end, because the others are sorted by arrival.
        let kept = match before.and_then(|place| self.deliveries.remove(&place)) {
            Some(mut kept) => {
                kept.times += 1;
                kept.generation = generation;
                kept.delivery.received_at = delivery.received_at;
                kept
            }
            None => StoredDelivery {
                delivery,
                times: 1,
                generation,
            },
        };
        self.last_place += 1;
        self.positions
            .insert(kept.delivery.id.clone(), self.last_place);
        self.deliveries.insert(self.last_place, kept);
        Accepted::Stored
    }

    fn due(&self, now: Timestamp, most: usize) -> Vec<RepositoryId> {
        let mut due: Vec<(Timestamp, RepositoryId)> = self
            .wakes
            .values()
            .filter_map(|wake| Some((wake.next_at()?, wake.repository)))
            .filter(|(at, _)| *at <= now)
            .collect();
        due.sort_unstable();
        due.into_iter().map(|(_, id)| id).take(most).collect()
    }

    fn claim(
        &mut self,
        holder: &Holder,
        now: Timestamp,
        length: SignedDuration,
        repositories: &[RepositoryId],
        is_alone: bool,
    ) -> Vec<Lease> {
        let mut leases = Vec::new();
        for id in repositories {
            let wake = self.wakes.get_mut(id).filter(|wake| wake.is_due(now));
            let claimed = wake.map(|wake| wake.claim_lease(holder, now, length, is_alone));
            if let Some(Claimed::Leased(lease)) = claimed {
                leases.push(lease);
            }
        }
        leases
    }

    fn replay(&mut self, id: &DeliveryId, now: Timestamp) -> Replayed {
        let Some(place) = self.positions.get(id).copied() else {
            return Replayed::Unknown;
        };
        let Some(repository) = self
            .deliveries
            .get(&place)
            .and_then(|kept| kept.delivery.woken_repository())
        else {
            return Replayed::WakesNoRepository;
        };
        let wake = self.wake(repository);
        let generation = wake.record_delivery(None, now);
        let suspended = wake.suspended.is_some();
        if let Some(kept) = self.deliveries.get_mut(&place) {
            kept.generation = Some(generation);
        }
        if suspended {
            Replayed::Suspended(repository)
        } else {
            Replayed::Woken(repository)
        }
    }

    fn prune(&mut self, now: Timestamp, room: usize) -> usize {
        let short = self.deliveries.len() >= room;
        let old = |kept: &StoredDelivery, age| now.duration_since(kept.delivery.received_at) > age;
        let over: Vec<u64> = self
            .deliveries
            .iter()
            .filter(|(_, kept)| {
                old(kept, RETENTION)
                    || (short
                        && old(kept, REDELIVERY_WINDOW)
                        && matches!(self.outcome(kept), Outcome::Handled | Outcome::Noted))
            })
            .map(|(place, _)| *place)
            .take(PRUNE_BATCH)
            .collect();
        for place in &over {
            if let Some(kept) = self.deliveries.remove(place) {
                self.positions.remove(&kept.delivery.id);
            }
        }
        over.len()
    }

    fn page(&self, page: Page) -> Vec<Record> {
        let record = |(place, kept): (&u64, &StoredDelivery)| Record {
            place: *place,
            delivery: kept.delivery.clone(),
            times: kept.times,
            outcome: self.outcome(kept),
        };
        let most = page.most.min(MAX_PAGE);
        match page.start {
            Start::After(place) => self
                .deliveries
                .range(place.saturating_add(1)..)
                .take(most)
                .map(record)
                .collect(),
            Start::Before(place) => self
                .deliveries
                .range(..place.unwrap_or(u64::MAX))
                .rev()
                .take(most)
                .map(record)
                .collect(),
        }
    }
}

impl Inbox for MemoryInbox {
    async fn accept_delivery(&self, delivery: Delivery) -> Result<Accepted, InboxError> {
        let accepted = self.lock_tables().accept(delivery, self.room);
        self.notify_change();
        Ok(accepted)
    }

    async fn wake_repository(
        &self,
        repository: RepositoryId,
        at: Timestamp,
    ) -> Result<(), InboxError> {
        self.lock_tables().wake(repository).request_tick(at);
        self.notify_change();
        Ok(())
    }

    async fn list_due(&self, now: Timestamp, most: usize) -> Result<Vec<RepositoryId>, InboxError> {
        Ok(self.lock_tables().due(now, most))
    }

    async fn claim_leases(
        &self,
        holder: &Holder,
        now: Timestamp,
        length: SignedDuration,
        repositories: &[RepositoryId],
    ) -> Result<Vec<Lease>, InboxError> {
        Ok(self
            .lock_tables()
            .claim(holder, now, length, repositories, false))
    }

    async fn due_alone(&self, now: Timestamp) -> Result<Vec<RepositoryId>, InboxError> {
        let tables = self.lock_tables();
        let due = tables
            .wakes
            .values()
            .filter(|wake| wake.needs_to_be_alone() && wake.is_due(now));
        Ok(due.map(|wake| wake.repository).take(MAX_ALONE).collect())
    }

    async fn claim_alone(
        &self,
        holder: &Holder,
        now: Timestamp,
        length: SignedDuration,
        repository: RepositoryId,
    ) -> Result<Option<Lease>, InboxError> {
        let mut tables = self.lock_tables();
        Ok(tables.claim(holder, now, length, &[repository], true).pop())
    }

    async fn end_pauses(
        &self,
        repositories: &[RepositoryId],
    ) -> Result<BTreeSet<RepositoryId>, InboxError> {
        let mut tables = self.lock_tables();
        let mut held = BTreeSet::new();
        for id in repositories {
            let wake = tables.wakes.get_mut(id);
            if wake.is_some_and(|wake| !wake.end_pause()) {
                held.insert(*id);
            }
        }
        drop(tables);
        self.notify_change();
        Ok(held)
    }

    async fn call_back(&self, now: Timestamp) -> Result<usize, InboxError> {
        let mut tables = self.lock_tables();
        let called = tables
            .wakes
            .values_mut()
            .filter_map(|wake| wake.call_back(now).then_some(()))
            .count();
        drop(tables);
        if called > 0 {
            self.notify_change();
        }
        Ok(called)
    }

    async fn extend_leases(
        &self,
        leases: &[Lease],
        now: Timestamp,
        length: SignedDuration,
    ) -> Result<BTreeSet<RepositoryId>, InboxError> {
        let mut tables = self.lock_tables();
        let held = leases.iter().filter(|lease| {
            let wake = tables.wakes.get_mut(&lease.repository);
            wake.is_some_and(|wake| wake.extend(lease, now, length))
        });
        Ok(held.map(|lease| lease.repository).collect())
    }

    async fn finish_lease(
        &self,
        lease: &Lease,
        _now: Timestamp,
        next: Option<Timestamp>,
    ) -> Result<Settled, InboxError> {
        Ok(self.settle_lease(lease, |wake| wake.finish_lease(lease, next)))
    }

    async fn fail_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        fault: &Fault,
    ) -> Result<Settled, InboxError> {
        Ok(self.settle_lease(lease, |wake| wake.fail_lease(lease, now, fault)))
    }

    async fn release_lease(&self, lease: &Lease, now: Timestamp) -> Result<Settled, InboxError> {
        Ok(self.settle_lease(lease, |wake| wake.release_lease(lease, now)))
    }

    async fn abandon_lease(&self, lease: &Lease) -> Result<Settled, InboxError> {
        Ok(self.settle_lease(lease, |wake| wake.abandon_lease(lease)))
    }

    async fn read_wake(&self, repository: RepositoryId) -> Result<Option<Wake>, InboxError> {
        Ok(self.lock_tables().wakes.get(&repository).cloned())
    }

    async fn suspended_repositories(&self) -> Result<Vec<Wake>, InboxError> {
        let tables = self.lock_tables();
        let suspended = tables
            .wakes
            .values()
            .filter(|wake| wake.suspended.is_some());
        Ok(suspended.cloned().collect())
    }

    async fn resume_repository(
        &self,
        repository: RepositoryId,
        now: Timestamp,
    ) -> Result<bool, InboxError> {
        let mut tables = self.lock_tables();
        let wake = tables.wakes.get_mut(&repository);
        let resumed = wake.is_some_and(|wake| wake.resume_suspended(now));
        drop(tables);
        self.notify_change();
        Ok(resumed)
    }

    async fn forget_repository(&self, repository: RepositoryId) -> Result<(), InboxError> {
        if let Some(wake) = self.lock_tables().wakes.get_mut(&repository) {
            wake.forget_wakes();
        }
        Ok(())
    }

    async fn list_deliveries(&self, page: Page) -> Result<Vec<Record>, InboxError> {
        Ok(self.lock_tables().page(page))
    }

    async fn replay_delivery(
        &self,
        id: &DeliveryId,
        now: Timestamp,
    ) -> Result<Replayed, InboxError> {
        let replayed = self.lock_tables().replay(id, now);
        self.notify_change();
        Ok(replayed)
    }

    async fn prune_deliveries(&self, now: Timestamp) -> Result<usize, InboxError> {
        Ok(self.lock_tables().prune(now, self.room))
    }

    async fn read_counts(&self, now: Timestamp) -> Result<Counts, InboxError> {
        let tables = self.lock_tables();
        let mut counts = Counts {
            deliveries: tables.deliveries.len() as u64,
            repositories: tables.wakes.len() as u64,
            ..Counts::default()
        };
        for wake in tables.wakes.values() {
            let next = wake.next_at().filter(|at| *at <= now);
            counts.due += u64::from(next.is_some());
            counts.leased += u64::from(wake.held.is_some() && next.is_none());
            counts.suspended += u64::from(wake.suspended.is_some());
            counts.failing += u64::from(wake.suspended.is_none() && wake.last_fault.is_some());
            counts.oldest_due = match (counts.oldest_due, next) {
                (Some(oldest), Some(next)) => Some(oldest.min(next)),
                (oldest, next) => oldest.or(next),
            };
        }
        Ok(counts)
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, InboxError> {
        Ok(self
            .lock_tables()
            .wakes
            .values()
            .filter_map(Wake::next_at)
            .min())
    }

    fn problem_text(&self) -> Option<String> {
        let stored = self.lock_tables().deliveries.len();
        (stored >= self.room).then(|| "the inbox is full".to_owned())
    }

    fn watch_changes(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }
}
