//! Accepts connections, with limits for clients that never complete a request.
//!
//! A connection that has not sent the head of a request within [`HEAD_TIMEOUT`] is closed, also an
//! idle one; its buffer has [`HEAD_BYTES`] at most. The body must follow within [`BODY_TIMEOUT`].
//! There are [`MAX_CONNECTIONS`] at most; a further one closes the connection that has been silent
//! for longest. One public client may have [`MAX_PER_ADDRESS`] of them. If file descriptors are
//! short before that, the connection that has been silent for longest on any listener is closed.
//!
//! Requests of one address are not limited. GitHub sends all webhooks from the same few addresses,
//! so a user who points a hook with a wrong secret at this service could block the right ones.

mod client_limits;
mod connection_limits;
mod request_body;
mod shortage;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::IntoResponse as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::server::public::counters::Figures;
use crate::server::shutdown::Shutdown;
use client_limits::ClientConnections;
pub use client_limits::MAX_PER_ADDRESS;
use connection_limits::{ConnectionSlot, ConnectionSlots};
use request_body::RequestBody;
pub use request_body::{BODY_TIMEOUT, BodyError};
pub use shortage::Listeners;

/// How long a client may take to send the head of a request, or be idle between two.
pub const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest head of a request, in bytes; a longer one gets 431. The HTTP library stops reading
/// at this size, but accepts a longer head that has arrived by then, so the head is measured again.
pub const HEAD_BYTES: usize = 64 << 10;
/// The most headers of a request; more get 431.
pub const MAX_HEADERS: usize = 100;
/// The most connections at a time.
pub const MAX_CONNECTIONS: usize = 512;

/// Serves a router on a listener until the service shuts down. Then it accepts no more connections,
/// closes idle ones, and completes running requests. `listeners`: those of this process.
pub async fn serve_listener(
    listener: TcpListener,
    router: Router,
    figures: Arc<Figures>,
    listeners: Arc<Listeners>,
    mut ending: Shutdown,
) {
    let places = ConnectionSlots::new(MAX_CONNECTIONS);
    listeners.add_listener(&places);
    let clients = Arc::new(ClientConnections::default());
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = ending.wait_for_shutdown() => break,
            accepted = listener.accept() => accepted,
        };
        // Removes the results of ended connections.
        while connections.try_join_next().is_some() {}
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                listeners.failed_to_accept(&error, &places).await;
                continue;
            }
        };
        let Some(client) = ClientConnections::admit_client(&clients, address.ip()) else {
            figures.over_client_limit.count();
            continue;
        };
        let place = tokio::select! {
            () = ending.wait_for_shutdown() => break,
            place = places.take_slot() => place,
        };
        let connection = serve_connection(stream, router.clone(), Arc::new(place), ending.clone());
        connections.spawn(async move {
            connection.await;
            drop(client);
        });
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn serve_connection(
    stream: TcpStream,
    router: Router,
    place: Arc<ConnectionSlot>,
    mut ending: Shutdown,
) {
    // A small response should not wait for the next packet; a socket without the option works all
    // the same.
    let _refused = stream.set_nodelay(true);
    let router = TowerToHyperService::new(router);
    let answering = service_fn(|request: hyper::Request<Incoming>| {
        let visit = place.begin_request();
        let (head, body) = request.into_parts();
        let is_too_long = head_bytes(&head) > HEAD_BYTES;
        let body = Body::new(RequestBody::new(body, Arc::clone(&place)));
        let answer = router.call(hyper::Request::from_parts(head, body));
        async move {
            if is_too_long {
                return Ok(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE.into_response());
            }
            let answer = answer.await;
            drop(visit);
            answer
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), answering);
    let mut connection = std::pin::pin!(connection);
    // An error means that the client disconnected or was too slow, so it cannot be reported.
    loop {
        tokio::select! {
            _ = &mut connection => return,
            () = ending.wait_for_shutdown() => break,
            () = place.wait_for_close_request() => {
                // The connection may have received its request meanwhile.
                if place.is_silent() {
                    return;
                }
            }
        }
    }
    connection.as_mut().graceful_shutdown();
    let _gone = connection.await;
}

/// Counts the bytes of a head without optional spaces.
fn head_bytes(head: &Parts) -> usize {
    // The separators of the first line, of each header, and the ends of lines and head.
    const FIRST: usize = "  HTTP/1.1\r\n".len();
    const LINE: usize = ": \r\n".len();
    const END: usize = "\r\n".len();
    // Most requests name a path alone, whose length is known without formatting it.
    let address = match (head.uri.authority(), head.uri.path_and_query()) {
        (None, Some(path)) => path.as_str().len(),
        _ => head.uri.to_string().len(),
    };
    let lines = head.headers.iter();
    let lines = lines.map(|(name, value)| name.as_str().len() + value.len() + LINE);
    head.method.as_str().len() + address + FIRST + lines.sum::<usize>() + END
}
