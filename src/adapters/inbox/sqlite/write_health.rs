//! Tracks whether writes succeed and whether there is room, and logs failures once instead of for each delivery.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::adapters::inbox::FULL;
use crate::runtime::inbox::InboxError;

/// How often failing writes are logged.
const SAID_EVERY: Duration = Duration::from_secs(60);
/// The time without failures before a test write is tried; a write that keeps failing needs no test.
const QUIET: Duration = Duration::from_secs(30);

/// Whether writes succeed, and whether there is room for them.
#[derive(Debug, Default)]
pub(super) struct WriteHealth {
    failing: Mutex<Option<Failing>>,
    is_full: AtomicBool,
}

/// The failures since deliveries could last be stored.
#[derive(Debug)]
struct Failing {
    because: String,
    since: Instant,
    last: Instant,
    /// The number of failed batches. The checks in between, one a second, are not counted.
    batches: u64,
    said: Instant,
}

impl WriteHealth {
    /// Records a failed batch.
    pub(super) fn record_failure(&self, error: &InboxError) {
        self.note(error, 1);
    }

    /// A check has found that nothing could be written.
    pub(super) fn check_failed(&self, error: &InboxError) {
        self.note(error, 0);
    }

    fn note(&self, error: &InboxError, batches: u64) {
        let now = Instant::now();
        let mut failing = self.lock_failing();
        let Some(before) = failing.as_mut() else {
            tracing::error!("{error}; deliveries are refused until it can be written again");
            *failing = Some(Failing {
                because: error.to_string(),
                since: now,
                last: now,
                batches,
                said: now,
            });
            return;
        };
        before.because = error.to_string();
        before.last = now;
        before.batches += batches;
        if now.duration_since(before.said) >= SAID_EVERY {
            before.said = now;
            tracing::error!(
                failures = before.batches,
                "{error}, for {} minutes now; deliveries are refused",
                now.duration_since(before.since).as_secs() / 60
            );
        }
    }

    /// Records a stored delivery, or another write after a time without failures.
    pub(super) fn record_success(&self) {
        if let Some(failing) = self.lock_failing().take() {
            tracing::warn!(
                failures = failing.batches,
                "the inbox can be written again, after {} s",
                failing.since.elapsed().as_secs()
            );
        }
    }

    /// Whether writes failed, and the last attempt was some time ago.
    pub(super) fn is_to_be_tried(&self) -> bool {
        let failing = self.lock_failing();
        failing
            .as_ref()
            .is_some_and(|failing| failing.last.elapsed() >= QUIET)
    }

    /// Records whether there is no room for another delivery.
    pub(super) fn record_room(&self, is_full: bool) {
        match (self.is_full.swap(is_full, Ordering::Relaxed), is_full) {
            (false, true) => tracing::error!("{FULL}"),
            (true, false) => tracing::warn!("the inbox has room again"),
            _ => {}
        }
    }

    /// Whether there was no room when that was last recorded.
    pub(super) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// Why deliveries cannot be stored.
    pub(super) fn current_problem(&self) -> Option<String> {
        let failing = self.lock_failing();
        let because = failing.as_ref().map(|failing| failing.because.clone());
        because.or_else(|| self.is_full().then(|| FULL.to_owned()))
    }

    fn lock_failing(&self) -> MutexGuard<'_, Option<Failing>> {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::log_capture::LogCapture;

    /// The storage is checked once a second, whether anything is to be written or not.
    #[test]
    fn only_batches_count_as_failures() {
        let condition = WriteHealth::default();
        let full = InboxError::Unavailable("the disk is full".to_owned());
        condition.check_failed(&full);
        condition.record_failure(&full);
        condition.record_failure(&full);
        condition.check_failed(&full);
        let capture = LogCapture::begin();
        condition.record_success();
        let log = capture.end();
        assert!(log.contains("failures=2"), "{log}");
    }
}
