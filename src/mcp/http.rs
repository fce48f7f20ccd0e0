//! Serves MCP over HTTP on the admin listener, at the one address `/mcp`.

use std::sync::Arc;

use axum::Router;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

/// The path of the address.
pub const PATH: &str = "/mcp";
/// The largest request, in bytes.
const MAX_REQUEST_BYTES: usize = 1024 * 1024;

/// Returns the routes of a server. `serve` creates one server for each client. The caller checks host name and origin of
/// a request, so that a foreign page cannot reach the server.
pub fn routes<S: ServerHandler>(serve: impl Fn() -> S + Send + Sync + 'static) -> Router {
    let config = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(MAX_REQUEST_BYTES)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(serve()), sessions, config);
    Router::new().route_service(PATH, service)
}
