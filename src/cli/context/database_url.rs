//! Which database keeps the inbox, if one does.

use secrecy::SecretString;

use super::env_var::variable;
use crate::adapters::inbox::postgres::{DatabaseUrl, OpenError, PostgresInbox};
use crate::cli::exit::{Exit, Stopped};
use crate::server::config::{origin, secret};

/// Says the address. It may have a password in it, so it is read as secrets are.
pub(crate) const VARIABLE: &str = "PHILEAS_DATABASE_URL";

/// The address that the option says, or the environment. `None`: the inbox is a file.
pub(crate) fn url(option: Option<&str>) -> Result<Option<DatabaseUrl>, Stopped> {
    let (from, url) = match option {
        Some(url) => ("--database-url".to_owned(), SecretString::from(url)),
        None => match secret(VARIABLE, variable)? {
            Some(url) => (origin(VARIABLE, variable), url),
            None => return Ok(None),
        },
    };
    DatabaseUrl::parse(&url)
        .map(Some)
        .map_err(|error| Stopped::usage(format!("{from}: {error}")))
}

/// Whether the database can be used, changing nothing: its tables may still have to be made.
pub(crate) async fn reached(url: &DatabaseUrl) -> Result<&'static str, Stopped> {
    match PostgresInbox::visit(url).await {
        Ok(_) => Ok("it can be used"),
        Err(OpenError::Missing { .. }) => {
            Ok("it can be reached; the service makes its tables when it starts")
        }
        Err(error) => Err(error.into()),
    }
}

impl From<OpenError> for Stopped {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Unreachable { .. } => Self {
                exit: Exit::Unavailable,
                message: error.to_string(),
            },
            OpenError::Refused { .. } => Self::credential(error.to_string()),
            OpenError::Unchanged { .. } => Self::fault(error.to_string()),
            OpenError::Url(_) | OpenError::Newer { .. } | OpenError::Missing { .. } => {
                Self::usage(error.to_string())
            }
        }
    }
}
