//! Whether the service lives, and whether deliveries may be sent to it. Neither says anything else about it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use jiff::Timestamp;
use tokio::sync::Mutex;

use super::ending::Ending;
use crate::runtime::driver::Pulse;
use crate::runtime::inbox::Inbox;

/// How long the inbox may take to show that it answers.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long an answer serves all who ask: anybody may ask, and looking costs a read of the inbox.
const KEPT_FOR: Duration = Duration::from_secs(1);

/// Whether all is well, and since when that is known.
struct Watch<I> {
    inbox: Arc<I>,
    pulse: Arc<Pulse>,
    /// Held while it is looked, so that whoever comes meanwhile waits for the same answer.
    last: Mutex<Last>,
}

#[derive(Default)]
struct Last {
    looked: Option<Instant>,
    in_trouble: bool,
}

impl<I: Inbox> Watch<I> {
    async fn is_well(&self) -> bool {
        let mut last = self.last.lock().await;
        if last
            .looked
            .is_some_and(|looked| looked.elapsed() < KEPT_FOR)
        {
            return !last.in_trouble;
        }
        let trouble = self.pulse.trouble(&*self.inbox, Timestamp::now());
        let trouble = match tokio::time::timeout(PATIENCE, trouble).await {
            Ok(trouble) => trouble,
            Err(_) => Some("the inbox does not answer".to_owned()),
        };
        // Only a change is news.
        match &trouble {
            Some(trouble) if !last.in_trouble => tracing::error!("not ready: {trouble}"),
            None if last.in_trouble => tracing::warn!("ready again"),
            _ => {}
        }
        *last = Last {
            looked: Some(Instant::now()),
            in_trouble: trouble.is_some(),
        };
        !last.in_trouble
    }
}

/// `/healthz` answers 200 while the process can answer at all. `/readyz` answers 200 while the inbox answers and stores
/// and the service is not about to end and its driver lives, otherwise 503. A service that is to end says so before its
/// listeners close, so that whoever shares out deliveries sends it no more of them.
pub fn routes<I: Inbox + 'static>(inbox: Arc<I>, pulse: Arc<Pulse>, ending: Ending) -> Router {
    let watch = Arc::new(Watch {
        inbox,
        pulse,
        last: Mutex::default(),
    });
    let ready = move || {
        let (watch, ending) = (Arc::clone(&watch), ending.clone());
        async move {
            // Its driver has ended then, and is not to be missed.
            if ending.has_come() {
                (
                    StatusCode::SERVICE_UNAVAILABLE,
                    "not ready: the service is ending\n",
                )
            } else if watch.is_well().await {
                (StatusCode::OK, "ready\n")
            } else {
                (StatusCode::SERVICE_UNAVAILABLE, "not ready\n")
            }
        }
    };
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
}
