//! The environment in which the program finds the models of a sandbox.

use crate::cli::context::clock::CLOCK_MAY_DIFFER;
use crate::sandbox::world_setup;

/// The lines that give it to another shell.
pub(super) fn export_lines(github: &str, jules: &str, token: &str) -> [String; 4] {
    [
        format!("export GITHUB_API_URL={github} GITHUB_TOKEN={token}"),
        format!(
            "export JULES_API_BASE={jules} JULES_API_KEY={}",
            world_setup::JULES_KEY
        ),
        format!(
            "export GITHUB_REPOSITORY={}",
            world_setup::repository_name()
        ),
        // Links lead to the model, and its time is its own.
        format!("export GITHUB_SERVER_URL={github} {CLOCK_MAY_DIFFER}=1"),
    ]
}
