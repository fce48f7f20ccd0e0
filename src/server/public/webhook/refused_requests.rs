//! Logs that the webhook refuses requests, without letting their senders fill the log.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The least time between two warnings of one kind.
const GAP: Duration = Duration::from_secs(60);

/// Why a request was refused before it was parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RefusalReason {
    /// It has no valid signature header.
    Unsigned,
    /// None of the secrets has signed it.
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
    /// Counts a refusal, and logs a warning unless one was logged lately.
    pub(super) fn count_refusal(&self, why: RefusalReason, now: Instant) {
        let Some(count) = self.take_due_count(why, now) else {
            return;
        };
        match why {
            RefusalReason::Unsigned => tracing::warn!(
                count,
                "phileas refused requests to /webhook without a signature (X-Hub-Signature-256: sha256=…); if they are \
                 GitHub's, its webhook has no secret: set there the secret of PHILEAS_WEBHOOK_SECRET"
            ),
            RefusalReason::WrongSignature => tracing::warn!(
                count,
                "phileas refused deliveries with a wrong signature; compare the secret in the webhook's settings on \
                 GitHub with PHILEAS_WEBHOOK_SECRET (or with the one in app.json). During a rotation \
                 PHILEAS_WEBHOOK_SECRET must have both secrets, with a comma between them"
            ),
            RefusalReason::ContentType => tracing::warn!(
                count,
                "phileas refused requests to /webhook that are not JSON; if they are GitHub's, set the webhook's \
                 content type to application/json"
            ),
        }
    }

    /// Returns how many to report now, if a report is due.
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
        // Each kind has its own count.
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
