//! Five-field POSIX cron expressions in an IANA time zone.

/// A cron expression in a time zone.
#[derive(Debug, Clone)]
pub struct Cron {
    expression: String,
    timezone: String,
    schedule: cron::Cron,
    zone: jiff::tz::TimeZone,
}

/// Why an expression cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CronError {
    /// It is not five fields of POSIX cron.
    #[error("`{expression}` is not a cron expression: {reason}")]
    Expression {
        /// As written.
        expression: String,
        /// What the parser says.
        reason: String,
    },
    /// The zone is not known.
    #[error("`{timezone}` is not an IANA time zone")]
    Timezone {
        /// As written.
        timezone: String,
    },
    /// It fires more often than the smallest interval.
    #[error("`{expression}` fires more often than every {minutes} minutes")]
    TooOften {
        /// As written.
        expression: String,
        /// The smallest interval in minutes.
        minutes: u32,
    },
    /// It never fires.
    #[error("`{expression}` never fires")]
    Never {
        /// As written.
        expression: String,
    },
}

impl PartialEq for Cron {
    fn eq(&self, other: &Self) -> bool {
        self.expression == other.expression && self.timezone == other.timezone
    }
}
