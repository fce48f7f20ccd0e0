//! How a tick learns that it is to end early.

use tokio::sync::watch;

/// Whether a tick is to end early. Clones tell the same.
#[derive(Debug, Clone)]
pub struct Stop(watch::Receiver<bool>);

/// Tells a tick to end early.
#[derive(Debug)]
pub struct Stopper(watch::Sender<bool>);

/// A pair of which one stops what holds the other.
#[must_use]
pub fn stopper() -> (Stopper, Stop) {
    let (sender, receiver) = watch::channel(false);
    (Stopper(sender), Stop(receiver))
}

impl Stopper {
    /// The tick is to end before its next effect.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Stop {
    /// Whether to end now. Whoever could have said so is gone: that is an end, too.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// Waits until it is time to end.
    pub async fn asked(&mut self) {
        let _gone = self.0.wait_for(|stop| *stop).await;
    }
}
