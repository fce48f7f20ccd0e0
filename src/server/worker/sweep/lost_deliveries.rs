//! Finds lost events in the attempts that GitHub lists, and decides which of them are requested
//! first.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use crate::adapters::github::DeliveryAttempt;
use crate::server::public::webhook::is_relevant;

/// How many times one event is requested.
pub const MAX_ASKS: u32 = 5;
/// How many are requested before the sweep checks whether they are accepted.
pub const TRIED_FIRST: usize = 10;
/// A delivery that was requested less than this ago may not have arrived, or may not be listed yet.
const PATIENCE: SignedDuration = SignedDuration::from_mins(30);
/// How many requested events are remembered.
const MAX_REMEMBERED: usize = 10_000;

/// The requested events, by their ids.
#[derive(Debug, Default)]
pub struct Remembered(BTreeMap<String, Asked>);

/// A requested event.
#[derive(Debug, Clone, Copy)]
struct Asked {
    times: u32,
    at: Timestamp,
}

/// Returns one attempt of each lost event that may be requested now, with the event's id, oldest
/// first. An event is lost if it matters and no service accepted it.
pub(super) fn find_lost<'a>(
    attempts: &'a [DeliveryAttempt],
    since: Timestamp,
    now: Timestamp,
    remembered: &Remembered,
) -> Vec<(u64, &'a str)> {
    let mut events: BTreeMap<&str, Event<'_>> = BTreeMap::new();
    let matter = |one: &&DeliveryAttempt| is_relevant(&one.event, one.action.as_deref());
    for attempt in attempts.iter().filter(matter) {
        let guid = attempt.guid.as_str();
        let event = events.entry(guid).or_insert_with(|| {
            let known = remembered.0.get(guid);
            Event {
                guid,
                first: attempt.id,
                taken: false,
                asks: 0,
                requested_at: known.map(|asked| asked.at),
                last: None,
            }
        });
        event.taken |= attempt.was_accepted();
        event.last = event.last.max(attempt.delivered_at);
        // Attempts come newest first, so the last one is an event's first.
        event.first = attempt.id;
        if attempt.redelivery {
            event.asks += 1;
            event.requested_at = event.requested_at.max(attempt.delivered_at);
        }
    }
    let mut lost: Vec<(u64, &str)> = events
        .into_values()
        .filter(|event| {
            let known = remembered.0.get(event.guid).map_or(0, |asked| asked.times);
            let rested = event
                .requested_at
                .is_none_or(|at| now.duration_since(at) >= PATIENCE);
            !event.taken && event.last >= Some(since) && event.asks.max(known) < MAX_ASKS && rested
        })
        .map(|event| (event.first, event.guid))
        .collect();
    lost.sort_unstable();
    lost
}

/// Moves a sample of all events to the front: refused events may be of one kind in a row.
pub(super) fn trial_first<T>(lost: Vec<T>) -> Vec<T> {
    let step = (lost.len() / TRIED_FIRST).max(1);
    let is_tried = |place: usize| place.is_multiple_of(step) && place / step < TRIED_FIRST;
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for (place, one) in lost.into_iter().enumerate() {
        if is_tried(place) {
            first.push(one);
        } else {
            rest.push(one);
        }
    }
    first.append(&mut rest);
    first
}

/// Whether all requested deliveries came again, and neither they nor any other was accepted
/// meanwhile. `known`: the earlier attempts.
pub(super) fn are_refused(
    attempts: &[DeliveryAttempt],
    known: &BTreeSet<u64>,
    tried: &[&str],
) -> bool {
    let came_again = attempts.iter().filter(|one| {
        one.redelivery && !known.contains(&one.id) && tried.contains(&one.guid.as_str())
    });
    let came_again: Vec<u64> = came_again.map(|one| one.id).collect();
    let Some(since) = came_again.iter().min() else {
        return false;
    };
    let mut meanwhile = attempts.iter().filter(|one| one.id >= *since);
    came_again.len() >= tried.len() && !meanwhile.any(DeliveryAttempt::was_accepted)
}

impl Remembered {
    pub(super) fn record_request(&mut self, guid: &str, at: Timestamp) {
        let times = self.0.get(guid).map_or(0, |asked| asked.times) + 1;
        self.0.insert(guid.to_owned(), Asked { times, at });
        if self.0.len() > MAX_REMEMBERED {
            let oldest = self.0.iter().min_by_key(|(_, asked)| asked.at);
            if let Some(oldest) = oldest.map(|(guid, _)| guid.clone()) {
                self.0.remove(&oldest);
            }
        }
    }
}

/// The state of an event from its attempts.
struct Event<'a> {
    guid: &'a str,
    first: u64,
    taken: bool,
    /// How many requests its attempts show.
    asks: u32,
    /// When it was last requested.
    requested_at: Option<Timestamp>,
    /// When it was last attempted.
    last: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::super::{INTERVAL, OVERLAP};
    use super::*;

    fn attempt(id: u64, guid: &str, status_code: u16, redelivery: bool) -> DeliveryAttempt {
        DeliveryAttempt {
            id,
            guid: guid.to_owned(),
            delivered_at: Timestamp::from_second(i64::try_from(id).unwrap()).ok(),
            status_code,
            redelivery,
            event: "push".to_owned(),
            action: None,
        }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn only_deliveries_that_no_service_took_are_requested() {
        let attempts = [
            attempt(9, "asked", 503, true),
            attempt(8, "late", 202, true),
            attempt(7, "twice", 0, false),
            attempt(6, "twice", 503, false),
            attempt(5, "good", 202, false),
            attempt(4, "late", 502, false),
            attempt(3, "asked", 503, false),
            attempt(2, "lost", 500, false),
            attempt(1, "old", 500, false),
        ];
        let none = Remembered::default();
        assert_eq!(
            find_lost(&attempts, at(2), at(10), &none),
            [(2, "lost"), (6, "twice")]
        );
        // A failed redelivery does not end it: an hour later it is requested again.
        assert_eq!(
            find_lost(&attempts, at(2), at(3_600), &none),
            [(2, "lost"), (3, "asked"), (6, "twice")]
        );
    }

    #[test]
    fn nothing_is_asked_for_without_end() {
        let hour = 3_600;
        let mut attempts = vec![attempt(1, "lost", 500, false)];
        let mut remembered = Remembered::default();
        let mut asks = 0;
        for n in 1..=20 {
            let now = at(n * hour);
            // By GitHub's list, and by the memory.
            let listed = if n % 2 == 0 {
                &attempts[..]
            } else {
                &attempts[..1]
            };
            if !find_lost(listed, at(0), now, &remembered).is_empty() {
                remembered.record_request("lost", now);
                let id = u64::try_from(n * hour + 1).unwrap();
                attempts.insert(0, attempt(id, "lost", 500, true));
                asks += 1;
            }
        }
        assert_eq!(asks, MAX_ASKS);
        // After a restart only GitHub's list shows it.
        assert_eq!(
            find_lost(&attempts, at(0), at(30 * hour), &Remembered::default()),
            []
        );
    }

    #[test]
    fn what_is_left_alone_for_a_while_is_within_reach_of_the_next_sweep() {
        let attempts = [
            attempt(5_000, "lost", 503, true),
            attempt(1, "lost", 503, false),
        ];
        let none = Remembered::default();
        let swept_at = at(5_000) + PATIENCE - SignedDuration::from_secs(1);
        let (before, since) = (swept_at - INTERVAL - OVERLAP, swept_at - OVERLAP);
        // Another process has requested it.
        assert_eq!(find_lost(&attempts, before, swept_at, &none), []);
        assert_eq!(
            find_lost(&attempts, since, swept_at + INTERVAL, &none),
            [(1, "lost")]
        );
    }

    #[test]
    fn what_is_refused_is_told_from_what_is_late() {
        let guids: Vec<String> = (0..TRIED_FIRST).map(|n| format!("lost {n}")).collect();
        let tried: Vec<&str> = guids.iter().map(String::as_str).collect();
        // Newest first, as GitHub lists them; each had failed before.
        let attempts = |from: u64, status, redelivery| -> Vec<DeliveryAttempt> {
            let mut all: Vec<_> = tried
                .iter()
                .zip(from..)
                .map(|(guid, id)| attempt(id, guid, status, redelivery))
                .collect();
            all.reverse();
            all
        };
        let before = attempts(10, 503, false);
        let known: BTreeSet<u64> = before.iter().map(|one| one.id).collect();
        let again = attempts(100, 503, true);
        let page = |newer: &[DeliveryAttempt]| [newer, &before].concat();
        let refused = |newer: &[DeliveryAttempt]| are_refused(&page(newer), &known, &tried);
        assert!(refused(&again));
        // One of them is not listed yet, or none.
        assert!(!refused(&again[1..]) && !refused(&[]));
        // One of them was accepted, or another delivery was meanwhile; earlier acceptances do not
        // count.
        let with = |id, guid, redelivery| {
            let taken = attempt(id, guid, 202, redelivery);
            [vec![taken], again.clone()].concat()
        };
        assert!(!refused(&with(200, "lost 3", true)));
        assert!(!refused(&with(200, "another", false)));
        assert!(refused(&with(50, "another", false)));
    }

    #[test]
    fn those_that_are_tried_come_from_everywhere() {
        assert_eq!(trial_first(vec![1, 2, 3]), [1, 2, 3]);
        let order = trial_first((0..35).collect());
        assert_eq!(order[..TRIED_FIRST], [0, 3, 6, 9, 12, 15, 18, 21, 24, 27]);
        assert_eq!(order[TRIED_FIRST..][..3], [1, 2, 4]);
        assert_eq!(order.len(), 35);
    }

    #[test]
    fn what_nothing_hangs_on_is_not_asked_for() {
        let mut star = attempt(2, "star", 503, false);
        star.event = "star".to_owned();
        let attempts = [star, attempt(1, "push", 503, false)];
        assert_eq!(
            find_lost(&attempts, at(0), at(10), &Remembered::default()),
            [(1, "push")]
        );
    }
}
