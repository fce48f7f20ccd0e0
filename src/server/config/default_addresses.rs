//! The default addresses of the two listeners.

use std::net::{Ipv4Addr, SocketAddr};

/// The default address of the public listener.
pub const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// The default address of the listener for operators.
pub const ADMIN_LISTEN: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 9090);
