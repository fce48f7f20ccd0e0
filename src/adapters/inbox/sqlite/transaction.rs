//! The operations of one transaction.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::{Holder, RepositoryId};
use rusqlite::{Connection, params};

use super::deliveries::{self, Stored};
use super::delivery_index::{DeliveryIndex, DeliveryIndexChanges};
use super::value::{from_integer, repository_id, to_micros};
use super::wakes;
use crate::runtime::inbox::{
    Accepted, Claimed, Delivery, DeliveryId, LONGEST_REST, LONGEST_RETRY_AFTER, Lease, MAX_LEASE,
    Outcome, PROBE_INTERVAL, PRUNE_BATCH, REDELIVERY_WINDOW, RETENTION, Replayed, Wake,
    delivery_outcome,
};

/// How much room is left for new deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    Plenty,
    /// Only for deliveries that wake a repository.
    Little,
    None,
}

/// One transaction. A repository's row is read once and written once, however many deliveries of a batch wake it.
pub(super) struct InboxTransaction<'a> {
    connection: &'a Connection,
    /// `None` for a command, which does not know what the service stores meanwhile.
    known: Option<&'a DeliveryIndex>,
    news: DeliveryIndexChanges,
    room: Room,
    wakes: BTreeMap<RepositoryId, LoadedWake>,
    /// Whether a row of a repository was written.
    woke: bool,
}

struct LoadedWake {
    /// `None`: there is no row yet.
    wake: Option<Wake>,
    changed: bool,
}

impl<'a> InboxTransaction<'a> {
    /// A transaction that has begun on this connection.
    pub(super) fn new(
        connection: &'a Connection,
        known: Option<&'a DeliveryIndex>,
        room: Room,
    ) -> Self {
        Self {
            connection,
            known,
            news: DeliveryIndexChanges::default(),
            room,
            wakes: BTreeMap::new(),
            woke: false,
        }
    }

    /// Writes the changed rows.
    pub(super) fn put_down(&mut self) -> rusqlite::Result<()> {
        for touched in self.wakes.values_mut().filter(|touched| touched.changed) {
            if let Some(wake) = &touched.wake {
                wakes::store_wake(self.connection, wake)?;
                self.woke = true;
            }
            touched.changed = false;
        }
        Ok(())
    }

    /// The effects of the committed transaction: which deliveries were stored and removed, and whether a repository's
    /// row was written.
    pub(super) fn into_news(self) -> (DeliveryIndexChanges, bool) {
        (self.news, self.woke)
    }

    fn find_delivery(&self, id: &DeliveryId) -> rusqlite::Result<Option<Stored>> {
        match self.known {
            Some(known) => known.find_delivery(&self.news, self.connection, id),
            None => deliveries::search_delivery(self.connection, id),
        }
    }

    fn load_wake(&mut self, id: RepositoryId) -> rusqlite::Result<&mut LoadedWake> {
        use std::collections::btree_map::Entry;
        match self.wakes.entry(id) {
            Entry::Occupied(there) => Ok(there.into_mut()),
            Entry::Vacant(absent) => {
                let (wake, changed) = wakes::load_or_reset(self.connection, id)?;
                Ok(absent.insert(LoadedWake { wake, changed }))
            }
        }
    }

    /// Applies a rule to the row of a repository, and creates it if there is none.
    pub(super) fn change_wake<T>(
        &mut self,
        id: RepositoryId,
        rule: impl FnOnce(&mut Wake) -> T,
    ) -> rusqlite::Result<T> {
        let touched = self.load_wake(id)?;
        touched.changed = true;
        Ok(rule(touched.wake.get_or_insert_with(|| Wake::new(id))))
    }

    /// Applies a rule to the row of a repository, if there is one.
    pub(super) fn change_known<T>(
        &mut self,
        id: RepositoryId,
        rule: impl FnOnce(&mut Wake) -> T,
    ) -> rusqlite::Result<Option<T>> {
        let touched = self.load_wake(id)?;
        touched.changed |= touched.wake.is_some();
        Ok(touched.wake.as_mut().map(rule))
    }

    /// The row of a repository.
    pub(super) fn read_wake(&mut self, id: RepositoryId) -> rusqlite::Result<Option<Wake>> {
        Ok(self.load_wake(id)?.wake.clone())
    }

    pub(super) fn accept(&mut self, delivery: &Delivery) -> rusqlite::Result<Accepted> {
        let before = self.find_delivery(&delivery.id)?;
        if let Some(before) = &before {
            let wake = match before.delivery.repository {
                Some(id) => self.load_wake(id)?.wake.as_ref(),
                None => None,
            };
            if delivery_outcome(before.generation, wake) != Outcome::Failed {
                return Ok(Accepted::Duplicate);
            }
        } else if delivery.gives_way() && self.room != Room::Plenty {
            return Ok(Accepted::PassedOver);
        } else if self.room == Room::None {
            return Ok(Accepted::Overloaded);
        }
        let generation = match delivery.woken_repository() {
            Some(id) => Some(self.change_wake(id, |wake| {
                wake.record_delivery(delivery.repository_name.as_ref(), delivery.received_at)
            })?),
            None => None,
        };
        match before {
            Some(before) => {
                let place = deliveries::came_again(self.connection, &before, delivery, generation)?;
                self.news.record_removed(delivery.id.as_str(), before.place);
                self.news.record_stored(&delivery.id, place);
            }
            None => {
                let place = deliveries::insert(self.connection, delivery, 1, generation)?;
                self.news.record_stored(&delivery.id, place);
            }
        }
        Ok(Accepted::Stored)
    }

    pub(super) fn claim(
        &mut self,
        holder: &Holder,
        now: Timestamp,
        length: SignedDuration,
        repositories: &[RepositoryId],
        is_alone: bool,
    ) -> rusqlite::Result<Vec<Lease>> {
        let mut leases = Vec::new();
        for id in repositories {
            let touched = self.load_wake(*id)?;
            let Some(wake) = touched.wake.as_mut().filter(|wake| wake.is_due(now)) else {
                continue;
            };
            touched.changed = true;
            if let Claimed::Leased(lease) = wake.claim_lease(holder, now, length, is_alone) {
                leases.push(lease);
            }
        }
        Ok(leases)
    }

    /// Wakes repositories that an earlier, wrong clock has delayed too far.
    pub(super) fn call_back(&mut self, now: Timestamp) -> rusqlite::Result<usize> {
        self.put_down()?;
        let beyond = |most: SignedDuration| to_micros(now.saturating_add(most).unwrap_or(now));
        let mut statement = self.connection.prepare_cached(
            "SELECT repo FROM wake WHERE lease_until > ?1 OR not_before > ?2 OR due_at > ?3 OR probe_at > ?4 \
             OR received_at > ?5",
        )?;
        let rows = statement.query_map(
            params![
                beyond(MAX_LEASE),
                beyond(LONGEST_RETRY_AFTER),
                beyond(LONGEST_REST),
                beyond(PROBE_INTERVAL),
                to_micros(now)
            ],
            |row| row.get(0).and_then(repository_id),
        )?;
        let ids = rows.collect::<rusqlite::Result<Vec<_>>>()?;
        let mut called = 0;
        for id in ids {
            let touched = self.load_wake(id)?;
            if touched
                .wake
                .as_mut()
                .is_some_and(|wake| wake.call_back(now))
            {
                touched.changed = true;
                called += 1;
            }
        }
        Ok(called)
    }

    pub(super) fn end_pauses(
        &mut self,
        repositories: &[RepositoryId],
    ) -> rusqlite::Result<BTreeSet<RepositoryId>> {
        let mut held = BTreeSet::new();
        for id in repositories {
            if self.change_known(*id, Wake::end_pause)? == Some(false) {
                held.insert(*id);
            }
        }
        Ok(held)
    }

    pub(super) fn extend(
        &mut self,
        leases: &[Lease],
        now: Timestamp,
        length: SignedDuration,
    ) -> rusqlite::Result<BTreeSet<RepositoryId>> {
        let mut kept = BTreeSet::new();
        for lease in leases {
            let extended =
                self.change_known(lease.repository, |wake| wake.extend(lease, now, length))?;
            if extended == Some(true) {
                kept.insert(lease.repository);
            }
        }
        Ok(kept)
    }

    pub(super) fn replay(&mut self, id: &DeliveryId, now: Timestamp) -> rusqlite::Result<Replayed> {
        let Some(stored) = self.find_delivery(id)? else {
            return Ok(Replayed::Unknown);
        };
        let Some(repository_id) = stored.delivery.woken_repository() else {
            return Ok(Replayed::WakesNoRepository);
        };
        let (generation, suspended) = self.change_wake(repository_id, |wake| {
            (wake.record_delivery(None, now), wake.suspended.is_some())
        })?;
        deliveries::pending_again(self.connection, stored.place, generation)?;
        Ok(if suspended {
            Replayed::Suspended(repository_id)
        } else {
            Replayed::Woken(repository_id)
        })
    }

    pub(super) fn prune(&mut self, now: Timestamp) -> rusqlite::Result<usize> {
        self.put_down()?;
        let older_than = |age: SignedDuration| {
            let before = to_micros(now.saturating_sub(age).unwrap_or(now));
            deliveries::older_than(self.connection, before)
        };
        let (kept_long_enough, brought_again_no_more) =
            (older_than(RETENTION)?, older_than(REDELIVERY_WINDOW)?);
        let removed = self.remove_delivery(
            "DELETE FROM delivery WHERE place IN \
             (SELECT place FROM delivery WHERE place < ?1 ORDER BY place LIMIT ?2) RETURNING id, place",
            kept_long_enough,
            PRUNE_BATCH,
        )?;
        if self.room != Room::None || removed == PRUNE_BATCH {
            return Ok(removed);
        }
        let handled = self.remove_delivery(
            "DELETE FROM delivery WHERE place IN \
             (SELECT place FROM delivery LEFT JOIN wake ON wake.repo = delivery.repo \
              WHERE place < ?1 AND (delivery.generation IS NULL OR delivery.generation <= done_generation) \
              ORDER BY place LIMIT ?2) RETURNING id, place",
            brought_again_no_more,
            PRUNE_BATCH - removed,
        )?;
        Ok(removed + handled)
    }

    /// Removes at most this many deliveries before a place, and returns their number.
    fn remove_delivery(&mut self, sql: &str, before: i64, most: usize) -> rusqlite::Result<usize> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows_gone = statement.query(params![before, changed_rows(most)])?;
        let mut count = 0;
        while let Some(row) = rows_gone.next()? {
            let place = from_integer(row.get(1)?)?;
            self.news.record_removed(row.get_ref(0)?.as_str()?, place);
            count += 1;
        }
        Ok(count)
    }
}

/// A number of rows, for SQLite.
fn changed_rows(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
