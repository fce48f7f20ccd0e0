//! Whether the service lives, and whether deliveries may be sent to it. Only its operators learn the reason, but that it
//! is ending, which is no secret.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::get;
use jiff::Timestamp;
use tokio::sync::Mutex;

use crate::runtime::driver::Heartbeat;
use crate::runtime::inbox::Inbox;
use crate::server::admin::dashboard::Access;
use crate::server::shutdown::Shutdown;

/// What a line begins with that says that deliveries should not be sent. Behind it may stand a colon and why.
pub const NOT_READY: &str = "not ready";
/// How long the inbox may take to show that it answers.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// How long an answer serves all who ask: anybody may ask, and looking costs a read of the inbox.
const KEPT_FOR: Duration = Duration::from_secs(1);

/// Whether all is well, and since when that is known.
struct HealthCheck<I> {
    inbox: Arc<I>,
    heartbeat: Arc<Heartbeat>,
    /// Held during a check, so that requests that come meanwhile wait for the same answer.
    last: Mutex<LastCheck>,
}

#[derive(Default)]
struct LastCheck {
    looked: Option<Instant>,
    problem: Option<String>,
}

impl<I: Inbox> HealthCheck<I> {
    /// Why it is not well, if it is not.
    async fn problem_text(&self) -> Option<String> {
        let mut last = self.last.lock().await;
        if last
            .looked
            .is_some_and(|looked| looked.elapsed() < KEPT_FOR)
        {
            return last.problem.clone();
        }
        let trouble = service_problem(&*self.inbox, &self.heartbeat, Timestamp::now()).await;
        // Only a change is news.
        match (&trouble, &last.problem) {
            (Some(trouble), None) => tracing::error!("not ready: {trouble}"),
            (None, Some(_)) => tracing::warn!("ready again"),
            _ => {}
        }
        *last = LastCheck {
            looked: Some(Instant::now()),
            problem: trouble.clone(),
        };
        trouble
    }
}

/// Why deliveries should not be sent to the service at this time, if they should not.
pub async fn service_problem(
    inbox: &impl Inbox,
    heartbeat: &Heartbeat,
    now: Timestamp,
) -> Option<String> {
    let trouble = heartbeat.problem_text(inbox, now);
    match tokio::time::timeout(PATIENCE, trouble).await {
        Ok(trouble) => trouble,
        Err(_) => Some(format!(
            "the inbox has not answered for {} s",
            PATIENCE.as_secs()
        )),
    }
}

/// What each listener answers of the service's health.
#[derive(Debug)]
pub struct Routes {
    /// On the public listener, without reasons.
    pub public: Router,
    /// On the admin listener. Authorized clients see the reason, too, which may contain names and addresses
    /// of a database, and never a secret.
    pub admin: Router,
}

/// `/healthz` answers 200 while the process can answer at all. `/readyz` answers 200 while the inbox answers and stores
/// and the service is not about to end and its driver lives, otherwise 503. A service that is to end says so before its
/// listeners close, so that a load balancer sends no more deliveries. `access`: which clients are let in.
pub fn health_routes<I: Inbox + 'static>(
    inbox: Arc<I>,
    heartbeat: Arc<Heartbeat>,
    ending: Shutdown,
    access: Arc<Access>,
) -> Routes {
    let watch = Arc::new(HealthCheck {
        inbox,
        heartbeat,
        last: Mutex::default(),
    });
    let routes = |access: Option<Arc<Access>>| {
        let (watch, ending) = (Arc::clone(&watch), ending.clone());
        let ready = move |headers: HeaderMap| {
            let admits = |access: &Arc<Access>| access.is_admitted(&headers, Instant::now());
            let is_told_why = access.as_ref().is_some_and(admits);
            check_ready(Arc::clone(&watch), ending.clone(), is_told_why)
        };
        Router::new()
            .route("/healthz", get(|| async { "ok\n" }))
            .route("/readyz", get(ready))
    };
    Routes {
        public: routes(None),
        admin: routes(Some(access)),
    }
}

async fn check_ready<I: Inbox>(
    watch: Arc<HealthCheck<I>>,
    ending: Shutdown,
    is_told_why: bool,
) -> (StatusCode, String) {
    // Its driver has ended then, and is not to be missed.
    if ending.has_come() {
        return not_ready(Some("the service is ending"));
    }
    match watch.problem_text().await {
        Some(trouble) => not_ready(is_told_why.then_some(&trouble)),
        None => (StatusCode::OK, "ready\n".to_owned()),
    }
}

/// One line, whatever a database says.
fn not_ready(because: Option<&str>) -> (StatusCode, String) {
    let words = because.map(|because| because.split_whitespace().collect::<Vec<_>>().join(" "));
    let answer = match words {
        Some(because) => format!("{NOT_READY}: {because}\n"),
        None => format!("{NOT_READY}\n"),
    };
    (StatusCode::SERVICE_UNAVAILABLE, answer)
}
