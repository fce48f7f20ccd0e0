//! Provides time to the clients: the current instant, and waiting. It is injected, so that a model's virtual time
//! works too.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;

use crate::adapters::transport::BoxFuture;
use crate::runtime::ports::Clock;

/// A clock that can wait.
pub trait Pause: Send + Sync {
    /// The current time.
    fn now(&self) -> Timestamp;

    /// Waits.
    fn pause_for(&self, length: Duration) -> BoxFuture<'_, ()>;
}

impl fmt::Debug for dyn Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pause")
    }
}

/// The machine's clock and Tokio's timers.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemPause;

impl Pause for SystemPause {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn pause_for(&self, length: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(length))
    }
}

impl Clock for SystemPause {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    async fn sleep_until(&self, at: Timestamp) {
        let left = at.duration_since(Timestamp::now());
        if let Ok(left) = Duration::try_from(left) {
            tokio::time::sleep(left).await;
        }
    }
}
