//! Reads and writes rows of repositories.

use jiff::Timestamp;
use phileas_domain::model::{Holder, RepositoryId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::value::{
    from_integer, from_micros, is_damage, maybe_instant, maybe_micros, repository_id, to_integer,
    to_micros,
};
use crate::runtime::inbox::{Held, Suspended, Wake};

/// All columns, in the order in which [`read_wake`] reads them.
macro_rules! columns {
    () => {
        "repo, name, due_at, generation, done_generation, failed_generation, not_before, attempts, outages, token, \
         lease_owner, lease_until, received_at, suspended_at, suspended_because, probe_at, last_fault, deaths"
    };
}
pub(super) use columns;

/// The row of a repository.
pub(super) fn load_wake(
    connection: &Connection,
    id: RepositoryId,
) -> rusqlite::Result<Option<Wake>> {
    connection
        .prepare_cached(concat!("SELECT ", columns!(), " FROM wake WHERE repo = ?1"))?
        .query_row([to_integer(id.0)?], read_wake)
        .optional()
}

/// The row of a repository. A row that cannot be read is reset to due at once; `true` says so.
///
/// One damaged row must not stop the others, and nothing is lost: the ledger in git has everything that matters.
/// Readable counters are kept, so that no earlier lease counts again.
pub(super) fn load_or_reset(
    connection: &Connection,
    id: RepositoryId,
) -> rusqlite::Result<(Option<Wake>, bool)> {
    match load_wake(connection, id) {
        Err(error) if is_damage(&error) => {
            tracing::error!(
                repository = id.0,
                "its row in the inbox cannot be read and is reset: {error}"
            );
            let mut wake = Wake::new(id);
            (wake.generation, wake.token) = connection
                .prepare_cached("SELECT generation, token FROM wake WHERE repo = ?1")?
                .query_row([to_integer(id.0)?], |row| {
                    let count = |column| {
                        row.get::<_, i64>(column)
                            .map(|number| u64::try_from(number).unwrap_or(0))
                    };
                    Ok((count(0)?, count(1)?))
                })?;
            wake.request_tick(Timestamp::UNIX_EPOCH);
            Ok((Some(wake), true))
        }
        loaded => loaded.map(|wake| (wake, false)),
    }
}

/// Reads a row of [`columns`].
pub(super) fn read_wake(row: &Row<'_>) -> rusqlite::Result<Wake> {
    let held = match (
        row.get::<_, Option<String>>(10)?,
        row.get::<_, Option<i64>>(11)?,
    ) {
        (Some(owner), Some(until)) => Some(Held {
            holder: Holder::new(owner),
            until: from_micros(until)?,
        }),
        _ => None,
    };
    let suspended = match (
        row.get::<_, Option<i64>>(13)?,
        row.get::<_, Option<i64>>(15)?,
    ) {
        (Some(at), Some(probe_at)) => Some(Suspended {
            at: from_micros(at)?,
            because: row.get::<_, Option<String>>(14)?.unwrap_or_default(),
            probe_at: from_micros(probe_at)?,
        }),
        _ => None,
    };
    let name: Option<String> = row.get(1)?;
    Ok(Wake {
        repository: repository_id(row.get(0)?)?,
        // The next delivery reports it again.
        name: name.and_then(|name| name.parse().ok()),
        due_at: maybe_instant(row.get(2)?)?,
        generation: from_integer(row.get(3)?)?,
        done_generation: from_integer(row.get(4)?)?,
        failed_generation: from_integer(row.get(5)?)?,
        not_before: maybe_instant(row.get(6)?)?,
        attempts: row.get(7)?,
        outages: row.get(8)?,
        token: from_integer(row.get(9)?)?,
        held,
        received_at: maybe_instant(row.get(12)?)?,
        suspended,
        last_fault: row.get(16)?,
        deaths: row.get(17)?,
    })
}

/// Writes the row of a repository.
pub(super) fn store_wake(connection: &Connection, wake: &Wake) -> rusqlite::Result<()> {
    let (held, suspended) = (wake.held.as_ref(), wake.suspended.as_ref());
    connection
        .prepare_cached(concat!(
            "INSERT OR REPLACE INTO wake (",
            columns!(),
            ", next_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)"
        ))?
        .execute(params![
            to_integer(wake.repository.0)?,
            wake.name.as_ref().map(ToString::to_string),
            maybe_micros(wake.due_at),
            to_integer(wake.generation)?,
            to_integer(wake.done_generation)?,
            to_integer(wake.failed_generation)?,
            maybe_micros(wake.not_before),
            wake.attempts,
            wake.outages,
            to_integer(wake.token)?,
            held.map(|held| held.holder.as_str()),
            held.map(|held| to_micros(held.until)),
            maybe_micros(wake.received_at),
            suspended.map(|suspended| to_micros(suspended.at)),
            suspended.map(|suspended| suspended.because.as_str()),
            suspended.map(|suspended| to_micros(suspended.probe_at)),
            wake.last_fault,
            wake.deaths,
            maybe_micros(wake.next_at()),
        ])
        .map(drop)
}
