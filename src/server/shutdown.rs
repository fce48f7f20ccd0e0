//! Signals to the parts of the service that it shuts down.

use tokio::sync::watch;

/// The signal of a shutdown. All clones have the same state.
#[derive(Debug, Clone)]
pub struct Shutdown(watch::Receiver<bool>);

/// Requests the shutdown when it is called or dropped.
#[derive(Debug)]
pub struct ShutdownTrigger(watch::Sender<bool>);

/// Creates a trigger and its signal.
#[must_use]
pub fn shutdown_pair() -> (ShutdownTrigger, Shutdown) {
    let (end, ending) = watch::channel(false);
    (ShutdownTrigger(end), Shutdown(ending))
}

impl ShutdownTrigger {
    /// Requests the shutdown.
    pub fn request_shutdown(&self) {
        self.0.send_replace(true);
    }
}

impl Shutdown {
    /// Whether the shutdown was requested.
    #[must_use]
    pub fn has_come(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// Waits until the shutdown is requested.
    pub async fn wait_for_shutdown(&mut self) {
        // A dropped trigger requests a shutdown, too.
        let _gone = self.0.wait_for(|end| *end).await;
    }
}
