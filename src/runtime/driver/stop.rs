//! The signal that tells a tick to end early.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::watch;

/// Whether a tick must end early, because of a stop or because its lease has expired. All clones
/// show the same.
///
/// Each call compares the end of the lease with the clock. So a process that was suspended, or that
/// waits for its inbox, does nothing more under a lease that another process may have.
#[derive(Clone)]
pub struct StopSignal {
    receiver: watch::Receiver<StopState>,
    now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

/// Stops a tick, and records how long its lease lasts.
#[derive(Debug, Clone)]
pub struct Stopper(watch::Sender<StopState>);

#[derive(Debug, Clone, Copy)]
struct StopState {
    stop: bool,
    /// When the lease ends, as the inbox has last confirmed it.
    until: Timestamp,
}

/// Creates a stopper, and the signal for the tick that it stops. The lease ends when the clock
/// `now` reaches `until`, unless it is [extended](Stopper::extend_lease).
#[must_use]
pub fn stop_pair(
    until: Timestamp,
    now: impl Fn() -> Timestamp + Send + Sync + 'static,
) -> (Stopper, StopSignal) {
    let (sender, told) = watch::channel(StopState { stop: false, until });
    let now = Arc::new(now);
    (
        Stopper(sender),
        StopSignal {
            receiver: told,
            now,
        },
    )
}

impl Stopper {
    /// Stops the tick before its next effect.
    pub fn stop(&self) {
        self.0.send_modify(|told| told.stop = true);
    }

    /// Records that the inbox has confirmed the lease until then.
    pub fn extend_lease(&self, until: Timestamp) {
        self.0.send_modify(|told| told.until = until);
    }
}

impl StopSignal {
    /// Whether the tick must end now. A dropped stopper counts as a stop, too.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        let told = *self.receiver.borrow();
        told.stop || told.until <= (self.now)() || self.receiver.has_changed().is_err()
    }

    /// Waits until the tick is stopped. An expired lease does not end the wait:
    /// [`StopSignal::is_requested`] reports it at once, and the task that runs the tick watches for
    /// it.
    pub async fn wait_for_stop(&mut self) {
        let _gone = self.receiver.wait_for(|told| told.stop).await;
    }

    /// When the lease ends, as the inbox has last confirmed it.
    #[must_use]
    pub fn lease_end(&self) -> Timestamp {
        self.receiver.borrow().until
    }
}

impl fmt::Debug for StopSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stop")
            .field(&*self.receiver.borrow())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    #[test]
    fn a_lease_that_is_over_by_the_clock_stops_its_tick() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let clock = Arc::new(AtomicI64::new(100));
        let hands = Arc::clone(&clock);
        let (stopper, stop) = stop_pair(at(115), move || at(hands.load(Ordering::Relaxed)));
        assert!(!stop.is_requested());
        // The process was suspended and has received nothing since.
        clock.store(115, Ordering::Relaxed);
        assert!(stop.is_requested());
        stopper.extend_lease(at(130));
        assert!(!stop.is_requested());
        stopper.stop();
        stopper.extend_lease(at(200));
        assert!(stop.is_requested());
    }

    #[test]
    fn a_dropped_stopper_stops() {
        let (stopper, stop) = stop_pair(Timestamp::MAX, Timestamp::now);
        assert!(!stop.is_requested());
        drop(stopper);
        assert!(stop.is_requested());
    }
}
