//! How much of GitHub's limits is used, and until when no request may be sent.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::answer::Answer;

/// What a client has used since it was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Requests that were sent, REST and GraphQL.
    pub requests: u64,
    /// GraphQL points: the cost that GitHub reports for a query, and one for each mutation.
    pub points: u64,
}

/// A primary limit, as GitHub last reported it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Requests (or points) an hour.
    pub limit: u64,
    /// How many are left.
    pub remaining: u64,
    /// When the limit resets.
    pub reset: Timestamp,
}

/// The two APIs of GitHub; each has a primary limit of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Api {
    /// REST.
    Rest,
    /// GraphQL.
    Graph,
}

/// Usage and limits, shared by all clients of an account.
#[derive(Debug, Default)]
pub(crate) struct Budget(Mutex<Counters>);

#[derive(Debug, Default)]
struct Counters {
    usage: Usage,
    quotas: BTreeMap<Api, Quota>,
    closed: BTreeMap<Api, RequestPause>,
}

/// A pause that GitHub asked for.
#[derive(Debug, Clone, Copy)]
struct RequestPause {
    /// When the pause was last asked for. A clock before this instant was set back since: the rest of the pause is
    /// unknown then, and GitHub reports it again if it is asked too early.
    since: Timestamp,
    until: Timestamp,
}

impl Budget {
    pub(crate) fn usage(&self) -> Usage {
        self.with_counters(|book| book.usage)
    }

    pub(crate) fn quota(&self, face: Api) -> Option<Quota> {
        self.with_counters(|book| book.quotas.get(&face).copied())
    }

    /// How much of the pause that GitHub asked for is left; `None`: a request may be sent.
    pub(crate) fn pause_left(&self, face: Api, now: Timestamp) -> Option<Duration> {
        self.with_counters(|book| {
            let closed = *book.closed.get(&face)?;
            let left = Duration::try_from(closed.until.duration_since(now));
            match left {
                Ok(left) if !left.is_zero() && closed.since <= now => Some(left),
                _ => {
                    book.closed.remove(&face);
                    None
                }
            }
        })
    }

    /// Notes a pause that GitHub asked for. A secondary limit holds for both APIs.
    pub(crate) fn pause_requests(&self, faces: &[Api], now: Timestamp, length: Duration) {
        let length = SignedDuration::try_from(length).unwrap_or(SignedDuration::MAX);
        let until = now.checked_add(length).unwrap_or(Timestamp::MAX);
        self.with_counters(|book| {
            for face in faces {
                let before = book.closed.get(face).filter(|closed| closed.since <= now);
                let until = before.map_or(until, |closed| closed.until.max(until));
                book.closed
                    .insert(*face, RequestPause { since: now, until });
            }
        });
    }

    pub(crate) fn count_request(&self) {
        self.with_counters(|book| book.usage.requests += 1);
    }

    pub(crate) fn count_points(&self, points: u64) {
        self.with_counters(|book| book.usage.points += points);
    }

    /// Keeps the limits in an answer's headers.
    pub(crate) fn record_limits(&self, face: Api, answer: &Answer) {
        let figures = (
            answer.header_number("x-ratelimit-limit"),
            answer.header_number("x-ratelimit-remaining"),
            answer
                .header_number("x-ratelimit-reset")
                .and_then(|second| Timestamp::from_second(i64::try_from(second).ok()?).ok()),
        );
        if let (Some(limit), Some(remaining), Some(reset)) = figures {
            let quota = Quota {
                limit,
                remaining,
                reset,
            };
            self.with_counters(|book| book.quotas.insert(face, quota));
        }
    }

    fn with_counters<T>(&self, look: impl FnOnce(&mut Counters) -> T) -> T {
        // The figures stay valid even if a panic occurred while they were locked.
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_face_opens_again() {
        let budget = Budget::default();
        let now: Timestamp = "2026-01-05T00:00:00Z".parse().unwrap();
        assert_eq!(budget.pause_left(Api::Rest, now), None);
        budget.pause_requests(&[Api::Rest], now, Duration::from_secs(60));
        budget.pause_requests(&[Api::Rest], now, Duration::from_secs(5));
        assert_eq!(
            budget.pause_left(Api::Rest, now),
            Some(Duration::from_secs(60))
        );
        assert_eq!(budget.pause_left(Api::Graph, now), None);
        let later = now + SignedDuration::from_secs(60);
        assert_eq!(budget.pause_left(Api::Rest, later), None);
    }

    #[test]
    fn a_clock_that_was_ahead_closes_nothing_for_long() {
        let budget = Budget::default();
        let now: Timestamp = "2026-01-05T00:00:00Z".parse().unwrap();
        let ahead = now + SignedDuration::from_hours(72);
        budget.pause_requests(&[Api::Rest, Api::Graph], ahead, Duration::from_secs(60));
        assert_eq!(budget.pause_left(Api::Rest, now), None);
        // GitHub says it again, by a clock that is right.
        budget.pause_requests(&[Api::Graph], now, Duration::from_secs(7));
        let left = budget.pause_left(Api::Graph, now);
        assert_eq!(left, Some(Duration::from_secs(7)));
    }
}
