//! Runs an operation on a connection, within a time limit, and once more on another connection if the failure is
//! transient.

use std::time::Duration;

/// The time limit of operations that leases and deliveries depend on. Two attempts fit between a heartbeat and the
/// end of its lease.
pub(super) const ATTEMPT: Duration = Duration::from_secs(4);
/// The time limit of operations on many rows: a little longer than the server allows a statement.
pub(super) const LONG_ATTEMPT: Duration = Duration::from_secs(21);

/// Runs an operation on one of the connections, within a time limit, and once more on another one if the failure is
/// transient. `$waited` is the time since the first attempt; zero for the first.
///
/// An operation that was committed before its answer was lost is not repeated: deliveries are known by their ids, and
/// leases by their tokens.
macro_rules! tried {
    ($connections:expr, $patience:expr, |$client:ident, $waited:ident| $work:expr) => {{
        let begun = std::time::Instant::now();
        let mut tries = 0;
        loop {
            tries += 1;
            let $waited = if tries == 1 {
                std::time::Duration::ZERO
            } else {
                begun.elapsed()
            };
            let mut taken: Option<deadpool_postgres::Client> = None;
            let attempt = async {
                let $client = taken.insert($connections.get().await?);
                $work
            };
            let done = match tokio::time::timeout($patience, attempt).await {
                Ok(done) => done,
                Err(_) => Err($connections.close_silent(taken, $patience)),
            };
            match done {
                Err(failure) if tries < Failure::max_attempts(&failure) => {
                    if Failure::is_loss(&failure) {
                        $connections.forget_idle();
                    }
                }
                done => break done,
            }
        }
    }};
    ($connections:expr, $patience:expr, |$client:ident| $work:expr) => {
        tried!($connections, $patience, |$client, _waited| $work)
    };
}
pub(super) use tried;

/// As [`tried`], for callers that return the failure.
macro_rules! retried {
    ($($all:tt)*) => {
        tried!($($all)*).map_err(crate::runtime::inbox::InboxError::from)
    };
}
pub(super) use retried;
