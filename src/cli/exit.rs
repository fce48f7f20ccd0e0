//! Exit codes: 0 done or nothing to do, 1 findings, a refused wish or an internal fault, 2 usage or configuration, 3 a
//! credential is missing, refused or too weak, 4 an outside system is unavailable, 5 the state is corrupt. Skips are 0.

mod conversions;
pub(super) mod paths;

use std::fmt;
use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done, or nothing to do.
    Done,
    /// A checker found something, what was asked for was refused, or a fault of our own.
    Findings,
    /// The command line or the configuration is wrong.
    Usage,
    /// A credential is missing, refused or too weak.
    Credential,
    /// An outside system is unavailable.
    Unavailable,
    /// The state is corrupt.
    Corrupt,
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
        })
    }
}

/// A command that could not do its work: the exit code, and one message for people.
#[derive(Debug, Clone)]
pub struct Stopped {
    /// The exit code.
    pub exit: Exit,
    /// What is wrong, and how to mend it.
    pub message: String,
}

impl Stopped {
    /// A command line or configuration that is wrong.
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

    /// A fault of our own, or findings.
    pub fn fault(message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Findings,
            message: message.into(),
        }
    }

    /// A state that cannot be read.
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Corrupt,
            message: message.into(),
        }
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
