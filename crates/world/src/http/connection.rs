//! Serves one connection: requests in, replies or silence out.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ::http::{Request, Response, StatusCode};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::gate::{Gate, GateDecision};
use super::pace::ClockMode;
use super::reply::{self, MAX_REQUEST_BODY};
use crate::control;
use crate::faults::Face;
use crate::world::{Outcome, World};

/// The longest silence after a request that times out.
const MAX_SILENCE: Duration = Duration::from_secs(600);
/// How long a client may take for the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);

/// The context of every connection of a face.
#[derive(Clone)]
pub(super) struct ConnectionContext {
    pub(super) world: Arc<Mutex<World>>,
    pub(super) face: Face,
    pub(super) clock: ClockMode,
    pub(super) gate: Option<Arc<dyn Gate>>,
    /// Whether `/__world/` is served here.
    pub(super) control: bool,
    pub(super) arrivals: Arc<AtomicU64>,
    pub(super) ending: watch::Receiver<bool>,
}

/// The connection is closed without a reply.
#[derive(Debug, thiserror::Error)]
#[error("the connection is cut")]
struct Cut;

/// What the world did with a request.
enum RequestResult {
    Reply(Response<Bytes>, Duration),
    Cut,
    Silence,
}

/// Serves a connection until it ends or the server does.
pub(super) async fn run(stream: TcpStream, context: ConnectionContext) {
    // A small reply should not wait for the next packet; a socket that refuses the option works all the same.
    let _ = stream.set_nodelay(true);
    let mut ending = context.ending.clone();
    let service = service_fn(move |request| answer_request(request, context.clone()));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        // The date is the world's, not the machine's.
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    // An error means that the client left or the connection was cut; the books record what matters of it.
    tokio::select! {
        _ = &mut connection => return,
        _ = ending.wait_for(|end| *end) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

async fn answer_request(
    request: Request<Incoming>,
    context: ConnectionContext,
) -> Result<Response<Full<Bytes>>, Cut> {
    let (head, body) = request.into_parts();
    // Refuse a body that announces too many bytes before the client sends it.
    if body.size_hint().lower() > MAX_REQUEST_BODY as u64 {
        return Ok(reply::too_large(context.face).map(Full::new));
    }
    let body = match Limited::new(body, MAX_REQUEST_BODY).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => {
            return Ok(reply::too_large(context.face).map(Full::new));
        }
        Err(_) => return Err(Cut),
    };
    let request = Request::from_parts(head, body);
    let mut ending = context.ending.clone();
    // Git runs under the world's lock, so the lock may be held for long. No worker of the runtime may wait for it.
    let face = context.face;
    let done = tokio::task::spawn_blocking(move || ask_world(&request, &context));
    match done.await {
        Ok(RequestResult::Reply(response, wait)) => {
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                _ = ending.wait_for(|end| *end) => {}
            }
            Ok(response.map(Full::new))
        }
        Ok(RequestResult::Cut) => Err(Cut),
        Ok(RequestResult::Silence) => {
            // When the client goes away, this future is dropped with its connection.
            tokio::select! {
                () = tokio::time::sleep(MAX_SILENCE) => {}
                _ = ending.wait_for(|end| *end) => {}
            }
            Err(Cut)
        }
        Err(_) => Ok(reply::panic_reply(face).map(Full::new)),
    }
}

fn ask_world(request: &Request<Bytes>, context: &ConnectionContext) -> RequestResult {
    if request.uri().path().starts_with(control::PREFIX) {
        return RequestResult::Reply(answer_control(request, context), Duration::ZERO);
    }
    let n = context.arrivals.fetch_add(1, Ordering::SeqCst) + 1;
    let gate = context.gate.as_deref();
    if gate.is_some_and(|gate| gate.before_effect(n, context.face, request) == GateDecision::Cut) {
        return RequestResult::Cut;
    }
    let (answer, booked, date, wait) = {
        let Ok(mut world) = context.world.lock() else {
            return RequestResult::Reply(reply::panic_reply(context.face), Duration::ZERO);
        };
        world.catch_up(Instant::now());
        let date = world.now();
        let copy = request.clone();
        let answer = match context.face {
            Face::Github => world.github_request(copy),
            Face::Jules => world.jules_request(copy),
        };
        let wait = match context.clock {
            ClockMode::Manual => Duration::ZERO,
            ClockMode::Accelerated { .. } => world.clock().real_span(answer.latency),
        };
        (answer, world.last_request(), date, wait)
    };
    if gate.is_some_and(|gate| gate.before_reply(n, context.face, request) == GateDecision::Cut) {
        if let Ok(mut world) = context.world.lock() {
            world.reply_was_cut(booked);
        }
        return RequestResult::Cut;
    }
    match answer.outcome {
        Outcome::Reply(response) => {
            RequestResult::Reply(reply::finish_reply(response, request.method(), date), wait)
        }
        Outcome::Dropped => RequestResult::Cut,
        Outcome::TimedOut => RequestResult::Silence,
    }
}

fn answer_control(request: &Request<Bytes>, context: &ConnectionContext) -> Response<Bytes> {
    if !context.control {
        return control::error_reply(
            StatusCode::NOT_FOUND,
            "the world is steered through the GitHub face, on a loopback address only",
        );
    }
    match context.world.lock() {
        Ok(mut world) => {
            world.catch_up(Instant::now());
            control::handle_request(&mut world, request)
        }
        Err(_) => reply::panic_reply(context.face),
    }
}
