//! The clock of a world that runs faster than real time, for a service that runs beside it.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::virtual_time::SharedWorld;
use crate::adapters::pause::Pause;
use crate::adapters::transport::BoxFuture;
use crate::runtime::ports::{Clock, Stopwatch};

/// The shortest real sleep: the world checks its own clock no more often.
const LEAST: Duration = Duration::from_millis(10);

/// The clock of a world that is served at a pace.
#[derive(Debug, Clone)]
pub struct RunningTime {
    shared: SharedWorld,
    start: Timestamp,
    factor: f64,
}

impl RunningTime {
    /// Creates the clock of a world in which `factor` seconds pass in a real one; its stopwatch
    /// starts now.
    #[must_use]
    pub fn new(shared: SharedWorld, factor: f64) -> Self {
        let start = shared.world_time();
        Self {
            shared,
            start,
            factor: factor.max(1.0),
        }
    }

    fn real_duration(&self, length: Duration) -> Duration {
        length.div_f64(self.factor).max(LEAST)
    }
}

impl Stopwatch for RunningTime {
    fn elapsed(&self) -> Duration {
        self.shared
            .world_time()
            .duration_since(self.start)
            .unsigned_abs()
    }
}

impl Pause for RunningTime {
    fn now(&self) -> Timestamp {
        self.shared.world_time()
    }

    fn pause_for(&self, length: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(self.real_duration(length)))
    }
}

impl Clock for RunningTime {
    fn now(&self) -> Timestamp {
        self.shared.world_time()
    }

    async fn sleep_until(&self, at: Timestamp) {
        loop {
            let left: SignedDuration = at.duration_since(self.shared.world_time());
            match Duration::try_from(left) {
                Ok(left) if !left.is_zero() => tokio::time::sleep(self.real_duration(left)).await,
                _ => return,
            }
        }
    }
}
