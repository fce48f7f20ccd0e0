//! Which inbox a service has, and how it is named to people: never with what lets anybody in.

use std::path::Path;

use super::database_url::{self, VARIABLE};
use crate::adapters::inbox::postgres::DatabaseUrl;
use crate::adapters::inbox::sqlite::DATABASE;
use crate::cli::exit::Stopped;

/// The database that the option says, or the environment. `None`: the inbox is a file.
///
/// A variable that is set and empty is refused as the option is. Whoever sets it means a database, and with a file of its
/// own each of several services would tick what the others tick.
pub(crate) fn database(option: Option<&str>) -> Result<Option<DatabaseUrl>, Stopped> {
    if option.is_none() {
        for name in [VARIABLE.to_owned(), format!("{VARIABLE}_FILE")] {
            let is_empty = |value: String| value.trim().is_empty();
            if std::env::var(&name).is_ok_and(is_empty) {
                return Err(Stopped::usage(format!(
                    "{name} is set and empty; give it the address of the database, or unset it for an inbox in the data \
                     directory"
                )));
            }
        }
    }
    database_url::url(option)
}

/// What the inbox is called: the file, or the user, the host, the port and the name of the database.
pub(crate) fn name(database: Option<&DatabaseUrl>, data_dir: &Path) -> String {
    match database {
        Some(url) => format!("PostgreSQL, {}", url.shown()),
        None => format!("SQLite, {}", data_dir.join(DATABASE).display()),
    }
}
