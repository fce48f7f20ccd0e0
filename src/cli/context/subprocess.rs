//! Other programs, where a person at a command line has some of them asked: git about the work tree that the person
//! stands in, bash whether it can read a script. What runs by itself (ticks, the action, the service) asks none.

use std::process::{Command, Stdio};

/// Variables that hold credentials of phileas. What a work tree's configuration makes git run, for one, has no use for
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

/// A program that reads nothing and gets no credential.
pub(crate) fn other_program(name: &str) -> Command {
    let mut command = Command::new(name);
    command.stdin(Stdio::null());
    for credential in CREDENTIALS {
        command.env_remove(credential);
    }
    command
}
