//! What works beside the listeners. The listeners only store and wake; a driver does what is due.

use std::sync::Arc;

use crate::runtime::inbox::Inbox;
use crate::server::shutdown::Shutdown;

/// Something that runs as long as the service does.
///
/// It is started once, after the inbox is open and before the first delivery is accepted. It ends soon after
/// [`Shutdown::requested`], giving back the leases it holds; the service waits for it for
/// [`time_to_end`](crate::server::service::time_to_end) and then ends without it, which an inbox survives as it survives a kill.
/// A driver that ends before that ends the service.
pub trait Driver<I: Inbox>: Send + 'static {
    /// Runs until the service ends.
    fn run(self, inbox: Arc<I>, ending: Shutdown) -> impl Future<Output = ()> + Send;
}

/// Two drivers side by side.
impl<I: Inbox + 'static, A: Driver<I>, B: Driver<I>> Driver<I> for (A, B) {
    async fn run(self, inbox: Arc<I>, ending: Shutdown) {
        let (first, second) = self;
        tokio::join!(
            first.run(Arc::clone(&inbox), ending.clone()),
            second.run(inbox, ending)
        );
    }
}

/// A driver that may not be there.
impl<I: Inbox + 'static, D: Driver<I>> Driver<I> for Option<D> {
    async fn run(self, inbox: Arc<I>, ending: Shutdown) {
        if let Some(driver) = self {
            driver.run(inbox, ending).await;
        }
    }
}
