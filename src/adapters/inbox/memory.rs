//! An inbox in memory, which ends with the process.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::{Holder, RepositoryId};
use tokio::sync::watch;

use crate::runtime::inbox::{
    Accepted, CROWDED, Claimed, Counts, Delivery, DeliveryId, Fault, Inbox, InboxError, Lease,
    MAX_ALONE, MAX_PAGE, Outcome, PRUNE_BATCH, Page, REDELIVERY_WINDOW, RETENTION, Record,
    Replayed, Settled, Start, Wake, outcome,
};

/// An inbox in memory.
#[derive(Debug)]
pub struct MemoryInbox {
    shelves: Mutex<Shelves>,
    news: watch::Sender<u64>,
    /// How many deliveries fit.
    room: usize,
}

#[derive(Debug, Default)]
struct Shelves {
    last_place: u64,
    deliveries: BTreeMap<u64, Kept>,
    places: BTreeMap<DeliveryId, u64>,
    wakes: BTreeMap<RepositoryId, Wake>,
}

#[derive(Debug)]
struct Kept {
    delivery: Delivery,
    times: u32,
    generation: Option<u64>,
}

impl MemoryInbox {
    /// An empty inbox with room for this many deliveries.
    #[must_use]
    pub fn new(room: usize) -> Self {
        Self {
            shelves: Mutex::default(),
            news: watch::Sender::new(0),
            room,
        }
    }

    /// A panic elsewhere leaves whole rows, because every rule is applied under this one lock.
    fn shelves(&self) -> MutexGuard<'_, Shelves> {
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        self.news.send_modify(|count| *count += 1);
    }

    /// Applies a rule to the row of a lease.
    fn settle(&self, lease: &Lease, rule: impl FnOnce(&mut Wake) -> Settled) -> Settled {
        let settled = match self.shelves().wakes.get_mut(&lease.repository) {
            Some(wake) => rule(wake),
            None => Settled::Lost,
        };
        self.tell();
        settled
    }
}

/// Whether so much room is in use that only deliveries that wake a repository are kept.
fn is_crowded(used: usize, room: usize) -> bool {
    used as f64 >= room as f64 * CROWDED
}

impl Shelves {
    fn wake(&mut self, repository: RepositoryId) -> &mut Wake {
        self.wakes
            .entry(repository)
            .or_insert_with(|| Wake::new(repository))
    }

    fn outcome(&self, kept: &Kept) -> Outcome {
        let repository = kept.delivery.repository;
        outcome(
            kept.generation,
            repository.and_then(|id| self.wakes.get(&id)),
        )
    }

    fn accept(&mut self, delivery: Delivery, room: usize) -> Accepted {
        let before = self.places.get(&delivery.id).copied();
        if let Some(kept) = before.and_then(|place| self.deliveries.get(&place)) {
            if self.outcome(kept) != Outcome::Failed {
                return Accepted::Duplicate;
            }
        } else if delivery.gives_way() && is_crowded(self.deliveries.len(), room) {
            return Accepted::PassedOver;
        } else if self.deliveries.len() >= room {
            return Accepted::Overloaded;
        }
        let generation = delivery.woken().map(|repository| {
            self.wake(repository)
                .hear(delivery.repository_name.as_ref(), delivery.received_at)
        });
        // A delivery that arrives again moves to the end, because the others are sorted by arrival.
        let kept = match before.and_then(|place| self.deliveries.remove(&place)) {
            Some(mut kept) => {
                kept.times += 1;
                kept.generation = generation;
                kept.delivery.received_at = delivery.received_at;
                kept
            }
            None => Kept {
                delivery,
                times: 1,
                generation,
            },
        };
        self.last_place += 1;
        self.places
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
            let claimed = wake.map(|wake| wake.claim(holder, now, length, is_alone));
            if let Some(Claimed::Leased(lease)) = claimed {
                leases.push(lease);
            }
        }
        leases
    }

    fn replay(&mut self, id: &DeliveryId, now: Timestamp) -> Replayed {
        let Some(place) = self.places.get(id).copied() else {
            return Replayed::Unknown;
        };
        let Some(repository) = self
            .deliveries
            .get(&place)
            .and_then(|kept| kept.delivery.woken())
        else {
            return Replayed::WakesNobody;
        };
        let wake = self.wake(repository);
        let generation = wake.hear(None, now);
        let parked = wake.parked.is_some();
        if let Some(kept) = self.deliveries.get_mut(&place) {
            kept.generation = Some(generation);
        }
        if parked {
            Replayed::Parked(repository)
        } else {
            Replayed::Woken(repository)
        }
    }

    fn prune(&mut self, now: Timestamp, room: usize) -> usize {
        let short = self.deliveries.len() >= room;
        let old = |kept: &Kept, age| now.duration_since(kept.delivery.received_at) > age;
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
                self.places.remove(&kept.delivery.id);
            }
        }
        over.len()
    }

    fn page(&self, page: Page) -> Vec<Record> {
        let record = |(place, kept): (&u64, &Kept)| Record {
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
    async fn accept(&self, delivery: Delivery) -> Result<Accepted, InboxError> {
        let accepted = self.shelves().accept(delivery, self.room);
        self.tell();
        Ok(accepted)
    }

    async fn wake(&self, repository: RepositoryId, at: Timestamp) -> Result<(), InboxError> {
        self.shelves().wake(repository).wake(at);
        self.tell();
        Ok(())
    }

    async fn due(&self, now: Timestamp, most: usize) -> Result<Vec<RepositoryId>, InboxError> {
        Ok(self.shelves().due(now, most))
    }

    async fn claim(
        &self,
        holder: &Holder,
        now: Timestamp,
        length: SignedDuration,
        repositories: &[RepositoryId],
    ) -> Result<Vec<Lease>, InboxError> {
        Ok(self
            .shelves()
            .claim(holder, now, length, repositories, false))
    }

    async fn due_alone(&self, now: Timestamp) -> Result<Vec<RepositoryId>, InboxError> {
        let shelves = self.shelves();
        let due = shelves
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
        let mut shelves = self.shelves();
        Ok(shelves
            .claim(holder, now, length, &[repository], true)
            .pop())
    }

    async fn end_pauses(
        &self,
        repositories: &[RepositoryId],
    ) -> Result<BTreeSet<RepositoryId>, InboxError> {
        let mut shelves = self.shelves();
        let mut held = BTreeSet::new();
        for id in repositories {
            let wake = shelves.wakes.get_mut(id);
            if wake.is_some_and(|wake| !wake.end_pause()) {
                held.insert(*id);
            }
        }
        drop(shelves);
        self.tell();
        Ok(held)
    }

    async fn call_back(&self, now: Timestamp) -> Result<usize, InboxError> {
        let mut shelves = self.shelves();
        let called = shelves
            .wakes
            .values_mut()
            .filter_map(|wake| wake.call_back(now).then_some(()))
            .count();
        drop(shelves);
        if called > 0 {
            self.tell();
        }
        Ok(called)
    }

    async fn heartbeat(
        &self,
        leases: &[Lease],
        now: Timestamp,
        length: SignedDuration,
    ) -> Result<BTreeSet<RepositoryId>, InboxError> {
        let mut shelves = self.shelves();
        let held = leases.iter().filter(|lease| {
            let wake = shelves.wakes.get_mut(&lease.repository);
            wake.is_some_and(|wake| wake.extend(lease, now, length))
        });
        Ok(held.map(|lease| lease.repository).collect())
    }

    async fn finish(
        &self,
        lease: &Lease,
        _now: Timestamp,
        next: Option<Timestamp>,
    ) -> Result<Settled, InboxError> {
        Ok(self.settle(lease, |wake| wake.finish(lease, next)))
    }

    async fn fail(
        &self,
        lease: &Lease,
        now: Timestamp,
        fault: &Fault,
    ) -> Result<Settled, InboxError> {
        Ok(self.settle(lease, |wake| wake.fail(lease, now, fault)))
    }

    async fn release(&self, lease: &Lease, now: Timestamp) -> Result<Settled, InboxError> {
        Ok(self.settle(lease, |wake| wake.release(lease, now)))
    }

    async fn abandon(&self, lease: &Lease) -> Result<Settled, InboxError> {
        Ok(self.settle(lease, |wake| wake.abandon(lease)))
    }

    async fn look(&self, repository: RepositoryId) -> Result<Option<Wake>, InboxError> {
        Ok(self.shelves().wakes.get(&repository).cloned())
    }

    async fn parked(&self) -> Result<Vec<Wake>, InboxError> {
        let shelves = self.shelves();
        let parked = shelves.wakes.values().filter(|wake| wake.parked.is_some());
        Ok(parked.cloned().collect())
    }

    async fn resume(&self, repository: RepositoryId, now: Timestamp) -> Result<bool, InboxError> {
        let mut shelves = self.shelves();
        let wake = shelves.wakes.get_mut(&repository);
        let resumed = wake.is_some_and(|wake| wake.resume(now));
        drop(shelves);
        self.tell();
        Ok(resumed)
    }

    async fn forget(&self, repository: RepositoryId) -> Result<(), InboxError> {
        if let Some(wake) = self.shelves().wakes.get_mut(&repository) {
            wake.forget();
        }
        Ok(())
    }

    async fn deliveries(&self, page: Page) -> Result<Vec<Record>, InboxError> {
        Ok(self.shelves().page(page))
    }

    async fn replay(&self, id: &DeliveryId, now: Timestamp) -> Result<Replayed, InboxError> {
        let replayed = self.shelves().replay(id, now);
        self.tell();
        Ok(replayed)
    }

    async fn prune(&self, now: Timestamp) -> Result<usize, InboxError> {
        Ok(self.shelves().prune(now, self.room))
    }

    async fn counts(&self, now: Timestamp) -> Result<Counts, InboxError> {
        let shelves = self.shelves();
        let mut counts = Counts {
            deliveries: shelves.deliveries.len() as u64,
            repositories: shelves.wakes.len() as u64,
            ..Counts::default()
        };
        for wake in shelves.wakes.values() {
            counts.add(wake, now);
        }
        Ok(counts)
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, InboxError> {
        Ok(self
            .shelves()
            .wakes
            .values()
            .filter_map(Wake::next_at)
            .min())
    }

    fn trouble(&self) -> Option<String> {
        None
    }

    fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }
}
