//! Closes silent connections when the process, or the machine, has no file descriptor left.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::connection_limits::{ConnectionSlots, ask_the_most_silent};

/// The pause after a connection could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How often a failure to accept is logged while it lasts.
const LOGGED_EVERY: Duration = Duration::from_secs(60);
/// `EMFILE` and `ENFILE`: this process, or the whole machine, has no file descriptor left. They
/// have these numbers on every Unix. <https://man7.org/linux/man-pages/man3/errno.3.html>
const NO_DESCRIPTOR: [i32; 2] = [24, 23];

/// The listeners of a process. Their connections share its file descriptors, so silent connections
/// of one could block requests of the other.
#[derive(Debug, Default)]
pub struct Listeners {
    all: Mutex<Vec<Arc<ConnectionSlots>>>,
    failures: Mutex<Failures>,
}

#[derive(Debug, Default)]
struct Failures {
    logged: Option<Instant>,
    since: u64,
}

impl Listeners {
    pub(super) fn add_listener(&self, places: &Arc<ConnectionSlots>) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(Arc::clone(places));
    }

    /// Handles a failed accept. If file descriptors are short, the connection that has been silent
    /// for longest on any listener is closed. Returns when it is time to try again.
    pub(super) async fn failed_to_accept(&self, error: &io::Error, places: &ConnectionSlots) {
        let is_shortage = error
            .raw_os_error()
            .is_some_and(|code| NO_DESCRIPTOR.contains(&code));
        let evicted = is_shortage && {
            let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
            ask_the_most_silent(&all)
        };
        self.log_failure(error, is_shortage, evicted);
        // A connection closes at once on request, but on another listener that is not visible here.
        let _not_yet = tokio::time::timeout(ACCEPT_PAUSE, places.wait_for_change()).await;
    }

    fn log_failure(&self, error: &io::Error, is_shortage: bool, evicted: bool) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.since += 1;
        if failures
            .logged
            .is_some_and(|logged| logged.elapsed() < LOGGED_EVERY)
        {
            return;
        }
        let count = failures.since;
        *failures = Failures {
            logged: Some(Instant::now()),
            since: 0,
        };
        if is_shortage {
            let done = if evicted {
                "phileas closes the connections that have been silent for longest"
            } else {
                "no connection is silent, so phileas closes none"
            };
            tracing::warn!(
                failures = count,
                "no file descriptor is free for a connection: {error}; {done}. Allow the service more of them: `ulimit \
                 -n`, or `LimitNOFILE=` of its systemd unit"
            );
        } else {
            tracing::warn!(
                failures = count,
                "a connection could not be accepted: {error}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn the_most_silent_of_all_listeners_leaves_where_descriptors_are_short() {
        let listeners = Listeners::default();
        let [one, other] = [ConnectionSlots::new(9), ConnectionSlots::new(9)];
        listeners.add_listener(&one);
        listeners.add_listener(&other);
        let first = one.take_slot().await;
        let second = other.take_slot().await;
        for code in NO_DESCRIPTOR {
            let error = io::Error::from_raw_os_error(code);
            listeners.failed_to_accept(&error, &other).await;
            assert!(
                first.wait_for_close_request().now_or_never().is_some(),
                "{error}"
            );
            assert!(
                second.wait_for_close_request().now_or_never().is_none(),
                "{error}"
            );
        }
        // A client that disconnects early is no sign of a shortage.
        let aborted = io::Error::from(io::ErrorKind::ConnectionAborted);
        listeners.failed_to_accept(&aborted, &other).await;
        assert!(first.wait_for_close_request().now_or_never().is_none());
    }
}
