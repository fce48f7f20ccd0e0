//! Says why a tool failed, for a model to read.

use std::fmt;

use phileas_domain::board::TaskError;
use phileas_domain::engine::{CreateFailure, format_utc};

use crate::adapters::files::is_disk_full;
use crate::adapters::pipeline::RunsError;
use crate::runtime::TickError;
use crate::runtime::ports::{Disposition, Failure};

/// How many diagnostics about a text are listed.
const MAX_FINDINGS: usize = 10;

/// What is wrong and how to fix it, in one paragraph free of secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    text: String,
    cause: ErrorCause,
}

/// What kept a tool from its work or from a part of it, for programs. A result has it as `_meta`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCause {
    /// The call was refused, or what it found is wrong.
    Call,
    /// An argument is wrong, or names something that does not exist.
    Input,
    /// A missing or refused credential.
    Credential,
    /// A service that is unavailable.
    Unavailable,
    /// The state file, or a file of the monitor, cannot be read.
    Corrupt,
    /// A fault of phileas or of the operating system.
    Internal,
}

impl ErrorCause {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Call,
        Self::Input,
        Self::Credential,
        Self::Unavailable,
        Self::Corrupt,
        Self::Internal,
    ];
    /// The key of a result's `_meta`.
    pub const KEY: &'static str = "phileas/cause";

    /// The value of a result's `_meta`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Input => "input",
            Self::Credential => "credential",
            Self::Unavailable => "unavailable",
            Self::Corrupt => "corrupt",
            Self::Internal => "internal",
        }
    }
}

impl From<&Failure> for ErrorCause {
    fn from(failure: &Failure) -> Self {
        match failure.disposition {
            Disposition::Denied => Self::Credential,
            Disposition::Retry { .. } | Disposition::Unknown | Disposition::TooLarge => {
                Self::Unavailable
            }
            Disposition::Refused => Self::Call,
            Disposition::NotFound => Self::Input,
        }
    }
}

impl From<&RunsError> for ErrorCause {
    fn from(error: &RunsError) -> Self {
        match error {
            // Scripts expect the first two as findings.
            RunsError::Unknown(_)
            | RunsError::NoFile(_)
            | RunsError::Unsound(_)
            | RunsError::Trace(_)
            | RunsError::Archived { .. }
            | RunsError::Taken(_) => Self::Call,
            RunsError::System { source, .. } if is_disk_full(source) => Self::Internal,
            RunsError::Settings(_)
            | RunsError::NoRun(_)
            | RunsError::NotOfARun
            | RunsError::Refused { .. }
            | RunsError::System { .. } => Self::Input,
        }
    }
}

impl From<&TaskError> for ErrorCause {
    fn from(error: &TaskError) -> Self {
        match error {
            TaskError::NotTodo { .. }
            | TaskError::AssignedToOther { .. }
            | TaskError::InSeveralStates { .. }
            | TaskError::Unreadable { .. }
            | TaskError::NotEditable { .. } => Self::Call,
            TaskError::Title(_)
            | TaskError::Tags(_)
            | TaskError::Unknown { .. }
            | TaskError::AmbiguousId { .. }
            | TaskError::PersonaId(_)
            | TaskError::UnknownPersona { .. } => Self::Input,
        }
    }
}

impl From<&TickError> for ErrorCause {
    fn from(error: &TickError) -> Self {
        match error {
            TickError::Outside(failure) => failure.into(),
            TickError::Contended(_) => Self::Unavailable,
            TickError::Invariant(_) => Self::Internal,
        }
    }
}

impl ToolError {
    /// Creates an error of the call with this text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self::with_cause(ErrorCause::Call, text)
    }

    /// Creates an error of an argument with this text.
    #[must_use]
    pub fn input(text: impl Into<String>) -> Self {
        Self::with_cause(ErrorCause::Input, text)
    }

    /// Creates an error with this cause and text.
    #[must_use]
    pub fn with_cause(cause: ErrorCause, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { text, cause }
    }

    /// What kept the tool from its work.
    #[must_use]
    pub fn cause(&self) -> ErrorCause {
        self.cause
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<Failure> for ToolError {
    fn from(failure: Failure) -> Self {
        let help = match failure.disposition {
            Disposition::Retry { after: Some(after) } => {
                format!("; try again in {} s or later", after.as_secs().max(1))
            }
            Disposition::Retry { after: None } => "; try again later".to_owned(),
            Disposition::Denied => format!(
                "; only a person can fix that, with another {} in the environment of phileas",
                match failure.is_of_github() {
                    true => "GITHUB_TOKEN, or another key of the App,",
                    false => "JULES_API_KEY",
                }
            ),
            Disposition::Unknown => {
                "; whether it took effect is unknown, so check before you repeat it".to_owned()
            }
            Disposition::NotFound | Disposition::Refused | Disposition::TooLarge => String::new(),
        };
        let cause = ErrorCause::from(&failure);
        Self::with_cause(cause, format!("{}{help}", failure.detail))
    }
}

impl From<CreateFailure> for ToolError {
    fn from(failure: CreateFailure) -> Self {
        let cause = match failure {
            CreateFailure::Credential { .. } => ErrorCause::Credential,
            CreateFailure::NotSent { .. } | CreateFailure::Unknown { .. } => {
                ErrorCause::Unavailable
            }
            CreateFailure::Refused { .. }
            | CreateFailure::TurnRefused { .. }
            | CreateFailure::Quota { .. } => ErrorCause::Call,
        };
        let text = match failure {
            CreateFailure::NotSent { detail } => format!("nothing was sent to Jules: {detail}"),
            CreateFailure::Refused { detail } | CreateFailure::TurnRefused { detail } => {
                format!("Jules refuses this job: {detail}")
            }
            CreateFailure::Quota { retry_at } => {
                let when = retry_at.map_or_else(
                    || "when older jobs are more than 24 hours old".to_owned(),
                    |at| format!("at {}", format_utc(at)),
                );
                format!(
                    "no job was created, because the quota of this Jules key is used up; try again {when}"
                )
            }
            CreateFailure::Credential { detail } => {
                format!("Jules refuses the key: {detail}; a person must set another JULES_API_KEY")
            }
            CreateFailure::Unknown { detail } => format!(
                "it is unknown whether Jules created the job: {detail}; call again with the same `idempotency_key`, \
                 which finds the job if it exists"
            ),
        };
        Self::with_cause(cause, text)
    }
}

impl From<RunsError> for ToolError {
    fn from(error: RunsError) -> Self {
        let found = error.findings();
        let mut text = error.to_string();
        for one in found.iter().take(MAX_FINDINGS) {
            text.push_str("\n- ");
            text.push_str(&one.to_string());
        }
        if found.len() > MAX_FINDINGS {
            text.push_str("\n- …; `pipeline_validate` shows more");
        }
        Self::with_cause(ErrorCause::from(&error), text)
    }
}

impl From<TickError> for ToolError {
    fn from(error: TickError) -> Self {
        match error {
            TickError::Outside(failure) => failure.into(),
            _ => Self::with_cause(ErrorCause::from(&error), error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_decision_that_breaks_an_invariant_is_a_fault_of_phileas() {
        let error = ToolError::from(TickError::Invariant("two turns of one track".to_owned()));
        assert_eq!(error.cause(), ErrorCause::Internal);
    }

    #[test]
    fn a_full_disk_is_no_mistake_of_the_caller() {
        for (kind, cause) in [
            (io::ErrorKind::StorageFull, ErrorCause::Internal),
            (io::ErrorKind::PermissionDenied, ErrorCause::Input),
        ] {
            let failed = RunsError::System {
                path: "run".into(),
                source: kind.into(),
            };
            assert_eq!(ToolError::from(failed).cause(), cause);
        }
    }
}
