//! Whether the service lives, and whether deliveries may be sent to it. Neither says anything else about it.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use jiff::Timestamp;

use super::ending::Ending;
use crate::runtime::driver::Pulse;
use crate::runtime::inbox::Inbox;

/// How long the inbox may take to show that it answers.
const PATIENCE: Duration = Duration::from_secs(2);

/// `/healthz` answers 200 while the process can answer at all. `/readyz` answers 200 while the inbox answers and the
/// service is not about to end and its driver lives, otherwise 503.
pub fn routes<I: Inbox + 'static>(inbox: Arc<I>, pulse: Arc<Pulse>, ending: Ending) -> Router {
    let ready = move || {
        let (inbox, pulse, ending) = (Arc::clone(&inbox), Arc::clone(&pulse), ending.clone());
        async move {
            let trouble = pulse.trouble(&*inbox, Timestamp::now());
            let trouble = match tokio::time::timeout(PATIENCE, trouble).await {
                Ok(trouble) => trouble,
                Err(_) => Some("the inbox does not answer".to_owned()),
            };
            if let Some(trouble) = &trouble {
                tracing::error!("not ready: {trouble}");
            }
            if !ending.has_come() && trouble.is_none() {
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
