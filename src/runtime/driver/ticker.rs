//! The interface between the driver and a tick.

use jiff::Timestamp;
use phileas_domain::model::RepositoryId;

use super::stop::StopSignal;
use crate::runtime::inbox::{Fault, Lease};

/// An account that ticks share. The number of ticks at once is limited for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// A GitHub credential: an installation's id, 0 for a plain token.
    GitHub(u64),
    /// A Jules key, by its number.
    Jules(u64),
}

/// The result of a tick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ticked {
    /// It ended well.
    Done {
        /// When to tick again by the driver's clock, if no delivery arrives before.
        wake_at: Option<Timestamp>,
    },
    /// It stopped on request, and has settled everything that it had begun. The repository is still
    /// due.
    Stopped,
    /// The service does not manage the repository any more.
    Gone,
    /// It failed.
    Failed(Fault),
}

/// Ticks repositories, one at a time each.
pub trait Ticker: Send + Sync + 'static {
    /// The repository's name, if it is known; its number otherwise.
    fn display_name(&self, repository: RepositoryId) -> String {
        repository.to_string()
    }

    /// Whether this process can tick a repository now. If it cannot, the driver defers the
    /// repository for [`DEFER_TIME`](super::DEFER_TIME) before it claims it. So a process
    /// that lacks something does not delay what other processes can do.
    fn is_ready(&self, _repository: RepositoryId) -> bool {
        true
    }

    /// The accounts that a repository's tick shares with others.
    fn repository_lanes(&self, repository: RepositoryId) -> Vec<Lane>;

    /// Ticks a repository. Between two effects the tick checks whether it must stop.
    fn tick_repository(
        &self,
        lease: &Lease,
        stop: StopSignal,
    ) -> impl Future<Output = Ticked> + Send;
}
