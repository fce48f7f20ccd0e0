//! Starts other programs for a person at a command line: git for the person's work tree, and bash to parse a script.
//! Ticks, the action and the service start none.

use std::process::{Command, Output, Stdio};

use phileas_domain::prompt::clean_line;

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

/// What a program said of its failure, on one line. The fix often stands in the last lines, as git's does.
pub(crate) fn failure_words(output: &Output) -> String {
    let words = clean_line(&String::from_utf8_lossy(&output.stderr));
    match words.is_empty() {
        true => format!("it gave no reason ({})", output.status),
        false => words,
    }
}
