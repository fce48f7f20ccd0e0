//! Tells the parts of the service that it shuts down.

use tokio::sync::watch;

/// Tells that the service is to end, and can be waited for. Clones tell the same.
#[derive(Debug, Clone)]
pub struct Ending(watch::Receiver<bool>);

/// Makes the service end when it is called or dropped.
#[derive(Debug)]
pub struct End(watch::Sender<bool>);

/// A pair of which one ends what holds the other.
#[must_use]
pub fn ending() -> (End, Ending) {
    let (end, ending) = watch::channel(false);
    (End(end), Ending(ending))
}

impl End {
    /// The service is to end.
    pub fn now(&self) {
        self.0.send_replace(true);
    }
}

impl Ending {
    /// Whether the service is to end.
    #[must_use]
    pub fn has_come(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// Waits until the service is to end.
    pub async fn come(&mut self) {
        // The trigger was dropped: that is a shutdown, too.
        let _gone = self.0.wait_for(|end| *end).await;
    }
}
