//! What the black-box tests share: repositories, a served world, child processes, gates, and a judge.

pub(crate) mod books;
pub(crate) mod child;
pub(crate) mod folder;
pub(crate) mod hostile;
pub(crate) mod imports;
pub(crate) mod judge;
pub(crate) mod killer;
pub(crate) mod memory_inbox;
pub(crate) mod references;
pub(crate) mod served;
pub(crate) mod ticks;
pub(crate) mod turnstile;
pub(crate) mod whole_days;

pub(crate) use child::Phileas;
pub(crate) use folder::Folder;
pub(crate) use served::Served;

use std::io::Write as _;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Says a figure beside the test's result, also when the harness captures what tests print.
#[expect(
    clippy::disallowed_methods,
    reason = "the harness keeps what tests print by a macro"
)]
pub(crate) fn print_line(text: &str) {
    let _unseen = writeln!(std::io::stderr(), "{text}");
}

/// What a lock guards. A panic elsewhere fails its own test; what it left is still worth reading here.
pub(crate) fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A port of 127.0.0.1 that nothing uses. It cannot be reserved, but it is below those that the system gives to programs
/// that ask for any port, and this process takes each only once.
pub(crate) fn unused_port() -> u16 {
    static TAKEN: AtomicU16 = AtomicU16::new(0);
    // Processes that begin together have neighbouring ids.
    let first = 20_000 + u16::try_from(std::process::id() % 600).unwrap() * 16;
    loop {
        let port = first + TAKEN.fetch_add(1, Ordering::Relaxed);
        if TcpListener::bind(("0.0.0.0", port)).is_ok() {
            return port;
        }
    }
}
