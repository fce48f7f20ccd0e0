//! Reads from the inbox beside the writing thread.

use jiff::Timestamp;
use phileas_domain::model::RepositoryId;
use rusqlite::{Connection, Row, params};

use super::value::{
    from_integer, from_micros, is_damage, maybe_instant, repository_id, to_integer, to_micros,
};
use super::{deliveries, wakes};
use crate::runtime::inbox::{
    ALONE_AFTER_DEATHS, Counts, MAX_ALONE, MAX_PAGE, Page, Record, Start, Wake, delivery_outcome,
};

/// One page of deliveries.
pub(super) fn read_page(connection: &Connection, page: Page) -> rusqlite::Result<Vec<Record>> {
    let most = to_integer(page.most.min(MAX_PAGE) as u64)?;
    let (sql, place) = match page.start {
        Start::After(place) => (
            concat!(
                "SELECT ",
                deliveries::columns!(),
                " FROM delivery WHERE place > ?1 ORDER BY place LIMIT ?2"
            ),
            place,
        ),
        Start::Before(place) => (
            concat!(
                "SELECT ",
                deliveries::columns!(),
                " FROM delivery WHERE place < ?1 ORDER BY place DESC LIMIT ?2"
            ),
            place.unwrap_or(u64::MAX),
        ),
    };
    let place = i64::try_from(place).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![place, most], |row| read_record(connection, row))?;
    rows.collect()
}

fn read_record(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<Record> {
    let stored = deliveries::read_stored(row)?;
    let wake = match stored.delivery.repository {
        Some(id) if stored.generation.is_some() => {
            skip_damaged(wakes::load_wake(connection, id))?.flatten()
        }
        _ => None,
    };
    Ok(Record {
        place: stored.place,
        outcome: delivery_outcome(stored.generation, wake.as_ref()),
        times: stored.times,
        delivery: stored.delivery,
    })
}

/// Suspended repositories.
pub(super) fn read_suspended(connection: &Connection) -> rusqlite::Result<Vec<Wake>> {
    let mut statement = connection.prepare_cached(concat!(
        "SELECT ",
        wakes::columns!(),
        " FROM wake WHERE suspended_at IS NOT NULL ORDER BY repo"
    ))?;
    let rows = statement.query_map([], |row| skip_damaged(wakes::read_wake(row)))?;
    rows.filter_map(Result::transpose).collect()
}

/// Skips a damaged row. The writing thread resets it and logs that.
fn skip_damaged<T>(read: rusqlite::Result<T>) -> rusqlite::Result<Option<T>> {
    match read {
        Err(error) if is_damage(&error) => Ok(None),
        read => read.map(Some),
    }
}

/// The counts, without the size of the files.
pub(super) fn read_counts(connection: &Connection, now: Timestamp) -> rusqlite::Result<Counts> {
    let deliveries: i64 = connection
        .prepare_cached("SELECT count(*) FROM delivery")?
        .query_row([], |row| row.get(0))?;
    connection
        .prepare_cached(
            "SELECT count(*), total(next_at <= ?1), total(lease_owner IS NOT NULL AND next_at > ?1), \
             total(suspended_at IS NULL AND last_fault IS NOT NULL), total(suspended_at IS NOT NULL), \
             min(CASE WHEN next_at <= ?1 THEN next_at END) FROM wake",
        )?
        .query_row([to_micros(now)], |row| {
            let count = |column| row.get::<_, f64>(column).map(|number| number as u64);
            Ok(Counts {
                deliveries: from_integer(deliveries)?,
                repositories: from_integer(row.get(0)?)?,
                due: count(1)?,
                leased: count(2)?,
                failing: count(3)?,
                suspended: count(4)?,
                oldest_due: maybe_instant(row.get(5)?)?,
                bytes: 0,
                limit_bytes: None,
            })
        })
}

/// The repositories that can be claimed, the longest overdue first.
pub(super) fn read_due(
    connection: &Connection,
    now: Timestamp,
    most: usize,
) -> rusqlite::Result<Vec<RepositoryId>> {
    let mut statement = connection.prepare_cached(
        "SELECT repo FROM wake WHERE next_at <= ?1 ORDER BY next_at, repo LIMIT ?2",
    )?;
    let rows = statement.query_map(params![to_micros(now), to_integer(most as u64)?], |row| {
        row.get(0).and_then(repository_id)
    })?;
    rows.collect()
}

/// The repositories that can be claimed and must be ticked alone.
pub(super) fn read_due_alone(
    connection: &Connection,
    now: Timestamp,
) -> rusqlite::Result<Vec<RepositoryId>> {
    let mut statement = connection.prepare_cached(
        "SELECT repo FROM wake WHERE next_at <= ?1 AND deaths >= ?2 ORDER BY repo LIMIT ?3",
    )?;
    let values = params![
        to_micros(now),
        ALONE_AFTER_DEATHS,
        to_integer(MAX_ALONE as u64)?
    ];
    let rows = statement.query_map(values, |row| row.get(0).and_then(repository_id))?;
    rows.collect()
}

/// When the next repository can be claimed.
pub(super) fn next_due(connection: &Connection) -> rusqlite::Result<Option<Timestamp>> {
    let next: Option<i64> = connection
        .prepare_cached("SELECT min(next_at) FROM wake WHERE next_at IS NOT NULL")?
        .query_row([], |row| row.get(0))?;
    // An invalid instant belongs to a damaged row, which is claimed so that it is reset.
    Ok(next.map(|next| from_micros(next).unwrap_or(Timestamp::UNIX_EPOCH)))
}
