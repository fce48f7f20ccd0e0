//! What the driver needs to know of a tick.

use jiff::Timestamp;
use phileas_domain::model::RepositoryId;

use super::stop::StopSignal;
use crate::runtime::inbox::{Fault, Lease};

/// What ticks share and can spend: only so many run at once in one lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// A GitHub credential: an installation's id, 0 for a plain token.
    GitHub(u64),
    /// A Jules key, by its number.
    Jules(u64),
}

/// What came of a tick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ticked {
    /// It ended well.
    Done {
        /// When to look again by the driver's clock, if nothing is heard before.
        wake_at: Option<Timestamp>,
    },
    /// It was told to stop and did, with everything settled that it had begun. The repository is still due.
    Stopped,
    /// The service does not look after the repository any more.
    Gone,
    /// It failed.
    Failed(Fault),
}

/// Ticks repositories, one at a time each.
pub trait Ticker: Send + Sync + 'static {
    /// What people call a repository, where that is known; its number otherwise.
    fn display_name(&self, repository: RepositoryId) -> String {
        repository.to_string()
    }

    /// Whether this process could tick a repository now. What it could not is left to other processes for
    /// [`LEFT_TO_OTHERS`](super::LEFT_TO_OTHERS) before it is claimed all the same: one process that lacks something must
    /// not put off what others can do.
    fn is_ready(&self, _repository: RepositoryId) -> bool {
        true
    }

    /// What a repository's tick shares with others.
    fn repository_lanes(&self, repository: RepositoryId) -> Vec<Lane>;

    /// Ticks a repository. Between two effects it looks whether it is to stop.
    fn tick_repository(
        &self,
        lease: &Lease,
        stop: StopSignal,
    ) -> impl Future<Output = Ticked> + Send;
}
