//! The address of the database for the inbox, if one is used.

use secrecy::SecretString;

use super::env_var::env_value;
use crate::adapters::inbox::postgres::{DatabaseUrl, OpenError, PostgresInbox};
use crate::cli::exit::{CliError, Exit};
use crate::server::config::{read_secret, secret_origin};

/// The variable with the address. The address may contain a password, so it is read like a secret.
pub(crate) const VARIABLE: &str = "PHILEAS_DATABASE_URL";

/// The address from the option, or the environment. `None`: the inbox is a file.
pub(crate) fn database_url(option: Option<&str>) -> Result<Option<DatabaseUrl>, CliError> {
    let (from, url) = match option {
        Some(url) => ("--database-url".to_owned(), SecretString::from(url)),
        None => match read_secret(VARIABLE, env_value)? {
            Some(url) => (secret_origin(VARIABLE, env_value), url),
            None => return Ok(None),
        },
    };
    DatabaseUrl::parse(&url)
        .map(Some)
        .map_err(|error| CliError::usage(format!("{from}: {error}")))
}

/// Checks whether the database can be used, without changing it: its tables may not exist yet.
pub(crate) async fn check_database(url: &DatabaseUrl) -> Result<&'static str, CliError> {
    match PostgresInbox::open_beside_services(url).await {
        Ok(_) => Ok("it can be used"),
        Err(OpenError::Missing { .. }) => {
            Ok("it can be reached; the service makes its tables when it starts")
        }
        Err(error) => Err(error.into()),
    }
}

impl From<OpenError> for CliError {
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
