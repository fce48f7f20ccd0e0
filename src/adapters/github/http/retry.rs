//! How often, and after which pauses, a request is repeated: only reads, and requests that surely took no effect.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The number of attempts of a read.
pub const READ_ATTEMPTS: u32 = 4;
/// The time after which a read is not repeated: a GitHub that hangs must not delay a tick for longer than its driver
/// allows.
pub const LONGEST_CALL: Duration = Duration::from_secs(90);
/// How many redirects are followed.
pub const MAX_REDIRECTS: u32 = 3;
/// The longest pause within a call. A call that needs a longer one fails, and the runtime repeats it later.
pub const LONGEST_WAIT: Duration = Duration::from_secs(4);
/// The first pause; each further one may be twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(400);

/// Whether a request may be repeated when it is unknown whether it took effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// Changes nothing, or only creates objects that nothing refers to: may be repeated.
    Read,
    /// Sent once.
    Write,
}

/// Pauses that grow, are capped, and differ between processes.
#[derive(Debug)]
pub(crate) struct Backoff(Mutex<fastrand::Rng>);

impl Backoff {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Mutex::new(fastrand::Rng::with_seed(seed)))
    }

    /// The pause after this attempt, counted from 1.
    pub(crate) fn wait_after(&self, attempt: u32) -> Duration {
        let doubled = FIRST_WAIT.saturating_mul(1 << attempt.saturating_sub(1).min(16));
        let most = doubled.min(LONGEST_WAIT);
        let share = self.0.lock().unwrap_or_else(PoisonError::into_inner).f64();
        most.mul_f64(0.5 + share / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_up_to_the_cap() {
        let backoff = Backoff::new(7);
        for (attempt, most) in [(1, 400), (2, 800), (3, 1_600), (9, 4_000), (90, 4_000)] {
            let wait = backoff.wait_after(attempt);
            assert!(wait <= Duration::from_millis(most), "{attempt}: {wait:?}");
            assert!(
                wait * 2 >= Duration::from_millis(most),
                "{attempt}: {wait:?}"
            );
        }
    }
}
