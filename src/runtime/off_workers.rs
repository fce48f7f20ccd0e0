//! Work that takes a while, kept away from the threads that answer deliveries and pages.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Does work that takes a while. Where other tasks share this thread and there are more threads, they go on elsewhere.
pub(super) fn off_workers<T>(work: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|handle| handle.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}
