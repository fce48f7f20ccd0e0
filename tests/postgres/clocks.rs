//! Clocks of a machine and of its database that differ.

use jiff::{SignedDuration, Timestamp};
use phileas::adapters::inbox::postgres::PostgresInbox;
use phileas::adapters::inbox::sqlite::DEFAULT_ROOM;
use phileas::runtime::inbox::{Inbox as _, Page, Start};
use phileas_domain::model::RepositoryId;

use crate::inbox::stand::{LEASE, WIDGET, at, delivery, holder, only};
use crate::server::Database;

/// What a busy machine may take for a call.
const SLOW: SignedDuration = SignedDuration::from_mins(5);

/// A database whose clock can be wrong: a function of its own stands before the server's.
fn with_a_clock() -> Database {
    let database = Database::new();
    database.sql(&format!(
        "CREATE SCHEMA wrong; CREATE TABLE wrong.clock (ahead interval); \
         INSERT INTO wrong.clock VALUES ('0'); \
         CREATE FUNCTION wrong.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS \
         'SELECT pg_catalog.clock_timestamp() + ahead FROM wrong.clock'; \
         ALTER DATABASE {} SET search_path = wrong, pg_catalog",
        database.name()
    ));
    database
}

fn set_ahead(database: &Database, by: &str) {
    database.sql(&format!("UPDATE wrong.clock SET ahead = '{by}'"));
}

/// Two machines may differ twice as much as each of them may from the database.
#[tokio::test]
async fn a_machine_whose_clock_is_wrong_claims_nothing() {
    let database = with_a_clock();
    let inbox = PostgresInbox::open(&database.url(), DEFAULT_ROOM)
        .await
        .unwrap();
    inbox.wake_repository(WIDGET, at(0)).await.unwrap();
    let one = holder("one");
    // It is measured at each claim, and not only now and then.
    for (ahead, said) in [("4 seconds", "behind"), ("-4 seconds", "ahead of")] {
        set_ahead(&database, ahead);
        let refused = inbox.claim_leases(&one, at(0), LEASE, &[WIDGET]).await;
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(said), "{ahead}: {refused}");
        assert!(inbox.problem_text().unwrap().contains(said));
    }
    set_ahead(&database, "0");
    let lease = inbox
        .claim_leases(&one, at(0), LEASE, &[WIDGET])
        .await
        .unwrap();
    assert_eq!(only(lease).attempt, 1);
    assert_eq!(inbox.problem_text(), None);
}

#[tokio::test]
async fn what_a_wrong_clock_hears_has_the_time_of_the_database() {
    let database = with_a_clock();
    let inbox = PostgresInbox::open(&database.url(), DEFAULT_ROOM)
        .await
        .unwrap();
    let hour = SignedDuration::from_hours(1);
    for (id, ahead, off) in [(1, "1 hour", hour), (2, "-1 hour", -hour)] {
        set_ahead(&database, ahead);
        let repository = RepositoryId(id);
        let now = Timestamp::now();
        let heard = delivery(&id.to_string(), repository, now);
        inbox.accept_delivery(heard).await.unwrap();
        let wake = inbox.read_wake(repository).await.unwrap().unwrap();
        for time in [wake.due_at, wake.received_at] {
            let by = time.unwrap().duration_since(now + off);
            assert!(by.abs() < SLOW, "{ahead}: {by}");
        }
    }
    let page = Page {
        start: Start::After(0),
        most: 10,
    };
    let records = inbox.list_deliveries(page).await.unwrap();
    let [first, second] = records.as_slice() else {
        panic!("{records:?}")
    };
    let by = first
        .delivery
        .received_at
        .duration_since(second.delivery.received_at);
    assert!((by - hour * 2).abs() < SLOW, "{by}");
}
