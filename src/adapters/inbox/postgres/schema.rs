//! The tables, their versions, and how they are changed while services of several versions are running.

use deadpool_postgres::Client;
use tokio_postgres::types::ToSql;

use super::address::DatabaseUrlError;
use super::failure::Failure;
use crate::runtime::inbox::InboxError;

/// The tables that a version of phileas works with, as the steps by which they came to be so: the version of the tables
/// is how many steps there are.
#[derive(Debug, Clone, Copy)]
pub struct Tables<'a> {
    /// A step only adds what older versions do not mind, so that services can be replaced one after the other; where that
    /// cannot be, `readable_from` is raised with it.
    pub steps: &'a [&'a str],
    /// The oldest version of the tables whose programs can still work with these.
    pub readable_from: i32,
}

impl Tables<'static> {
    /// Those of this version of phileas.
    pub const OURS: Self = Self {
        steps: &[include_str!("schema_1.sql"), include_str!("schema_2.sql")],
        readable_from: 1,
    };
}

impl Tables<'_> {
    fn version(&self) -> i32 {
        i32::try_from(self.steps.len()).unwrap_or(i32::MAX)
    }
}

/// The channel of notifications that the tables have changed.
pub(super) const CHANNEL: &str = "phileas_tables";
/// The advisory lock of migrations; an arbitrary number that no other program uses.
const MIGRATING: i64 = 0x7068_696c_6561_7331;

/// What the tables say of themselves.
const VERSION: &str = "SELECT version, readable_from FROM phileas.tables";

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
        "{place}: its tables are of version {version}, which this phileas (version {ours}) cannot work with; run the newer \
         phileas"
    )]
    Newer {
        /// Which database.
        place: String,
        /// The version of its tables.
        version: i32,
        /// Ours.
        ours: i32,
    },
    /// They cannot be made what this version needs.
    #[error(
        "{place}: its tables are left as they were, because step {step} of changing them failed: {detail}; services of \
         the version before can go on with them meanwhile"
    )]
    Unchanged {
        /// Which database.
        place: String,
        /// Which step, counted from 1.
        step: usize,
        /// What the database says.
        detail: String,
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

/// Migrates the tables to what a version needs. Of several services that start at once, one does it.
pub(super) async fn migrate_tables(
    client: &mut Client,
    tables: &Tables<'_>,
    place: &str,
) -> Result<(), OpenError> {
    let changed = migrate_once(client, tables).await;
    match changed.map_err(|failure| unreachable_database(place, failure))? {
        Some(found) => Err(newer_version(place, found, tables)),
        None => Ok(()),
    }
}

/// Returns the version of the tables if it is too new.
async fn migrate_once(client: &mut Client, tables: &Tables<'_>) -> Result<Option<i32>, Failure> {
    let transaction = client.transaction().await?;
    // The lock ends with the transaction. Another service's steps may take longer than the time limit of a row lock.
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
    let found = transaction.query_opt(VERSION, &[]).await?;
    let (version, readable_from): (i32, i32) = match found {
        Some(row) => (row.try_get(0)?, row.try_get(1)?),
        None => (0, 0),
    };
    if version >= tables.version() {
        transaction.rollback().await?;
        return Ok((readable_from > tables.version()).then_some(version));
    }
    let done = usize::try_from(version).unwrap_or(0);
    for (n, step) in tables.steps.iter().enumerate().skip(done) {
        let step = transaction.batch_execute(step).await;
        step.map_err(|error| Failure::Step(n + 1, error))?;
    }
    let values: [&(dyn ToSql + Sync); 2] = [&tables.version(), &tables.readable_from];
    transaction
        .execute("DELETE FROM phileas.tables", &[])
        .await?;
    transaction
        .execute("INSERT INTO phileas.tables VALUES ($1, $2)", &values)
        .await?;
    // Services that cannot work with them any more must hear of it at once.
    transaction
        .execute("SELECT pg_notify($1, '')", &[&CHANNEL])
        .await?;
    transaction.commit().await?;
    Ok(None)
}

/// Writes an unchanged value, to test whether writes succeed.
pub(super) async fn test_write(client: &tokio_postgres::Client) -> Result<(), Failure> {
    client
        .batch_execute("UPDATE phileas.tables SET version = version")
        .await?;
    Ok(())
}

/// Why this version cannot use the tables, if a later one has changed them so.
pub(super) async fn tables_problem(
    client: &tokio_postgres::Client,
    place: &str,
) -> Result<Option<OpenError>, Failure> {
    let row = client.query_one(VERSION, &[]).await?;
    let (version, readable_from): (i32, i32) = (row.try_get(0)?, row.try_get(1)?);
    let ours = Tables::OURS;
    Ok((readable_from > ours.version()).then(|| newer_version(place, version, &ours)))
}

fn newer_version(place: &str, found: i32, tables: &Tables<'_>) -> OpenError {
    OpenError::Newer {
        place: place.to_owned(),
        version: found,
        ours: tables.version(),
    }
}

/// Checks whether this version can use the tables, for a command beside the services.
pub(super) async fn expect_readable_tables(client: &Client, place: &str) -> Result<(), OpenError> {
    let table = client
        .query_one("SELECT to_regclass('phileas.tables') IS NOT NULL", &[])
        .await;
    let missing = || OpenError::Missing {
        place: place.to_owned(),
    };
    let failed = |error: tokio_postgres::Error| unreachable_database(place, error.into());
    let there: bool = table.and_then(|row| row.try_get(0)).map_err(failed)?;
    if !there {
        return Err(missing());
    }
    let row = client
        .query_opt(VERSION, &[])
        .await
        .map_err(failed)?
        .ok_or_else(missing)?;
    let (version, readable_from): (i32, i32) = (
        row.try_get(0).map_err(failed)?,
        row.try_get(1).map_err(failed)?,
    );
    // A service makes what is missing in older ones; a command beside it changes no tables.
    let ours = Tables::OURS;
    if version < ours.version() {
        return Err(missing());
    }
    if readable_from > ours.version() {
        return Err(newer_version(place, version, &ours));
    }
    Ok(())
}

/// The error for a database that cannot be used.
pub(super) fn unreachable_database(place: &str, failure: Failure) -> OpenError {
    let place = place.to_owned();
    let refused = failure.is_refusal();
    let step = match &failure {
        // Where the connection was lost in the middle of it, the step is not to blame.
        Failure::Step(step, error) if error.as_db_error().is_some() => Some(*step),
        _ => None,
    };
    let (InboxError::Unavailable(detail) | InboxError::Damaged(detail)) = failure.into();
    if refused {
        OpenError::Refused { place, detail }
    } else if let Some(step) = step {
        OpenError::Unchanged {
            place,
            step,
            detail,
        }
    } else {
        OpenError::Unreachable { place, detail }
    }
}
