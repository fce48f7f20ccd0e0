//! Logs that requests to the webhook are refused, without letting their senders fill
//! the log.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The least time between two warnings of one kind.
const GAP: Duration = Duration::from_secs(60);

/// Why a request was refused before anything was read out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RefusalReason {
    /// It has no signature, or something else in its place.
    Unsigned,
    /// None of our secrets has signed it.
    WrongSignature,
    /// It is not `application/json`.
    ContentType,
}

/// Refused requests that are not reported yet, by kind.
#[derive(Debug, Default)]
pub(super) struct RefusedRequests(Mutex<[Kind; 3]>);

#[derive(Debug, Default, Clone, Copy)]
struct Kind {
    reported_at: Option<Instant>,
    untold: u64,
}

impl RefusedRequests {
    /// Counts one, and warns unless that was done lately.
    pub(super) fn count_refusal(&self, why: RefusalReason, now: Instant) {
        let Some(count) = self.take_due_count(why, now) else {
            return;
        };
        match why {
            RefusalReason::Unsigned => tracing::warn!(
                count,
                "requests to /webhook without a signature (X-Hub-Signature-256: sha256=…) were refused; should they be \
                 GitHub's, its webhook has no secret: set there what PHILEAS_WEBHOOK_SECRET says"
            ),
            RefusalReason::WrongSignature => tracing::warn!(
                count,
                "deliveries with a wrong signature were refused; compare the secret in the webhook's settings on GitHub \
                 with PHILEAS_WEBHOOK_SECRET (or with what app.json keeps): during a rotation both secrets must be given, \
                 with a comma between them"
            ),
            RefusalReason::ContentType => tracing::warn!(
                count,
                "requests to /webhook that are no JSON were refused; should they be GitHub's, set the webhook's content \
                 type to application/json"
            ),
        }
    }

    /// How many to report now.
    fn take_due_count(&self, why: RefusalReason, now: Instant) -> Option<u64> {
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = &mut kinds[why as usize];
        kind.untold += 1;
        if kind
            .reported_at
            .is_some_and(|at| now.saturating_duration_since(at) < GAP)
        {
            return None;
        }
        kind.reported_at = Some(now);
        Some(std::mem::take(&mut kind.untold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_told_at_once_and_the_others_together() {
        let refusals = RefusedRequests::default();
        let begun = Instant::now();
        let at = |seconds| begun + Duration::from_secs(seconds);
        assert_eq!(
            refusals.take_due_count(RefusalReason::WrongSignature, at(0)),
            Some(1)
        );
        for second in 1..60 {
            assert_eq!(
                refusals.take_due_count(RefusalReason::WrongSignature, at(second)),
                None
            );
        }
        // Kinds do not hide one another.
        assert_eq!(
            refusals.take_due_count(RefusalReason::Unsigned, at(30)),
            Some(1)
        );
        assert_eq!(
            refusals.take_due_count(RefusalReason::WrongSignature, at(60)),
            Some(60)
        );
    }
}
