//! Opens the database file, and migrates its tables.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::data_files::{DATABASE, owner_only, sync_folder};
use super::room::{LEAST_ROOM, LOG_ROOM};
use super::value::{DISK_FULL, is_damage};

/// Identifies phileas' files: "phil" in ASCII.
const APPLICATION: i32 = 0x7068_696c;
/// How long one process waits for another one's transaction, which takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);
/// The size of the statement cache, larger than the number of statements.
const STATEMENTS: usize = 48;
/// The size at which the log is checkpointed and truncated, in bytes.
const LOG_LIMIT: i64 = (LOG_ROOM / 2).cast_signed();
/// The number of pages of the log before a checkpoint: half of its room in pages of 4 KiB.
const LOG_PAGES: i64 = LOG_LIMIT / 4_096;

/// The migrations from an empty file to the present tables. A released one is never changed; new ones are appended.
pub(super) const MIGRATIONS: [&str; 4] = [
    include_str!("schema_1.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
];

/// The version that they lead to.
const VERSION: i32 = 4;
const _: () = assert!(VERSION as usize == MIGRATIONS.len());

/// Why an inbox cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is none.
    #[error(
        "{path} does not exist: there is no inbox here. `phileas serve --data-dir DIR` makes one; name the same directory"
    )]
    Missing {
        /// The file that is missing.
        path: PathBuf,
    },
    /// The given room is too small.
    #[error("{room} bytes are too few for an inbox; give it at least {LEAST_ROOM}")]
    Room {
        /// What it was given.
        room: u64,
    },
    /// Another version created it.
    #[error(
        "{path} has the tables of version {version}, and this phileas knows version {known}; {}",
        if version > known { "use the newer phileas that made it" } else { "start `phileas serve` once, which brings it up to date" }
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: usize,
        /// Ours.
        known: usize,
    },
    /// It is another program's file.
    #[error("{path} is not an inbox of phileas; move it away, or name another --data-dir")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// It is damaged.
    #[error(
        "{path} is damaged: {detail}. The ledger is in git, and nothing of it is lost: move {DATABASE}, {DATABASE}-wal and \
         {DATABASE}-shm away and start again. phileas asks GitHub for missed deliveries again, and checks every repository"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is said.
        detail: String,
    },
    /// The disk has no room.
    #[error("{path}: {DISK_FULL}, and start again")]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The system or SQLite refuses.
    #[error("{path}: {detail}")]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is said.
        detail: String,
    },
}

impl OpenError {
    /// What the system says.
    pub(super) fn from_io(path: &Path, error: &io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path },
            _ => Self::Unusable {
                path,
                detail: error.to_string(),
            },
        }
    }

    /// What SQLite says.
    pub(super) fn from_sqlite(path: &Path) -> impl Fn(rusqlite::Error) -> Self {
        move |error| {
            let (path, detail) = (path.to_owned(), error.to_string());
            match error.sqlite_error_code() {
                Some(rusqlite::ErrorCode::DiskFull) => Self::Full { path },
                Some(rusqlite::ErrorCode::NotADatabase) => Self::Foreign { path },
                _ if is_damage(&error) => Self::Damaged { path, detail },
                _ => Self::Unusable { path, detail },
            }
        }
    }
}

/// Creates the file if there is none, for its owner only. SQLite gives its log the same mode.
pub(super) fn make_file(path: &Path) -> Result<(), OpenError> {
    let mut options = OpenOptions::new();
    let made = owner_only(options.write(true).create_new(true)).open(path);
    match made {
        Ok(_) => {
            sync_folder(path.parent().unwrap_or(path));
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            close_to_others(path).map_err(|error| OpenError::from_io(path, &error))
        }
        Err(error) => Err(OpenError::from_io(path, &error)),
    }
}

/// A copied file may have any mode.
fn close_to_others(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Opens a file that exists.
pub(super) fn open_connection(path: &Path) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let wrong = OpenError::from_sqlite(path);
    let connection = Connection::open_with_flags(path, flags).map_err(&wrong)?;
    set_pragmas(&connection).map_err(&wrong)?;
    Ok(connection)
}

fn set_pragmas(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    connection.pragma_update(None, "journal_size_limit", LOG_LIMIT)?;
    connection.pragma_update(None, "trusted_schema", false)
}

/// Migrates the tables to the present version.
pub(super) fn migrate_tables(connection: &mut Connection, path: &Path) -> Result<(), OpenError> {
    let wrong = OpenError::from_sqlite(path);
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(&wrong)?;
    let found = read_version(&transaction, path)?;
    if found > MIGRATIONS.len() {
        return Err(version_error(path, found));
    }
    for step in &MIGRATIONS[found..] {
        transaction.execute_batch(step).map_err(&wrong)?;
    }
    transaction
        .pragma_update(None, "application_id", APPLICATION)
        .and_then(|()| transaction.pragma_update(None, "user_version", VERSION))
        .and_then(|()| transaction.commit())
        .map_err(&wrong)
}

/// Checks the version of the tables, which a command does not migrate.
pub(super) fn expect_present_version(
    connection: &Connection,
    path: &Path,
) -> Result<(), OpenError> {
    let found = read_version(connection, path)?;
    if found == MIGRATIONS.len() {
        Ok(())
    } else {
        Err(version_error(path, found))
    }
}

/// Ends all leases, because their holders are gone. Attempts stay counted. The repositories are due now: an older
/// time would count as a delay.
pub(super) fn end_leases(
    connection: &Connection,
    path: &Path,
    now: Timestamp,
) -> Result<(), OpenError> {
    let ended = connection.execute(
        "UPDATE wake SET lease_until = ?1, next_at = ?1 WHERE lease_owner IS NOT NULL",
        [now.as_microsecond()],
    );
    ended.map(drop).map_err(OpenError::from_sqlite(path))
}

/// Writes an unchanged value, to test whether writes succeed.
pub(super) fn test_write(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "user_version", VERSION)
}

/// The version of the tables; 0 for an empty file.
fn read_version(connection: &Connection, path: &Path) -> Result<usize, OpenError> {
    let pragma = |name: &str| {
        connection
            .pragma_query_value(None, name, |row| row.get::<_, i64>(0))
            .map_err(OpenError::from_sqlite(path))
    };
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(OpenError::from_sqlite(path))?;
    let ours = pragma("application_id")? == i64::from(APPLICATION);
    if tables > 0 && !ours {
        return Err(OpenError::Foreign {
            path: path.to_owned(),
        });
    }
    Ok(usize::try_from(pragma("user_version")?).unwrap_or(0))
}

fn version_error(path: &Path, version: usize) -> OpenError {
    OpenError::Version {
        path: path.to_owned(),
        version,
        known: MIGRATIONS.len(),
    }
}
