//! The suite of every inbox, on PostgreSQL.

#[path = "../it/inbox/faults.rs"]
mod faults;
#[path = "../it/inbox/keeping.rs"]
mod keeping;
#[path = "../it/inbox/leases.rs"]
mod leases;
#[path = "../it/inbox/stand.rs"]
pub(crate) mod stand;
#[path = "../it/inbox/suite.rs"]
mod suite;

use phileas::adapters::inbox::postgres::PostgresInbox;
use phileas::adapters::inbox::sqlite::{DEFAULT_ROOM, LEAST_ROOM};

use crate::server::Database;
use stand::{Room, Stand};
use suite::{conformance, suite};

conformance!(in_postgres, postgres);

async fn postgres(room: Room) -> Stand<PostgresInbox> {
    let database = Database::new();
    let room = match room {
        Room::Plenty => DEFAULT_ROOM,
        Room::Little => LEAST_ROOM,
    };
    Stand {
        inbox: PostgresInbox::open(&database.url(), room).await.unwrap(),
        _beside: Box::new(database),
    }
}
