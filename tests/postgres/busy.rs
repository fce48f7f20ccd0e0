//! A database that answers while all connections of a service are at work.

use std::sync::Arc;
use std::time::Duration;

use phileas::adapters::inbox::postgres::PostgresInbox;
use phileas::adapters::inbox::sqlite::DEFAULT_ROOM;
use phileas::runtime::inbox::{Inbox as _, Page, Start};
use tokio_postgres::NoTls;

use crate::inbox::stand::WIDGET;
use crate::server::Database;

/// How many connections a service has.
const CONNECTIONS: usize = 8;
/// How long a condition may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn whoever_gets_no_connection_is_told_that_all_are_at_work() {
    let database = Database::new();
    let inbox = PostgresInbox::open(&database.url(), DEFAULT_ROOM).await;
    let inbox = Arc::new(inbox.unwrap());
    let address = database.address();
    let (other, driving) = tokio_postgres::connect(&address, NoTls).await.unwrap();
    tokio::spawn(driving);
    let lock = "BEGIN; LOCK TABLE phileas.delivery IN ACCESS EXCLUSIVE MODE";
    other.batch_execute(lock).await.unwrap();
    // Those that read deliveries wait for the lock for ten seconds.
    let page = Page {
        start: Start::After(0),
        most: 1,
    };
    for _ in 0..CONNECTIONS {
        let inbox = Arc::clone(&inbox);
        tokio::spawn(async move { inbox.deliveries(page).await });
    }
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                   AND wait_event_type = 'Lock'";
    let all_wait = async {
        let wanted = i64::try_from(CONNECTIONS).unwrap();
        while other
            .query_one(waiting, &[])
            .await
            .unwrap()
            .get::<_, i64>(0)
            < wanted
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, all_wait).await.unwrap();
    let refused = inbox.look(WIDGET).await.unwrap_err().to_string();
    let said = format!("all {CONNECTIONS} connections to the database have been at work for 4 s");
    assert!(refused.contains(&said), "{refused}");
    other.batch_execute("ROLLBACK").await.unwrap();
    inbox.look(WIDGET).await.unwrap();
}
