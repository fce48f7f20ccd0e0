//! Measures the time that passes, including the time while the machine sleeps.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::runtime::ports::Stopwatch;

/// Time since it was created. Copies share their reading.
///
/// The monotonic clock stops while a machine is suspended or a container frozen, so a deadline that passes meanwhile
/// would be missed. The wall clock goes on, but can be set. So between two readings the clock that shows more elapsed
/// time counts: at worst a deadline is reached too early, never too late.
#[derive(Debug, Clone)]
pub struct SystemStopwatch {
    start: Instant,
    last: Arc<Mutex<Reading>>,
}

/// The clocks at the last reading.
#[derive(Debug)]
struct Reading {
    monotonic: Duration,
    wall: SystemTime,
    elapsed: Duration,
}

impl Default for SystemStopwatch {
    fn default() -> Self {
        Self {
            start: Instant::now(),
            last: Arc::new(Mutex::new(Reading {
                monotonic: Duration::ZERO,
                wall: SystemTime::now(),
                elapsed: Duration::ZERO,
            })),
        }
    }
}

impl Reading {
    /// The reading for these two clocks. A wall clock that was set back is ignored.
    fn advance_to(&mut self, monotonic: Duration, wall: SystemTime) -> Duration {
        let by_wall = wall.duration_since(self.wall).unwrap_or_default();
        self.elapsed += monotonic.saturating_sub(self.monotonic).max(by_wall);
        self.monotonic = self.monotonic.max(monotonic);
        self.wall = wall;
        self.elapsed
    }
}

impl Stopwatch for SystemStopwatch {
    fn elapsed(&self) -> Duration {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // Read both clocks under the lock, so that readings are in order.
        last.advance_to(self.start.elapsed(), SystemTime::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_slept_has_grown_older_and_a_clock_that_was_set_back_changes_nothing() {
        let seconds = Duration::from_secs;
        let noon = SystemTime::UNIX_EPOCH + seconds(1_767_614_400);
        let mut reading = Reading {
            monotonic: Duration::ZERO,
            wall: noon,
            elapsed: Duration::ZERO,
        };
        assert_eq!(
            reading.advance_to(seconds(5), noon + seconds(4)),
            seconds(5)
        );
        // It slept for ten minutes.
        assert_eq!(
            reading.advance_to(seconds(6), noon + seconds(604)),
            seconds(605)
        );
        // The wall clock is set back by an hour, and time goes on.
        assert_eq!(
            reading.advance_to(seconds(9), noon - seconds(3_000)),
            seconds(608)
        );
        // It sleeps again, for a minute.
        assert_eq!(
            reading.advance_to(seconds(9), noon - seconds(2_940)),
            seconds(668)
        );
    }

    #[test]
    fn copies_agree() {
        let watch = SystemStopwatch::default();
        let copy = watch.clone();
        let before = watch.elapsed();
        assert!(copy.elapsed() >= before && watch.elapsed() >= before);
    }
}
