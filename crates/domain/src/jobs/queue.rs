//! Tracks which events were handed to a handler (the watcher's memory) and which were acknowledged.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::event::EventId;

/// The first pause after a handler failed.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_secs(2);
/// The longest pause after a handler failed.
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_secs(60);
/// From this count on the pause has reached its maximum.
const MAX_DOUBLINGS: u32 = 6;

/// `.zai_watcher_state.json`: `offset`, as the first watcher wrote it, and what identifies the events file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WatcherMemory {
    /// How many bytes of the events file were processed.
    pub offset: u64,
    /// The events file's inode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<u64>,
    /// A digest of the last bytes before the offset, to detect that the file was replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The newest event that was processed. No event is processed twice, not even from another file, unless all numbers
    /// of that one are smaller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_event: Option<EventId>,
    /// How often the handler of the next event has failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub attempts: u32,
    /// The handler is not started again before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
    /// Keys of other writers.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl WatcherMemory {
    /// Records that the next event was processed or given up. The following one begins at `offset`.
    pub fn mark_done(&mut self, offset: u64, event: Option<EventId>) {
        self.offset = offset;
        self.attempts = 0;
        self.retry_at = None;
        self.last_event = self.last_event.max(event);
    }

    /// Records a failure of the handler.
    pub fn failed(&mut self, now: Timestamp) {
        self.attempts = self.attempts.saturating_add(1);
        let doubled = FIRST_PAUSE * (1 << self.attempts.saturating_sub(1).min(MAX_DOUBLINGS));
        self.retry_at = now.checked_add(doubled.min(LONGEST_PAUSE)).ok();
    }

    /// Whether an event was processed before, from this file or another one.
    #[must_use]
    pub fn is_done(&self, event: Option<EventId>) -> bool {
        event.is_some_and(|event| self.last_event.is_some_and(|last| event <= last))
    }
}

/// The acknowledged events: all up to one, and some beyond it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Acknowledged {
    /// All up to this one.
    pub through: EventId,
    /// And these.
    pub beyond: BTreeSet<EventId>,
}

/// How many acknowledged events may follow a gap. Beyond that the gap counts as acknowledged, too.
pub const MAX_BEYOND: usize = 1_000;

impl Acknowledged {
    /// The newest of them; 0 where there is none.
    #[must_use]
    pub fn newest(&self) -> EventId {
        let beyond = self.beyond.last().copied().unwrap_or_default();
        self.through.max(beyond)
    }

    /// Whether an event is acknowledged.
    #[must_use]
    pub fn contains(&self, event: EventId) -> bool {
        event <= self.through || self.beyond.contains(&event)
    }

    /// Acknowledges an event; returns whether it is new.
    pub fn add(&mut self, event: EventId) -> bool {
        if self.contains(event) {
            return false;
        }
        self.beyond.insert(event);
        while self.beyond.len() > MAX_BEYOND {
            self.through = self.beyond.pop_first().unwrap_or(self.through);
        }
        while self.beyond.remove(&EventId(self.through.0 + 1)) {
            self.through = EventId(self.through.0 + 1);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_the_first_watcher_is_read() {
        let memory: WatcherMemory = serde_json::from_str("{\"offset\": 120}").unwrap();
        assert_eq!(memory.offset, 120);
        assert_eq!(serde_json::to_string(&memory).unwrap(), "{\"offset\":120}");
    }

    #[test]
    fn a_handler_that_fails_is_given_more_and_more_time() {
        let mut memory = WatcherMemory::default();
        let pauses: Vec<i64> = (0..8)
            .map(|_| {
                memory.failed(Timestamp::UNIX_EPOCH);
                memory.retry_at.unwrap().as_second()
            })
            .collect();
        assert_eq!(pauses, [2, 4, 8, 16, 32, 60, 60, 60]);
        memory.mark_done(9, Some(EventId(4)));
        assert!(memory.is_done(Some(EventId(4))) && !memory.is_done(Some(EventId(5))));
        assert!(!memory.is_done(None));
    }

    #[test]
    fn acknowledgements_are_bounded() {
        let mut known = Acknowledged::default();
        assert!(known.add(EventId(2)) && known.add(EventId(1)) && !known.add(EventId(2)));
        assert_eq!((known.through, known.beyond.len()), (EventId(2), 0));
        for event in 10..=10 + MAX_BEYOND as u64 {
            known.add(EventId(event));
        }
        assert!(known.beyond.len() <= MAX_BEYOND);
        assert!(known.contains(EventId(5)) && !known.contains(EventId(100_000)));
    }
}
