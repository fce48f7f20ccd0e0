//! The interface of work beside the listeners. The listeners only store and wake; a driver does
//! what is due.

use std::sync::Arc;

use crate::runtime::inbox::Inbox;
use crate::server::shutdown::Shutdown;

/// Work that runs as long as the service.
///
/// It starts once, after the inbox is open and before the first delivery is accepted. After
/// [`Shutdown::wait_for_shutdown`] it ends soon and releases its leases. The service waits for it
/// for [`time_to_end`](crate::server::service::time_to_end) and then aborts it, which the inbox
/// survives like a kill. A driver that ends earlier ends the service.
pub trait Driver<I: Inbox>: Send + 'static {
    /// Runs until the service shuts down.
    fn run(self, inbox: Arc<I>, ending: Shutdown) -> impl Future<Output = ()> + Send;
}

/// Runs two drivers at the same time.
impl<I: Inbox + 'static, A: Driver<I>, B: Driver<I>> Driver<I> for (A, B) {
    async fn run(self, inbox: Arc<I>, ending: Shutdown) {
        let (first, second) = self;
        tokio::join!(
            first.run(Arc::clone(&inbox), ending.clone()),
            second.run(inbox, ending)
        );
    }
}

/// Runs an optional driver.
impl<I: Inbox + 'static, D: Driver<I>> Driver<I> for Option<D> {
    async fn run(self, inbox: Arc<I>, ending: Shutdown) {
        if let Some(driver) = self {
            driver.run(inbox, ending).await;
        }
    }
}
