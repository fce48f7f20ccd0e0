//! The inbox that replicas share, as one of them sees it: each call is a step of its own, as it is with a database, and
//! news of others come a little later. It may be away for a while; what it was asked for then was done, or was not.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use phileas::runtime::inbox::{
    Accepted, Counts, Delivery, DeliveryId, Fault, Inbox, InboxError, Lease, Page, Record,
    Replayed, Settled, Wake,
};
use phileas_domain::model::{Holder, RepositoryId};
use tokio::sync::watch;

use super::course::Process;
use super::disturbances;
use crate::support::memory_inbox::MemoryInbox;

/// One replica's way to the inbox of all.
pub(super) struct ReplicaInbox {
    shared: Arc<MemoryInbox>,
    process: Arc<Process>,
    news: watch::Sender<u64>,
}

impl ReplicaInbox {
    pub(super) fn new(shared: &Arc<MemoryInbox>, process: &Arc<Process>) -> Self {
        Self {
            shared: Arc::clone(shared),
            process: Arc::clone(process),
            news: watch::Sender::new(0),
        }
    }

    /// What is said of a call while the inbox is away.
    fn outage_error(&self, when: &str) -> InboxError {
        let course = &self.process.course;
        course.struck(&format!("{}: {when} the effect", disturbances::INBOX_AWAY));
        InboxError::Unavailable("it is away".to_owned())
    }

    /// A task has changed something.
    pub(super) fn notify_change(&self) {
        self.news.send_modify(|count| *count += 1);
    }
}

/// Each call is a step before it takes effect and one before its answer arrives. Where the inbox is away, the answer never
/// does.
macro_rules! stepped {
    ($inbox:ident.$call:ident($($argument:expr),*)) => {{
        $inbox.process.step().await;
        let away = $inbox.process.course.inbox_is_away();
        if away == Some(false) {
            return Err($inbox.outage_error("before"));
        }
        let answer = $inbox.shared.$call($($argument),*).await;
        $inbox.process.step().await;
        if away.is_some() {
            return Err($inbox.outage_error("after"));
        }
        answer
    }};
}

/// A call that only looks is no step.
macro_rules! looked {
    ($inbox:ident.$call:ident($($argument:expr),*)) => {{
        if $inbox.process.course.inbox_is_away().is_some() {
            return Err($inbox.outage_error("before"));
        }
        $inbox.shared.$call($($argument),*).await
    }};
}

impl Inbox for ReplicaInbox {
    async fn accept_delivery(&self, delivery: Delivery) -> Result<Accepted, InboxError> {
        let accepted = stepped!(self.accept_delivery(delivery));
        if accepted == Ok(Accepted::Overloaded) {
            self.process.course.struck(disturbances::INBOX_FULL);
        }
        accepted
    }

    async fn wake_repository(
        &self,
        repository: RepositoryId,
        at: Timestamp,
    ) -> Result<(), InboxError> {
        stepped!(self.wake_repository(repository, at))
    }

    async fn list_due(&self, now: Timestamp, most: usize) -> Result<Vec<RepositoryId>, InboxError> {
        stepped!(self.list_due(now, most))
    }

    async fn claim_leases(
        &self,
        holder: &Holder,
        now: Timestamp,
        length: SignedDuration,
        repositories: &[RepositoryId],
    ) -> Result<Vec<Lease>, InboxError> {
        stepped!(self.claim_leases(holder, now, length, repositories))
    }

    async fn due_alone(&self, now: Timestamp) -> Result<Vec<RepositoryId>, InboxError> {
        looked!(self.due_alone(now))
    }

    async fn claim_alone(
        &self,
        holder: &Holder,
        now: Timestamp,
        length: SignedDuration,
        repository: RepositoryId,
    ) -> Result<Option<Lease>, InboxError> {
        stepped!(self.claim_alone(holder, now, length, repository))
    }

    async fn end_pauses(
        &self,
        repositories: &[RepositoryId],
    ) -> Result<BTreeSet<RepositoryId>, InboxError> {
        stepped!(self.end_pauses(repositories))
    }

    async fn call_back(&self, now: Timestamp) -> Result<usize, InboxError> {
        looked!(self.call_back(now))
    }

    async fn extend_leases(
        &self,
        leases: &[Lease],
        now: Timestamp,
        length: SignedDuration,
    ) -> Result<BTreeSet<RepositoryId>, InboxError> {
        stepped!(self.extend_leases(leases, now, length))
    }

    async fn finish_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        next: Option<Timestamp>,
    ) -> Result<Settled, InboxError> {
        stepped!(self.finish_lease(lease, now, next))
    }

    async fn fail_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        fault: &Fault,
    ) -> Result<Settled, InboxError> {
        // Recorded first: a process that dies at the next step has had it all the same.
        if let Fault::Own { because } = fault {
            self.process.course.own_fault(because.clone());
        }
        stepped!(self.fail_lease(lease, now, fault))
    }

    async fn release_lease(&self, lease: &Lease, now: Timestamp) -> Result<Settled, InboxError> {
        stepped!(self.release_lease(lease, now))
    }

    async fn abandon_lease(&self, lease: &Lease) -> Result<Settled, InboxError> {
        stepped!(self.abandon_lease(lease))
    }

    async fn read_wake(&self, repository: RepositoryId) -> Result<Option<Wake>, InboxError> {
        looked!(self.read_wake(repository))
    }

    async fn suspended_repositories(&self) -> Result<Vec<Wake>, InboxError> {
        looked!(self.suspended_repositories())
    }

    async fn resume_repository(
        &self,
        repository: RepositoryId,
        now: Timestamp,
    ) -> Result<bool, InboxError> {
        stepped!(self.resume_repository(repository, now))
    }

    async fn forget_repository(&self, repository: RepositoryId) -> Result<(), InboxError> {
        stepped!(self.forget_repository(repository))
    }

    async fn list_deliveries(&self, page: Page) -> Result<Vec<Record>, InboxError> {
        looked!(self.list_deliveries(page))
    }

    async fn replay_delivery(
        &self,
        id: &DeliveryId,
        now: Timestamp,
    ) -> Result<Replayed, InboxError> {
        stepped!(self.replay_delivery(id, now))
    }

    async fn prune_deliveries(&self, now: Timestamp) -> Result<usize, InboxError> {
        looked!(self.prune_deliveries(now))
    }

    async fn read_counts(&self, now: Timestamp) -> Result<Counts, InboxError> {
        looked!(self.read_counts(now))
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, InboxError> {
        looked!(self.next_due())
    }

    fn problem_text(&self) -> Option<String> {
        self.shared.problem_text()
    }

    fn watch_changes(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }
}
