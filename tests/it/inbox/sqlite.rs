//! What is true of the SQLite file alone: its lock, its modes, its versions, and other processes beside it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use phileas::adapters::inbox::sqlite::{
    DATABASE, DEFAULT_ROOM, DataDirectory, DirectoryError, LEAST_ROOM, OpenError, SqliteInbox,
};
use phileas::runtime::inbox::{Accepted, Inbox as _, Outcome, Page, Replayed, Settled, Start};
use phileas_domain::model::RepositoryId;
use rusqlite::Connection;

use super::stand::{LEASE, WIDGET, at, claim, claim_due, delivery, holder, id, next};

fn open(path: &Path) -> SqliteInbox {
    let directory = DataDirectory::lock_directory(path).unwrap();
    SqliteInbox::open(directory, DEFAULT_ROOM, at(0)).unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn what_was_accepted_is_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/data");
    let inbox = open(&path);
    inbox
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    let lease = claim(&inbox, "before", at(1)).await;
    inbox
        .accept_delivery(delivery("b", WIDGET, at(2)))
        .await
        .unwrap();
    drop(inbox);

    let inbox = open(&path);
    let again = inbox
        .accept_delivery(delivery("a", WIDGET, at(3)))
        .await
        .unwrap();
    assert_eq!(again, Accepted::Duplicate);
    // The holder of the lease is gone, so its end is not waited for.
    let taken = claim(&inbox, "after", at(3)).await;
    // That it never came back is the process' fault, not the tick's.
    assert_eq!(taken.attempt, 1);
    let wake = inbox.read_wake(WIDGET).await.unwrap().unwrap();
    assert_eq!(wake.deaths, 1);
    assert_eq!(
        inbox.finish_lease(&lease, at(4), None).await.unwrap(),
        Settled::Lost
    );
    inbox.finish_lease(&taken, at(4), None).await.unwrap();
    let page = Page {
        start: Start::After(0),
        most: 10,
    };
    let records = inbox.list_deliveries(page).await.unwrap();
    assert_eq!(records.len(), 2);
    assert!(records.iter().all(|one| one.outcome == Outcome::Handled));
}

/// The end of a lease was the year 1970, and a repository counted as due for half a century.
#[tokio::test]
async fn a_lease_that_a_restart_ends_is_due_since_the_restart() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = open(folder.path());
    inbox
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    claim(&inbox, "before", at(1)).await;
    drop(inbox);
    let directory = DataDirectory::lock_directory(folder.path()).unwrap();
    let inbox = SqliteInbox::open(directory, DEFAULT_ROOM, at(9)).unwrap();
    let counts = inbox.read_counts(at(12)).await.unwrap();
    assert_eq!((counts.due, counts.oldest_due), (1, Some(at(9))));
    assert_eq!(inbox.next_due().await.unwrap(), Some(at(9)));
    assert_eq!(inbox.list_due(at(9), 9).await.unwrap(), [WIDGET]);
}

#[tokio::test]
async fn only_one_service_can_read_or_serve_a_data_directory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    // It was made for us, as people and container volumes do.
    fs::create_dir(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let inbox = open(&path);
    inbox
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    assert_eq!(mode(&path), 0o700);
    for entry in fs::read_dir(&path).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(mode(&entry.path()), 0o600, "{:?}", entry.file_name());
    }
    let refused = DataDirectory::lock_directory(&path).unwrap_err();
    let DirectoryError::Held { by, .. } = &refused else {
        panic!("{refused}")
    };
    let me = format!("process {} on ", std::process::id());
    assert!(by.starts_with(&me), "{by}");
    assert!(refused.to_string().contains("--data-dir"), "{refused}");
    drop(inbox);
    // The lock is gone with its holder, and a copied database is closed to others again.
    fs::set_permissions(path.join(DATABASE), fs::Permissions::from_mode(0o644)).unwrap();
    drop(open(&path));
    assert_eq!(mode(&path.join(DATABASE)), 0o600);
}

#[tokio::test]
async fn other_files_and_versions_are_refused_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let directory = || DataDirectory::lock_directory(folder.path()).unwrap();
    let file = folder.path().join(DATABASE);
    let says = |refused: Result<SqliteInbox, OpenError>, words: &str| {
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    };
    says(
        SqliteInbox::open_beside_service(folder.path()),
        "phileas serve",
    );
    says(
        SqliteInbox::open(directory(), LEAST_ROOM - 1, at(0)),
        "at least",
    );

    drop(open(folder.path()));
    let raw = Connection::open(&file).unwrap();
    raw.pragma_update(None, "user_version", 999).unwrap();
    says(
        SqliteInbox::open(directory(), DEFAULT_ROOM, at(0)),
        "newer phileas",
    );
    says(
        SqliteInbox::open_beside_service(folder.path()),
        "newer phileas",
    );
    raw.pragma_update(None, "user_version", 0).unwrap();
    says(
        SqliteInbox::open_beside_service(folder.path()),
        "phileas serve",
    );
    drop(raw);

    fs::remove_file(&file).unwrap();
    let raw = Connection::open(&file).unwrap();
    raw.execute_batch("CREATE TABLE others (a)").unwrap();
    drop(raw);
    says(
        SqliteInbox::open(directory(), DEFAULT_ROOM, at(0)),
        "not an inbox of phileas",
    );
    fs::write(&file, "not a database, and long enough to be looked at").unwrap();
    says(
        SqliteInbox::open(directory(), DEFAULT_ROOM, at(0)),
        "not an inbox of phileas",
    );
}

/// A command wakes a repository while the service runs, and the service hears of it.
#[tokio::test]
async fn a_visitor_is_heard_by_the_service() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = open(folder.path());
    inbox
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    let lease = claim(&inbox, "one", at(1)).await;
    inbox.finish_lease(&lease, at(2), None).await.unwrap();
    let mut news = inbox.watch_changes();
    news.mark_unchanged();

    let visitor = SqliteInbox::open_beside_service(folder.path()).unwrap();
    let replayed = visitor.replay_delivery(&id("a"), at(3)).await.unwrap();
    assert_eq!(replayed, Replayed::Woken(WIDGET));
    drop(visitor);

    news.changed().await.unwrap();
    assert_eq!(next(&inbox).await, at(3));
    claim(&inbox, "one", at(3)).await;
}

/// What cannot be written is refused; once it can be, all is well.
#[tokio::test]
async fn a_failed_write_is_no_acceptance() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = open(folder.path());
    // The row of its repository is touched first, then storing the delivery itself fails.
    let raw = Connection::open(folder.path().join(DATABASE)).unwrap();
    raw.execute_batch(
        "CREATE TRIGGER broken BEFORE INSERT ON delivery BEGIN SELECT RAISE(ABORT, 'the disk is broken'); END",
    )
    .unwrap();
    let refused = inbox.accept_delivery(delivery("a", WIDGET, at(0))).await;
    assert!(refused.is_err(), "{refused:?}");
    // What ticks write says nothing of deliveries.
    inbox
        .wake_repository(RepositoryId(404), at(0))
        .await
        .unwrap();
    let trouble = inbox.problem_text().expect("nothing can be stored");
    assert!(trouble.contains("the disk is broken"), "{trouble}");
    assert_eq!(
        inbox.read_wake(WIDGET).await.unwrap(),
        None,
        "nothing half-done"
    );
    raw.execute_batch("DROP TRIGGER broken").unwrap();
    let stored = inbox
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    assert_eq!(stored, Accepted::Stored);
    assert_eq!(inbox.problem_text(), None);
}

/// A row that cannot be read is reset, and does not stop the others.
#[tokio::test]
async fn a_damaged_row_stops_no_repository() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = open(folder.path());
    for n in 1..=4 {
        inbox.wake_repository(RepositoryId(n), at(0)).await.unwrap();
    }
    let lease = inbox
        .claim_leases(&holder("before"), at(0), LEASE, &[RepositoryId(3)])
        .await
        .unwrap();
    let raw = Connection::open(folder.path().join(DATABASE)).unwrap();
    raw.execute_batch(
        "UPDATE wake SET name = 'no name' WHERE repo = 1; \
         UPDATE wake SET attempts = -7 WHERE repo = 2; \
         UPDATE wake SET lease_until = 9223372036854775807, next_at = 0 WHERE repo = 3",
    )
    .unwrap();
    let looked = inbox.read_wake(RepositoryId(2)).await.unwrap().unwrap();
    assert_eq!(looked.repository, RepositoryId(2));
    assert_eq!(inbox.suspended_repositories().await.unwrap(), []);
    let leases = claim_due(&inbox, "after", at(1), 10).await;
    let mut ids: Vec<u64> = leases.iter().map(|lease| lease.repository.0).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3, 4]);
    let late = inbox.finish_lease(&lease[0], at(2), None).await.unwrap();
    assert_eq!(late, Settled::Lost, "a lease of before does not count");
}

#[tokio::test]
async fn a_damaged_file_is_told_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = open(folder.path());
    inbox
        .accept_delivery(delivery("a", WIDGET, at(0)))
        .await
        .unwrap();
    drop(inbox);
    let file = folder.path().join(DATABASE);
    let mut bytes = fs::read(&file).unwrap();
    bytes[100..4_096].fill(0xff);
    fs::write(&file, bytes).unwrap();
    let directory = DataDirectory::lock_directory(folder.path()).unwrap();
    let refused = SqliteInbox::open(directory, DEFAULT_ROOM, at(0)).unwrap_err();
    let said = refused.to_string();
    assert!(matches!(refused, OpenError::Damaged { .. }), "{said}");
    assert!(
        said.contains("ledger is in git") && said.contains("-wal"),
        "{said}"
    );
}
