//! Accepting connections, with limits for those who never come to the point.
//!
//! A connection that has not sent the head of a request within [`HEAD_TIMEOUT`] is closed, idle ones included; its
//! buffer holds [`HEAD_BYTES`] at most. There are [`MAX_CONNECTIONS`] at most, further ones wait in the system's own
//! queue, and one public address may have [`MAX_PER_ADDRESS`] of them. Addresses of a private network are not limited
//! by themselves: behind a proxy everybody comes from one.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use super::ending::Ending;
use super::figures::Figures;

/// How long a client may take for the head of a request, and stay idle between two.
pub const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The most that is buffered of a connection, in bytes; a longer head is answered 431.
pub const HEAD_BYTES: usize = 64 << 10;
/// The most headers of a request; more are answered 431.
pub const MAX_HEADERS: usize = 100;
/// The most connections at a time.
pub const MAX_CONNECTIONS: usize = 512;
/// The most connections of one public address at a time.
pub const MAX_PER_ADDRESS: usize = 64;
/// The pause after a connection could not be accepted, for example for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves a router on a listener until the service ends. Then nobody is accepted any more, idle connections are
/// closed, and requests at work are answered.
pub async fn listen(
    listener: TcpListener,
    router: Router,
    figures: Arc<Figures>,
    mut ending: Ending,
) {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let crowd = Arc::new(Crowd::default());
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = ending.come() => break,
            accepted = accept(&listener, &room) => accepted,
        };
        // Ended connections leave only their result behind.
        while connections.try_join_next().is_some() {}
        let (stream, address, place) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!("a connection could not be accepted: {error}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let Some(seat) = Crowd::sit(&crowd, address.ip()) else {
            figures.crowded.count();
            continue;
        };
        let connection = serve(stream, router.clone(), ending.clone());
        connections.spawn(async move {
            connection.await;
            drop((place, seat));
        });
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// Waits for room, then for a connection.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let place = Arc::clone(room).acquire_owned().await;
    let place = place.map_err(io::Error::other)?;
    let (stream, address) = listener.accept().await?;
    Ok((stream, address, place))
}

async fn serve(stream: TcpStream, router: Router, mut ending: Ending) {
    // A small answer should not wait for the next packet; a socket that refuses the option works all the same.
    let _refused = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = std::pin::pin!(connection);
    // An error is the client going away, or being too slow for us; there is nobody left to tell.
    tokio::select! {
        _ = &mut connection => return,
        () = ending.come() => connection.as_mut().graceful_shutdown(),
    }
    let _gone = connection.await;
}

/// Who is connected, by public address.
#[derive(Debug, Default)]
struct Crowd(Mutex<BTreeMap<IpAddr, usize>>);

/// One connection in the crowd, until it is dropped.
struct Seat {
    crowd: Arc<Crowd>,
    address: Option<IpAddr>,
}

impl Crowd {
    /// Takes a seat for a connection from this address, if it has not too many.
    fn sit(crowd: &Arc<Self>, address: IpAddr) -> Option<Seat> {
        let address = Some(address.to_canonical()).filter(is_public);
        if let Some(address) = address {
            let mut seats = crowd.0.lock().unwrap_or_else(PoisonError::into_inner);
            let taken = seats.entry(address).or_default();
            if *taken >= MAX_PER_ADDRESS {
                return None;
            }
            *taken += 1;
        }
        Some(Seat {
            crowd: Arc::clone(crowd),
            address,
        })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let Some(address) = self.address else { return };
        let mut seats = self.crowd.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(taken) = seats.get_mut(&address) {
            *taken -= 1;
            if *taken == 0 {
                seats.remove(&address);
            }
        }
    }
}

/// Whether an address may be one client's own.
fn is_public(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !(v4.is_loopback() || v4.is_private() || v4.is_link_local()),
        IpAddr::V6(v6) => !(v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_public_address_cannot_take_every_seat() {
        let crowd = Arc::new(Crowd::default());
        for private in ["127.0.0.1", "10.1.2.3", "fd00::1", "::ffff:192.168.0.9"] {
            let address: IpAddr = private.parse().unwrap();
            let seats: Vec<_> = (0..=MAX_PER_ADDRESS)
                .map(|_| Crowd::sit(&crowd, address))
                .collect();
            assert!(seats.iter().all(Option::is_some), "{private}");
        }
        let (one, other) = ("192.0.2.1".parse().unwrap(), "2001:db8::2".parse().unwrap());
        let mut seats: Vec<_> = (0..MAX_PER_ADDRESS)
            .map(|_| Crowd::sit(&crowd, one))
            .collect();
        assert!(seats.iter().all(Option::is_some));
        assert!(Crowd::sit(&crowd, one).is_none());
        assert!(Crowd::sit(&crowd, other).is_some());
        seats.pop();
        assert!(Crowd::sit(&crowd, one).is_some());
        drop(seats);
        assert!(
            crowd.0.lock().unwrap().is_empty(),
            "all seats are free again"
        );
    }
}
