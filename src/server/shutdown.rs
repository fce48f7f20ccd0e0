//! Tells the parts of the service that it shuts down.

use tokio::sync::watch;

/// Tells that the service is to end, and can be waited for. Clones tell the same.
#[derive(Debug, Clone)]
pub struct Shutdown(watch::Receiver<bool>);

/// Makes the service end when it is called or dropped.
#[derive(Debug)]
pub struct ShutdownTrigger(watch::Sender<bool>);

/// A pair of which one ends what holds the other.
#[must_use]
pub fn shutdown_pair() -> (ShutdownTrigger, Shutdown) {
    let (end, ending) = watch::channel(false);
    (ShutdownTrigger(end), Shutdown(ending))
}

impl ShutdownTrigger {
    /// The service is to end.
    pub fn request_shutdown(&self) {
        self.0.send_replace(true);
    }
}

impl Shutdown {
    /// Whether the service is to end.
    #[must_use]
    pub fn has_come(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// Waits until the service is to end.
    pub async fn wait_for_shutdown(&mut self) {
        // The trigger was dropped: that is a shutdown, too.
        let _gone = self.0.wait_for(|end| *end).await;
    }
}
