//! Conversions of other modules' errors into the error of a command.

use phileas_domain::board::TaskError;

use super::paths::path_error;
use super::{CliError, Exit};
use crate::adapters::inbox::sqlite::{DirectoryError, OpenError};
use crate::adapters::pipeline::RunsError;
use crate::cli::context::credential_help;
use crate::mcp::ErrorCause;
use crate::runtime::ports::{Disposition, Failure};
use crate::runtime::{EditError, TickError};
use crate::server::accounts::app::IdentityError;
use crate::server::admin::dashboard::AccessError;
use crate::server::config::{ConfigError, FileError, SecretError};

impl From<SecretError> for CliError {
    fn from(error: SecretError) -> Self {
        Self::credential(error.to_string())
    }
}

impl From<FileError> for CliError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Wrong(mistakes) => Self::usage(mistakes.error_lines()),
            _ => Self::usage(error.to_string()),
        }
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<DirectoryError> for CliError {
    fn from(error: DirectoryError) -> Self {
        match error {
            DirectoryError::Full { .. } => Self::fault(error.to_string()),
            _ => Self::usage(error.to_string()),
        }
    }
}

impl From<OpenError> for CliError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Full { .. } => Self::fault(error.to_string()),
            _ => Self::usage(error.to_string()),
        }
    }
}

impl From<IdentityError> for CliError {
    fn from(error: IdentityError) -> Self {
        Self::credential(error.to_string())
    }
}

impl From<AccessError> for CliError {
    fn from(error: AccessError) -> Self {
        match error {
            AccessError::Short => Self::credential(error.to_string()),
            AccessError::Open { .. } | AccessError::NoEntropy(_) => Self::usage(error.to_string()),
        }
    }
}

impl From<ErrorCause> for Exit {
    fn from(cause: ErrorCause) -> Self {
        match cause {
            ErrorCause::Call => Self::Findings,
            ErrorCause::Input => Self::Usage,
            ErrorCause::Credential => Self::Credential,
            ErrorCause::Unavailable => Self::Unavailable,
            ErrorCause::Corrupt => Self::Corrupt,
            ErrorCause::Internal => Self::Fault,
        }
    }
}

impl From<TaskError> for CliError {
    fn from(error: TaskError) -> Self {
        Self {
            exit: ErrorCause::from(&error).into(),
            message: error.to_string(),
        }
    }
}

impl From<RunsError> for CliError {
    fn from(error: RunsError) -> Self {
        if let RunsError::System { path, source } = &error {
            return path_error(path, source);
        }
        let exit = ErrorCause::from(&error).into();
        let message = match &error {
            RunsError::Settings(mistakes) => mistakes.error_lines(),
            RunsError::NoRun(_) => {
                format!("{error}; write its first artifact with `phileas pipeline write`")
            }
            _ => error.to_string(),
        };
        Self { exit, message }
    }
}

impl From<Failure> for CliError {
    fn from(failure: Failure) -> Self {
        let exit = match failure.disposition {
            // A rule or another setting of the repository forbids what the command does.
            Disposition::Refused => Exit::Usage,
            _ => ErrorCause::from(&failure).into(),
        };
        let message = match credential_help::credential_help(&failure) {
            Some(help) => format!("{}; {help}", failure.detail),
            None => failure.detail,
        };
        Self { exit, message }
    }
}

impl From<TickError> for CliError {
    fn from(error: TickError) -> Self {
        match error {
            TickError::Outside(failure) => failure.into(),
            TickError::Contended(_) | TickError::Invariant(_) => Self {
                exit: ErrorCause::from(&error).into(),
                message: error.to_string(),
            },
        }
    }
}

impl From<EditError> for CliError {
    fn from(error: EditError) -> Self {
        match error {
            EditError::Tick(error) => error.into(),
            EditError::Corrupt(_) => Self::corrupt(error.to_string()),
            // The first tick may create the ledger at any time, and start what is due.
            EditError::NoLedger(_) => Self::finding(error.to_string()),
            EditError::Refused(_) => Self::usage(error.to_string()),
        }
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        Self::fault(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_run_that_the_system_refuses_says_how_to_go_on() {
        for (kind, exit, help) in [
            (
                io::ErrorKind::PermissionDenied,
                Exit::Usage,
                "(chmod, chown)",
            ),
            (io::ErrorKind::StorageFull, Exit::Fault, "make room for it"),
        ] {
            let refused = RunsError::System {
                path: ".pipeline/A".into(),
                source: kind.into(),
            };
            assert_eq!(Exit::from(ErrorCause::from(&refused)), exit);
            let error = CliError::from(refused);
            assert_eq!(error.exit, exit);
            assert!(error.message.contains(help), "{}", error.message);
        }
    }
}
