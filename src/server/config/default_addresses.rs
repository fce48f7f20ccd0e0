//! The addresses of the two listeners where none is configured.

use std::net::{Ipv4Addr, SocketAddr};

/// The public listener, unless it is said otherwise.
pub const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// The listener of the people who run the service, unless it is said otherwise.
pub const ADMIN_LISTEN: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 9090);
