//! What is true of PostgreSQL alone: several processes, versions of the tables, lost connections, wrong addresses.

use std::time::Duration;

use phileas::adapters::inbox::postgres::{DatabaseUrl, OpenError, PostgresInbox};
use phileas::adapters::inbox::served::ServedInbox;
use phileas::adapters::inbox::sqlite::DEFAULT_ROOM;
use phileas::adapters::inbox::sqlite::{DataDirectory, HeldDirectory};
use phileas::runtime::inbox::{Accepted, Fault, Inbox as _, Outcome, Page, Settled, Start};
use phileas_domain::model::RepositoryId;
use secrecy::SecretString;

use crate::inbox::stand::{
    LEASE, WIDGET, all_at_once, at, claim, claim_due, delivery, holder, id, in_waves,
};
use crate::server::{Database, Server};

/// How long a condition may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

async fn open(database: &Database) -> PostgresInbox {
    PostgresInbox::open(&database.url(), DEFAULT_ROOM)
        .await
        .unwrap()
}

const ALL: Page = Page {
    start: Start::After(0),
    most: 1_000,
};

#[tokio::test]
async fn services_that_start_at_once_make_the_tables_once() {
    let database = Database::new();
    let opened = all_at_once((0..8).map(|_| open(&database))).await;
    assert_eq!(
        database.sql("SELECT version, readable_from FROM phileas.tables"),
        "2|1\n"
    );
    drop(opened);
    // What is there stays there.
    let first = open(&database).await;
    first
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    let second = open(&database).await;
    assert_eq!(second.list_deliveries(ALL).await.unwrap().len(), 1);
}

#[tokio::test]
async fn tables_of_other_versions_are_refused_unless_they_can_be_read() {
    let database = Database::new();
    let missing = PostgresInbox::open_beside_services(&database.url())
        .await
        .unwrap_err();
    assert!(matches!(missing, OpenError::Missing { .. }), "{missing}");
    drop(open(&database).await);
    // A rolling upgrade: the newer service has changed the tables, the older one goes on, and may even start again.
    database.sql("UPDATE phileas.tables SET version = 7, readable_from = 1");
    open(&database)
        .await
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    drop(
        PostgresInbox::open_beside_services(&database.url())
            .await
            .unwrap(),
    );
    database.sql("UPDATE phileas.tables SET readable_from = 6");
    for refused in [
        PostgresInbox::open(&database.url(), DEFAULT_ROOM).await,
        PostgresInbox::open_beside_services(&database.url()).await,
    ] {
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("run the newer phileas"), "{refused}");
    }
}

#[tokio::test]
async fn a_delivery_that_two_machines_hear_is_stored_once() {
    let database = Database::new();
    let (one, two) = (open(&database).await, open(&database).await);
    let mut stored = 0;
    for n in 0..50 {
        let mut heard = delivery(&format!("{n}"), RepositoryId(n % 5), at(0));
        // Those that wake no repository lock no row of one.
        heard.wakes = n % 3 != 0;
        let (first, second) = tokio::join!(
            one.accept_delivery(heard.clone()),
            two.accept_delivery(heard)
        );
        let both = [first.unwrap(), second.unwrap()];
        assert!(both.contains(&Accepted::Stored), "{both:?}");
        stored += both.iter().filter(|one| **one == Accepted::Stored).count();
    }
    assert_eq!(stored, 50);
    assert_eq!(one.list_deliveries(ALL).await.unwrap().len(), 50);
}

#[tokio::test]
async fn wakes_of_several_machines_are_all_kept() {
    let database = Database::new();
    let inboxes = [
        open(&database).await,
        open(&database).await,
        open(&database).await,
    ];
    // Repositories in all orders at once: no deadlock.
    let asked = (0..600_u64).map(|n| {
        let inbox = &inboxes[n as usize % 3];
        inbox.wake_repository(RepositoryId((n * 7) % 20), at(1 + (n as i64 * 37) % 200))
    });
    // Eight connections each.
    for woken in in_waves(24, asked).await {
        woken.unwrap();
    }
    let mut generations = 0;
    for n in 0..20 {
        let wake = inboxes[0]
            .read_wake(RepositoryId(n))
            .await
            .unwrap()
            .unwrap();
        generations += wake.generation;
    }
    assert_eq!(generations, 600);
    // No repository is leased twice, however many ask at once.
    let due = inboxes[0].list_due(at(300), 100).await.unwrap();
    let holders = [holder("one"), holder("two"), holder("three")];
    let claims = inboxes
        .iter()
        .zip(&holders)
        .map(|(inbox, who)| inbox.claim_leases(who, at(300), LEASE, &due));
    let leased: usize = all_at_once(claims)
        .await
        .into_iter()
        .map(|leases| leases.unwrap().len())
        .sum();
    assert_eq!(leased, 20);
}

#[tokio::test]
async fn another_machine_hears_of_a_wake() {
    let database = Database::new();
    let (one, two) = (open(&database).await, open(&database).await);
    let mut news = two.watch_changes();
    // Until it listens, it hears of nothing; that it does is told, and may have been before anybody asked for news.
    tokio::time::timeout(PATIENCE, news.wait_for(|told| *told > 0))
        .await
        .unwrap()
        .unwrap();
    one.accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    let heard = async {
        while two.next_due().await.unwrap().is_none() {
            news.changed().await.unwrap();
        }
    };
    tokio::time::timeout(PATIENCE, heard).await.unwrap();
    let lease = claim(&two, "two", at(1)).await;
    assert_eq!(claim_due(&one, "one", at(2), 10).await, []);
    two.finish_lease(&lease, at(3), None).await.unwrap();
    let records = one.list_deliveries(ALL).await.unwrap();
    assert_eq!(records[0].outcome, Outcome::Handled);
}

/// News of what was not done would have it tried again at once, and that would be news.
#[tokio::test]
async fn what_could_not_be_done_is_no_news() {
    let database = Database::new();
    let inbox = open(&database).await;
    let mut news = inbox.watch_changes();
    let told = tokio::time::timeout(PATIENCE, news.wait_for(|told| *told > 0));
    let told = *told.await.unwrap().unwrap();
    inbox
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    let lease = claim(&inbox, "one", at(0)).await;
    // The delivery and the claim, and the database's notification of the delivery, which comes when it likes.
    let all = news.wait_for(|now| *now >= told + 3);
    tokio::time::timeout(PATIENCE, all).await.unwrap().unwrap();
    database.sql("ALTER TABLE phileas.wake RENAME TO away");
    news.mark_unchanged();
    let beat = inbox.extend_leases(std::slice::from_ref(&lease), at(1), LEASE);
    beat.await.unwrap_err();
    inbox.finish_lease(&lease, at(1), None).await.unwrap_err();
    inbox.replay_delivery(&id("a"), at(1)).await.unwrap_err();
    assert!(!news.has_changed().unwrap());
    database.sql("ALTER TABLE phileas.away RENAME TO wake");
    inbox.finish_lease(&lease, at(2), None).await.unwrap();
    assert!(news.has_changed().unwrap());
}

/// One delivery that the database does not take fails alone, whatever stands in one transaction with it.
#[tokio::test]
async fn what_cannot_be_stored_fails_alone() {
    let database = Database::new();
    let inbox = open(&database).await;
    let mut wrong = delivery("wrong", WIDGET, at(0));
    wrong.action = Some("re\0build".to_owned());
    let all = [
        delivery("a", WIDGET, at(0)),
        wrong,
        delivery("b", RepositoryId(8), at(0)),
    ];
    let answers = all_at_once(all.map(|one| inbox.accept_delivery(one))).await;
    assert_eq!(answers[0], Ok(Accepted::Stored));
    answers[1].clone().unwrap_err();
    assert_eq!(answers[2], Ok(Accepted::Stored));
    assert_eq!(inbox.problem_text(), None, "the others are taken");
    assert_eq!(inbox.list_deliveries(ALL).await.unwrap().len(), 2);
}

/// Otherwise the end of a tick could not be written whose fault quotes such a text.
#[tokio::test]
async fn a_fault_may_quote_anything() {
    let database = Database::new();
    let inbox = open(&database).await;
    inbox.wake_repository(WIDGET, at(0)).await.unwrap();
    let lease = claim(&inbox, "one", at(0)).await;
    let because = "GitHub answered \0 \u{1b}[31m".to_owned();
    let fault = Fault::Own { because };
    inbox.fail_lease(&lease, at(1), &fault).await.unwrap();
    let wake = inbox.read_wake(WIDGET).await.unwrap().unwrap();
    assert_eq!(wake.held, None);
    assert_eq!(wake.last_fault.unwrap(), "GitHub answered  \u{1b}[31m");
}

/// Counting millions may take longer than anybody waits. Wakes of other machines are heard of all the same.
#[tokio::test]
async fn what_cannot_be_counted_stops_no_repository() {
    let database = Database::new();
    let (inbox, other) = (open(&database).await, open(&database).await);
    let mut news = inbox.watch_changes();
    let told = tokio::time::timeout(PATIENCE, news.wait_for(|told| *told > 0));
    let told = *told.await.unwrap().unwrap();
    database.sql("ALTER TABLE phileas.delivery RENAME TO away");
    database.cut();
    // That the connection is lost, and that it is there again.
    let back = news.wait_for(|now| *now >= told + 2);
    tokio::time::timeout(PATIENCE, back).await.unwrap().unwrap();
    let well = async {
        while inbox.problem_text().is_some() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, well).await.unwrap();
    let mut news = inbox.watch_changes();
    other.wake_repository(WIDGET, at(0)).await.unwrap();
    tokio::time::timeout(PATIENCE, news.changed())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(inbox.problem_text(), None);
}

/// The audit log and the App's key are in the data directory of the service, wherever its inbox is.
#[tokio::test]
async fn a_data_directory_that_is_gone_is_trouble() {
    let database = Database::new();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let directory = HeldDirectory::new(DataDirectory::lock_directory(&data).unwrap()).unwrap();
    let inbox = ServedInbox::Database(open(&database).await, Some(directory));
    assert_eq!(inbox.problem_text(), None);
    std::fs::remove_dir_all(&data).unwrap();
    let said = inbox.problem_text().unwrap();
    assert!(said.contains("was deleted or moved away"), "{said}");
}

/// The operator must be able to see it: without the task nothing is stored any more.
#[test]
fn a_task_that_ends_is_missed() {
    let database = Database::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let inbox = ServedInbox::Database(runtime.block_on(open(&database)), None);
    assert_eq!(inbox.problem_text(), None);
    runtime.shutdown_timeout(PATIENCE);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime
        .block_on(async {
            tokio::time::timeout(PATIENCE, inbox.lost()).await.unwrap();
            inbox.accept_delivery(delivery("a", WIDGET, at(0))).await
        })
        .unwrap_err();
    assert!(inbox.problem_text().unwrap().contains("has ended"));
}

#[tokio::test]
async fn a_lost_connection_is_made_again() {
    let database = Database::new();
    let inbox = open(&database).await;
    let lease = {
        inbox.wake_repository(WIDGET, at(0)).await.unwrap();
        claim(&inbox, "one", at(0)).await
    };
    for n in 0..10 {
        database.cut();
        let accepted = inbox
            .accept_delivery(delivery(&format!("{n}"), WIDGET, at(1)))
            .await;
        assert_eq!(accepted.unwrap(), Accepted::Stored);
    }
    // In the middle of a tick, too: its lease stands, and what was heard meanwhile leads to another tick.
    database.cut();
    let held = inbox
        .extend_leases(std::slice::from_ref(&lease), at(2), LEASE)
        .await
        .unwrap();
    assert!(held.contains(&WIDGET));
    database.cut();
    let settled = inbox.finish_lease(&lease, at(3), None).await.unwrap();
    assert_eq!(settled, Settled::Until(Some(at(1))));
    assert_eq!(inbox.list_deliveries(ALL).await.unwrap().len(), 10);
    let mut news = inbox.watch_changes();
    let well = async {
        while inbox.problem_text().is_some() {
            news.changed().await.unwrap();
        }
    };
    tokio::time::timeout(PATIENCE, well).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_answered_outlives_a_crash_of_the_database() {
    let server: &'static Server = Box::leak(Box::new(Server::on_disk()));
    let database = Database::on(server);
    let inbox = open(&database).await;
    let mut answered = Vec::new();
    for round in 0..3 {
        for n in 0..40 {
            let text = format!("{round}-{n}");
            if inbox
                .accept_delivery(delivery(&text, WIDGET, at(n)))
                .await
                .unwrap()
                == Accepted::Stored
            {
                answered.push(id(&text));
            }
        }
        let crashing = tokio::task::spawn_blocking(|| server.crash());
        let mut refused = 0;
        for n in 40.. {
            let text = format!("{round}-{n}");
            match inbox.accept_delivery(delivery(&text, WIDGET, at(n))).await {
                Ok(Accepted::Stored) => answered.push(id(&text)),
                Ok(other) => panic!("{other:?}"),
                Err(_) => refused += 1,
            }
            if refused == 3 {
                break;
            }
        }
        crashing.await.unwrap();
        assert!(
            inbox.problem_text().is_some(),
            "a service says so while it lasts"
        );
        tokio::task::spawn_blocking(|| server.begin())
            .await
            .unwrap();
    }
    let back = async {
        loop {
            if let Ok(records) = inbox.list_deliveries(ALL).await {
                return records;
            }
            tokio::task::yield_now().await;
        }
    };
    let records = tokio::time::timeout(PATIENCE, back).await.unwrap();
    let stored: Vec<_> = records.iter().map(|one| one.delivery.id.clone()).collect();
    let lost: Vec<_> = answered.iter().filter(|id| !stored.contains(id)).collect();
    assert_eq!(lost, Vec::<&phileas::runtime::inbox::DeliveryId>::new());
    assert!(answered.len() >= 120);
    // What it could not store for the room is known, and the wake is one.
    let wake = inbox.read_wake(WIDGET).await.unwrap().unwrap();
    assert_eq!(wake.generation, stored.len() as u64);
}

#[tokio::test]
async fn a_database_that_refuses_us_is_told_without_a_password() {
    let database = Database::new();
    database.sql("CREATE ROLE outsider LOGIN");
    database.sql(&format!(
        "REVOKE ALL ON DATABASE {} FROM public",
        database.name()
    ));
    let address = database.address().replace("postgres@", "outsider:s3cret@");
    let url = DatabaseUrl::parse(&SecretString::from(address)).unwrap();
    let refused = PostgresInbox::open(&url, DEFAULT_ROOM).await.unwrap_err();
    assert!(matches!(refused, OpenError::Refused { .. }), "{refused:?}");
    assert!(!format!("{refused} {refused:?}").contains("s3cret"));
    let nowhere = SecretString::from("postgres://a:s3cret@127.0.0.1:1/d");
    let nowhere = DatabaseUrl::parse(&nowhere).unwrap();
    let unreachable = PostgresInbox::open(&nowhere, DEFAULT_ROOM)
        .await
        .unwrap_err();
    assert!(
        matches!(unreachable, OpenError::Unreachable { .. }),
        "{unreachable:?}"
    );
    assert!(!format!("{unreachable} {unreachable:?}").contains("s3cret"));
    let told = unreachable.to_string();
    assert!(
        told.starts_with("a@127.0.0.1:1/d: ") && told.contains("see that the server runs"),
        "{told}"
    );
}
