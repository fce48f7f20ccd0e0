//! Rows of deliveries.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::value::{integer, micros, natural, parsed, repository};
use crate::runtime::inbox::{Delivery, DeliveryId};

/// A row, without what follows from other rows.
pub(super) struct Stored {
    pub(super) place: u64,
    pub(super) delivery: Delivery,
    pub(super) times: u32,
    pub(super) generation: Option<u64>,
}

/// All columns, in the order in which [`stored`] reads them.
macro_rules! columns {
    () => {
        "place, id, event, action, repo, repo_name, installation, subject, sender, received_at, wakes, times, generation"
    };
}
pub(super) use columns;

/// The row in a place.
pub(super) fn load(connection: &Connection, place: u64) -> rusqlite::Result<Option<Stored>> {
    connection
        .prepare_cached(concat!(
            "SELECT ",
            columns!(),
            " FROM delivery WHERE place = ?1"
        ))?
        .query_row([integer(place)?], stored)
        .optional()
}

/// The row of a delivery, by a look at all of them.
pub(super) fn search(connection: &Connection, id: &DeliveryId) -> rusqlite::Result<Option<Stored>> {
    connection
        .prepare_cached(concat!(
            "SELECT ",
            columns!(),
            " FROM delivery WHERE id = ?1 ORDER BY place DESC LIMIT 1"
        ))?
        .query_row([id.as_str()], stored)
        .optional()
}

/// Reads a row of [`columns`].
pub(super) fn stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    let natural_at = |column| {
        row.get::<_, Option<i64>>(column)
            .and_then(|number| number.map(natural).transpose())
    };
    let name: Option<String> = row.get(5)?;
    Ok(Stored {
        place: natural(row.get(0)?)?,
        delivery: Delivery {
            id: parsed(&row.get::<_, String>(1)?)?,
            event: row.get(2)?,
            action: row.get(3)?,
            repository: row.get::<_, Option<i64>>(4)?.map(repository).transpose()?,
            repository_name: name.as_deref().map(parsed).transpose()?,
            installation: natural_at(6)?,
            subject: row.get(7)?,
            sender: natural_at(8)?,
            received_at: super::value::instant(row.get(9)?)?,
            wakes: row.get(10)?,
        },
        times: row.get(11)?,
        generation: natural_at(12)?,
    })
}

/// Stores a delivery that is not stored yet, and answers with its place.
pub(super) fn insert(
    connection: &Connection,
    delivery: &Delivery,
    generation: Option<u64>,
) -> rusqlite::Result<u64> {
    connection
        .prepare_cached(
            "INSERT INTO delivery (id, event, action, repo, repo_name, installation, subject, sender, \
             received_at, wakes, times, generation) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1, ?11)",
        )?
        .execute(params![
            delivery.id.as_str(),
            delivery.event,
            delivery.action,
            delivery.repository.map(|id| integer(id.0)).transpose()?,
            delivery.repository_name.as_ref().map(ToString::to_string),
            delivery.installation.map(integer).transpose()?,
            delivery.subject,
            delivery.sender.map(integer).transpose()?,
            micros(delivery.received_at),
            delivery.wakes,
            generation.map(integer).transpose()?,
        ])?;
    natural(connection.last_insert_rowid())
}

/// A delivery that had failed came again.
pub(super) fn came_again(
    connection: &Connection,
    place: u64,
    delivery: &Delivery,
    generation: Option<u64>,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE delivery SET times = times + 1, received_at = ?2, generation = ?3 WHERE place = ?1",
        )?
        .execute(params![
            integer(place)?,
            micros(delivery.received_at),
            generation.map(integer).transpose()?,
        ])
        .map(drop)
}

/// A delivery is to be run again.
pub(super) fn pending_again(
    connection: &Connection,
    place: u64,
    generation: u64,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE delivery SET generation = ?2 WHERE place = ?1")?
        .execute(params![integer(place)?, integer(generation)?])
        .map(drop)
}
