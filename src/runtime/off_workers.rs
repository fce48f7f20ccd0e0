//! Work that takes a while, kept away from the threads that answer deliveries and pages.

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;

/// How many pieces of such work run at once: each takes a thread of its own, and the machine has few cores.
const MOST_AT_ONCE: usize = 4;

static ROOM: Semaphore = Semaphore::const_new(MOST_AT_ONCE);

/// Does work that takes a while. Where other tasks share this thread and there are more threads, they go on elsewhere.
pub(super) async fn off_workers<T>(work: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|handle| handle.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => {
            // The semaphore is never closed.
            let _place = ROOM.acquire().await.ok();
            let done = tokio::task::block_in_place(work);
            // This thread has given its queue of tasks to another one, and would stay in use for as long as this task goes on.
            tokio::task::yield_now().await;
            done
        }
        _ => work(),
    }
}
