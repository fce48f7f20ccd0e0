//! The address at which people meet GitHub.

use super::env_var::env_value;
use crate::server::admin::setup::GITHUB;

/// The server's address as the environment names it, without a slash at its end.
pub(crate) fn github_server() -> String {
    let named = env_value("GITHUB_SERVER_URL");
    let server = named.unwrap_or_else(|| GITHUB.to_owned());
    server.trim().trim_end_matches('/').to_owned()
}
