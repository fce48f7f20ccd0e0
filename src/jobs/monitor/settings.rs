//! Settings and limits of the monitor.

use jiff::SignedDuration;
use phileas_domain::jobs::Rules;

/// How many sessions that are missing in the listing are read one by one in a cycle, for each
/// account.
pub const MAX_SESSION_READS: usize = 50;

/// How many sessions' activities are read in a cycle, for each account. The rest are read in the
/// next cycle.
pub const MAX_ACTIVITY_READS: usize = 50;

/// The settings of the monitor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MonitorSettings {
    /// The time between two cycles.
    pub poll: SignedDuration,
    /// The rules that decide which changes are events.
    pub rules: Rules,
    /// After how many failures in a row the monitor writes an event.
    pub max_failures: u32,
    /// The seed of the jitter of pauses.
    pub seed: u64,
}
