//! Tables that a newer version changes while services of an older one are running.

use std::time::Duration;

use phileas::adapters::inbox::postgres::{OpenError, PostgresInbox, Tables};
use phileas::adapters::inbox::sqlite::DEFAULT_ROOM;
use phileas::runtime::inbox::{Inbox as _, InboxError};

use crate::inbox::stand::{LEASE, WIDGET, all_at_once, at, delivery, holder};
use crate::replicas::Replicas;
use crate::server::Database;

/// How long a condition may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// A step that no service minds, and that cannot be done twice.
const STEP: &str =
    "ALTER TABLE phileas.wake ADD COLUMN note text; CREATE TABLE phileas.note (text text NOT NULL)";

/// The steps of this version, and more.
fn and(more: &[&'static str]) -> Vec<&'static str> {
    [Tables::OURS.steps, more].concat()
}

fn version(database: &Database) -> String {
    database.sql("SELECT version, readable_from FROM phileas.tables")
}

async fn open(database: &Database) -> PostgresInbox {
    let opened = PostgresInbox::open(&database.url(), DEFAULT_ROOM).await;
    opened.unwrap()
}

#[test]
fn a_service_goes_on_while_its_tables_are_changed() {
    let one = Replicas::new(&[("acme", 1)]);
    let (service, _beside) = one.start();
    one.rig.pass_until(&service, 1);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let newer = Tables {
        steps: &and(&[STEP]),
        readable_from: 1,
    };
    let url = one.database.url();
    let changed = runtime.block_on(PostgresInbox::migrate(&url, &newer));
    changed.unwrap();
    assert_eq!(version(&one.database), "3|1\n");
    one.rig.pass_until(&service, 2);
    // One that starts meanwhile can work with them as well.
    let (second, _beside) = one.start();
    one.rig.pass_until(&second, 1);
    one.rig.assert_right();
    one.all_handled();
    assert_eq!(version(&one.database), "3|1\n");
}

#[tokio::test]
async fn of_many_that_change_the_tables_at_once_one_does() {
    let database = Database::new();
    let inbox = open(&database).await;
    inbox
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    let (steps, url) = (and(&[STEP]), database.url());
    let newer = Tables {
        steps: &steps,
        readable_from: 1,
    };
    let changing = (0..6).map(|_| PostgresInbox::migrate(&url, &newer));
    for changed in all_at_once(changing).await {
        changed.unwrap();
    }
    assert_eq!(version(&database), "3|1\n");
    inbox
        .accept_delivery(delivery("b", WIDGET, at(1)))
        .await
        .unwrap();
    assert_eq!(database.sql("SELECT count(*) FROM phileas.delivery"), "2\n");
}

#[tokio::test]
async fn a_step_that_fails_leaves_the_tables_as_they_were() {
    let database = Database::new();
    let inbox = open(&database).await;
    let newer = Tables {
        steps: &and(&[STEP, "CREATE TABLE phileas.half (); SELECT 1 / 0"]),
        readable_from: 4,
    };
    let failed = PostgresInbox::migrate(&database.url(), &newer).await;
    let failed = failed.unwrap_err();
    assert!(
        matches!(failed, OpenError::Unchanged { step: 4, .. }),
        "{failed:?}"
    );
    assert!(failed.to_string().contains("division by zero"), "{failed}");
    assert_eq!(version(&database), "2|1\n");
    let made = "SELECT to_regclass('phileas.note'), to_regclass('phileas.half')";
    assert_eq!(database.sql(made), "|\n");
    inbox
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    open(&database).await;
}

/// What it writes could be wrong for the others, and what it reads for itself.
#[tokio::test]
async fn a_service_leaves_tables_alone_that_it_cannot_work_with() {
    let database = Database::new();
    let inbox = open(&database).await;
    inbox
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    let newer = Tables {
        steps: &and(&[STEP]),
        readable_from: 3,
    };
    let url = database.url();
    PostgresInbox::migrate(&url, &newer).await.unwrap();
    let words = "run the newer phileas";
    let told = async {
        while !inbox
            .problem_text()
            .is_some_and(|told| told.contains(words))
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, told).await.unwrap();
    let one = holder("one");
    let refused = [
        inbox
            .accept_delivery(delivery("b", WIDGET, at(1)))
            .await
            .map(drop),
        inbox.wake_repository(WIDGET, at(1)).await,
        inbox
            .claim_leases(&one, at(1), LEASE, &[WIDGET])
            .await
            .map(drop),
        inbox.next_due().await.map(drop),
        inbox.prune_deliveries(at(1)).await.map(drop),
    ];
    for refused in refused {
        let Err(InboxError::Unavailable(because)) = refused else {
            panic!("{refused:?}")
        };
        assert!(because.contains(words), "{because}");
    }
    assert_eq!(
        database.sql("SELECT generation, token FROM phileas.wake"),
        "1|0\n"
    );
    assert_eq!(database.sql("SELECT count(*) FROM phileas.delivery"), "1\n");
    // The newer version was taken back.
    database.sql("UPDATE phileas.tables SET version = 2, readable_from = 1");
    let well = async {
        while inbox.problem_text().is_some() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, well).await.unwrap();
    inbox
        .accept_delivery(delivery("b", WIDGET, at(1)))
        .await
        .unwrap();
}
