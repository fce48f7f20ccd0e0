//! The review policy of the maintainer.

use jiff::civil::Weekday;
use jiff::{SignedDuration, Timestamp, tz};
use serde::{Deserialize, Serialize};

use crate::chance::Stream;

/// The first and the last hour of a working day (UTC).
const OFFICE_OPENS: i8 = 9;
const OFFICE_CLOSES: i8 = 18;
/// Days looked ahead for the next working day; a weekend is shorter.
const MOST_DAYS_OFF: usize = 7;

/// How a maintainer behaves: weights of decisions, delays, habits. The default is an absent maintainer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct ReviewPolicy {
    /// Whether there is a maintainer.
    pub present: bool,
    /// The person's login; an owner or writer of the repositories.
    pub login: String,
    /// Acts from 9 to 18 o'clock UTC on weekdays only; anytime when false.
    pub office_hours: bool,
    /// The shortest time until the maintainer handles a pull request, a question or a plan, in minutes.
    pub shortest_minutes: u64,
    /// The longest.
    pub longest_minutes: u64,
    /// Weight of merging a pull request.
    pub merges: u32,
    /// Weight of asking for changes.
    pub asks_for_changes: u32,
    /// Weight of closing a pull request unmerged.
    pub closes: u32,
    /// Weight of never looking at a pull request again.
    pub ignores: u32,
    /// Share of merges with an approving review before them.
    pub approves_first: f64,
    /// Share of merges after which the branch is deleted.
    pub deletes_branches: f64,
    /// Share of requests for changes that are also written to the session in the web app.
    pub tells_the_session: f64,
    /// Share of questions that are answered in the web app.
    pub answers: f64,
    /// Share of plans that are approved in the web app.
    pub approves_plans: f64,
    /// Own commits to the default branch, for a repository and day.
    pub pushes_a_day: f64,
    /// Issues that are edited or closed, for a repository and day.
    pub tidies_a_day: f64,
    /// Share of titles that the maintainer does not want, each for a reason; with it, repeated titles are refused, too.
    pub refuses: f64,
}

impl Default for ReviewPolicy {
    fn default() -> Self {
        ReviewPolicy::absent()
    }
}

impl ReviewPolicy {
    /// An absent maintainer: nothing is ever reviewed, answered or pushed.
    #[must_use]
    pub fn absent() -> ReviewPolicy {
        ReviewPolicy {
            present: false,
            ..ReviewPolicy::usual()
        }
    }

    /// A maintainer who cares for the project beside other work.
    #[must_use]
    pub fn usual() -> ReviewPolicy {
        ReviewPolicy {
            present: true,
            login: "maintainer".to_owned(),
            office_hours: true,
            shortest_minutes: 5,
            longest_minutes: 12 * 60,
            merges: 60,
            asks_for_changes: 12,
            closes: 13,
            ignores: 15,
            approves_first: 0.5,
            deletes_branches: 0.7,
            tells_the_session: 0.5,
            answers: 0.7,
            approves_plans: 0.8,
            pushes_a_day: 0.5,
            tidies_a_day: 0.1,
            refuses: 0.0,
        }
    }

    /// A maintainer who merges everything within minutes, day and night.
    #[must_use]
    pub fn eager() -> ReviewPolicy {
        ReviewPolicy {
            office_hours: false,
            shortest_minutes: 1,
            longest_minutes: 10,
            merges: 1,
            asks_for_changes: 0,
            closes: 0,
            ignores: 0,
            answers: 1.0,
            approves_plans: 1.0,
            pushes_a_day: 0.0,
            tidies_a_day: 0.0,
            ..ReviewPolicy::usual()
        }
    }

    /// When the maintainer handles something that is new now.
    pub(super) fn next_check(&self, now: Timestamp, chance: &mut Stream) -> Timestamp {
        let minutes = chance.draw_between(self.shortest_minutes, self.longest_minutes);
        self.at_work(plus_minutes(now, minutes), chance)
    }

    /// The instant itself, or a while after the office opens again.
    pub(super) fn at_work(&self, at: Timestamp, chance: &mut Stream) -> Timestamp {
        const SETTLES_IN: u64 = 60;
        let local = at.to_zoned(tz::TimeZone::UTC).datetime();
        let open = |day: Weekday| !matches!(day, Weekday::Saturday | Weekday::Sunday);
        if !self.office_hours
            || open(local.weekday()) && (OFFICE_OPENS..OFFICE_CLOSES).contains(&local.hour())
        {
            return at;
        }
        let mut day = local.date();
        if local.hour() >= OFFICE_OPENS {
            day = day.tomorrow().unwrap_or(day);
        }
        for _ in 0..MOST_DAYS_OFF {
            if open(day.weekday()) {
                break;
            }
            day = day.tomorrow().unwrap_or(day);
        }
        let opens = day.at(OFFICE_OPENS, 0, 0, 0).to_zoned(tz::TimeZone::UTC);
        opens.map_or(at, |opens| {
            plus_minutes(opens.timestamp(), chance.draw_below(SETTLES_IN))
        })
    }
}

/// An instant later by this many minutes.
pub(super) fn plus_minutes(at: Timestamp, minutes: u64) -> Timestamp {
    let span = SignedDuration::from_mins(i64::try_from(minutes).unwrap_or(i64::MAX / 60));
    at.checked_add(span).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    #[test]
    fn work_waits_for_the_office_to_open() {
        let mut chance = Chance::new(1).stream("t");
        let mut next = |at: &str| {
            ReviewPolicy::usual()
                .at_work(at.parse().unwrap(), &mut chance)
                .to_string()[..13]
                .to_owned()
        };
        assert_eq!(next("2026-01-05T10:30:00Z"), "2026-01-05T10");
        assert_eq!(next("2026-01-05T03:00:00Z"), "2026-01-05T09");
        assert_eq!(next("2026-01-05T18:00:00Z"), "2026-01-06T09");
        assert_eq!(next("2026-01-09T20:00:00Z"), "2026-01-12T09");
        assert_eq!(next("2026-01-11T05:00:00Z"), "2026-01-12T09");
    }

    #[test]
    fn some_never_sleep() {
        let at: Timestamp = "2026-01-11T05:00:00Z".parse().unwrap();
        assert_eq!(
            ReviewPolicy::eager().at_work(at, &mut Chance::new(1).stream("t")),
            at
        );
    }

    #[test]
    fn a_file_may_give_parts() {
        let review_policy: ReviewPolicy = toml::from_str("present = true\nmerges = 3").unwrap();
        assert_eq!((review_policy.merges, review_policy.closes), (3, 13));
        assert!(toml::from_str::<ReviewPolicy>("merge = 3").is_err());
    }
}
