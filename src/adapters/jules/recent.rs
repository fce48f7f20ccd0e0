//! Remembers what a client did in the last minutes: which sessions it created, and what time it is.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use jiff::Timestamp;

use super::retry::FRESH_FOR;

/// How many creates are remembered: more than a key can make in the time that they count.
const MAX_REMEMBERED: usize = 256;

/// A client's recent creates and time. Times are those of its stopwatch.
#[derive(Debug, Default)]
pub(super) struct Recent {
    created: Mutex<VecDeque<(String, Duration)>>,
    noted: Mutex<Option<(Timestamp, Duration)>>,
}

impl Recent {
    /// Remembers that a session was created.
    pub(super) fn record_created(&self, session: &str, elapsed: Duration) {
        let mut created = lock_mutex(&self.created);
        if created.len() == MAX_REMEMBERED {
            created.pop_front();
        }
        created.push_back((session.to_owned(), elapsed));
    }

    /// Whether a session was created here so recently that Jules may not show it yet.
    pub(super) fn is_fresh(&self, session: &str, elapsed: Duration) -> bool {
        lock_mutex(&self.created)
            .iter()
            .any(|(id, at)| id == session && elapsed.saturating_sub(*at) < FRESH_FOR)
    }

    /// Notes GitHub's time.
    pub(super) fn note_time(&self, now: Timestamp, elapsed: Duration) {
        *lock_mutex(&self.noted) = Some((now, elapsed));
    }

    /// The time, computed from the last note.
    pub(super) fn estimated_now(&self, elapsed: Duration) -> Option<Timestamp> {
        let (then, at) = (*lock_mutex(&self.noted))?;
        then.checked_add(elapsed.saturating_sub(at)).ok()
    }
}

/// Locks a value that is never left half changed.
pub(super) fn lock_mutex<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    #[test]
    fn a_session_is_fresh_for_a_minute() {
        let recent = Recent::default();
        recent.record_created("1", seconds(100));
        assert!(recent.is_fresh("1", seconds(159)));
        assert!(!recent.is_fresh("1", seconds(160)));
        assert!(!recent.is_fresh("2", seconds(101)));
    }

    #[test]
    fn the_memory_is_bounded() {
        let recent = Recent::default();
        for session in 0..=MAX_REMEMBERED {
            recent.record_created(&session.to_string(), seconds(1));
        }
        assert!(!recent.is_fresh("0", seconds(1)));
        assert!(recent.is_fresh("1", seconds(1)));
    }

    #[test]
    fn time_goes_on_from_the_last_note() {
        let recent = Recent::default();
        assert_eq!(recent.estimated_now(seconds(9)), None);
        let noon: Timestamp = "2026-01-05T12:00:00Z".parse().unwrap();
        recent.note_time(noon, seconds(10));
        assert_eq!(
            recent.estimated_now(seconds(25)),
            Some("2026-01-05T12:00:15Z".parse().unwrap())
        );
    }
}
