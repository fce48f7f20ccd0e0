//! The exit codes of the program, and the errors that lead to them. A turn that waits or is skipped is no error.

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
    /// An internal fault: a bug, or an error of the operating system that no option avoids.
    Fault,
}

impl Exit {
    /// All of them, by their code.
    pub const ALL: [Self; 7] = [
        Self::Done,
        Self::Findings,
        Self::Usage,
        Self::Credential,
        Self::Unavailable,
        Self::Corrupt,
        Self::Fault,
    ];

    /// The number that the process ends with. The one of a fault is `EX_SOFTWARE` of sysexits.h.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Findings => 1,
            Self::Usage => 2,
            Self::Credential => 3,
            Self::Unavailable => 4,
            Self::Corrupt => 5,
            Self::Fault => 70,
        }
    }

    /// What it means, in a word or two.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Findings => "findings or a refused request",
            Self::Usage => "usage or configuration",
            Self::Credential => "credential",
            Self::Unavailable => "unavailable",
            Self::Corrupt => "corrupt state",
            Self::Fault => "internal fault",
        }
    }

    /// What it means, as a sentence.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Done => {
                "Done, or nothing to do; a turn that waits or is skipped counts as nothing to do."
            }
            Self::Findings => {
                "A checker found something; the plan or a prompt has a mistake; or a request of this call was refused, such \
                 as `tick --persona` while everything is paused."
            }
            Self::Usage => {
                "The command line or the configuration is wrong: also a persona, a step or sprints that the plan does not \
                 have, or a session or a record that the ledger does not know."
            }
            Self::Credential => "A credential is missing, refused or too weak.",
            Self::Unavailable => "GitHub or Jules is unavailable, or the deadline passed.",
            Self::Corrupt => "The state file cannot be read, or is behind what Jules shows.",
            Self::Fault => {
                "An internal fault: a bug of phileas, or an error of the operating system, such as a full disk."
            }
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
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
