//! Since when a schedule or a track starts at its times.

use jiff::Timestamp;

/// Since when a schedule or the start of a track has been as it is in the plan.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timing {
    /// The times that were seen last: a cron expression and its zone, or `manual`, `none` or `removed`. `None`: not known.
    pub expression: Option<String>,
    /// Slots before this are not due. `None`: they have not changed since they were first seen.
    pub since: Option<Timestamp>,
    /// Slots of earlier times that were missed before that, oldest first, until they are answered.
    pub missed: Vec<Timestamp>,
}
