//! Whether what comes can be written at this time, and saying so once and not for each delivery.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::runtime::inbox::InboxError;

/// How often it is said that nothing can be written while that is so.
const SAID_EVERY: Duration = Duration::from_secs(60);
/// How long nothing must have failed until a write of no consequence is tried: what fails all the time needs no proof.
const QUIET: Duration = Duration::from_secs(30);

/// How the writing fares.
#[derive(Debug, Default)]
pub(super) struct Condition(Mutex<Option<Failing>>);

/// What is known of failures since deliveries could last be stored.
#[derive(Debug)]
struct Failing {
    because: String,
    since: Instant,
    last: Instant,
    /// Batches that failed.
    batches: u64,
    said: Instant,
}

impl Condition {
    /// A batch could not be written.
    pub(super) fn failed(&self, error: &InboxError) {
        let now = Instant::now();
        let mut failing = self.failing();
        let Some(before) = failing.as_mut() else {
            tracing::error!("{error}; deliveries are refused until it can be written again");
            *failing = Some(Failing {
                because: error.to_string(),
                since: now,
                last: now,
                batches: 1,
                said: now,
            });
            return;
        };
        before.because = error.to_string();
        before.last = now;
        before.batches += 1;
        if now.duration_since(before.said) >= SAID_EVERY {
            before.said = now;
            tracing::error!(
                failures = before.batches,
                "{error}, for {} minutes now; deliveries are refused",
                now.duration_since(before.since).as_secs() / 60
            );
        }
    }

    /// A delivery was stored, or something else was written after a time in which nothing failed.
    pub(super) fn written(&self) {
        if let Some(failing) = self.failing().take() {
            tracing::warn!(
                failures = failing.batches,
                "the inbox can be written again, after {} s",
                failing.since.elapsed().as_secs()
            );
        }
    }

    /// Whether writing failed, and has not been tried for a while.
    pub(super) fn is_to_be_tried(&self) -> bool {
        let failing = self.failing();
        failing
            .as_ref()
            .is_some_and(|failing| failing.last.elapsed() >= QUIET)
    }

    /// Why nothing can be stored.
    pub(super) fn trouble(&self) -> Option<String> {
        self.failing()
            .as_ref()
            .map(|failing| failing.because.clone())
    }

    fn failing(&self) -> MutexGuard<'_, Option<Failing>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
