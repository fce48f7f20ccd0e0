//! Whether the service lives, and whether deliveries may be sent to it. Neither says anything else about it.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;

use super::ending::Ending;
use crate::runtime::inbox::Inbox;

/// How long the inbox may take to show that it answers.
const PATIENCE: Duration = Duration::from_secs(2);

/// `/healthz` answers 200 while the process can answer at all. `/readyz` answers 200 while the inbox answers and the
/// service is not about to end, otherwise 503.
pub fn routes<I: Inbox + 'static>(inbox: Arc<I>, ending: Ending) -> Router {
    let ready = move || {
        let (inbox, ending) = (Arc::clone(&inbox), ending.clone());
        async move {
            let answers = tokio::time::timeout(PATIENCE, inbox.next_due()).await;
            if !ending.has_come() && matches!(answers, Ok(Ok(_))) {
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
