//! Counts the inbox's deliveries and repositories.

use jiff::Timestamp;

/// How full the inbox is, and how many repositories wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Stored deliveries.
    pub deliveries: u64,
    /// Known repositories.
    pub repositories: u64,
    /// Repositories that could be claimed now.
    pub due: u64,
    /// Repositories that are leased now.
    pub leased: u64,
    /// Repositories whose last tick failed and that are not suspended.
    pub failing: u64,
    /// Suspended repositories.
    pub suspended: u64,
    /// Since when the repository that has waited longest could be claimed. A watchdog checks this:
    /// if no process claims repositories, nothing else shows it.
    pub oldest_due: Option<Timestamp>,
    /// The room that the inbox takes, in bytes; 0 if that is unknown.
    pub bytes: u64,
    /// The most room that it may take.
    pub limit_bytes: Option<u64>,
}
