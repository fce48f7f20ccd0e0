//! Decides which calls are repeated, when, and how often.

use std::time::Duration;

use super::error::{ApiError, Cause};
use crate::adapters::transport::TransportError;

/// How often a call is sent at most.
pub const MAX_ATTEMPTS: u32 = 5;

/// The wait after the first failure; it doubles each time.
pub const FIRST_WAIT: Duration = Duration::from_secs(1);

/// The longest wait between two attempts. An answer that asks for more is reported instead.
pub const MAX_WAIT: Duration = Duration::from_secs(30);

/// The longest time that one call waits in all, and after which it is not repeated: a Jules that hangs must not delay
/// a tick for longer than its driver allows.
pub const MAX_TOTAL_WAIT: Duration = Duration::from_secs(90);

/// How long after its creation a session may be unknown to Jules without being gone.
pub const FRESH_FOR: Duration = Duration::from_secs(60);

/// The waits, in order, before a fresh session counts as gone.
pub const FRESH_WAITS: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
    Duration::from_secs(16),
];

/// The attempts of one call.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    failed: u32,
    missing: usize,
    waited: Duration,
}

impl Attempts {
    /// How long to wait before the call is repeated; `None`: the error is final.
    ///
    /// `fresh` says whether the session is so young that its absence may be a delay. `jitter` is in `0.0..1.0`.
    /// `spent` is the time since the call was first sent.
    pub(super) fn next(
        &mut self,
        error: &ApiError,
        fresh: bool,
        jitter: f64,
        spent: Duration,
    ) -> Option<Duration> {
        if error.is_status(404) {
            if !fresh {
                return None;
            }
            let wait = *FRESH_WAITS.get(self.missing)?;
            self.missing += 1;
            return Some(wait);
        }
        self.failed += 1;
        if self.failed >= MAX_ATTEMPTS || spent >= MAX_TOTAL_WAIT || !may_repeat(error) {
            return None;
        }
        let asked = error.answer().and_then(|answer| answer.retry_after);
        if asked.is_some_and(|asked| asked > MAX_WAIT) {
            return None;
        }
        let doubled = FIRST_WAIT * 2_u32.pow(self.failed - 1);
        let wait = asked.unwrap_or_else(|| doubled.mul_f64(1.0 + jitter / 4.0).min(MAX_WAIT));
        self.waited += wait;
        (self.waited <= MAX_TOTAL_WAIT).then_some(wait)
    }
}

/// A request over the quota had no effect, so any call may be repeated. After other failures only calls that are safe
/// to repeat.
fn may_repeat(error: &ApiError) -> bool {
    if error.route == super::routes::CREATE_SESSION {
        return false;
    }
    match &error.cause {
        Cause::Answer(answer) if answer.is_quota() => true,
        Cause::Answer(answer) => answer.is_ambiguous() && error.is_repeatable(),
        Cause::Transport(TransportError::NotSent(_) | TransportError::Lost(_)) => {
            error.is_repeatable()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::error::Answer;
    use super::super::routes;
    use super::*;

    fn answer(route: &'static str, status: u16, retry_after: Option<u64>) -> ApiError {
        let answer = Answer {
            status,
            code: String::new(),
            reason: String::new(),
            message: String::new(),
            retry_after: retry_after.map(Duration::from_secs),
            date: None,
        };
        ApiError {
            route,
            cause: Cause::Answer(Box::new(answer)),
        }
    }

    fn waits(error: &ApiError, fresh: bool, jitter: f64) -> Vec<u64> {
        let mut attempts = Attempts::default();
        std::iter::from_fn(|| attempts.next(error, fresh, jitter, Duration::ZERO))
            .map(|wait| u64::try_from(wait.as_millis()).unwrap())
            .collect()
    }

    #[test]
    fn the_quota_is_waited_for_whatever_the_method_is() {
        for route in routes::ALL {
            let expected: &[u64] = if *route == routes::CREATE_SESSION {
                &[]
            } else {
                &[1_000, 2_000, 4_000, 8_000]
            };
            assert_eq!(
                waits(&answer(route, 429, None), false, 0.0),
                expected,
                "{route}"
            );
        }
    }

    #[test]
    fn server_errors_are_repeated_only_where_that_is_harmless() {
        for route in routes::ALL {
            let harmless = route.starts_with("GET") || route.starts_with("DELETE");
            for status in [500, 502, 503, 504, 408] {
                let repeated = !waits(&answer(route, status, None), false, 0.0).is_empty();
                assert_eq!(repeated, harmless, "{route} {status}");
            }
        }
    }

    #[test]
    fn refusals_are_final() {
        for status in [301, 400, 401, 403, 404, 409] {
            assert!(waits(&answer(routes::GET_SESSION, status, Some(1)), false, 0.0).is_empty());
        }
    }

    #[test]
    fn what_jules_asks_for_goes_before_our_own_rhythm() {
        let patient = answer(routes::LIST_SESSIONS, 429, Some(7));
        assert_eq!(waits(&patient, false, 0.9), [7_000; 4]);
        let too_long = answer(routes::LIST_SESSIONS, 429, Some(31));
        assert!(waits(&too_long, false, 0.0).is_empty());
        let in_all = answer(routes::LIST_SESSIONS, 429, Some(30));
        assert_eq!(waits(&in_all, false, 0.0), [30_000; 3]);
    }

    #[test]
    fn a_server_that_hangs_is_not_asked_for_ever() {
        let hangs = ApiError {
            route: routes::GET_SESSION,
            cause: Cause::Transport(TransportError::Lost("no answer in time".to_owned())),
        };
        let mut attempts = Attempts::default();
        let mut next = |spent| attempts.next(&hangs, false, 0.0, Duration::from_secs(spent));
        assert!(next(60).is_some());
        assert!(next(121).is_none());
    }

    #[test]
    fn jitter_adds_up_to_a_quarter() {
        let busy = answer(routes::LIST_SESSIONS, 503, None);
        assert_eq!(waits(&busy, false, 1.0), [1_250, 2_500, 5_000, 10_000]);
    }

    #[test]
    fn a_fresh_session_is_given_time_to_appear() {
        let missing = answer(routes::GET_SESSION, 404, None);
        assert_eq!(
            waits(&missing, true, 0.5),
            [1_000, 2_000, 4_000, 8_000, 16_000]
        );
        assert!(waits(&missing, false, 0.5).is_empty());
    }
}
