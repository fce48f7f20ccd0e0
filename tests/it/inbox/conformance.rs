//! The suite, on the inboxes that need nothing beside them.

use phileas::adapters::inbox::sqlite::{DEFAULT_ROOM, DataDirectory, LEAST_ROOM, SqliteInbox};

use super::stand::{ALL, Room, Stand, at};
use super::suite::{conformance, suite};
use super::{faults, keeping, leases};
use crate::support::memory_inbox::MemoryInbox;

conformance!(in_memory, memory);
conformance!(in_sqlite, sqlite);

async fn memory(room: Room) -> Stand<MemoryInbox> {
    let room = match room {
        Room::Plenty => ALL,
        Room::Little => 100,
    };
    Stand {
        inbox: MemoryInbox::new(room),
        _beside: Box::new(()),
    }
}

async fn sqlite(room: Room) -> Stand<SqliteInbox> {
    let folder = tempfile::tempdir().unwrap();
    let room = match room {
        Room::Plenty => DEFAULT_ROOM,
        Room::Little => LEAST_ROOM,
    };
    let directory = DataDirectory::lock_directory(folder.path()).unwrap();
    Stand {
        inbox: SqliteInbox::open(directory, room, at(0)).unwrap(),
        _beside: Box::new(folder),
    }
}
