//! Waiting, which a simulation does without time.

use std::time::Duration;

use crate::adapters::transport::BoxFuture;

/// Waits.
pub trait Pause: Send + Sync {
    /// Comes back after the time, or at once in a world whose clock was moved on.
    fn pause(&self, time: Duration) -> BoxFuture<'_, ()>;
}

/// Waits in real time.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimerPause;

impl Pause for TimerPause {
    fn pause(&self, time: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}
