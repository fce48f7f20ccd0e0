//! The tables, their versions, and how they are changed while services of several versions are running.

use deadpool_postgres::Client;
use tokio_postgres::types::ToSql;

use super::address::DatabaseUrlError;
use super::failure::Failure;
use crate::runtime::inbox::InboxError;

/// The steps by which the tables came to be what they are. A step only adds what older versions do not mind, so that
/// services can be replaced one after the other; where that cannot be, [`READABLE_FROM`] is raised with it.
const MIGRATIONS: [&str; 1] = [include_str!("schema_1.sql")];
/// The oldest version of phileas' tables whose programs can still work with those of this one.
const READABLE_FROM: i32 = 1;
/// Held by whoever changes the tables; any number that nobody else uses would do.
const MIGRATING: i64 = 0x7068_696c_6561_7331;

/// Why an inbox in PostgreSQL cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The address cannot be used.
    #[error(transparent)]
    Url(#[from] DatabaseUrlError),
    /// The database cannot be reached.
    #[error(
        "{place}: {detail}; see that the server runs and takes connections from here, and that the address names its \
         host, port and database"
    )]
    Unreachable {
        /// Which database.
        place: String,
        /// What it says.
        detail: String,
    },
    /// The database lets us not in, or not do what must be done.
    #[error(
        "{place}: {detail}; give the user of the address its password and leave to create a schema"
    )]
    Refused {
        /// Which database.
        place: String,
        /// What it says.
        detail: String,
    },
    /// Its tables were made by a later version, with which this one cannot work.
    #[error(
        "{place}: its tables are of version {found}, which this phileas (version {ours}) cannot work with; run the newer \
         phileas"
    )]
    Newer {
        /// Which database.
        place: String,
        /// The version of its tables.
        found: i32,
        /// Ours.
        ours: i32,
    },
    /// There are no tables.
    #[error(
        "{place}: there is no inbox of this version of phileas in it; `phileas serve --database-url` makes it"
    )]
    Missing {
        /// Which database.
        place: String,
    },
}

/// The version of the tables that this program makes.
fn ours() -> i32 {
    i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX)
}

/// Makes the tables what this version needs. Of several services that start at once, one does it and the others wait.
pub(super) async fn migrate(client: &mut Client, place: &str) -> Result<(), OpenError> {
    let changed = change(client).await;
    match changed.map_err(|failure| unreachable(place, failure))? {
        Some(found) => Err(OpenError::Newer {
            place: place.to_owned(),
            found,
            ours: ours(),
        }),
        None => Ok(()),
    }
}

/// Answers with the version of the tables where it is too new.
async fn change(client: &mut Client) -> Result<Option<i32>, Failure> {
    let transaction = client.transaction().await?;
    // It ends with the transaction, however that ends. Another's steps may take longer than anybody waits for a row.
    transaction
        .batch_execute("SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0")
        .await?;
    transaction
        .execute("SELECT pg_advisory_xact_lock($1)", &[&MIGRATING])
        .await?;
    transaction
        .batch_execute(
            "CREATE SCHEMA IF NOT EXISTS phileas; \
             CREATE TABLE IF NOT EXISTS phileas.tables (version integer NOT NULL, readable_from integer NOT NULL)",
        )
        .await?;
    let found = transaction
        .query_opt("SELECT version, readable_from FROM phileas.tables", &[])
        .await?;
    let (version, readable_from): (i32, i32) = match found {
        Some(row) => (row.try_get(0)?, row.try_get(1)?),
        None => (0, 0),
    };
    if version >= ours() {
        transaction.rollback().await?;
        return Ok((readable_from > ours()).then_some(version));
    }
    let done = usize::try_from(version).unwrap_or(0);
    for step in &MIGRATIONS[done..] {
        transaction.batch_execute(step).await?;
    }
    let values: [&(dyn ToSql + Sync); 2] = [&ours(), &READABLE_FROM];
    transaction
        .execute("DELETE FROM phileas.tables", &[])
        .await?;
    transaction
        .execute("INSERT INTO phileas.tables VALUES ($1, $2)", &values)
        .await?;
    transaction.commit().await?;
    Ok(None)
}

/// Looks whether this version can work with the tables, for a command beside the services.
pub(super) async fn expect(client: &Client, place: &str) -> Result<(), OpenError> {
    let table = client
        .query_one("SELECT to_regclass('phileas.tables') IS NOT NULL", &[])
        .await;
    let missing = || OpenError::Missing {
        place: place.to_owned(),
    };
    let failed = |error: tokio_postgres::Error| unreachable(place, error.into());
    let there: bool = table.and_then(|row| row.try_get(0)).map_err(failed)?;
    if !there {
        return Err(missing());
    }
    let row = client
        .query_opt("SELECT version, readable_from FROM phileas.tables", &[])
        .await
        .map_err(failed)?
        .ok_or_else(missing)?;
    let (version, readable_from): (i32, i32) = (
        row.try_get(0).map_err(failed)?,
        row.try_get(1).map_err(failed)?,
    );
    // A service makes what is missing in older ones; a command beside it changes no tables.
    if version < ours() {
        return Err(missing());
    }
    if readable_from > ours() {
        return Err(OpenError::Newer {
            place: place.to_owned(),
            found: version,
            ours: ours(),
        });
    }
    Ok(())
}

/// The database cannot be used, and says why.
pub(super) fn unreachable(place: &str, failure: Failure) -> OpenError {
    let place = place.to_owned();
    let refused = failure.is_refusal();
    let (InboxError::Unavailable(detail) | InboxError::Damaged(detail)) = failure.into();
    if refused {
        OpenError::Refused { place, detail }
    } else {
        OpenError::Unreachable { place, detail }
    }
}
