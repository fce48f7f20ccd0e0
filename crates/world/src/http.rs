//! The two services on TCP, for programs that know nothing of the model.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;

use crate::control;
pub use crate::faults::Face;
use crate::world::{Answer, Outcome, World};

/// The longest body that is read (git pushes are the longest).
const MAX_BODY: usize = 256 * 1024 * 1024;
/// Simultaneous connections of one face.
const MAX_CONNECTIONS: usize = 1_024;

/// What a gate decides about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on.
    Pass,
    /// The connection is cut.
    Cut,
}

/// Looks at every request before and after its effect, so that a test can stop its program at an exact place.
pub trait Gate: Send + Sync {
    /// Called before the service does anything; `n` counts the requests of all faces that share the gate's server,
    /// from 1.
    fn before(&self, n: u64, face: Face, request: &Request<Bytes>) -> Verdict;

    /// Called after the service did what it was asked, before the reply is sent.
    fn after(&self, n: u64, face: Face, request: &Request<Bytes>) -> Verdict;
}

/// The world behind a lock. A panic while it was held leaves a world that can still be read.
pub fn lock(world: &Mutex<World>) -> MutexGuard<'_, World> {
    world.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serves one face until the future is dropped.
///
/// # Errors
/// When the listener fails.
pub async fn serve(
    world: Arc<Mutex<World>>,
    listener: TcpListener,
    face: Face,
    gate: Option<Arc<dyn Gate>>,
) -> std::io::Result<()> {
    let count = Arc::new(AtomicU64::new(0));
    let places = Arc::new(tokio::sync::Semaphore::new(MAX_CONNECTIONS));
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return Ok(());
        };
        let (stream, _) = listener.accept().await?;
        // Finished connections are let go, so that the set stays as small as what is open.
        while connections.try_join_next().is_some() {}
        let (world, gate, count) = (Arc::clone(&world), gate.clone(), Arc::clone(&count));
        connections.spawn(async move {
            let service = service_fn(move |request: Request<Incoming>| {
                let (world, gate, count) = (Arc::clone(&world), gate.clone(), Arc::clone(&count));
                async move { answer(world, request, face, gate, &count).await }
            });
            // An error here is a connection that somebody cut, which is what faults do.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), service)
                .await;
            drop(place);
        });
    }
}

/// The connection is to be cut without a reply.
#[derive(Debug, thiserror::Error)]
#[error("the connection is cut")]
struct Cut;

impl From<Infallible> for Cut {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

async fn answer(
    world: Arc<Mutex<World>>,
    request: Request<Incoming>,
    face: Face,
    gate: Option<Arc<dyn Gate>>,
    count: &AtomicU64,
) -> Result<Response<Full<Bytes>>, Cut> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, MAX_BODY)
        .collect()
        .await
        .map_err(|_| Cut)?
        .to_bytes();
    let request = Request::from_parts(head, body);
    if face == Face::Github && request.uri().path().starts_with(control::PREFIX) {
        let reply = tokio::task::spawn_blocking(move || {
            let mut world = lock(&world);
            world.catch_up(Instant::now());
            control::handle(&mut world, &request)
        });
        return Ok(reply.await.map_err(|_| Cut)?.map(Full::new));
    }
    let n = count.fetch_add(1, Ordering::SeqCst) + 1;
    if let Some(gate) = &gate
        && gate.before(n, face, &request) == Verdict::Cut
    {
        return Err(Cut);
    }
    // The model may run git, which blocks; the runtime's own threads stay free.
    let (asked, worked) = (request.clone(), Arc::clone(&world));
    let (answer, pause) = tokio::task::spawn_blocking(move || work(&worked, asked, face))
        .await
        .map_err(|_| Cut)?;
    if let Some(gate) = &gate
        && gate.after(n, face, &request) == Verdict::Cut
    {
        return Err(Cut);
    }
    match answer.outcome {
        Outcome::Reply(reply) => {
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
            Ok(reply.map(Full::new))
        }
        Outcome::Dropped => Err(Cut),
        // The client's own deadline ends this; hyper drops the future with the connection.
        Outcome::TimedOut => std::future::pending().await,
    }
}

/// Answers one request, and says how long the reply takes in real time.
fn work(world: &Mutex<World>, request: Request<Bytes>, face: Face) -> (Answer, Duration) {
    let mut world = lock(world);
    world.catch_up(Instant::now());
    let answer = match face {
        Face::Github => world.github_request(request),
        Face::Jules => world.jules_request(request),
    };
    let pause = match answer.outcome {
        Outcome::Reply(_) => world.clock().real_span(answer.latency),
        Outcome::Dropped | Outcome::TimedOut => Duration::ZERO,
    };
    (answer, pause)
}
