//! The right to tick a repository, for a while.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::{Holder, RepositoryId, RepositoryName};

/// The right to tick a repository, until it ends or is taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The repository.
    pub repository: RepositoryId,
    /// Its name in the newest delivery.
    pub name: Option<RepositoryName>,
    /// Who holds the lease.
    pub holder: Holder,
    /// Tells this lease from every other of the repository. Grows with each.
    pub token: u64,
    /// Every delivery up to this generation is handled when the tick ends well.
    pub generation: u64,
    /// Which attempt this is since a tick last ended well, counted from 1; outages are not counted.
    pub attempt: u32,
    /// When it ends, unless it is extended.
    pub until: Timestamp,
    /// When the newest delivery was received that asked for a tick; see [`recheck_time`](super::recheck_time()).
    pub received_at: Option<Timestamp>,
    /// Whether this is the daily attempt of a suspended repository.
    pub suspended: bool,
}

/// Why a tick failed, as far as trying again depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Something of the repository, or of phileas. It is counted, and suspends the repository in the end.
    Own {
        /// One line for people, free of secrets.
        because: String,
    },
    /// GitHub, Jules or the network did not answer or asked for patience. It never suspends the repository.
    Outage {
        /// One line for people, free of secrets.
        because: String,
        /// How long to wait at least, where the other side says so; longer than
        /// [`LONGEST_RETRY_AFTER`](super::LONGEST_RETRY_AFTER) is not believed.
        retry_after: Option<SignedDuration>,
    },
}

/// The result of ending a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// It counts; the repository can next be claimed at this time, if no delivery arrives before.
    Until(Option<Timestamp>),
    /// It counts, and the repository is suspended now.
    Suspended,
    /// It does not count: the lease was taken over, or the repository was forgotten. Nothing changed, except that the
    /// death of the process is taken back that the take-over has counted.
    Lost,
}
