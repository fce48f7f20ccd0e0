//! The inbox of a service, and its name without secrets.

use std::path::Path;

use super::database_url::{self, VARIABLE};
use crate::adapters::inbox::postgres::DatabaseUrl;
use crate::adapters::inbox::sqlite::DATABASE;
use crate::cli::exit::CliError;

/// The database from the option, or the environment. `None`: the inbox is a file.
///
/// An empty variable is an error, like an empty option. Its user wants a database; with a file each, several services
/// would tick the same repositories.
pub(crate) fn inbox_database(option: Option<&str>) -> Result<Option<DatabaseUrl>, CliError> {
    if option.is_none() {
        for name in [VARIABLE.to_owned(), format!("{VARIABLE}_FILE")] {
            let is_empty = |value: String| value.trim().is_empty();
            if std::env::var(&name).is_ok_and(is_empty) {
                return Err(CliError::usage(format!(
                    "{name} is set and empty; give it the address of the database, or unset it for an inbox in the data \
                     directory"
                )));
            }
        }
    }
    database_url::database_url(option)
}

/// The name of the inbox: the file, or the user, host, port and name of the database.
pub(crate) fn inbox_name(database: Option<&DatabaseUrl>, data_dir: &Path) -> String {
    match database {
        Some(url) => format!("PostgreSQL, {}", url.display_address()),
        None => format!("SQLite, {}", data_dir.join(DATABASE).display()),
    }
}
