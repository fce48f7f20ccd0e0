//! Logs why ticks have to wait, without a line for each of thousands with the same reason.

use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

/// How many of these lines are logged in a [`WINDOW`]; the others are counted.
const LOGGED: u32 = 20;
/// How long one count lasts.
const WINDOW: SignedDuration = SignedDuration::from_secs(60);

/// The lines that were logged and counted in this window.
#[derive(Debug, Default)]
pub(super) struct TickOutageLog(Mutex<OutageWindow>);

#[derive(Debug, Default)]
struct OutageWindow {
    begun: Option<Timestamp>,
    logged: u32,
    counted: u64,
    last: String,
}

impl TickOutageLog {
    /// Records that a tick has to wait. `true`: it gets a line of its own.
    pub(super) fn note_outage(&self, because: &str, now: Timestamp) -> bool {
        self.flush(now);
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        window.begun.get_or_insert(now);
        if window.logged < LOGGED {
            window.logged += 1;
            return true;
        }
        window.counted += 1;
        because.clone_into(&mut window.last);
        false
    }

    /// Logs one line for the counted ones, when their window is over.
    pub(super) fn flush(&self, now: Timestamp) {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back begins a new window.
        let is_over = |begun: Timestamp| now < begun || now.duration_since(begun) >= WINDOW;
        if !window.begun.is_some_and(is_over) {
            return;
        }
        let OutageWindow { counted, last, .. } = std::mem::take(&mut *window);
        if counted > 0 {
            tracing::warn!(
                ticks = counted,
                "that many more ticks had to wait within a minute; the last one: {last}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_that_wait_are_counted_and_a_minute_later_some_are_logged_again() {
        let at = |second: i64| Timestamp::from_second(1_800_000_000 + second).unwrap();
        let log = TickOutageLog::default();
        let logged = |second| {
            (0..5_000)
                .filter(|_| log.note_outage("GitHub answered 403", at(second)))
                .count()
        };
        assert_eq!(logged(0), 20);
        assert_eq!(logged(59), 0);
        assert_eq!(log.0.lock().unwrap().counted, 9_980);
        assert_eq!(logged(60), 20);
        log.flush(at(120));
        assert_eq!(log.0.lock().unwrap().counted, 0);
        assert_eq!(logged(121), 20);
        assert_eq!(logged(0), 20, "the clock was set back");
    }
}
