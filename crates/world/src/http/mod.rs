//! Serves the faces of a world over TCP: HTTP/1.1 with keep-alive.

mod connection;
mod gate;
mod pace;
mod reply;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::world::World;
use connection::ConnectionContext;

pub use crate::faults::Face;
pub use gate::{Gate, GateDecision};
pub use pace::ClockMode;
pub use reply::MAX_REQUEST_BODY;

/// Simultaneous connections of one face; further ones wait until one ends.
const MAX_CONNECTIONS: usize = 1_024;
/// The address of the real API, which a served model must not lead to.
const REAL_API: &str = "https://api.github.com";
/// How long open connections may still take when the server ends.
const DRAIN: Duration = Duration::from_secs(2);
/// The pause after a connection could not be accepted, for example because no file descriptor is left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves one face of a world until `shutdown` is done; then open connections get two seconds to end.
///
/// Both faces of one world are two calls with the same `world` and the same `clock`. In the accelerated mode the world
/// is brought to its virtual present at every request and by a timer, and the latency of replies is really waited,
/// scaled; in the manual mode time stands until it is advanced, and nothing is waited.
///
/// The links of GitHub's answers lead to the listener's address, unless `api_url` of the model says otherwise already.
///
/// A GitHub face also serves [`crate::control`] under `/__world/`, to loopback only: on a listener that is bound to
/// another address those paths are answered 404.
///
/// A request that the gate or a fault cuts ends with its connection closed; one that times out is held in silence until
/// the client goes away, for ten minutes at most.
pub async fn serve(
    world: Arc<Mutex<World>>,
    listener: TcpListener,
    face: Face,
    clock: ClockMode,
    gate: Option<Arc<dyn Gate>>,
    shutdown: impl Future,
) {
    let address = listener.local_addr().ok();
    let loopback = address.is_some_and(|address| address.ip().is_loopback());
    if let Some(address) = address.filter(|_| face == Face::Github) {
        link_to(&world, address);
    }
    let (end, ending) = watch::channel(false);
    let arrivals = pace::start_clock(&world, clock);
    let mut tasks = JoinSet::new();
    if clock != ClockMode::Manual {
        tasks.spawn(pace::keep_time(Arc::clone(&world), ending.clone()));
    }
    let context = ConnectionContext {
        world,
        face,
        clock,
        gate,
        control: loopback && face == Face::Github,
        arrivals,
        ending,
    };
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        tokio::select! {
            _ = &mut shutdown => break,
            accepted = listener.accept(), if tasks.len() < MAX_CONNECTIONS => match accepted {
                Ok((stream, _)) => drop(tasks.spawn(connection::run(stream, context.clone()))),
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            // Ended connections are forgotten as they come.
            Some(_) = tasks.join_next() => {}
        }
    }
    drop(listener);
    // The receivers live in the tasks; sending fails when no task is left.
    let _ = end.send(true);
    let drained = async { while tasks.join_next().await.is_some() {} };
    if tokio::time::timeout(DRAIN, drained).await.is_err() {
        tasks.shutdown().await;
    }
}

/// Lets the links of GitHub's answers lead here, so that a client which follows them does not ask the real GitHub.
fn link_to(world: &Mutex<World>, address: SocketAddr) {
    let mut world = world.lock().unwrap_or_else(PoisonError::into_inner);
    let github = world.github_mut();
    if github.api_url == REAL_API {
        github.api_url = format!("http://{address}");
    }
}
