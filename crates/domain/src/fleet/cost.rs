//! The arithmetic.

use jiff::SignedDuration;

use crate::plan::KeyLimits;

/// GitHub's points for the look of a tick: one query, and what it costs where little happens.
pub const LOOK: u64 = 1;
/// The same where more pull requests were touched within [`BUSY_DAYS`] than that query shows.
pub const BUSY_LOOK: u64 = 6;
/// How many pull requests may be touched within so many days for a look of one point.
pub const QUIET_PULLS: u64 = 14;
/// These days.
pub const BUSY_DAYS: u64 = 7;
/// Commits of a session's life: its intent, its session, and its outcome. Each is a mutation and costs one point.
const COMMITS_PER_SESSION: f64 = 3.0;
/// Ticks that a session causes: its start, its outcome, and four webhooks about its pull request (opened, checks begun,
/// checks ended, closed).
const TICKS_PER_SESSION: f64 = 6.0;
/// Looks at a repository in a day, whatever is heard.
const LOOKS_PER_DAY: f64 = 24.0;
/// Runs of the workflow that a session causes: what is said about its issue or its pull request.
const RUNS_PER_SESSION: f64 = 4.0;
/// Days of a month, for minutes of Actions.
const MONTH: f64 = 30.0;
/// Points an hour of an installation, without its extras.
/// <https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api>
const POINTS: f64 = 5_000.0;
/// What each repository beyond [`MORE_FROM`] adds, and the most that it comes to.
const POINTS_MORE: f64 = 50.0;
const MORE_FROM: u64 = 20;
const MOST_POINTS: f64 = 12_500.0;
/// Requests to create content that an installation may make in an hour, if commits count as such.
/// <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits>
const CONTENT: f64 = 500.0;

/// How a repository behaves, as a forecast of its plan shows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Habits {
    /// Sessions a day, on average.
    pub sessions_a_day: f64,
    /// How long a session takes.
    pub session: SignedDuration,
    /// What of a Jules key's limits the clock may take.
    pub key: KeyLimits,
}

/// What decides how many keys there must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Their sessions in a day.
    Daily,
    /// Their sessions at once.
    AtOnce,
}

/// A use, and what it may come to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quota {
    /// What is used.
    pub used: f64,
    /// What there is.
    pub limit: f64,
}

impl Quota {
    /// Which part of it is used; above 1, it is not enough.
    #[must_use]
    pub fn used_share(self) -> f64 {
        self.used / self.limit
    }
}

/// What a fleet costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Repositories.
    pub repositories: u64,
    /// Installations of the App.
    pub installations: u64,
    /// Sessions a day of all of them.
    pub sessions_a_day: f64,
    /// Jules keys that are needed.
    pub keys: u64,
    /// What decides that.
    pub bound: Bound,
    /// Requests a minute to Jules: a listing for each key, and the sessions that are made.
    pub jules_a_minute: f64,
    /// GitHub's points an hour, of the largest installation.
    pub points: Quota,
    /// Commits an hour, of the largest installation.
    pub content: Quota,
    /// GitHub's points an hour, of all installations.
    pub all_points: f64,
    /// Minutes of Actions in a month, where the Action drives on the hour and no service does. Each job is billed as a
    /// minute at least; public repositories cost none.
    pub action_minutes: f64,
}

/// What so many repositories cost, of which so many share an installation.
#[must_use]
pub fn estimate_cost(repositories: u64, per_installation: u64, habits: Habits) -> Cost {
    let per_installation = per_installation.clamp(1, repositories.max(1));
    let fleet = repositories as f64;
    let sessions_a_day = fleet * habits.sessions_a_day;
    let at_once = sessions_a_day * habits.session.as_secs_f64() / 86_400.0;
    let daily = keys_needed(sessions_a_day, habits.key.daily);
    let active = keys_needed(at_once, habits.key.active);
    let keys = daily.max(active);
    let ticks_a_day = LOOKS_PER_DAY + habits.sessions_a_day * TICKS_PER_SESSION;
    let commits_a_day = habits.sessions_a_day * COMMITS_PER_SESSION;
    let points_an_hour = (ticks_a_day * listing_cost(habits.sessions_a_day) + commits_a_day) / 24.0;
    let of_one = per_installation as f64;
    let more = per_installation.saturating_sub(MORE_FROM) as f64 * POINTS_MORE;
    Cost {
        repositories,
        installations: repositories.div_ceil(per_installation),
        sessions_a_day,
        keys,
        bound: if active > daily {
            Bound::AtOnce
        } else {
            Bound::Daily
        },
        jules_a_minute: keys as f64 + sessions_a_day / 1_440.0,
        points: Quota {
            used: of_one * points_an_hour,
            limit: (POINTS + more).min(MOST_POINTS),
        },
        content: Quota {
            used: of_one * commits_a_day / 24.0,
            limit: CONTENT,
        },
        all_points: fleet * points_an_hour,
        action_minutes: fleet * (LOOKS_PER_DAY + habits.sessions_a_day * RUNS_PER_SESSION) * MONTH,
    }
}

/// What a look costs where so many sessions a day open a pull request each.
fn listing_cost(sessions_a_day: f64) -> f64 {
    let is_quiet = sessions_a_day * BUSY_DAYS as f64 <= QUIET_PULLS as f64;
    if is_quiet {
        LOOK as f64
    } else {
        BUSY_LOOK as f64
    }
}

/// Sizes up to this one, each ten times the one before, and the last one itself.
#[must_use]
pub fn fleet_sizes(last: u64) -> Vec<u64> {
    let mut sizes: Vec<u64> = std::iter::successors(Some(1_u64), |size| size.checked_mul(10))
        .take_while(|size| *size < last)
        .collect();
    sizes.push(last);
    sizes
}

/// Keys for so much. Without sessions none is needed.
fn keys_needed(needed: f64, each: u32) -> u64 {
    // A sum of floats may be a hair above a whole number.
    let keys = (needed / f64::from(each.max(1)) - 1e-9).ceil();
    keys.max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Tier;

    fn habits(sessions_a_day: f64, minutes: i64, tier: Tier) -> Habits {
        Habits {
            sessions_a_day,
            session: SignedDuration::from_mins(minutes),
            key: tier.limits(),
        }
    }

    /// The plan of quotas on paper: 100,000 repositories, one session a day each, half an hour long.
    #[test]
    fn a_hundred_thousand_repositories_need_the_keys_that_were_reckoned_by_hand() {
        for (tier, keys) in [(Tier::Ultra, 334), (Tier::Pro, 1_000), (Tier::Free, 6_667)] {
            let cost = estimate_cost(100_000, 10, habits(1.0, 30, tier));
            assert_eq!(cost.keys, keys, "{tier:?}");
            assert_eq!(cost.bound, Bound::Daily);
            assert_eq!(cost.installations, 10_000);
        }
        let ultra = estimate_cost(100_000, 10, habits(1.0, 30, Tier::Ultra));
        // 24 looks, 6 ticks and 3 commits a day: 33 points, and ten repositories share 5,000 an hour.
        assert!((ultra.points.used - 10.0 * 33.0 / 24.0).abs() < 1e-9);
        assert!(ultra.points.used_share() < 0.01);
        assert!((ultra.action_minutes - 100_000.0 * 28.0 * 30.0).abs() < 1e-6);
        // One installation of all of them does not do.
        let one = estimate_cost(100_000, 100_000, habits(1.0, 30, Tier::Ultra));
        assert!((one.points.limit - 12_500.0).abs() < 1e-9);
        assert!(one.points.used_share() > 1.0 && one.content.used_share() > 1.0);
    }

    #[test]
    fn long_sessions_are_bound_by_how_many_run_at_once() {
        let cost = estimate_cost(100, 10, habits(1.0, 24 * 60, Tier::Ultra));
        assert_eq!((cost.keys, cost.bound), (2, Bound::AtOnce));
    }

    #[test]
    fn nothing_to_do_needs_no_key_and_costs_its_looks() {
        let cost = estimate_cost(7, 10, habits(0.0, 30, Tier::Free));
        assert_eq!((cost.keys, cost.installations), (0, 1));
        assert!((cost.all_points - 7.0).abs() < 1e-9);
    }

    /// Three pull requests a day are more in a week than a look of one point shows.
    #[test]
    fn what_goes_on_all_the_time_costs_more_to_look_at() {
        let quiet = estimate_cost(1, 1, habits(2.0, 30, Tier::Ultra));
        assert!((quiet.all_points - (36.0 + 6.0) / 24.0).abs() < 1e-9);
        let busy = estimate_cost(1, 1, habits(3.0, 30, Tier::Ultra));
        assert!((busy.all_points - (42.0 * 6.0 + 9.0) / 24.0).abs() < 1e-9);
    }

    #[test]
    fn sizes_end_with_the_one_that_was_asked_for() {
        assert_eq!(fleet_sizes(1), [1]);
        assert_eq!(fleet_sizes(10), [1, 10]);
        assert_eq!(fleet_sizes(2_500), [1, 10, 100, 1_000, 2_500]);
    }
}
