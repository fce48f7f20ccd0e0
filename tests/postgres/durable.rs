//! What was accepted is on disk, whatever a role or a database says of commits.

use std::time::Duration;

use phileas::adapters::inbox::postgres::PostgresInbox;
use phileas::adapters::inbox::sqlite::DEFAULT_ROOM;
use phileas::runtime::inbox::{Accepted, Inbox as _};

use crate::inbox::stand::{WIDGET, at, delivery};
use crate::server::{Database, Server};

/// How long a condition may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at a condition.
const LOOK: Duration = Duration::from_millis(20);

async fn open(database: &Database) -> PostgresInbox {
    let opened = PostgresInbox::open(&database.url(), DEFAULT_ROOM).await;
    opened.unwrap()
}

fn set(database: &Database, commit: &str) {
    let name = database.name();
    database.sql(&format!(
        "ALTER DATABASE {name} SET synchronous_commit = {commit}"
    ));
}

/// Nothing is stored in a database that was dropped, emptied, or takes only reads; and no delivery is needed to notice.
#[tokio::test]
async fn an_inbox_that_was_deleted_takes_no_deliveries() {
    type Removal = (&'static str, fn(&Database), &'static str);
    let removals: [Removal; 3] = [
        ("dropped", Database::drop_it, "does not exist"),
        (
            "without tables",
            |database| drop(database.sql("DROP SCHEMA phileas CASCADE")),
            "the inbox was deleted from it",
        ),
        (
            "read-only",
            |database| {
                let name = database.name();
                database.sql(&format!(
                    "ALTER DATABASE {name} SET default_transaction_read_only = on"
                ));
                database.cut();
            },
            "takes writes",
        ),
    ];
    for (name, remove, words) in removals {
        let database = Database::new();
        let inbox = open(&database).await;
        inbox
            .accept_delivery(delivery("a", WIDGET, at(0)))
            .await
            .unwrap();
        remove(&database);
        let told = async {
            while !inbox
                .problem_text()
                .is_some_and(|told| told.contains(words))
            {
                tokio::time::sleep(LOOK).await;
            }
        };
        let told = tokio::time::timeout(PATIENCE, told).await;
        assert!(told.is_ok(), "{name}: {:?}", inbox.problem_text());
        let refused = inbox.accept_delivery(delivery("b", WIDGET, at(1))).await;
        assert!(refused.is_err(), "{name}: {refused:?}");
    }
}

/// The server writes by itself what no client waits for, after ten seconds here.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_accepted_outlives_a_crash_where_commits_do_not_wait() {
    let server: &'static Server = Box::leak(Box::new(Server::on_disk()));
    let database = Database::on(server);
    database.sql("ALTER SYSTEM SET wal_writer_delay = '10s'");
    database.sql("SELECT pg_reload_conf()");
    set(&database, "off");
    let inbox = open(&database).await;
    for n in 0..3 {
        let id = format!("{n}");
        let accepted = inbox
            .accept_delivery(delivery(&id, WIDGET, at(n)))
            .await
            .unwrap();
        assert_eq!(accepted, Accepted::Stored);
        tokio::task::block_in_place(|| {
            server.crash();
            server.begin();
        });
        let stored = database.sql("SELECT count(*) FROM phileas.delivery");
        assert_eq!(stored, format!("{}\n", n + 1));
    }
}

/// The operator of the server says how long a commit waits for standbys.
#[tokio::test]
async fn only_commits_that_would_not_wait_for_the_disk_are_set_right() {
    let database = Database::new();
    open(&database).await;
    database.sql(
        "CREATE TABLE said (said text); \
         CREATE FUNCTION say() RETURNS trigger LANGUAGE plpgsql AS \
         $$BEGIN INSERT INTO public.said VALUES (current_setting('synchronous_commit')); RETURN NEW; END$$; \
         CREATE TRIGGER say AFTER INSERT ON phileas.delivery FOR EACH ROW EXECUTE FUNCTION say()",
    );
    for (n, (commit, wanted)) in [
        ("off", "on"),
        ("local", "local"),
        ("remote_write", "remote_write"),
        ("on", "on"),
        ("remote_apply", "remote_apply"),
    ]
    .into_iter()
    .enumerate()
    {
        set(&database, commit);
        let inbox = open(&database).await;
        let id = format!("{n}");
        inbox
            .accept_delivery(delivery(&id, WIDGET, at(0)))
            .await
            .unwrap();
        assert_eq!(
            database
                .sql("DELETE FROM said RETURNING said")
                .lines()
                .next(),
            Some(wanted),
            "{commit}"
        );
    }
}
