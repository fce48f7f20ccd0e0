//! An inbox in PostgreSQL, for several services at once.
//!
//! The rules are those of [`Wake`]: a row is locked, read, judged here and written in one transaction. Leases are
//! fenced by their token, so a process that paused and resumes loses nothing. When a repository can be claimed
//! earlier than before, a notification tells the other services; if their connection for it is lost, they check once
//! a second.
//!
//! Times come from the machines. A machine whose clock differs more than two seconds from the database's claims
//! nothing, and deliveries that it receives are stored with the database's time. Connections go to the server itself:
//! a pooler that switches connections between statements supports neither prepared statements nor notifications.

mod address;
mod attempt;
mod clock;
mod connections;
mod delivery_count;
mod failure;
mod intake;
mod listen;
mod locked_wakes;
mod rows;
mod schema;
mod state;
mod unanswered_leases;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::{Holder, RepositoryId};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{AbortHandle, JoinHandle};

pub use address::{DatabaseUrl, DatabaseUrlError};
pub use schema::{OpenError, Tables};

use crate::runtime::inbox::{
    ALONE_AFTER_DEATHS, Accepted, Counts, Delivery, DeliveryId, Fault, Inbox, InboxError,
    LONGEST_REST, LONGEST_RETRY_AFTER, Lease, MAX_ALONE, MAX_LEASE, MAX_PAGE, PROBE_INTERVAL,
    PRUNE_BATCH, Page, REDELIVERY_WINDOW, RETENTION, Record, Replayed, Settled, Start, Wake,
};
use attempt::{ATTEMPT, LONG_ATTEMPT, retried, tried};
use clock::{CLOCK, ClockSkew};
use connections::Connections;
use failure::Failure;
use intake::{QUEUE, QueuedDelivery};
use locked_wakes::LockedWakes;
use rows::{RECORD, from_integer, from_micros, to_integer, to_micros, wake_columns};
use state::State;
use unanswered_leases::UnansweredLeases;

/// An inbox in PostgreSQL.
#[derive(Debug)]
pub struct PostgresInbox {
    connections: Connections,
    state: Arc<State>,
    intake: mpsc::Sender<QueuedDelivery>,
    unanswered: UnansweredLeases,
    /// Closed when the task that stores deliveries ends.
    storing: watch::Receiver<()>,
    tasks: Vec<AbortHandle>,
}

impl Drop for PostgresInbox {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

impl PostgresInbox {
    /// Opens the inbox of a service, and creates its tables if there are none. Leases of other services stay.
    ///
    /// # Errors
    ///
    /// When the database cannot be reached, refuses the connection, or has tables of a version that this one cannot
    /// use.
    pub async fn open(url: &DatabaseUrl, room: u64) -> Result<Self, OpenError> {
        let state = Arc::new(State::new(room));
        let (connections, mut client) = Connections::open_pool(url, Arc::clone(&state)).await?;
        schema::migrate_tables(&mut client, &Tables::OURS, &url.display_address()).await?;
        // Measure the clock before repositories are called back: by a wrong clock all of them seem to be delayed too
        // far.
        let measured = async {
            let clock = client.prepare_cached(CLOCK).await?;
            ClockSkew::measure_skew(&**client, &clock).await
        };
        let ahead = measured.await;
        let ahead = ahead
            .map_err(|failure| schema::unreachable_database(&url.display_address(), failure))?;
        // Stored deliveries use room from the start. If there are too many to count in time, the count is repeated
        // later.
        let stored = delivery_count::count_deliveries(&connections).await;
        let inbox = Self::start_tasks(url, connections, state);
        ahead.record_in(&inbox.state);
        match stored {
            Ok(stored) => inbox.state.set_stored(stored),
            Err(error) => tracing::warn!("cannot count the stored deliveries: {error}"),
        }
        Ok(inbox)
    }

    /// Migrates the tables to what a version of phileas needs, while services are using them.
    ///
    /// # Errors
    ///
    /// When the database cannot be reached, refuses the connection, has tables of a version that this one cannot use,
    /// or refuses one of the steps; then none of them is done.
    pub async fn migrate(url: &DatabaseUrl, tables: &Tables<'_>) -> Result<(), OpenError> {
        let state = Arc::new(State::new(0));
        let (_connections, mut client) = Connections::open_pool(url, state).await?;
        schema::migrate_tables(&mut client, tables, &url.display_address()).await
    }

    /// Opens an inbox that services are using, for a command.
    ///
    /// # Errors
    ///
    /// When there is none, it cannot be reached, or another version of phileas made it.
    pub async fn open_beside_services(url: &DatabaseUrl) -> Result<Self, OpenError> {
        let state = Arc::new(State::new(u64::MAX));
        let (connections, client) = Connections::open_pool(url, Arc::clone(&state)).await?;
        schema::expect_readable_tables(&client, &url.display_address()).await?;
        drop(client);
        Ok(Self::start_tasks(url, connections, state))
    }

    fn start_tasks(url: &DatabaseUrl, connections: Connections, state: Arc<State>) -> Self {
        let (intake, brought) = mpsc::channel(QUEUE);
        let (living, storing) = watch::channel(());
        let store = intake::store_deliveries(connections.clone(), Arc::clone(&state), brought);
        let tasks = [
            tokio::spawn(async move {
                store.await;
                drop(living);
            }),
            tokio::spawn(listen::listen_for_changes(url.clone(), Arc::clone(&state))),
            tokio::spawn(delivery_count::again_and_again(
                connections.clone(),
                Arc::clone(&state),
            )),
        ];
        Self {
            connections,
            state,
            intake,
            unanswered: UnansweredLeases::default(),
            storing,
            tasks: tasks.iter().map(JoinHandle::abort_handle).collect(),
        }
    }

    /// Completes when the task that stores deliveries has ended by itself: no delivery is stored any more until the
    /// process is restarted.
    pub fn storing_lost(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut storing = self.storing.clone();
        async move { while storing.changed().await.is_ok() {} }
    }

    /// Applies a rule to locked rows, and stores the changes. The rule gets the time since the first attempt, which
    /// is how much time has passed since its caller read the clock.
    async fn change<T>(
        &self,
        repositories: BTreeSet<RepositoryId>,
        make: bool,
        rule: impl Fn(&mut LockedWakes, SignedDuration) -> T,
    ) -> Result<T, InboxError> {
        let changed = retried!(self.connections, ATTEMPT, |client, waited| {
            let waited = SignedDuration::try_from(waited).unwrap_or(SignedDuration::MAX);
            let transaction = client.transaction().await?;
            let mut rows = LockedWakes::lock_rows(&transaction, &repositories, make).await?;
            let value = rule(&mut rows, waited);
            rows.store_wakes(&transaction).await?;
            transaction.commit().await?;
            Ok::<_, Failure>(value)
        });
        self.note_leases(&changed);
        // Do not notify about a failed change: a caller that is notified would try again at once.
        if changed.is_ok() {
            self.state.notify_change();
        }
        changed
    }

    /// Applies a rule to the row of a lease.
    async fn settle_lease(
        &self,
        lease: &Lease,
        rule: impl Fn(&mut Wake) -> Settled,
    ) -> Result<Settled, InboxError> {
        let id = lease.repository;
        self.change(BTreeSet::from([id]), false, |rows, _| {
            rows.get_mut(id).map_or(Settled::Lost, &rule)
        })
        .await
    }

    /// Leases repositories. `is_alone`: the holder runs no other tick.
    async fn grant_leases(
        &self,
        holder: &Holder,
        now: Timestamp,
        length: SignedDuration,
        repositories: &[RepositoryId],
        is_alone: bool,
    ) -> Result<Vec<Lease>, InboxError> {
        let mut unanswered = self.unanswered.take_all();
        let claimed = tried!(self.connections, ATTEMPT, |client, waited| {
            let transaction = client.transaction().await?;
            let ahead = ClockSkew::measure_in(&transaction).await?;
            ahead.record_in(&self.state);
            // By a wrong clock, leases of others could seem to have expired.
            if let Some(apart) = ahead.skew_problem() {
                return Err(Failure::Apart(apart));
            }
            let lost = unanswered.iter().map(|lease| lease.repository);
            let wanted = repositories.iter().copied().chain(lost).collect();
            let mut rows = LockedWakes::lock_rows(&transaction, &wanted, false).await?;
            let waited = SignedDuration::try_from(waited).unwrap_or(SignedDuration::MAX);
            let now = add_or_max(now, waited);
            let leases = unanswered_leases::grant_leases(
                &mut rows,
                &mut unanswered,
                holder,
                now,
                length,
                repositories,
                is_alone,
            );
            rows.store_wakes(&transaction).await?;
            transaction.commit().await?;
            Ok(leases)
        });
        match claimed {
            Ok(leases) => {
                self.state.record_success();
                self.state.notify_change();
                Ok(leases)
            }
            Err(failure) => {
                self.unanswered.keep_leases(unanswered);
                let is_apart = matches!(failure, Failure::Apart(_));
                let error = InboxError::from(failure);
                // The database works.
                if !is_apart {
                    self.state.record_failure(&error);
                }
                Err(error)
            }
        }
    }

    fn note_leases<T>(&self, done: &Result<T, InboxError>) {
        match done {
            Ok(_) => self.state.record_success(),
            Err(error) => self.state.record_failure(error),
        }
    }

    /// The wakes that a condition selects.
    async fn read_wakes(&self, condition: &str) -> Result<Vec<Wake>, InboxError> {
        let sql = format!(
            "SELECT {} FROM phileas.wake WHERE {condition} ORDER BY repo",
            wake_columns!()
        );
        retried!(self.connections, ATTEMPT, |client| {
            let rows = client.query(&sql, &[]).await?;
            rows.iter()
                .map(rows::read_wake)
                .collect::<Result<Vec<_>, Failure>>()
        })
    }

    /// Removes at most this many deliveries that were received before an instant.
    async fn remove_old(
        &self,
        before: Timestamp,
        most: usize,
        handled: bool,
    ) -> Result<usize, InboxError> {
        let sql = if handled {
            "DELETE FROM phileas.delivery WHERE place IN (SELECT place FROM phileas.delivery \
             LEFT JOIN phileas.wake ON wake.repo = delivery.repo WHERE delivery.received_at < $1 \
             AND (delivery.generation IS NULL OR delivery.generation <= done_generation) \
             ORDER BY delivery.received_at, place LIMIT $2)"
        } else {
            "DELETE FROM phileas.delivery WHERE place IN (SELECT place FROM phileas.delivery \
             WHERE delivery.received_at < $1 ORDER BY delivery.received_at, place LIMIT $2)"
        };
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let before = to_micros(before);
        retried!(self.connections, LONG_ATTEMPT, |client| {
            let removed = client.execute(sql, &[&before, &most]).await?;
            Ok::<_, Failure>(usize::try_from(removed).unwrap_or(usize::MAX))
        })
    }
}

/// Adds a length, and stays at the last instant on overflow.
fn add_or_max(at: Timestamp, length: SignedDuration) -> Timestamp {
    at.checked_add(length).unwrap_or(Timestamp::MAX)
}

impl Inbox for PostgresInbox {
    async fn accept_delivery(&self, delivery: Delivery) -> Result<Accepted, InboxError> {
        let (answer, answered) = oneshot::channel();
        match self.intake.try_send(QueuedDelivery { delivery, answer }) {
            Ok(()) => {}
            Err(mpsc::error::TrySendError::Full(_)) => return Ok(Accepted::Overloaded),
            Err(mpsc::error::TrySendError::Closed(_)) => {
                return Err(InboxError::Unavailable("the service is ending".to_owned()));
            }
        }
        let lost = || InboxError::Unavailable("the service is ending".to_owned());
        answered.await.map_err(|_| lost())?
    }

    async fn wake_repository(
        &self,
        repository: RepositoryId,
        at: Timestamp,
    ) -> Result<(), InboxError> {
        self.change(BTreeSet::from([repository]), true, |rows, _| {
            if let Some(wake) = rows.get_mut(repository) {
                wake.request_tick(at);
            }
        })
        .await
    }

    async fn list_due(&self, now: Timestamp, most: usize) -> Result<Vec<RepositoryId>, InboxError> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let now = to_micros(now);
        retried!(self.connections, ATTEMPT, |client| {
            let statement = client
                .prepare_cached(
                    "SELECT repo FROM phileas.wake WHERE next_at <= $1 ORDER BY next_at, repo LIMIT $2",
                )
                .await?;
            let rows = client.query(&statement, &[&now, &most]).await?;
            let ids = rows
                .iter()
                .map(|row| from_integer(row.try_get(0)?).map(RepositoryId));
            ids.collect::<Result<Vec<_>, Failure>>()
        })
    }

    async fn claim_leases(
        &self,
        holder: &Holder,
        now: Timestamp,
        length: SignedDuration,
        repositories: &[RepositoryId],
    ) -> Result<Vec<Lease>, InboxError> {
        self.grant_leases(holder, now, length, repositories, false)
            .await
    }

    async fn due_alone(&self, now: Timestamp) -> Result<Vec<RepositoryId>, InboxError> {
        let deaths = i64::from(ALONE_AFTER_DEATHS);
        let most = i64::try_from(MAX_ALONE).unwrap_or(i64::MAX);
        let now = to_micros(now);
        retried!(self.connections, ATTEMPT, |client| {
            let statement = client
                .prepare_cached(
                    "SELECT repo FROM phileas.wake WHERE next_at <= $1 AND deaths::bigint >= $2 ORDER BY repo LIMIT $3",
                )
                .await?;
            let rows = client.query(&statement, &[&now, &deaths, &most]).await?;
            let ids = rows
                .iter()
                .map(|row| from_integer(row.try_get(0)?).map(RepositoryId));
            ids.collect::<Result<Vec<_>, Failure>>()
        })
    }

    async fn claim_alone(
        &self,
        holder: &Holder,
        now: Timestamp,
        length: SignedDuration,
        repository: RepositoryId,
    ) -> Result<Option<Lease>, InboxError> {
        let leases = self
            .grant_leases(holder, now, length, &[repository], true)
            .await;
        leases.map(|mut leases| leases.pop())
    }

    async fn end_pauses(
        &self,
        repositories: &[RepositoryId],
    ) -> Result<BTreeSet<RepositoryId>, InboxError> {
        let wanted: BTreeSet<RepositoryId> = repositories.iter().copied().collect();
        self.change(wanted.clone(), false, |rows, _| {
            let held = |id: &RepositoryId| {
                rows.get_mut(*id)
                    .is_some_and(|wake| !wake.end_pause())
                    .then_some(*id)
            };
            wanted.iter().filter_map(held).collect()
        })
        .await
    }

    async fn call_back(&self, now: Timestamp) -> Result<usize, InboxError> {
        // By a wrong clock all others' leases seem to be too far ahead.
        if self.state.clock_problem().is_some() {
            return Ok(0);
        }
        let beyond = |most: SignedDuration| to_micros(now.saturating_add(most).unwrap_or(now));
        let condition = format!(
            "lease_until > {} OR not_before > {} OR due_at > {} OR probe_at > {} OR received_at > {}",
            beyond(MAX_LEASE),
            beyond(LONGEST_RETRY_AFTER),
            beyond(LONGEST_REST),
            beyond(PROBE_INTERVAL),
            to_micros(now)
        );
        let found = self.read_wakes(&condition).await?;
        if found.is_empty() {
            return Ok(0);
        }
        let ids: BTreeSet<RepositoryId> = found.iter().map(|wake| wake.repository).collect();
        self.change(ids.clone(), false, |rows, _| {
            let mut called = 0;
            for id in &ids {
                called += usize::from(rows.get_mut(*id).is_some_and(|wake| wake.call_back(now)));
            }
            called
        })
        .await
    }

    async fn extend_leases(
        &self,
        leases: &[Lease],
        now: Timestamp,
        length: SignedDuration,
    ) -> Result<BTreeSet<RepositoryId>, InboxError> {
        let ids = leases.iter().map(|lease| lease.repository).collect();
        self.change(ids, false, |rows, waited| {
            let now = add_or_max(now, waited);
            let held = leases.iter().filter(|lease| {
                rows.get_mut(lease.repository)
                    .is_some_and(|wake| wake.extend(lease, now, length))
            });
            held.map(|lease| lease.repository).collect()
        })
        .await
    }

    async fn finish_lease(
        &self,
        lease: &Lease,
        _now: Timestamp,
        next: Option<Timestamp>,
    ) -> Result<Settled, InboxError> {
        self.settle_lease(lease, |wake| wake.finish_lease(lease, next))
            .await
    }

    async fn fail_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        fault: &Fault,
    ) -> Result<Settled, InboxError> {
        self.settle_lease(lease, |wake| wake.fail_lease(lease, now, fault))
            .await
    }

    async fn release_lease(&self, lease: &Lease, now: Timestamp) -> Result<Settled, InboxError> {
        self.settle_lease(lease, |wake| wake.release_lease(lease, now))
            .await
    }

    async fn abandon_lease(&self, lease: &Lease) -> Result<Settled, InboxError> {
        self.settle_lease(lease, |wake| wake.abandon_lease(lease))
            .await
    }

    async fn read_wake(&self, repository: RepositoryId) -> Result<Option<Wake>, InboxError> {
        let Ok(id) = i64::try_from(repository.0) else {
            return Ok(None);
        };
        let found = self.read_wakes(&format!("repo = {id}")).await?;
        Ok(found.into_iter().next())
    }

    async fn suspended_repositories(&self) -> Result<Vec<Wake>, InboxError> {
        self.read_wakes("suspended_at IS NOT NULL").await
    }

    async fn resume_repository(
        &self,
        repository: RepositoryId,
        now: Timestamp,
    ) -> Result<bool, InboxError> {
        self.change(BTreeSet::from([repository]), false, |rows, _| {
            rows.get_mut(repository)
                .is_some_and(|wake| wake.resume_suspended(now))
        })
        .await
    }

    async fn forget_repository(&self, repository: RepositoryId) -> Result<(), InboxError> {
        self.change(BTreeSet::from([repository]), false, |rows, _| {
            if let Some(wake) = rows.get_mut(repository) {
                wake.forget_wakes();
            }
        })
        .await
    }

    async fn list_deliveries(&self, page: Page) -> Result<Vec<Record>, InboxError> {
        let most = i64::try_from(page.most.min(MAX_PAGE)).unwrap_or(i64::MAX);
        let (sql, place) = match page.start {
            Start::After(place) => (
                format!("{RECORD} WHERE place > $1 ORDER BY place LIMIT $2"),
                place,
            ),
            Start::Before(place) => (
                format!("{RECORD} WHERE place < $1 ORDER BY place DESC LIMIT $2"),
                place.unwrap_or(u64::MAX),
            ),
        };
        let place = i64::try_from(place).unwrap_or(i64::MAX);
        retried!(self.connections, LONG_ATTEMPT, |client| {
            let rows = client.query(&sql, &[&place, &most]).await?;
            rows.iter()
                .map(rows::read_record)
                .collect::<Result<Vec<_>, Failure>>()
        })
    }

    async fn replay_delivery(
        &self,
        id: &DeliveryId,
        now: Timestamp,
    ) -> Result<Replayed, InboxError> {
        let replayed = retried!(self.connections, ATTEMPT, |client| {
            let transaction = client.transaction().await?;
            let found = transaction
                .query_opt(
                    "SELECT place, repo FROM phileas.delivery WHERE id = $1 AND wakes AND repo IS NOT NULL",
                    &[&id.as_str()],
                )
                .await?;
            let Some(row) = found else {
                let known = transaction
                    .query_opt(
                        "SELECT 1 FROM phileas.delivery WHERE id = $1",
                        &[&id.as_str()],
                    )
                    .await?;
                return Ok(match known {
                    Some(_) => Replayed::WakesNoRepository,
                    None => Replayed::Unknown,
                });
            };
            let (place, repository): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
            let repository = RepositoryId(from_integer(repository)?);
            let mut rows =
                LockedWakes::lock_rows(&transaction, &BTreeSet::from([repository]), true).await?;
            let (generation, suspended) = rows.get_mut(repository).map_or((0, false), |wake| {
                (wake.record_delivery(None, now), wake.suspended.is_some())
            });
            transaction
                .execute(
                    "UPDATE phileas.delivery SET generation = $2 WHERE place = $1",
                    &[&place, &to_integer(generation)?],
                )
                .await?;
            rows.store_wakes(&transaction).await?;
            transaction.commit().await?;
            Ok::<_, Failure>(if suspended {
                Replayed::Suspended(repository)
            } else {
                Replayed::Woken(repository)
            })
        });
        if replayed.is_ok() {
            self.state.notify_change();
        }
        replayed
    }

    async fn prune_deliveries(&self, now: Timestamp) -> Result<usize, InboxError> {
        if self.state.clock_problem().is_some() {
            return Ok(0);
        }
        let before = |age: SignedDuration| now.saturating_sub(age).unwrap_or(now);
        let mut removed = self
            .remove_old(before(RETENTION), PRUNE_BATCH, false)
            .await?;
        self.state
            .set_stored(delivery_count::count_deliveries(&self.connections).await?);
        if removed < PRUNE_BATCH && self.state.is_full(0) {
            let rest = PRUNE_BATCH - removed;
            removed += self
                .remove_old(before(REDELIVERY_WINDOW), rest, true)
                .await?;
            self.state
                .set_stored(delivery_count::count_deliveries(&self.connections).await?);
        }
        Ok(removed)
    }

    async fn read_counts(&self, now: Timestamp) -> Result<Counts, InboxError> {
        let deliveries = delivery_count::count_deliveries(&self.connections).await?;
        let now = to_micros(now);
        let counts = retried!(self.connections, LONG_ATTEMPT, |client| {
            let row = client
                .query_one(
                    "SELECT count(*), count(*) FILTER (WHERE next_at <= $1), \
                     count(*) FILTER (WHERE lease_owner IS NOT NULL AND next_at > $1), \
                     count(*) FILTER (WHERE suspended_at IS NULL AND last_fault IS NOT NULL), \
                     count(*) FILTER (WHERE suspended_at IS NOT NULL), \
                     min(next_at) FILTER (WHERE next_at <= $1) FROM phileas.wake",
                    &[&now],
                )
                .await?;
            let count = |column| -> Result<u64, Failure> { from_integer(row.try_get(column)?) };
            let oldest: Option<i64> = row.try_get(5)?;
            Ok::<_, Failure>(Counts {
                deliveries,
                repositories: count(0)?,
                due: count(1)?,
                leased: count(2)?,
                failing: count(3)?,
                suspended: count(4)?,
                oldest_due: oldest.map(from_micros).transpose()?,
                bytes: deliveries * state::DELIVERY,
                limit_bytes: Some(self.state.limit_bytes()),
            })
        });
        self.note_leases(&counts);
        counts
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, InboxError> {
        retried!(self.connections, ATTEMPT, |client| {
            let statement = client
                .prepare_cached("SELECT min(next_at) FROM phileas.wake WHERE next_at IS NOT NULL")
                .await?;
            let next: Option<i64> = client.query_one(&statement, &[]).await?.try_get(0)?;
            next.map(from_micros).transpose()
        })
    }

    fn problem_text(&self) -> Option<String> {
        if self.storing.has_changed().is_err() {
            return Some("the task that stores deliveries has ended".to_owned());
        }
        self.state.current_problem()
    }

    fn watch_changes(&self) -> watch::Receiver<u64> {
        self.state.news()
    }
}
