//! The right of one process to tick a repository for a limited time.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::{Holder, RepositoryId, RepositoryName};

/// The right to tick a repository until it expires or another process takes it over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The repository.
    pub repository: RepositoryId,
    /// Its name in the newest delivery.
    pub name: Option<RepositoryName>,
    /// The process that has the lease.
    pub holder: Holder,
    /// Distinguishes this lease from every other of the repository. Grows with each.
    pub token: u64,
    /// Every delivery up to this generation is handled when the tick ends well.
    pub generation: u64,
    /// The number of this attempt since a tick last ended well, counted from 1 without outages.
    pub attempt: u32,
    /// When the lease ends, unless it is extended.
    pub until: Timestamp,
    /// When the newest delivery arrived that requested a tick; see
    /// [`recheck_time`](super::recheck_time()).
    pub received_at: Option<Timestamp>,
    /// Whether this is the daily attempt of a suspended repository.
    pub suspended: bool,
}

/// Why a tick failed, as far as the next attempt depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// A fault of the repository or of phileas. It is counted, and repeated faults suspend the
    /// repository.
    Own {
        /// One line for people, free of secrets.
        because: String,
    },
    /// GitHub, Jules or the network did not reply or limits the rate. It never suspends the
    /// repository.
    Outage {
        /// One line for people, free of secrets.
        because: String,
        /// How long to wait at least, if the service says so; more than
        /// [`LONGEST_RETRY_AFTER`](super::LONGEST_RETRY_AFTER) is ignored.
        retry_after: Option<SignedDuration>,
    },
}

/// The result of ending a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// The lease was valid; the repository can next be claimed at this time, if no delivery arrives
    /// before.
    Until(Option<Timestamp>),
    /// The lease was valid, and the repository is suspended now.
    Suspended,
    /// The lease was taken over, or the repository was forgotten. Nothing changed, except that a
    /// death that the take-over counted is taken back.
    Lost,
}
