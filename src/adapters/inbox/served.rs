//! The inbox of a service in either store.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::{Holder, RepositoryId};
use tokio::sync::watch;

use super::postgres::PostgresInbox;
use super::sqlite::{HeldDirectory, SqliteInbox};
use crate::runtime::inbox::{
    Accepted, Counts, Delivery, DeliveryId, Fault, Inbox, InboxError, Lease, Page, Record,
    Replayed, Settled, Wake,
};

/// The inbox of a service; the store is chosen at the start.
#[derive(Debug)]
pub enum ServedInbox {
    /// SQLite, in a file of the data directory: one service.
    File(SqliteInbox),
    /// PostgreSQL: several services. Each has a data directory of its own; a command beside them has none.
    Database(PostgresInbox, Option<HeldDirectory>),
}

impl ServedInbox {
    /// Completes when nothing can be stored any more until the process is restarted.
    pub fn lost(&self) -> impl Future<Output = ()> + Send + use<> {
        // A lost database may come back; only the end of our own task is final.
        let (file, database) = match self {
            Self::File(inbox) => (Some(inbox.writer_lost()), None),
            Self::Database(inbox, _) => (None, Some(inbox.storing_lost())),
        };
        async move {
            if let Some(lost) = file {
                lost.await;
            }
            if let Some(lost) = database {
                lost.await;
            }
        }
    }
}

/// Delegates a call to the store.
macro_rules! to {
    ($self:ident, $inbox:ident => $call:expr) => {
        match $self {
            ServedInbox::File($inbox) => $call,
            ServedInbox::Database($inbox, _) => $call,
        }
    };
}

impl Inbox for ServedInbox {
    async fn accept_delivery(&self, delivery: Delivery) -> Result<Accepted, InboxError> {
        to!(self, inbox => inbox.accept_delivery(delivery).await)
    }

    async fn wake_repository(
        &self,
        repository: RepositoryId,
        at: Timestamp,
    ) -> Result<(), InboxError> {
        to!(self, inbox => inbox.wake_repository(repository, at).await)
    }

    async fn list_due(&self, now: Timestamp, most: usize) -> Result<Vec<RepositoryId>, InboxError> {
        to!(self, inbox => inbox.list_due(now, most).await)
    }

    async fn claim_leases(
        &self,
        holder: &Holder,
        now: Timestamp,
        length: SignedDuration,
        repositories: &[RepositoryId],
    ) -> Result<Vec<Lease>, InboxError> {
        to!(self, inbox => inbox.claim_leases(holder, now, length, repositories).await)
    }

    async fn due_alone(&self, now: Timestamp) -> Result<Vec<RepositoryId>, InboxError> {
        to!(self, inbox => inbox.due_alone(now).await)
    }

    async fn claim_alone(
        &self,
        holder: &Holder,
        now: Timestamp,
        length: SignedDuration,
        repository: RepositoryId,
    ) -> Result<Option<Lease>, InboxError> {
        to!(self, inbox => inbox.claim_alone(holder, now, length, repository).await)
    }

    async fn end_pauses(
        &self,
        repositories: &[RepositoryId],
    ) -> Result<BTreeSet<RepositoryId>, InboxError> {
        to!(self, inbox => inbox.end_pauses(repositories).await)
    }

    async fn call_back(&self, now: Timestamp) -> Result<usize, InboxError> {
        to!(self, inbox => inbox.call_back(now).await)
    }

    async fn extend_leases(
        &self,
        leases: &[Lease],
        now: Timestamp,
        length: SignedDuration,
    ) -> Result<BTreeSet<RepositoryId>, InboxError> {
        to!(self, inbox => inbox.extend_leases(leases, now, length).await)
    }

    async fn finish_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        next: Option<Timestamp>,
    ) -> Result<Settled, InboxError> {
        to!(self, inbox => inbox.finish_lease(lease, now, next).await)
    }

    async fn fail_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        fault: &Fault,
    ) -> Result<Settled, InboxError> {
        to!(self, inbox => inbox.fail_lease(lease, now, fault).await)
    }

    async fn release_lease(&self, lease: &Lease, now: Timestamp) -> Result<Settled, InboxError> {
        to!(self, inbox => inbox.release_lease(lease, now).await)
    }

    async fn abandon_lease(&self, lease: &Lease) -> Result<Settled, InboxError> {
        to!(self, inbox => inbox.abandon_lease(lease).await)
    }

    async fn read_wake(&self, repository: RepositoryId) -> Result<Option<Wake>, InboxError> {
        to!(self, inbox => inbox.read_wake(repository).await)
    }

    async fn suspended_repositories(&self) -> Result<Vec<Wake>, InboxError> {
        to!(self, inbox => inbox.suspended_repositories().await)
    }

    async fn resume_repository(
        &self,
        repository: RepositoryId,
        now: Timestamp,
    ) -> Result<bool, InboxError> {
        to!(self, inbox => inbox.resume_repository(repository, now).await)
    }

    async fn forget_repository(&self, repository: RepositoryId) -> Result<(), InboxError> {
        to!(self, inbox => inbox.forget_repository(repository).await)
    }

    async fn list_deliveries(&self, page: Page) -> Result<Vec<Record>, InboxError> {
        to!(self, inbox => inbox.list_deliveries(page).await)
    }

    async fn replay_delivery(
        &self,
        id: &DeliveryId,
        now: Timestamp,
    ) -> Result<Replayed, InboxError> {
        to!(self, inbox => inbox.replay_delivery(id, now).await)
    }

    async fn prune_deliveries(&self, now: Timestamp) -> Result<usize, InboxError> {
        to!(self, inbox => inbox.prune_deliveries(now).await)
    }

    async fn read_counts(&self, now: Timestamp) -> Result<Counts, InboxError> {
        to!(self, inbox => inbox.read_counts(now).await)
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, InboxError> {
        to!(self, inbox => inbox.next_due().await)
    }

    fn is_shared(&self) -> bool {
        to!(self, inbox => inbox.is_shared())
    }

    fn problem_text(&self) -> Option<String> {
        let trouble = to!(self, inbox => inbox.problem_text());
        trouble.or_else(|| match self {
            Self::Database(_, Some(directory)) => directory.problem_text(),
            Self::Database(_, None) | Self::File(_) => None,
        })
    }

    fn watch_changes(&self) -> watch::Receiver<u64> {
        to!(self, inbox => inbox.watch_changes())
    }
}
