//! Failures of the database and the connection to it.

use std::time::Duration;

use deadpool_postgres::{HookError, PoolError, TimeoutType};
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::runtime::inbox::InboxError;

/// Why an operation failed, or may have failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("{0}")]
    Pool(PoolError),
    #[error("{0}")]
    Database(Error),
    /// A migration step failed: which one, and the database's error.
    #[error("{1}")]
    Step(usize, Error),
    /// No answer came in time.
    #[error("{0}")]
    Late(String),
    /// A newer version has changed the tables so that this one cannot use them.
    #[error("{0}")]
    Newer(String),
    /// The clocks are too far apart.
    #[error("{0}")]
    Apart(String),
    /// A stored value is invalid.
    #[error("{0}")]
    Damaged(String),
}

impl Failure {
    /// Whether the database refuses the connection permanently: the user, the password, or their rights.
    pub(super) fn is_refusal(&self) -> bool {
        let (Self::Database(error) | Self::Step(_, error) | Self::Pool(PoolError::Backend(error))) =
            self
        else {
            return false;
        };
        error.code().is_some_and(|code| {
            code.code().starts_with("28") || *code == SqlState::INSUFFICIENT_PRIVILEGE
        })
    }

    /// The failure for an answer that did not arrive within this time.
    pub(super) fn timed_out(patience: Duration) -> Self {
        let seconds = patience.as_secs();
        Self::Late(format!(
            "the database has not answered for {seconds} seconds"
        ))
    }

    /// The failure for a time in which all connections were busy.
    pub(super) fn all_busy(connections: usize, patience: Duration) -> Self {
        let seconds = patience.as_secs();
        Self::Late(format!(
            "all {connections} connections to the database have been at work for {seconds} seconds; it is overloaded, or \
             something holds it up"
        ))
    }

    /// How often an operation with this failure is tried. Fewer times if each attempt takes long.
    pub(super) fn max_attempts(&self) -> u32 {
        match self {
            Self::Late(_) => 2,
            _ if self.is_transient() => 3,
            _ => 1,
        }
    }

    /// Whether the connection is lost.
    pub(super) fn is_loss(&self) -> bool {
        match self {
            Self::Database(error) | Self::Pool(PoolError::Backend(error)) => {
                error.is_closed() || error.code() == Some(&SqlState::ADMIN_SHUTDOWN)
            }
            _ => false,
        }
    }

    /// Whether the database rejects a value: for example one text of many with a character that it cannot store.
    pub(super) fn is_of_data(&self) -> bool {
        let Self::Database(error) = self else {
            return false;
        };
        error
            .code()
            .is_some_and(|code| code.code().starts_with("22"))
    }

    /// Whether the same operation may succeed at once on another connection.
    fn is_transient(&self) -> bool {
        match self {
            Self::Database(error) => {
                error.is_closed()
                    || error.code().is_some_and(|code| {
                        *code == SqlState::T_R_DEADLOCK_DETECTED
                            || *code == SqlState::T_R_SERIALIZATION_FAILURE
                            || *code == SqlState::ADMIN_SHUTDOWN
                            || *code == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
                    })
            }
            Self::Pool(PoolError::Backend(error)) => error.is_closed(),
            Self::Pool(_)
            | Self::Step(..)
            | Self::Late(_)
            | Self::Newer(_)
            | Self::Apart(_)
            | Self::Damaged(_) => false,
        }
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Self {
        Self::Pool(match error {
            // The connection was lost before it was used.
            PoolError::PostCreateHook(HookError::Backend(error)) => PoolError::Backend(error),
            error => error,
        })
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

impl From<Failure> for InboxError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Database(error)
            | Failure::Step(_, error)
            | Failure::Pool(PoolError::Backend(error)) => Self::Unavailable(error_text(&error)),
            Failure::Pool(PoolError::Timeout(TimeoutType::Wait)) => Self::Unavailable(
                "the database: all connections to it are at work; it is overloaded, or something holds it up"
                    .to_owned(),
            ),
            Failure::Pool(PoolError::Timeout(_)) => Self::Unavailable(
                "the database: no connection came about in time; is it overloaded, or unreachable?"
                    .to_owned(),
            ),
            Failure::Pool(error) => Self::Unavailable(format!("the database: {error}")),
            Failure::Late(detail) | Failure::Newer(detail) | Failure::Apart(detail) => {
                Self::Unavailable(detail)
            }
            Failure::Damaged(detail) => Self::Damaged(detail),
        }
    }
}

/// The database's error, or the error of the connection. Neither repeats the address.
fn error_text(error: &Error) -> String {
    use std::error::Error as _;
    if let Some(told) = error.as_db_error() {
        let lost = [
            SqlState::UNDEFINED_TABLE,
            SqlState::INVALID_SCHEMA_NAME,
            SqlState::INVALID_CATALOG_NAME,
        ];
        let advice = if lost.contains(told.code()) {
            "; the inbox was deleted from it: restore it, or restart `phileas serve`, which makes a new one"
        } else if *told.code() == SqlState::READ_ONLY_SQL_TRANSACTION {
            "; nothing can be stored in it: let the address name a server that takes writes"
        } else {
            ""
        };
        return format!("the database says: {}{advice}", told.message());
    }
    match error.source() {
        Some(source) => format!("the database: {error}: {source}"),
        None => format!("the database: {error}"),
    }
}
