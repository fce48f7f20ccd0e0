//! Doing something on a connection, within a time, and once more on another where the failure passes.

use std::time::Duration;

/// How long one attempt may take at what leases and deliveries depend on. Two of them fit between a heartbeat and the
/// end of its lease.
pub(super) const ATTEMPT: Duration = Duration::from_secs(4);
/// How long one attempt may take at what goes through many rows: a little longer than the server allows a statement.
pub(super) const LONG_ATTEMPT: Duration = Duration::from_secs(21);

/// Does something on one of the connections, within a time, and once more on another where the failure passes.
/// `$waited` is how long before an attempt the first one began: nothing for the first.
///
/// What was committed before the answer was lost is not done twice: deliveries are known by their ids, and leases by
/// their tokens.
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
                Err(_) => Err($connections.late(taken, $patience)),
            };
            match done {
                Err(failure) if tries < Failure::tries(&failure) => {
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

/// As [`tried`], for whoever hands the failure on.
macro_rules! retried {
    ($($all:tt)*) => {
        tried!($($all)*).map_err(crate::runtime::inbox::InboxError::from)
    };
}
pub(super) use retried;
