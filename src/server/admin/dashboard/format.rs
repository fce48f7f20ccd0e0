//! Formats times, spans and names for people. All times are UTC.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::span_text;
use phileas_domain::state::Outcome;

/// An instant, for programs and for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// RFC 3339.
    pub iso: String,
    /// `14:05` today, `Tue 14:05` within a week, else `5 Jan 14:05`.
    pub clock: String,
    /// `in 12 min`, `3 h ago`.
    pub relative: String,
}

/// Formats an instant, relative to another one.
#[must_use]
pub fn format_moment(at: Timestamp, now: Timestamp) -> Moment {
    Moment {
        iso: whole_second(at).to_string(),
        clock: time_of_day(at, now),
        relative: relative_time(at, now),
    }
}

/// Removes fractions of a second.
fn whole_second(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

/// The time of day, with the date if it is needed.
#[must_use]
pub fn time_of_day(at: Timestamp, now: Timestamp) -> String {
    let (at, today) = (
        at.to_zoned(TimeZone::UTC),
        now.to_zoned(TimeZone::UTC).date(),
    );
    let days = at.date().since(today).map_or(365, |span| span.get_days());
    let form = match days {
        0 => "%H:%M",
        -6..=6 => "%a %H:%M",
        _ => "%-d %b %H:%M",
    };
    at.strftime(form).to_string()
}

/// The label of an instant on a timeline: the day that begins with it, or the time of day.
#[must_use]
pub fn axis_label(at: Timestamp) -> String {
    let at = at.to_zoned(TimeZone::UTC);
    let midnight = at.hour() == 0 && at.minute() == 0;
    let form = if midnight { "%a %-d" } else { "%H:%M" };
    at.strftime(form).to_string()
}

/// The distance of an instant, ahead or behind.
#[must_use]
pub fn relative_time(at: Timestamp, now: Timestamp) -> String {
    let ahead = at.duration_since(now);
    if ahead.abs() < SignedDuration::from_secs(45) {
        return "now".to_owned();
    }
    let length = span_text(ahead.abs());
    if ahead.is_negative() {
        format!("{length} ago")
    } else {
        format!("in {length}")
    }
}

/// What became of a session, in a word or two.
#[must_use]
pub fn outcome_text(outcome: Option<&Outcome>, live: bool) -> String {
    match outcome {
        Some(Outcome::PrOpen) => "in review".to_owned(),
        Some(known) => known.as_str().replace('_', " "),
        None if live => "at work".to_owned(),
        None => "unknown".to_owned(),
    }
}

/// The colour of an outcome, as a class of the style sheet. Never an external text.
#[must_use]
pub fn outcome_class(outcome: Option<&Outcome>, live: bool) -> &'static str {
    match outcome {
        Some(Outcome::Merged) => "merged",
        Some(Outcome::PrOpen) => "review",
        Some(Outcome::Completed | Outcome::Imported) => "completed",
        Some(Outcome::Rejected | Outcome::Repeated | Outcome::Superseded | Outcome::Reverted) => {
            "rejected"
        }
        Some(Outcome::Failed | Outcome::Stuck) => "failed",
        Some(Outcome::NoOutput | Outcome::NoOp) => "empty",
        Some(Outcome::Cancelled | Outcome::Duplicate | Outcome::Other(_)) => "other",
        None if live => "live",
        None => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn instants_are_as_short_as_they_can_be() {
        let now = at("2026-01-07T12:00:00Z");
        for (then, clock, relative) in [
            ("2026-01-07T12:00:20Z", "12:00", "now"),
            ("2026-01-07T12:12:00Z", "12:12", "in 12 min"),
            ("2026-01-06T23:30:00Z", "Tue 23:30", "12 h 30 min ago"),
            ("2026-01-10T12:00:00Z", "Sat 12:00", "in 3 d"),
            ("2025-12-05T09:00:00Z", "5 Dec 09:00", "33 d ago"),
        ] {
            let moment = format_moment(at(then), now);
            assert_eq!(
                (moment.clock.as_str(), moment.relative.as_str()),
                (clock, relative)
            );
        }
    }

    #[test]
    fn a_word_of_others_is_no_class() {
        let other = Outcome::Other("\"><script>".to_owned());
        assert_eq!(outcome_class(Some(&other), false), "other");
    }
}
