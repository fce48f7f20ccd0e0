//! Conversions of other modules' errors into the error of a command.

use super::{CliError, Exit};
use crate::adapters::files::is_disk_full;
use crate::adapters::inbox::sqlite::{DirectoryError, OpenError};
use crate::adapters::pipeline::RunsError;
use crate::cli::context::credential_help;
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

impl From<RunsError> for CliError {
    fn from(error: RunsError) -> Self {
        match &error {
            // Scripts expect these two as findings.
            RunsError::Unknown(_) | RunsError::NoFile(_) => Self::finding(error.to_string()),
            RunsError::Unsound(_) | RunsError::Trace(_) | RunsError::Taken(_) => {
                Self::finding(error.to_string())
            }
            RunsError::System { source, .. } if is_disk_full(source) => {
                Self::fault(error.to_string())
            }
            RunsError::Settings(mistakes) => Self::usage(mistakes.error_lines()),
            RunsError::NoRun(_) => Self::usage(format!(
                "{error}; write its first artifact with `phileas pipeline write`"
            )),
            RunsError::Archived { .. }
            | RunsError::NotOfARun
            | RunsError::Refused { .. }
            | RunsError::System { .. } => Self::usage(error.to_string()),
        }
    }
}

impl From<Failure> for CliError {
    fn from(failure: Failure) -> Self {
        let exit = match failure.disposition {
            Disposition::Retry { .. } | Disposition::Unknown | Disposition::TooLarge => {
                Exit::Unavailable
            }
            Disposition::Denied => Exit::Credential,
            Disposition::NotFound | Disposition::Refused => Exit::Usage,
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
            TickError::Contended(_) => Self {
                exit: Exit::Unavailable,
                message: error.to_string(),
            },
            TickError::Invariant(_) => Self::fault(error.to_string()),
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
    fn a_full_disk_is_no_mistake_of_the_caller() {
        for (kind, exit) in [
            (io::ErrorKind::StorageFull, Exit::Fault),
            (io::ErrorKind::PermissionDenied, Exit::Usage),
        ] {
            let failed = RunsError::System {
                path: "run".into(),
                source: kind.into(),
            };
            assert_eq!(CliError::from(failed).exit, exit);
        }
    }
}
