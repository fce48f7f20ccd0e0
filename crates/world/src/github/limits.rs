//! Counts requests against GitHub's rate limits: requests an hour, points a minute, content created.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use http::HeaderValue;
use jiff::Timestamp;

use super::account::{Identity, TokenKind};
use crate::clock::{earlier_by, later_by};
use crate::knobs::Knobs;

/// The window of the primary limit.
pub(super) const HOUR: Duration = Duration::from_secs(3_600);
/// The window of the secondary limits.
const MINUTE: Duration = Duration::from_secs(60);
/// Points a minute for REST (GitHub's documentation).
pub(crate) const REST_POINTS: u32 = 900;
/// Points a minute for GraphQL (GitHub's documentation).
pub(crate) const GRAPHQL_POINTS: u32 = 2_000;
/// Content-creating requests an hour (GitHub's documentation).
pub(crate) const CONTENT_PER_HOUR: usize = 500;

/// Requests an hour of a job's `GITHUB_TOKEN` in one repository (GitHub's documentation).
const ACTIONS_LIMIT: u64 = 1_000;
/// Requests an hour without credentials (GitHub's documentation).
const ANONYMOUS_LIMIT: u64 = 60;

/// The two budgets, which are counted separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Resource {
    /// REST.
    Core,
    /// GraphQL.
    Graphql,
}

impl Resource {
    pub(crate) fn resource_name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Graphql => "graphql",
        }
    }
}

/// One identity's counters for one resource.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counter {
    used: u64,
    window_ends: Option<Timestamp>,
    points: VecDeque<(Timestamp, u32)>,
}

/// All counters.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    counters: BTreeMap<(String, Resource), Counter>,
    content: BTreeMap<String, VecDeque<Timestamp>>,
}

/// The state of a primary limit, for headers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LimitStatus {
    pub(crate) limit: u64,
    pub(crate) used: u64,
    pub(crate) reset: Timestamp,
}

impl LimitStatus {
    pub(crate) fn remaining_points(self) -> u64 {
        self.limit.saturating_sub(self.used)
    }

    /// Writes the headers that go with every reply.
    pub(crate) fn write_headers(self, resource: Resource, headers: &mut http::HeaderMap) {
        let values: [(&'static str, u64); 4] = [
            ("x-ratelimit-limit", self.limit),
            ("x-ratelimit-remaining", self.remaining_points()),
            ("x-ratelimit-used", self.used),
            (
                "x-ratelimit-reset",
                u64::try_from(self.reset.as_second()).unwrap_or_default(),
            ),
        ];
        for (name, value) in values {
            headers.insert(name, HeaderValue::from(value));
        }
        headers.insert(
            "x-ratelimit-resource",
            HeaderValue::from_static(resource.resource_name()),
        );
    }
}

/// The limit that a request exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExceededLimit {
    Primary,
    Secondary,
}

impl Limits {
    /// The state of an identity's primary limit; counts nothing.
    pub(crate) fn limit_status(
        &mut self,
        name: &str,
        resource: Resource,
        limit: u64,
        now: Timestamp,
    ) -> LimitStatus {
        let counter = self
            .counters
            .entry((name.to_owned(), resource))
            .or_default();
        let reset = match counter.window_ends {
            Some(end) if end > now => end,
            _ => {
                counter.used = 0;
                let end = later_by(now, HOUR);
                counter.window_ends = Some(end);
                end
            }
        };
        LimitStatus {
            limit,
            used: counter.used,
            reset,
        }
    }

    /// Counts a request, or returns the limit that it exceeds; a refused request is not counted.
    #[expect(
        clippy::too_many_arguments,
        reason = "the properties of a request that limits depend on"
    )]
    pub(crate) fn count_request(
        &mut self,
        name: &str,
        resource: Resource,
        limit: u64,
        points: u32,
        content: bool,
        knobs: &Knobs,
        now: Timestamp,
    ) -> Result<(), ExceededLimit> {
        let limit_status = self.limit_status(name, resource, limit, now);
        if limit_status.remaining_points() == 0 {
            return Err(ExceededLimit::Primary);
        }
        let counter = self
            .counters
            .entry((name.to_owned(), resource))
            .or_default();
        let horizon = earlier_by(now, MINUTE);
        while counter.points.front().is_some_and(|(at, _)| *at <= horizon) {
            counter.points.pop_front();
        }
        let spent: u32 = counter.points.iter().map(|(_, points)| points).sum();
        let most = if resource == Resource::Core {
            REST_POINTS
        } else {
            GRAPHQL_POINTS
        };
        if spent + points > most {
            return Err(ExceededLimit::Secondary);
        }
        if content {
            let created = self.content.entry(name.to_owned()).or_default();
            let oldest = earlier_by(now, HOUR);
            while created.front().is_some_and(|at| *at <= oldest) {
                created.pop_front();
            }
            let lately = created.iter().rev().take_while(|at| **at > horizon).count() as u64;
            let hasty = knobs.count_use("content-per-minute", lately >= knobs.content_per_minute);
            if hasty || created.len() >= CONTENT_PER_HOUR {
                return Err(ExceededLimit::Secondary);
            }
            created.push_back(now);
        }
        counter.points.push_back((now, points));
        counter.used += 1;
        Ok(())
    }

    /// Counts the points of a query beyond the one that each request costs.
    pub(crate) fn count_more(&mut self, name: &str, resource: Resource, points: u64) {
        if let Some(counter) = self.counters.get_mut(&(name.to_owned(), resource)) {
            counter.used += points;
        }
    }

    /// Takes back one request of the primary limit, because an answer of 304 costs nothing.
    pub(crate) fn give_back(&mut self, name: &str, resource: Resource) {
        if let Some(counter) = self.counters.get_mut(&(name.to_owned(), resource)) {
            counter.used = counter.used.saturating_sub(1);
        }
    }
}

/// The requests an hour that an identity has.
pub(super) fn primary_limit(identity: Option<&Identity>, knobs: &Knobs) -> u64 {
    match identity.map(|identity| &identity.kind) {
        None => ANONYMOUS_LIMIT,
        Some(TokenKind::Actions { .. }) => ACTIONS_LIMIT.min(knobs.primary_limit),
        Some(_) => knobs.primary_limit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_and_hours_are_counted_apart() {
        let now = Timestamp::UNIX_EPOCH;
        let knobs = Knobs {
            content_per_minute: 2,
            ..Knobs::documented()
        };
        let mut limits = Limits::default();
        let mut write = |at| limits.count_request("t", Resource::Core, 4, 5, true, &knobs, at);
        assert_eq!(
            [write(now), write(now), write(now)],
            [Ok(()), Ok(()), Err(ExceededLimit::Secondary)]
        );
        let next = later_by(now, MINUTE);
        assert_eq!([write(next), write(next)], [Ok(()), Ok(())]);
        assert_eq!(write(later_by(next, MINUTE)), Err(ExceededLimit::Primary));
        assert_eq!(write(later_by(now, HOUR)), Ok(()));
    }
}
