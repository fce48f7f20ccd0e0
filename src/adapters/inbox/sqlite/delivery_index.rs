//! Finds stored deliveries by their ids.
//!
//! Ids have no order, so an index on disk would write a page for nearly every delivery, many times the size of the
//! data. The index is kept in memory instead, 16 bytes a delivery plus the free part of a hash table, and read from
//! the table at the start. Only the process that locks the directory accepts deliveries, so no other one adds any.

use std::collections::HashMap;

use rusqlite::Connection;
use sha2::{Digest as _, Sha256};

use super::deliveries::{self, Stored};
use super::value::from_integer;
use crate::runtime::inbox::DeliveryId;

/// The places of all stored deliveries.
#[derive(Debug, Default)]
pub(super) struct DeliveryIndex(HashMap<Key, u64>);

/// The first eight bytes of an id's digest. Two ids may share them; the whole id is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key(u64);

impl Key {
    fn key_of(id: &str) -> Self {
        let digest: [u8; 32] = Sha256::digest(id).into();
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        Self(u64::from_be_bytes(first))
    }
}

/// The changes of a transaction, applied once it is committed.
#[derive(Debug, Default)]
pub(super) struct DeliveryIndexChanges {
    stored: HashMap<Key, u64>,
    removed: Vec<(Key, u64)>,
}

impl DeliveryIndexChanges {
    /// Whether a delivery was stored.
    pub(super) fn has_stored(&self) -> bool {
        !self.stored.is_empty()
    }

    /// Records a stored delivery.
    pub(super) fn record_stored(&mut self, id: &DeliveryId, place: u64) {
        self.stored.insert(Key::key_of(id.as_str()), place);
    }

    /// Records a removed delivery.
    pub(super) fn record_removed(&mut self, id: &str, place: u64) {
        self.removed.push((Key::key_of(id), place));
    }
}

impl DeliveryIndex {
    /// Reads the ids of all rows.
    pub(super) fn read_index(connection: &Connection) -> rusqlite::Result<Self> {
        let mut statement = connection.prepare("SELECT id, place FROM delivery ORDER BY place")?;
        let rows = statement.query_map([], |row| {
            let place = from_integer(row.get(1)?)?;
            Ok((Key::key_of(row.get_ref(0)?.as_str()?), place))
        })?;
        rows.collect::<rusqlite::Result<_>>().map(Self)
    }

    /// The row of a delivery, if it is stored or was stored by the transaction with these changes.
    pub(super) fn find_delivery(
        &self,
        news: &DeliveryIndexChanges,
        connection: &Connection,
        id: &DeliveryId,
    ) -> rusqlite::Result<Option<Stored>> {
        let key = Key::key_of(id.as_str());
        let Some(place) = news.stored.get(&key).or_else(|| self.0.get(&key)) else {
            return Ok(None);
        };
        match deliveries::load_delivery(connection, *place)? {
            Some(stored) if stored.delivery.id == *id => Ok(Some(stored)),
            // Another id has the same key, or this transaction removed the row.
            _ => deliveries::search_delivery(connection, id),
        }
    }

    /// Applies the changes of a committed transaction.
    pub(super) fn take_over(&mut self, news: DeliveryIndexChanges) {
        self.0.extend(news.stored);
        for (key, place) in news.removed {
            // The same id may have been stored again at another place.
            if self.0.get(&key) == Some(&place) {
                self.0.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::runtime::inbox::Delivery;

    fn table() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        for step in super::super::schema::MIGRATIONS {
            connection.execute_batch(step).unwrap();
        }
        connection
    }

    fn id(text: &str) -> DeliveryId {
        text.parse().unwrap()
    }

    fn store(connection: &Connection, text: &str) -> u64 {
        let delivery = Delivery {
            id: id(text),
            event: "push".to_owned(),
            action: None,
            repository: None,
            repository_name: None,
            installation: None,
            subject: None,
            sender: None,
            received_at: Timestamp::UNIX_EPOCH,
            wakes: false,
        };
        deliveries::insert(connection, &delivery, 1, None).unwrap()
    }

    fn add_read(
        known: &DeliveryIndex,
        news: &DeliveryIndexChanges,
        connection: &Connection,
        text: &str,
    ) -> Option<u64> {
        let found = known.find_delivery(news, connection, &id(text)).unwrap();
        found.map(|stored| stored.place)
    }

    #[test]
    fn what_the_table_holds_is_known() {
        let connection = table();
        let places = ["a", "b"].map(|text| store(&connection, text));
        let known = DeliveryIndex::read_index(&connection).unwrap();
        let news = DeliveryIndexChanges::default();
        assert_eq!(add_read(&known, &news, &connection, "a"), Some(places[0]));
        assert_eq!(add_read(&known, &news, &connection, "b"), Some(places[1]));
        assert_eq!(add_read(&known, &news, &connection, "c"), None);
    }

    /// A transaction sees what it has done itself; the others only once it is committed.
    #[test]
    fn news_count_for_their_own_transaction_and_then_for_all() {
        let connection = table();
        let mut known = DeliveryIndex::default();
        let mut news = DeliveryIndexChanges::default();
        let place = store(&connection, "a");
        news.record_stored(&id("a"), place);
        assert_eq!(add_read(&known, &news, &connection, "a"), Some(place));
        assert_eq!(
            add_read(&known, &DeliveryIndexChanges::default(), &connection, "a"),
            None
        );
        known.take_over(news);
        assert_eq!(
            add_read(&known, &DeliveryIndexChanges::default(), &connection, "a"),
            Some(place)
        );
    }

    #[test]
    fn a_removed_delivery_is_forgotten_unless_it_came_again() {
        let connection = table();
        let first = store(&connection, "a");
        let mut known = DeliveryIndex::read_index(&connection).unwrap();
        let mut news = DeliveryIndexChanges::default();
        news.record_removed("a", first);
        let again = store(&connection, "a");
        news.record_stored(&id("a"), again);
        known.take_over(news);
        assert_eq!(known.0[&Key::key_of("a")], again);
        let mut news = DeliveryIndexChanges::default();
        news.record_removed("a", again);
        known.take_over(news);
        assert!(known.0.is_empty());
    }

    /// Two ids with one key: the table knows which is which.
    #[test]
    fn an_id_behind_the_key_of_another_is_searched_for() {
        let connection = table();
        let place = store(&connection, "a");
        let other = store(&connection, "b");
        let known = DeliveryIndex(HashMap::from([
            (Key::key_of("a"), other),
            (Key::key_of("c"), other),
        ]));
        let news = DeliveryIndexChanges::default();
        assert_eq!(add_read(&known, &news, &connection, "a"), Some(place));
        assert_eq!(add_read(&known, &news, &connection, "c"), None);
    }
}
