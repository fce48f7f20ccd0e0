//! How the monitor checks jobs.

use jiff::SignedDuration;
use phileas_domain::jobs::Rules;

/// How many sessions that the listing does not show are asked for in a cycle, for each account.
pub const MAX_SESSION_READS: usize = 50;

/// How many sessions' activities are read in a cycle, for each account. The others have their turn in the next one.
pub const MAX_ACTIVITY_READS: usize = 50;

/// How the monitor looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MonitorSettings {
    /// How often.
    pub poll: SignedDuration,
    /// What is judged by.
    pub rules: Rules,
    /// After how many failures in a row an agent is notified.
    pub max_failures: u32,
    /// What the jitter of pauses is drawn from.
    pub seed: u64,
}
