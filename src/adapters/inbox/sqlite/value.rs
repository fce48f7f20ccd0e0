//! Converts values to SQLite's types and back.

use jiff::Timestamp;
use phileas_domain::model::RepositoryId;
use rusqlite::types::Type;
use rusqlite::{Error, ErrorCode};

use crate::runtime::inbox::InboxError;

/// The message for a full disk.
pub(super) const DISK_FULL: &str = "the disk of the data directory is full; make room on it";

/// An instant in microseconds. Finer parts are dropped.
pub(super) fn to_micros(at: Timestamp) -> i64 {
    at.as_microsecond()
}

/// An optional instant.
pub(super) fn maybe_micros(at: Option<Timestamp>) -> Option<i64> {
    at.map(to_micros)
}

/// An instant that was stored.
pub(super) fn from_micros(micros: i64) -> rusqlite::Result<Timestamp> {
    Timestamp::from_microsecond(micros).map_err(|error| conversion_error(Type::Integer, error))
}

/// An optional instant that was stored.
pub(super) fn maybe_instant(micros: Option<i64>) -> rusqlite::Result<Option<Timestamp>> {
    micros.map(from_micros).transpose()
}

/// A counter as SQLite stores it. Counters start at zero and never overflow.
pub(super) fn to_integer(number: u64) -> rusqlite::Result<i64> {
    i64::try_from(number).map_err(|error| Error::ToSqlConversionFailure(error.into()))
}

/// A number that was stored.
pub(super) fn from_integer(number: i64) -> rusqlite::Result<u64> {
    u64::try_from(number).map_err(|error| conversion_error(Type::Integer, error))
}

/// A repository's id.
pub(super) fn repository_id(number: i64) -> rusqlite::Result<RepositoryId> {
    from_integer(number).map(RepositoryId)
}

/// Parses a stored text.
pub(super) fn parse_text<T>(text: &str) -> rusqlite::Result<T>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    text.parse()
        .map_err(|error| conversion_error(Type::Text, error))
}

fn conversion_error(kind: Type, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::FromSqlConversionFailure(0, kind, Box::new(error))
}

/// The inbox's error for an error of SQLite.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it is what `map_err` hands over"
)]
pub(super) fn inbox_error(error: Error) -> InboxError {
    if is_damage(&error) {
        return InboxError::Damaged(error.to_string());
    }
    InboxError::Unavailable(match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => DISK_FULL.to_owned(),
        _ => error.to_string(),
    })
}

/// Whether stored data is damaged, so that a retry cannot help.
pub(super) fn is_damage(error: &Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    ) || matches!(
        error,
        Error::FromSqlConversionFailure(..) | Error::IntegralValueOutOfRange(..)
    )
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn a_full_disk_is_called_so() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE TABLE a (b); PRAGMA max_page_count = 2")
            .unwrap();
        let full = connection
            .execute("INSERT INTO a VALUES (zeroblob(100000))", [])
            .unwrap_err();
        let InboxError::Unavailable(said) = inbox_error(full) else {
            panic!("a full disk is no damage");
        };
        assert_eq!(said, DISK_FULL);
    }
}
