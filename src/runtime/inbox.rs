//! The inbox: stored deliveries, and when each repository is due.
//!
//! The ledger in git carries all that must be right; the inbox only wakes. Its contract, whatever stores it: *after a
//! trigger for a repository was accepted, a tick of it starts at least once, soon; again when asked for a later time;
//! and the repository is suspended, visibly, when it keeps failing through its own fault.*
//!
//! Promises, each held by one suite that every adapter passes (`tests/it/inbox/`):
//!
//! 1. What [`Inbox::accept`] answered with [`Accepted::Stored`] outlives the process and a loss of power.
//! 2. A delivery that was handled is a no-op when it comes again; one whose handling was given up runs again.
//! 3. Of several wakes the earliest due time wins, and any number of them before a tick is one tick.
//! 4. A wake during a tick leads to another tick.
//! 5. A repository has at most one lease. A lease is fenced: finishing, failing or giving back counts only for the
//!    lease that was given, so that a holder that was stopped, taken over and resumed swallows nothing.
//! 6. A handler that fails by its own fault is tried [`MAX_FAULTS`] times with growing pauses and then suspended. One whose
//!    process died [`ALONE_AFTER_DEATHS`] times is ticked [alone](Inbox::claim_alone), and suspended where the process dies
//!    then, too. An outage of another service never suspends.
//! 7. Traffic does not revive a suspended repository. It is tried once in [`PROBE_INTERVAL`], and a person resumes it.
//! 8. Nothing depends on a clock of the inbox: the time is an argument of every call. What a clock wrote that was ahead
//!    for a moment is [called back](Inbox::call_back).
//!
//! The rules are written once, in [`Wake`]; an adapter loads a row, applies a rule and stores the row, all in one
//! transaction.

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

/// How long the facts of a delivery are kept. GitHub offers deliveries again for three days; people ask for a month.
pub const RETENTION: SignedDuration = SignedDuration::from_hours(30 * 24);
/// How long handled deliveries are kept at least when the inbox is short of room: GitHub's window of redelivery.
pub const REDELIVERY_WINDOW: SignedDuration = SignedDuration::from_hours(3 * 24);
/// From this part of its room on an inbox passes over deliveries that wake no repository: what is left is for those that do.
pub const NEARLY_FULL: f64 = 0.8;
/// The most deliveries that one [`Inbox::prune`] removes, so that it never holds up the accepting for long.
pub const PRUNE_BATCH: usize = 1_000;

/// The most repositories that [`Inbox::due_alone`] answers with. They are ticked one after another.
pub const MAX_ALONE: usize = 1_000;
/// The most records that one page of [`Inbox::deliveries`] holds.
pub const MAX_PAGE: usize = 1_000;

/// Why the inbox could not do what it was asked for. Nothing of it was done, or at least no caller may rely on it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InboxError {
    /// The store cannot be reached or written now; the same call may work later.
    #[error("the inbox is unavailable: {0}")]
    Unavailable(String),
    /// What is stored cannot be read.
    #[error(
        "the inbox is damaged: {0}. The ledger is in git and nothing of it is lost: stop the service, move the inbox's \
         files away, and start it again"
    )]
    Damaged(String),
}

/// Where deliveries are kept and repositories wait for their tick.
pub trait Inbox: Send + Sync {
    /// Stores the facts of a delivery and, where it [wakes](Delivery::wakes), marks its repository as due at
    /// [`Delivery::received_at`]. Answers after both are durable.
    ///
    /// # Errors
    ///
    /// When it cannot be stored. The sender must be told so, that it may come again.
    fn accept_delivery(
        &self,
        delivery: Delivery,
    ) -> impl Future<Output = Result<Accepted, InboxError>> + Send;

    /// Asks for a tick of a repository, at `at` or before. Nothing is ever postponed by it.
    ///
    /// # Errors
    ///
    /// When it cannot be stored.
    fn wake_repository(
        &self,
        repository: RepositoryId,
        at: Timestamp,
    ) -> impl Future<Output = Result<(), InboxError>> + Send;

    /// Who can be claimed, the longest overdue first, and `most` of them at most. Nothing is changed by it.
    ///
    /// The driver calls this when [`Inbox::next_due`] has come, and after [`Inbox::news`].
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn list_due(
        &self,
        now: Timestamp,
        most: usize,
    ) -> impl Future<Output = Result<Vec<RepositoryId>, InboxError>> + Send;

    /// Those of the due repositories that [need to be alone](Wake::needs_to_be_alone), in the order of their ids, and
    /// [`MAX_ALONE`] of them at most.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn due_alone(
        &self,
        now: Timestamp,
    ) -> impl Future<Output = Result<Vec<RepositoryId>, InboxError>> + Send;

    /// Leases those of these repositories that can be claimed, but those that [need to be
    /// alone](Wake::needs_to_be_alone). A lease ends after `length`, at most [`MAX_LEASE`], unless [`Inbox::heartbeat`]
    /// extends it.
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

    /// Leases a repository if it can be claimed, also one that [needs to be alone](Wake::needs_to_be_alone): the caller
    /// ticks no other repository, and begins none before this tick has ended.
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

    /// Calls back repositories that a clock deferred too far before it was set back, and answers with
    /// how many they were; see [`Wake::call_back`]. The driver calls this about once a minute.
    ///
    /// # Errors
    ///
    /// When it cannot be stored.
    fn call_back(&self, now: Timestamp) -> impl Future<Output = Result<usize, InboxError>> + Send;

    /// Extends leases until `now + length` and answers with the repositories that are still held. Of any other, the
    /// tick must stop before its next effect: another process may hold it.
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

    /// Ends a lease well. `next` is when to look again if nothing is heard before; an earlier wake stands.
    ///
    /// # Errors
    ///
    /// When it cannot be stored; then the lease runs out and the repository is tried again.
    fn finish_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        next: Option<Timestamp>,
    ) -> impl Future<Output = Result<Settled, InboxError>> + Send;

    /// Ends a lease whose tick failed. The repository is tried again after a pause, or is suspended.
    ///
    /// # Errors
    ///
    /// When it cannot be stored; then the lease runs out, and that counts as a fault of its own.
    fn fail_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        fault: &Fault,
    ) -> impl Future<Output = Result<Settled, InboxError>> + Send;

    /// What these repositories were waiting for has come: they need not wait any longer for having failed. A repository that is
    /// suspended stays so. Answers with those that are leased: their pause may be about to begin, so that the caller
    /// must come back for them.
    ///
    /// # Errors
    ///
    /// When it cannot be stored; then all of them still wait.
    fn end_pauses(
        &self,
        repositories: &[RepositoryId],
    ) -> impl Future<Output = Result<BTreeSet<RepositoryId>, InboxError>> + Send;

    /// Gives a lease back unused, as a process does that is about to end. Nothing is counted; the repository is due.
    ///
    /// # Errors
    ///
    /// When it cannot be stored; then the lease runs out.
    fn release_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
    ) -> impl Future<Output = Result<Settled, InboxError>> + Send;

    /// Ends a lease of a repository that is not looked after: it is [forgotten](Inbox::forget), unless something was heard
    /// of it since it was claimed; then that is due.
    ///
    /// # Errors
    ///
    /// When it cannot be stored; then the lease runs out.
    fn abandon_lease(
        &self,
        lease: &Lease,
    ) -> impl Future<Output = Result<Settled, InboxError>> + Send;

    /// All that is known of a repository's wakes.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn read_wake(
        &self,
        repository: RepositoryId,
    ) -> impl Future<Output = Result<Option<Wake>, InboxError>> + Send;

    /// Suspended repositories, in the order of their ids.
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

    /// Drops the wakes of a repository that is not looked after any more, its lease included. Its deliveries count as
    /// handled and stay until their time is over. A new wake starts from scratch.
    ///
    /// # Errors
    ///
    /// When it cannot be stored.
    fn forget_repository(
        &self,
        repository: RepositoryId,
    ) -> impl Future<Output = Result<(), InboxError>> + Send;

    /// One page of the stored deliveries.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn list_deliveries(
        &self,
        page: Page,
    ) -> impl Future<Output = Result<Vec<Record>, InboxError>> + Send;

    /// Runs a delivery again, whatever came of it: its repository is due now.
    ///
    /// # Errors
    ///
    /// When it cannot be stored.
    fn replay_delivery(
        &self,
        id: &DeliveryId,
        now: Timestamp,
    ) -> impl Future<Output = Result<Replayed, InboxError>> + Send;

    /// Removes up to [`PRUNE_BATCH`] deliveries that are older than [`RETENTION`], and where room is short also handled
    /// ones older than [`REDELIVERY_WINDOW`]. Answers with how many; call it again while that is [`PRUNE_BATCH`].
    ///
    /// # Errors
    ///
    /// When it cannot be stored.
    fn prune_deliveries(
        &self,
        now: Timestamp,
    ) -> impl Future<Output = Result<usize, InboxError>> + Send;

    /// Figures for metrics, for the watchdog and for people.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn read_counts(
        &self,
        now: Timestamp,
    ) -> impl Future<Output = Result<Counts, InboxError>> + Send;

    /// When the next repository can be claimed, overdue ones included; leases count with their end. `None`: never, as
    /// things stand.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn next_due(&self) -> impl Future<Output = Result<Option<Timestamp>, InboxError>> + Send;

    /// Whether other processes may tick what lies in it. Where none can, nothing is left to them.
    fn is_shared(&self) -> bool {
        true
    }

    /// Why deliveries cannot be stored at this time, as far as that is known without trying. One line for people.
    fn problem_text(&self) -> Option<String>;

    /// Changes whenever [`Inbox::next_due`] may have become earlier, in whichever process. Other processes are noticed within
    /// a second or so.
    fn watch_changes(&self) -> watch::Receiver<u64>;
}
