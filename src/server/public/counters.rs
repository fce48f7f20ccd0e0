//! Counts requests to the public listener since its start.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How far back [`RecentCounter::recent_count`] reaches.
pub const RECENT: Duration = Duration::from_secs(60 * 60);
/// Counts within this time share one entry, so that an hour takes little room.
const BUCKET: Duration = Duration::from_secs(60);

macro_rules! figures {
    ($($(#[$doc:meta])+ $name:ident: $kind:ident),+ $(,)?) => {
        /// Counters. They only grow.
        #[derive(Debug, Default)]
        pub struct Figures {
            $($(#[$doc])+ pub $name: $kind,)+
        }

        impl Figures {
            /// All counters with their names, in the order of their declaration.
            #[must_use]
            pub fn all_counts(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name.total())),+]
            }
        }
    };
}

figures! {
    /// Deliveries that were stored and answered 202.
    stored: Counter,
    /// Deliveries that were stored before and answered 200.
    duplicate: Counter,
    /// Deliveries of repositories that are not on the list: answered 202, nothing stored.
    not_listed: Counter,
    /// Deliveries of events that GitHub did not have when this was written. They are stored like
    /// others.
    unknown_event: Counter,
    /// Deliveries of known events with an action that GitHub did not have when this was written.
    /// They wake like others.
    unknown_action: Counter,
    /// Requests without a signature: answered 401.
    unsigned: RecentCounter,
    /// Requests that none of our secrets has signed: answered 401.
    wrong_signature: RecentCounter,
    /// Requests of another content type than `application/json`: answered 415.
    content_type: RecentCounter,
    /// Signed requests that cannot be read as a delivery: answered 400.
    malformed: Counter,
    /// Requests that are too large: answered 413.
    too_large: Counter,
    /// Requests whose body took too long or never ended: answered 408, or cut off.
    too_slow: Counter,
    /// Deliveries that wake no repository and were not stored because room is short: answered 503.
    passed_over: Counter,
    /// Deliveries refused because there was no room, in memory or in the inbox: answered 503.
    overloaded: Counter,
    /// Deliveries refused because the inbox could not store them: answered 503.
    unavailable: Counter,
    /// Connections that were closed at once because their client had too many.
    over_client_limit: Counter,
}

/// One counter.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Counts one.
    pub fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The count.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A counter that also has a count of the recent past.
#[derive(Debug, Default)]
pub struct RecentCounter {
    all: Counter,
    /// The start and the count of each minute in which something was counted.
    buckets: Mutex<VecDeque<(Instant, u64)>>,
}

impl RecentCounter {
    /// Counts one.
    pub fn count(&self) {
        self.count_at(Instant::now());
    }

    fn count_at(&self, now: Instant) {
        self.all.count();
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        buckets.retain(|(begun, _)| now.saturating_duration_since(*begun) < RECENT);
        match buckets.back_mut() {
            Some((begun, count)) if now.saturating_duration_since(*begun) < BUCKET => *count += 1,
            _ => buckets.push_back((now, 1)),
        }
    }

    /// The count since the start.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.all.total()
    }

    /// The count within [`RECENT`] before an instant.
    #[must_use]
    pub fn recent_count(&self, now: Instant) -> u64 {
        let buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let lately = buckets.iter();
        let lately = lately.filter(|(begun, _)| now.saturating_duration_since(*begun) < RECENT);
        lately.map(|(_, count)| count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_long_ago_counts_in_all_and_not_lately() {
        let counter = RecentCounter::default();
        let begun = Instant::now();
        let at = |minutes: u64| begun + Duration::from_secs(minutes * 60);
        for _ in 0..3 {
            counter.count_at(at(0));
        }
        counter.count_at(at(30));
        assert_eq!((counter.total(), counter.recent_count(at(31))), (4, 4));
        assert_eq!((counter.total(), counter.recent_count(at(61))), (4, 1));
        assert_eq!((counter.total(), counter.recent_count(at(91))), (4, 0));
        for minute in 0..1_000 {
            counter.count_at(at(minute));
        }
        assert_eq!(
            (counter.total(), counter.recent_count(at(1_000))),
            (1_004, 59)
        );
        assert!(counter.buckets.lock().unwrap().len() <= 60);
    }
}
