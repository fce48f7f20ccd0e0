//! A database that answers while all connections of a service are at work.

use std::sync::Arc;
use std::time::{Duration, Instant};

use phileas::adapters::inbox::postgres::PostgresInbox;
use phileas::adapters::inbox::sqlite::DEFAULT_ROOM;
use phileas::runtime::inbox::{Inbox as _, Page, Start};
use tokio::task::JoinSet;
use tokio_postgres::NoTls;

use crate::inbox::stand::WIDGET;
use crate::server::Database;

/// How many connections a service has.
const CONNECTIONS: usize = 8;
/// How long a statement waits for a lock.
const LOCK: Duration = Duration::from_secs(10);
/// How often it is looked whether a condition holds.
const LOOK: Duration = Duration::from_millis(20);
/// How long a condition may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::test]
async fn a_caller_without_a_connection_is_told_that_all_are_at_work() {
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
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                   AND wait_event_type = 'Lock'";
    let all_wait = async || {
        let wanted = i64::try_from(CONNECTIONS).unwrap();
        while other
            .query_one(waiting, &[])
            .await
            .unwrap()
            .get::<_, i64>(0)
            < wanted
        {
            tokio::time::sleep(LOOK).await;
            // Within a transaction the activity is shown as it was at first.
            let forget = "SELECT pg_stat_clear_snapshot()";
            other.batch_execute(forget).await.unwrap();
        }
    };
    let said = format!("all {CONNECTIONS} connections to the database have been at work for 4 s");
    // On a busy machine the first may have given up before the last has come.
    let begun = Instant::now();
    loop {
        let mut readers = JoinSet::new();
        for _ in 0..CONNECTIONS {
            let inbox = Arc::clone(&inbox);
            readers.spawn(async move { inbox.list_deliveries(page).await });
        }
        let all = tokio::time::timeout(LOCK, all_wait()).await;
        if all.is_ok()
            && matches!(inbox.read_wake(WIDGET).await, Err(error) if error.to_string().contains(&said))
        {
            break;
        }
        assert!(
            begun.elapsed() < PATIENCE,
            "no process was notified: {said}"
        );
        readers.join_all().await;
    }
    other.batch_execute("ROLLBACK").await.unwrap();
    inbox.read_wake(WIDGET).await.unwrap();
}
