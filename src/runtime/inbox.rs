//! The inbox: stores deliveries, and knows when each repository is due.
//!
//! The ledger in git contains all that must be right; the inbox only wakes. Its contract, for every
//! store: *after a trigger for a repository was accepted, a tick of it starts at least once, soon;
//! again at a later time that was requested; and the repository is suspended, visibly, when it
//! keeps failing through its own fault.*
//!
//! Every adapter passes one suite of tests for these promises (`tests/it/inbox/`):
//!
//! 1. A delivery for which [`Inbox::accept_delivery`] returned [`Accepted::Stored`] survives the
//!    process and a power failure.
//! 2. A handled delivery that arrives again changes nothing; one whose handling was given up runs
//!    again.
//! 3. Of several wakes the earliest due time counts, and any number of them before a tick is one
//!    tick.
//! 4. A wake during a tick leads to another tick.
//! 5. A repository has at most one lease. A lease is fenced: it can only be finished, failed or
//!    released by its own token. So a process that was suspended and replaced loses nothing when it
//!    resumes.
//! 6. A tick that fails by its own fault is tried [`MAX_FAULTS`] times with growing pauses; then
//!    its repository is suspended. A repository whose process died [`ALONE_AFTER_DEATHS`] times is
//!    ticked [alone](Inbox::claim_alone), and suspended if the process dies again. An outage of
//!    another service never suspends.
//! 7. Deliveries do not resume a suspended repository. It is tried once in [`PROBE_INTERVAL`], and
//!    a person can resume it.
//! 8. The inbox reads no clock: the time is an argument of every call. [`Inbox::call_back`] undoes
//!    what a clock wrote that was ahead for a moment.
//!
//! [`Wake`] contains the rules once. An adapter loads a row, applies a rule and stores the row, all
//! in one transaction.

mod backoff;
mod counts;
mod delivery;
mod lease;
mod recheck;
mod wake;

use std::collections::BTreeSet;
use std::future::Future;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::{Holder, RepositoryId};
use tokio::sync::watch;

pub use backoff::{FIRST_PAUSE, LONGEST_PAUSE, LONGEST_REST, LONGEST_RETRY_AFTER};
pub use counts::Counts;
pub use delivery::{
    Accepted, Delivery, DeliveryId, DeliveryIdError, MAX_WORD, Outcome, Page, Record, Replayed,
    Start, delivery_outcome,
};
pub use lease::{Fault, Lease, Settled};
pub use recheck::{LOOK_AGAIN, recheck_time};
pub use wake::{
    ALONE_AFTER_DEATHS, CLOCK_SLACK, Claimed, Held, MAX_FAULTS, MAX_LEASE, PROBE_INTERVAL,
    Suspended, Wake,
};

/// How long the facts of a delivery are stored. GitHub repeats deliveries for three days; people
/// look back for a month.
pub const RETENTION: SignedDuration = SignedDuration::from_hours(30 * 24);
/// How long handled deliveries are stored at least when the inbox is short of room: GitHub's window
/// of redelivery.
pub const REDELIVERY_WINDOW: SignedDuration = SignedDuration::from_hours(3 * 24);
/// Above this share of its room an inbox does not store deliveries that wake no repository. The
/// rest is for those that do.
pub const NEARLY_FULL: f64 = 0.8;
/// The most deliveries that one [`Inbox::prune_deliveries`] removes, so that new deliveries never
/// wait for long.
pub const PRUNE_BATCH: usize = 1_000;

/// The most repositories that [`Inbox::due_alone`] returns. They are ticked one after another.
pub const MAX_ALONE: usize = 1_000;
/// The most records in one page of [`Inbox::list_deliveries`].
pub const MAX_PAGE: usize = 1_000;

/// Why a call of the inbox failed. Nothing of it was done, or no caller may rely on it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InboxError {
    /// The store cannot be reached or written now; the same call may succeed later.
    #[error("the inbox is unavailable: {0}")]
    Unavailable(String),
    /// The stored data cannot be read.
    #[error(
        "the inbox is damaged: {0}. Nothing is lost, because the ledger is in git: stop the service, move the inbox's \
         files away, and start it again"
    )]
    Damaged(String),
}

/// Stores deliveries, and the time of each repository's next tick.
pub trait Inbox: Send + Sync {
    /// Stores the facts of a delivery. If it [wakes](Delivery::wakes), marks its repository as due
    /// at [`Delivery::received_at`]. Returns after both are durable.
    ///
    /// # Errors
    ///
    /// When it cannot be stored. The caller must report that to the sender, who may send it again.
    fn accept_delivery(
        &self,
        delivery: Delivery,
    ) -> impl Future<Output = Result<Accepted, InboxError>> + Send;

    /// Requests a tick of a repository, at `at` or before. A call never postpones a tick.
    ///
    /// # Errors
    ///
    /// When it cannot be stored.
    fn wake_repository(
        &self,
        repository: RepositoryId,
        at: Timestamp,
    ) -> impl Future<Output = Result<(), InboxError>> + Send;

    /// Returns the repositories that can be claimed, longest overdue first, and `most` of them at
    /// most. Changes nothing.
    ///
    /// The driver calls this at the time of [`Inbox::next_due`], and after
    /// [`Inbox::watch_changes`].
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn list_due(
        &self,
        now: Timestamp,
        most: usize,
    ) -> impl Future<Output = Result<Vec<RepositoryId>, InboxError>> + Send;

    /// Returns the due repositories that [need to be alone](Wake::needs_to_be_alone), in the order
    /// of their ids, and [`MAX_ALONE`] of them at most.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn due_alone(
        &self,
        now: Timestamp,
    ) -> impl Future<Output = Result<Vec<RepositoryId>, InboxError>> + Send;

    /// Leases those of these repositories that can be claimed, except those that [need to be
    /// alone](Wake::needs_to_be_alone). A lease ends after `length`, at most [`MAX_LEASE`], unless
    /// [`Inbox::extend_leases`] extends it.
    ///
    /// # Errors
    ///
    /// When it cannot be stored; then nothing is leased.
    fn claim_leases(
        &self,
        holder: &Holder,
        now: Timestamp,
        length: SignedDuration,
        repositories: &[RepositoryId],
    ) -> impl Future<Output = Result<Vec<Lease>, InboxError>> + Send;

    /// Leases a repository if it can be claimed, also one that [needs to be
    /// alone](Wake::needs_to_be_alone). The caller ticks no other repository until this tick has
    /// ended.
    ///
    /// # Errors
    ///
    /// When it cannot be stored; then nothing is leased.
    fn claim_alone(
        &self,
        holder: &Holder,
        now: Timestamp,
        length: SignedDuration,
        repository: RepositoryId,
    ) -> impl Future<Output = Result<Option<Lease>, InboxError>> + Send;

    /// Makes repositories due that a wrong clock deferred too far, and returns how many; see
    /// [`Wake::call_back`]. The driver calls this about once a minute.
    ///
    /// # Errors
    ///
    /// When it cannot be stored.
    fn call_back(&self, now: Timestamp) -> impl Future<Output = Result<usize, InboxError>> + Send;

    /// Extends leases until `now + length` and returns the repositories that are still leased. The
    /// tick of any other must stop before its next effect, because another process may have its
    /// lease.
    ///
    /// # Errors
    ///
    /// When it cannot be stored; then nothing is extended.
    fn extend_leases(
        &self,
        leases: &[Lease],
        now: Timestamp,
        length: SignedDuration,
    ) -> impl Future<Output = Result<BTreeSet<RepositoryId>, InboxError>> + Send;

    /// Ends a lease after a successful tick. `next` is the time of the next tick if no delivery
    /// arrives before; an earlier wake stays.
    ///
    /// # Errors
    ///
    /// When it cannot be stored; then the lease expires and the repository is tried again.
    fn finish_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        next: Option<Timestamp>,
    ) -> impl Future<Output = Result<Settled, InboxError>> + Send;

    /// Ends a lease whose tick failed. The repository is tried again after a pause, or is
    /// suspended.
    ///
    /// # Errors
    ///
    /// When it cannot be stored; then the lease expires, and that counts as a fault of its own.
    fn fail_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        fault: &Fault,
    ) -> impl Future<Output = Result<Settled, InboxError>> + Send;

    /// Ends the pauses of these repositories after a failure, because its cause is gone. A
    /// suspended repository stays suspended. Returns those that are leased: their pause may be
    /// about to begin, so the caller must repeat the call for them.
    ///
    /// # Errors
    ///
    /// When it cannot be stored; then all of them still wait.
    fn end_pauses(
        &self,
        repositories: &[RepositoryId],
    ) -> impl Future<Output = Result<BTreeSet<RepositoryId>, InboxError>> + Send;

    /// Releases an unused lease, as a process does that shuts down. Nothing is counted, and the
    /// repository is due.
    ///
    /// # Errors
    ///
    /// When it cannot be stored; then the lease expires.
    fn release_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
    ) -> impl Future<Output = Result<Settled, InboxError>> + Send;

    /// Ends a lease of a repository that is not managed: it is
    /// [forgotten](Inbox::forget_repository). If a delivery arrived since it was claimed, it is due
    /// instead.
    ///
    /// # Errors
    ///
    /// When it cannot be stored; then the lease expires.
    fn abandon_lease(
        &self,
        lease: &Lease,
    ) -> impl Future<Output = Result<Settled, InboxError>> + Send;

    /// Reads the state of a repository's wakes.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn read_wake(
        &self,
        repository: RepositoryId,
    ) -> impl Future<Output = Result<Option<Wake>, InboxError>> + Send;

    /// Returns the suspended repositories, in the order of their ids.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn suspended_repositories(&self) -> impl Future<Output = Result<Vec<Wake>, InboxError>> + Send;

    /// Resumes a suspended repository at once. `false`: it was not suspended.
    ///
    /// # Errors
    ///
    /// When it cannot be stored.
    fn resume_repository(
        &self,
        repository: RepositoryId,
        now: Timestamp,
    ) -> impl Future<Output = Result<bool, InboxError>> + Send;

    /// Drops the wakes of a repository that is not managed any more, and its lease. Its deliveries
    /// count as handled and stay until they expire. A new wake starts from scratch.
    ///
    /// # Errors
    ///
    /// When it cannot be stored.
    fn forget_repository(
        &self,
        repository: RepositoryId,
    ) -> impl Future<Output = Result<(), InboxError>> + Send;

    /// Returns one page of the stored deliveries.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn list_deliveries(
        &self,
        page: Page,
    ) -> impl Future<Output = Result<Vec<Record>, InboxError>> + Send;

    /// Runs a delivery again, whatever its outcome was: its repository is due now.
    ///
    /// # Errors
    ///
    /// When it cannot be stored.
    fn replay_delivery(
        &self,
        id: &DeliveryId,
        now: Timestamp,
    ) -> impl Future<Output = Result<Replayed, InboxError>> + Send;

    /// Removes up to [`PRUNE_BATCH`] deliveries that are older than [`RETENTION`], and when room is
    /// short also handled ones older than [`REDELIVERY_WINDOW`]. Returns the number removed; while
    /// that is [`PRUNE_BATCH`], call it again.
    ///
    /// # Errors
    ///
    /// When it cannot be stored.
    fn prune_deliveries(
        &self,
        now: Timestamp,
    ) -> impl Future<Output = Result<usize, InboxError>> + Send;

    /// Counts deliveries and repositories, for metrics, the watchdog and people.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn read_counts(
        &self,
        now: Timestamp,
    ) -> impl Future<Output = Result<Counts, InboxError>> + Send;

    /// When the next repository can be claimed, overdue ones included; leases count with their end.
    /// `None`: never, unless something changes.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn next_due(&self) -> impl Future<Output = Result<Option<Timestamp>, InboxError>> + Send;

    /// Whether other processes may tick its repositories. If none can, the driver defers no
    /// repository.
    fn is_shared(&self) -> bool {
        true
    }

    /// Why deliveries cannot be stored now, as far as that is known without an attempt. One line
    /// for people.
    fn problem_text(&self) -> Option<String>;

    /// Changes whenever [`Inbox::next_due`] may have become earlier, in any process. Changes by
    /// other processes show within about a second.
    fn watch_changes(&self) -> watch::Receiver<u64>;
}
