//! Reports whether the service lives, and whether it is ready for deliveries. Only its operators
//! see the reason, except that it shuts down, which is no secret.

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

/// The first words of the line that says the service is not ready. A colon and the reason may
/// follow.
pub const NOT_READY: &str = "not ready";
/// How long the inbox may take to reply.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// How long one result is used for all requests: any client may send them, and a check costs a read
/// of the inbox.
const KEPT_FOR: Duration = Duration::from_secs(1);

/// The result of the last check, and its time.
struct HealthCheck<I> {
    inbox: Arc<I>,
    heartbeat: Arc<Heartbeat>,
    /// Locked during a check, so that requests meanwhile wait for the same result.
    last: Mutex<LastCheck>,
}

#[derive(Default)]
struct LastCheck {
    looked: Option<Instant>,
    problem: Option<String>,
}

impl<I: Inbox> HealthCheck<I> {
    /// Why the service is not ready, if it is not.
    async fn problem_text(&self) -> Option<String> {
        let mut last = self.last.lock().await;
        if last
            .looked
            .is_some_and(|looked| looked.elapsed() < KEPT_FOR)
        {
            return last.problem.clone();
        }
        let trouble = service_problem(&*self.inbox, &self.heartbeat, Timestamp::now()).await;
        // Only a change is logged.
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

/// Why the service is not ready for deliveries, if it is not.
pub async fn service_problem(
    inbox: &impl Inbox,
    heartbeat: &Heartbeat,
    now: Timestamp,
) -> Option<String> {
    let trouble = heartbeat.problem_text(inbox, now);
    match tokio::time::timeout(PATIENCE, trouble).await {
        Ok(trouble) => trouble,
        Err(_) => Some(format!(
            "the inbox has not replied for {} s",
            PATIENCE.as_secs()
        )),
    }
}

/// The health routes of each listener.
#[derive(Debug)]
pub struct Routes {
    /// For the public listener, without reasons.
    pub public: Router,
    /// For the admin listener. Authorized clients see the reason, too, which may contain names and
    /// addresses of a database, but never a secret.
    pub admin: Router,
}

/// `/healthz` returns 200 while the process can reply at all. `/readyz` returns 200 while the inbox
/// replies and stores, the driver lives and no shutdown was requested; otherwise 503. At a shutdown
/// it does so before the listeners close, so that a load balancer sends no more deliveries.
/// `access`: which clients see the reason.
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
    // The driver ends at a shutdown, which is no problem.
    if ending.has_come() {
        return not_ready(Some("the service is shutting down"));
    }
    match watch.problem_text().await {
        Some(trouble) => not_ready(is_told_why.then_some(&trouble)),
        None => (StatusCode::OK, "ready\n".to_owned()),
    }
}

/// One line, whatever a database's message contains.
fn not_ready(because: Option<&str>) -> (StatusCode, String) {
    let words = because.map(|because| because.split_whitespace().collect::<Vec<_>>().join(" "));
    let answer = match words {
        Some(because) => format!("{NOT_READY}: {because}\n"),
        None => format!("{NOT_READY}\n"),
    };
    (StatusCode::SERVICE_UNAVAILABLE, answer)
}
