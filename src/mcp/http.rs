//! Serves MCP over HTTP on the admin listener, at the one address `/mcp`.

use std::sync::Arc;

use axum::Router;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

/// The path of the address.
pub const PATH: &str = "/mcp";
/// The origins of web pages that this machine serves; they may send requests.
const OWN_ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
/// The largest request, in bytes.
const MAX_REQUEST_BYTES: usize = 1024 * 1024;

/// The host names that a request may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hosts {
    /// Names of this machine: so a foreign page cannot reach the server by a host name of its own.
    Loopback,
    /// The proxy in front has checked the host name.
    Checked,
}

/// Returns the routes of a server. `serve` creates one server for each client.
pub fn routes<S: ServerHandler>(
    serve: impl Fn() -> S + Send + Sync + 'static,
    hosts: Hosts,
) -> Router {
    let config = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(MAX_REQUEST_BYTES)
        .with_allowed_origins(OWN_ORIGINS);
    let config = match hosts {
        Hosts::Loopback => config,
        Hosts::Checked => config.disable_allowed_hosts().disable_allowed_origins(),
    };
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(serve()), sessions, config);
    Router::new().route_service(PATH, service)
}
