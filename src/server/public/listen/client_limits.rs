//! Limits the connections of one public client. Addresses of a private network have no limit,
//! because behind a proxy all clients share one.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

/// The most connections of one public client at a time: of an IPv4 address, or of a /64 of IPv6,
/// which is what one subscriber has.
pub const MAX_PER_ADDRESS: usize = 64;

/// The number of connections of each public client.
#[derive(Debug, Default)]
pub(super) struct ClientConnections(Mutex<BTreeMap<IpAddr, usize>>);

/// One connection of a client; dropping it frees its place.
pub(super) struct ClientConnection {
    clients: Arc<ClientConnections>,
    address: Option<IpAddr>,
}

impl ClientConnections {
    /// Admits a connection from this address, unless it has too many.
    pub(super) fn admit_client(clients: &Arc<Self>, address: IpAddr) -> Option<ClientConnection> {
        let address = Some(address.to_canonical())
            .filter(is_public)
            .map(client_network);
        if let Some(address) = address {
            let mut counts = clients.0.lock().unwrap_or_else(PoisonError::into_inner);
            let taken = counts.entry(address).or_default();
            if *taken >= MAX_PER_ADDRESS {
                return None;
            }
            *taken += 1;
        }
        Some(ClientConnection {
            clients: Arc::clone(clients),
            address,
        })
    }
}

impl Drop for ClientConnection {
    fn drop(&mut self) {
        let Some(address) = self.address else { return };
        let mut counts = self
            .clients
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(taken) = counts.get_mut(&address) {
            *taken -= 1;
            if *taken == 0 {
                counts.remove(&address);
            }
        }
    }
}

/// Whether an address may belong to one client.
fn is_public(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !(v4.is_loopback() || v4.is_private() || v4.is_link_local()),
        IpAddr::V6(v6) => !(v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local()),
    }
}

/// The address that identifies a client: an IPv6 subscriber has at least a /64, with too many
/// addresses to count.
fn client_network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX)).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r2_one_public_address_cannot_take_every_connection() {
        let clients = Arc::new(ClientConnections::default());
        for private in ["127.0.0.1", "10.1.2.3", "fd00::1", "::ffff:192.168.0.9"] {
            let address: IpAddr = private.parse().unwrap();
            let connections: Vec<_> = (0..=MAX_PER_ADDRESS)
                .map(|_| ClientConnections::admit_client(&clients, address))
                .collect();
            assert!(connections.iter().all(Option::is_some), "{private}");
        }
        let (one, other) = ("192.0.2.1".parse().unwrap(), "2001:db8::2".parse().unwrap());
        let mut connections: Vec<_> = (0..MAX_PER_ADDRESS)
            .map(|_| ClientConnections::admit_client(&clients, one))
            .collect();
        assert!(connections.iter().all(Option::is_some));
        assert!(ClientConnections::admit_client(&clients, one).is_none());
        assert!(ClientConnections::admit_client(&clients, other).is_some());
        connections.pop();
        assert!(ClientConnections::admit_client(&clients, one).is_some());
        let in_a_network = |n: usize| format!("2001:db8:0:1::{n:x}").parse().unwrap();
        let mut network: Vec<_> = (0..MAX_PER_ADDRESS)
            .map(|n| ClientConnections::admit_client(&clients, in_a_network(n)))
            .collect();
        assert!(network.iter().all(Option::is_some));
        network.push(ClientConnections::admit_client(
            &clients,
            in_a_network(MAX_PER_ADDRESS),
        ));
        assert!(network.pop().unwrap().is_none());
        assert!(
            ClientConnections::admit_client(&clients, "2001:db8:0:2::1".parse().unwrap()).is_some()
        );
        drop((connections, network));
        assert!(
            clients.0.lock().unwrap().is_empty(),
            "all connections are free again"
        );
    }
}
