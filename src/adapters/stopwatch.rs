//! The time that passes in this process, also while the machine sleeps.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::runtime::ports::Stopwatch;

/// Time since it was made. Copies share their reading.
///
/// The monotonic clock stands still while a machine is suspended or a container frozen, and a deadline that passed
/// meanwhile would be missed; the wall clock goes on, and can be set. So whichever says that more has passed counts,
/// and a reading never goes back: at worst a deadline is thought to be over too early, never too late.
#[derive(Debug, Clone)]
pub struct SystemStopwatch {
    monotonic: Instant,
    wall: SystemTime,
    /// The highest reading so far, in nanoseconds.
    highest: Arc<AtomicU64>,
}

impl Default for SystemStopwatch {
    fn default() -> Self {
        Self {
            monotonic: Instant::now(),
            wall: SystemTime::now(),
            highest: Arc::default(),
        }
    }
}

impl SystemStopwatch {
    /// The reading when the two clocks say this. `None`: the wall clock stands before the start.
    fn read(&self, monotonic: Duration, wall: Option<Duration>) -> Duration {
        let passed = monotonic.max(wall.unwrap_or_default());
        let nanos = u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX);
        let before = self.highest.fetch_max(nanos, Ordering::Relaxed);
        Duration::from_nanos(nanos.max(before))
    }
}

impl Stopwatch for SystemStopwatch {
    fn elapsed(&self) -> Duration {
        let wall = SystemTime::now().duration_since(self.wall).ok();
        self.read(self.monotonic.elapsed(), wall)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_slept_has_grown_older() {
        let watch = SystemStopwatch::default();
        let copy = watch.clone();
        let seconds = Duration::from_secs;
        assert_eq!(watch.read(seconds(5), Some(seconds(4))), seconds(5));
        assert_eq!(watch.read(seconds(6), Some(seconds(600))), seconds(600));
        // The wall clock was set back, or stands before the start.
        assert_eq!(watch.read(seconds(7), Some(seconds(8))), seconds(600));
        assert_eq!(copy.read(seconds(8), None), seconds(600));
        assert_eq!(copy.read(seconds(601), None), seconds(601));
    }
}
