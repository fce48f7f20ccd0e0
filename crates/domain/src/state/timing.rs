//! Since when a schedule or a track starts at its times.

use jiff::Timestamp;

/// Since when a schedule or a track's start has been as the plan has it now.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timing {
    /// The newest times: a cron expression and its zone, or `manual`, `none` or `removed`. `None`: not known.
    pub expression: Option<String>,
    /// Slots before this are not due. `None`: the times have not changed since phileas first saw them.
    pub since: Option<Timestamp>,
    /// Slots of earlier times that were missed before that, oldest first, until a turn starts for them.
    pub missed: Vec<Timestamp>,
}
