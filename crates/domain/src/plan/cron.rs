//! Five-field POSIX cron expressions in an IANA time zone.
//!
//! The calendar search is croner's, on wall-clock time without a zone. The step from wall clock to instant is made
//! here, because croner starts a job of the form `*/30` twice where the clock goes back: with phileas every local
//! time starts once, at its first occurrence, and one inside a gap starts at the first instant after the gap.

mod fields;

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp};

use super::suggest::closest;
use fields::{Fields, SMALLEST_INTERVAL};

/// The longest that a clock was ever put back: a whole day, at a change of the date line.
const LONGEST_FOLD: SignedDuration = SignedDuration::from_hours(24);
/// How many wall-clock slots may be passed over to leave a fold: a day of the smallest interval, and one for the edge.
const MAX_REPEATED_SLOTS: u32 = 24 * 60 / SMALLEST_INTERVAL + 1;
/// How many of a zone's transitions are checked around one instant.
const MAX_TRANSITIONS: usize = 4;
/// A cron expression in a time zone.
///
/// Five fields: minute, hour, day of month, month, day of week; names, lists, ranges and steps; 0 and 7 are Sunday.
/// When both day fields are restricted (neither is `*` or `*/1`), a day that matches either is selected, as POSIX
/// says. Macros, seconds, years and `L # W + ?` are refused, as are expressions that never start or start more often than
/// every five minutes (local times that a clock change moves together do not count).
#[derive(Debug, Clone)]
pub struct Cron {
    expression: String,
    timezone: String,
    schedule: cron::Cron,
    zone: TimeZone,
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

impl CronError {
    /// How to fix it: a fragment without a final period.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Expression { expression, .. } => {
                // `annual` is as near, and is no less a word of clocks.
                let near = closest(expression.trim(), ["annual", "manual"]);
                if expression.trim() == "manual" {
                    return "only a schedule can be `\"manual\"`; leave `start` out, and passes follow each other".to_owned();
                }
                if near == Some("manual") {
                    return "did you mean `manual`?".to_owned();
                }
                let plain = match expression.trim().to_ascii_lowercase().as_str() {
                    "@yearly" | "@annually" => "0 0 1 1 *",
                    "@monthly" => "0 0 1 * *",
                    "@weekly" => "0 0 * * 0",
                    "@daily" | "@midnight" => "0 0 * * *",
                    "@hourly" => "0 * * * *",
                    _ => {
                        return "write five fields, minute hour day-of-month month day-of-week, such as `30 4 * * 1`"
                            .to_owned();
                    }
                };
                format!("write `{plain}`")
            }
            Self::Timezone { timezone } => zone_help(timezone),
            Self::TooOften { minutes, .. } => {
                format!(
                    "leave at least {minutes} minutes between two starts, such as `*/{minutes} * * * *`"
                )
            }
            Self::Never { .. } => "name a day that the month has".to_owned(),
        }
    }
}

/// The zone of a name, from the data that is compiled in; upper and lower case do not matter.
pub(super) fn zone(name: &str) -> Option<TimeZone> {
    let zone = TimeZoneDatabase::bundled().get(name).ok()?;
    (!zone.is_unknown() && zone.iana_name().is_some()).then_some(zone)
}

/// How to fix an unknown zone's name.
pub(super) fn zone_help(name: &str) -> String {
    let known = TimeZoneDatabase::bundled();
    let names: Vec<String> = known.available().map(|n| n.to_string()).collect();
    // A city without its area is the most common mistake.
    let city = format!("/{}", name.trim().replace(' ', "_").to_lowercase());
    let of_city = names.iter().find(|n| n.to_lowercase().ends_with(&city));
    match of_city
        .map(String::as_str)
        .or_else(|| closest(name, names.iter().map(String::as_str)))
    {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "write an IANA name such as `Europe/Lisbon`, or `UTC`".to_owned(),
    }
}

impl PartialEq for Cron {
    fn eq(&self, other: &Self) -> bool {
        self.expression == other.expression && self.timezone == other.timezone
    }
}

impl Cron {
    /// Reads an expression and the IANA name of the zone that it is meant in.
    ///
    /// # Errors
    ///
    /// What is wrong with the expression or the zone. [`CronError::help`] says how to fix it.
    pub fn parse(expression: &str, timezone: &str) -> Result<Self, CronError> {
        let expression = expression
            .split_ascii_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let wrong = |reason: String| CronError::Expression {
            expression: expression.clone(),
            reason,
        };
        let fields = Fields::parse(&expression).map_err(wrong)?;
        if fields.never() {
            return Err(CronError::Never { expression });
        }
        let schedule = calendar(&fields).map_err(wrong)?;
        if fields.too_often_within_a_day() || fields.too_often_over_midnight() {
            return Err(CronError::TooOften {
                expression,
                minutes: SMALLEST_INTERVAL,
            });
        }
        let zone = zone(timezone).ok_or_else(|| CronError::Timezone {
            timezone: timezone.to_owned(),
        })?;
        let timezone = zone.iana_name().unwrap_or(timezone).to_owned();
        Ok(Self {
            expression,
            timezone,
            schedule,
            zone,
        })
    }

    /// The expression as written, with single spaces.
    #[must_use]
    pub fn expression(&self) -> &str {
        &self.expression
    }

    /// The days that it means, where it restricts both the day of the month and the weekday: a union, which many take for
    /// an intersection. Beside them the expressions that mean one of the two.
    pub(super) fn union_days(&self) -> Option<(String, [String; 2])> {
        let days = Fields::parse(&self.expression).ok()?.union_days()?;
        let parts: Vec<&str> = self.expression.split(' ').collect();
        let [minute, hour, day, month, weekday] = parts.as_slice() else {
            return None;
        };
        let alone = [
            format!("{minute} {hour} {day} {month} *"),
            format!("{minute} {hour} * {month} {weekday}"),
        ];
        Some((days, alone))
    }

    /// The zone's IANA name, in the database's own spelling.
    #[must_use]
    pub fn timezone(&self) -> &str {
        &self.timezone
    }

    /// The first slot after an instant. `None`: there is none before the end of time.
    #[must_use]
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        let mut civil = self.zone.to_datetime(after);
        // In the second half of a fold the next local times have already occurred.
        for _ in 0..MAX_REPEATED_SLOTS {
            civil = self.schedule.find_next_occurrence(&civil, false).ok()?;
            let slot = self.first_instant(civil)?;
            if slot > after {
                return Some(slot);
            }
        }
        None
    }

    /// The newest slot in `(after, until]`. Costs the same however long that is.
    #[must_use]
    pub fn newest_in(&self, after: Timestamp, until: Timestamp) -> Option<Timestamp> {
        if until <= after {
            return None;
        }
        let mut civil = self.latest_seen(until);
        let mut inclusive = true;
        for _ in 0..MAX_REPEATED_SLOTS {
            civil = self
                .schedule
                .find_previous_occurrence(&civil, inclusive)
                .ok()?;
            inclusive = false;
            let slot = self.first_instant(civil)?;
            if slot <= until {
                return (slot > after).then_some(slot);
            }
        }
        None
    }

    /// The slots in `(after, until]`, oldest first, at most `limit`.
    #[must_use]
    pub fn slots_in(&self, after: Timestamp, until: Timestamp, limit: usize) -> Vec<Timestamp> {
        let mut slots = Vec::new();
        let mut last = after;
        while slots.len() < limit {
            match self.next_after(last) {
                Some(slot) if slot <= until => {
                    slots.push(slot);
                    last = slot;
                }
                _ => break,
            }
        }
        slots
    }

    /// The first instant at which a clock of this zone shows a local time, or has passed it where it shows it never.
    fn first_instant(&self, civil: DateTime) -> Option<Timestamp> {
        match self.zone.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(civil).ok(),
            AmbiguousOffset::Fold { before, .. } => before.to_timestamp(civil).ok(),
            AmbiguousOffset::Gap { before, after } => {
                let inside = before.to_timestamp(civil).ok()?;
                let just_after = inside.checked_add(SignedDuration::from_nanos(1)).ok()?;
                self.zone
                    .preceding(just_after)
                    .take(MAX_TRANSITIONS)
                    .find(|transition| transition.offset() == after)
                    .map_or(Some(inside), |transition| Some(transition.timestamp()))
            }
        }
    }

    /// The latest local time that clocks of this zone have shown until an instant. In the second half of a fold
    /// that is the fold's end, not what they show now.
    fn latest_seen(&self, until: Timestamp) -> DateTime {
        let now = self.zone.to_datetime(until);
        let edge = until.checked_sub(LONGEST_FOLD).unwrap_or(Timestamp::MIN);
        // A change of the clocks at this very instant counts, too.
        let after = until.checked_add(SignedDuration::from_nanos(1));
        self.zone
            .preceding(after.unwrap_or(until))
            .take(MAX_TRANSITIONS)
            .map(|transition| transition.timestamp())
            .take_while(|at| *at >= edge)
            .filter_map(|at| at.checked_sub(SignedDuration::from_nanos(1)).ok())
            .map(|before| self.zone.to_datetime(before))
            .fold(now, DateTime::max)
    }
}

fn calendar(fields: &Fields) -> Result<cron::Cron, String> {
    fields
        .canonical()
        .parse()
        .map_err(|error: cron::errors::CronError| error.to_string())
}

#[cfg(test)]
mod tests;
