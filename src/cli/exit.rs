//! Exit codes: 0 done or nothing to do, 1 findings or a refused request, 2 usage or configuration, 3 a credential is
//! missing, refused or too weak, 4 an external service is unavailable, 5 the state is corrupt, 70 an internal fault.
//! Skips are 0.

mod conversions;
pub(super) mod paths;

use std::fmt;
use std::process::ExitCode;

/// The result of a command, as an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done, or nothing to do.
    Done,
    /// Findings, or a refused request.
    Findings,
    /// The command line or the configuration is wrong.
    Usage,
    /// A credential is missing, refused or too weak.
    Credential,
    /// An external service is unavailable.
    Unavailable,
    /// The state is corrupt.
    Corrupt,
    /// An internal fault: a bug, or an error of the operating system that no option avoids. The number is `EX_SOFTWARE` of
    /// sysexits.h.
    Fault,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::Findings => 1,
            Exit::Usage => 2,
            Exit::Credential => 3,
            Exit::Unavailable => 4,
            Exit::Corrupt => 5,
            Exit::Fault => 70,
        })
    }
}

/// The error of a command: the exit code, and one message for people.
#[derive(Debug, Clone)]
pub struct CliError {
    /// The exit code.
    pub exit: Exit,
    /// What is wrong, and how to fix it.
    pub message: String,
}

impl CliError {
    /// A usage or configuration error.
    pub fn usage(message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Usage,
            message: message.into(),
        }
    }

    /// A missing, refused or too weak credential.
    pub fn credential(message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Credential,
            message: message.into(),
        }
    }

    /// A finding, or a refused request.
    pub fn finding(message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Findings,
            message: message.into(),
        }
    }

    /// An internal fault.
    pub fn fault(message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Fault,
            message: message.into(),
        }
    }

    /// A corrupt state.
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Corrupt,
            message: message.into(),
        }
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
