//! Runs slow work away from the threads that handle deliveries and pages.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;

/// How many pieces of slow work run at once: each takes a thread of its own, and the machine has
/// few cores.
const MOST_AT_ONCE: usize = 4;

static ROOM: Semaphore = Semaphore::const_new(MOST_AT_ONCE);

/// Runs slow work. If other tasks share this thread and there are more threads, they continue
/// there.
pub(super) async fn off_workers<T>(work: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|handle| handle.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => {
            // The semaphore is never closed, so this cannot fail.
            let _place = ROOM.acquire().await.ok();
            let done = tokio::task::block_in_place(work);
            // This thread has passed its queue of tasks to another one, and would stay in use until
            // this task ends.
            tokio::task::yield_now().await;
            done
        }
        _ => work(),
    }
}
