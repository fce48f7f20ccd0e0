//! Starts other programs for a person at a command line: git for the person's work tree, and bash to parse a script.
//! Ticks, the action and the service start none.

use std::process::{Command, Stdio};

/// Variables with credentials of phileas. A program that git starts through a work tree's configuration does not need
/// them.
const CREDENTIALS: [&str; 7] = [
    "JULES_API_KEY",
    "JULES_API_TOKEN",
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "GITHUB_APP_PRIVATE_KEY",
    "PHILEAS_WEBHOOK_SECRET",
    "PHILEAS_ADMIN_TOKEN",
];

/// A program without input and without credentials.
pub(crate) fn other_program(name: &str) -> Command {
    let mut command = Command::new(name);
    command.stdin(Stdio::null());
    for credential in CREDENTIALS {
        command.env_remove(credential);
    }
    command
}
