//! Reads and writes rows of deliveries.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::value::{from_integer, parse_text, repository_id, to_integer, to_micros};
use crate::runtime::inbox::{Delivery, DeliveryId};

/// A row of a delivery.
pub(super) struct Stored {
    pub(super) place: u64,
    pub(super) delivery: Delivery,
    pub(super) times: u32,
    pub(super) generation: Option<u64>,
}

/// All columns, in the order in which [`read_stored`] reads them.
macro_rules! columns {
    () => {
        "place, id, event, action, repo, repo_name, installation, subject, sender, received_at, wakes, times, generation"
    };
}
pub(super) use columns;

/// The row at a place.
pub(super) fn load_delivery(
    connection: &Connection,
    place: u64,
) -> rusqlite::Result<Option<Stored>> {
    connection
        .prepare_cached(concat!(
            "SELECT ",
            columns!(),
            " FROM delivery WHERE place = ?1"
        ))?
        .query_row([to_integer(place)?], read_stored)
        .optional()
}

/// Finds the row of a delivery by a scan of the table.
pub(super) fn search_delivery(
    connection: &Connection,
    id: &DeliveryId,
) -> rusqlite::Result<Option<Stored>> {
    connection
        .prepare_cached(concat!(
            "SELECT ",
            columns!(),
            " FROM delivery WHERE id = ?1 ORDER BY place DESC LIMIT 1"
        ))?
        .query_row([id.as_str()], read_stored)
        .optional()
}

/// Reads a row of [`columns`].
pub(super) fn read_stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    let natural_at = |column| {
        row.get::<_, Option<i64>>(column)
            .and_then(|number| number.map(from_integer).transpose())
    };
    let name: Option<String> = row.get(5)?;
    Ok(Stored {
        place: from_integer(row.get(0)?)?,
        delivery: Delivery {
            id: parse_text(&row.get::<_, String>(1)?)?,
            event: row.get(2)?,
            action: row.get(3)?,
            repository: row
                .get::<_, Option<i64>>(4)?
                .map(repository_id)
                .transpose()?,
            repository_name: name.as_deref().map(parse_text).transpose()?,
            installation: natural_at(6)?,
            subject: row.get(7)?,
            sender: natural_at(8)?,
            received_at: super::value::from_micros(row.get(9)?)?,
            wakes: row.get(10)?,
        },
        times: row.get(11)?,
        generation: natural_at(12)?,
    })
}

/// Stores a new delivery, and returns its place.
pub(super) fn insert(
    connection: &Connection,
    delivery: &Delivery,
    times: u32,
    generation: Option<u64>,
) -> rusqlite::Result<u64> {
    connection
        .prepare_cached(
            "INSERT INTO delivery (id, event, action, repo, repo_name, installation, subject, sender, \
             received_at, wakes, times, generation) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?
        .execute(params![
            delivery.id.as_str(),
            delivery.event,
            delivery.action,
            delivery.repository.map(|id| to_integer(id.0)).transpose()?,
            delivery.repository_name.as_ref().map(ToString::to_string),
            delivery.installation.map(to_integer).transpose()?,
            delivery.subject,
            delivery.sender.map(to_integer).transpose()?,
            to_micros(delivery.received_at),
            delivery.wakes,
            times,
            generation.map(to_integer).transpose()?,
        ])?;
    from_integer(connection.last_insert_rowid())
}

/// Moves the row of a failed delivery that arrived again to the end, where the newest are. Returns its new place.
pub(super) fn came_again(
    connection: &Connection,
    before: &Stored,
    delivery: &Delivery,
    generation: Option<u64>,
) -> rusqlite::Result<u64> {
    let heard = Delivery {
        received_at: delivery.received_at,
        ..before.delivery.clone()
    };
    let times = before.times.saturating_add(1);
    // The old row stays until then, so that its place is not reused.
    let place = insert(connection, &heard, times, generation)?;
    connection
        .prepare_cached("DELETE FROM delivery WHERE place = ?1")?
        .execute([to_integer(before.place)?])?;
    Ok(place)
}

/// The last place up to which all deliveries arrived before an instant, by binary search, because they are sorted by
/// arrival. If a clock was set back, a few may be missed until the next time.
pub(super) fn older_than(connection: &Connection, before: i64) -> rusqlite::Result<i64> {
    let mut at_or_after = connection.prepare_cached(
        "SELECT place, received_at FROM delivery WHERE place >= ?1 ORDER BY place LIMIT 1",
    )?;
    let (mut low, mut high): (i64, i64) = connection
        .prepare_cached(
            "SELECT coalesce(min(place), 0), coalesce(max(place) + 1, 0) FROM delivery",
        )?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    while low < high {
        let middle = low + (high - low) / 2;
        let found = at_or_after
            .query_row([middle], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
            })
            .optional()?;
        match found {
            Some((place, received_at)) if received_at < before => low = place + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// Marks a delivery to be processed again.
pub(super) fn pending_again(
    connection: &Connection,
    place: u64,
    generation: u64,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("UPDATE delivery SET generation = ?2 WHERE place = ?1")?
        .execute(params![to_integer(place)?, to_integer(generation)?])
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::inbox::sqlite::schema::MIGRATIONS;

    #[test]
    fn the_place_of_an_age_is_found_among_gaps() {
        let connection = Connection::open_in_memory().unwrap();
        for step in MIGRATIONS {
            connection.execute_batch(step).unwrap();
        }
        assert_eq!(older_than(&connection, 5).unwrap(), 0);
        let places = [(3, 10), (4, 20), (9, 20), (100, 30)];
        for (place, at) in places {
            connection
                .execute(
                    "INSERT INTO delivery (place, id, event, received_at, wakes, times) VALUES (?1, 'x', 'x', ?2, 0, 1)",
                    [place, at],
                )
                .unwrap();
        }
        for before in [0, 10, 11, 20, 21, 30, 31, i64::MAX] {
            let bound = older_than(&connection, before).unwrap();
            for (place, at) in places {
                assert_eq!(
                    place < bound,
                    at < before,
                    "{place} of {at} before {before}: {bound}"
                );
            }
        }
    }

    #[test]
    fn rows_of_before_are_put_in_the_order_of_their_coming() {
        let connection = Connection::open_in_memory().unwrap();
        for step in &MIGRATIONS[..2] {
            connection.execute_batch(step).unwrap();
        }
        for (id, at) in [("came-again", 30), ("first", 10), ("second", 20)] {
            connection
                .execute(
                    "INSERT INTO delivery (id, event, repo, received_at, wakes, times, generation) \
                     VALUES (?1, 'issues', 7, ?2, 1, 2, 3)",
                    params![id, at],
                )
                .unwrap();
        }
        connection.execute_batch(MIGRATIONS[2]).unwrap();
        let ids: Vec<(u64, String, Option<u64>)> = (1..=3)
            .map(|place| load_delivery(&connection, place).unwrap().unwrap())
            .map(|row| (row.place, row.delivery.id.to_string(), row.generation))
            .collect();
        let row = |place, id: &str| (place, id.to_owned(), Some(3));
        assert_eq!(
            ids,
            [row(1, "first"), row(2, "second"), row(3, "came-again")]
        );
        assert_eq!(older_than(&connection, 30).unwrap(), 3);
    }
}
