//! Connections whose other end has died while a proxy between acknowledges everything, and answers that are
//! lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use jiff::SignedDuration;
use phileas::adapters::inbox::postgres::{DatabaseUrl, PostgresInbox};
use phileas::adapters::inbox::sqlite::DEFAULT_ROOM;
use phileas::runtime::inbox::{Accepted, Inbox as _, Settled};
use secrecy::SecretString;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::inbox::stand::{LEASE, WIDGET, at, claim, delivery, holder, only};
use crate::server::Database;

/// How long a call may take: two attempts, and what a busy machine adds.
const PATIENCE: Duration = Duration::from_secs(120);

/// Stands between services and a database.
struct Between {
    address: String,
    made: Arc<AtomicU64>,
    faults: Arc<ConnectionFaults>,
}

#[derive(Default)]
struct ConnectionFaults {
    /// Connections up to this one are acknowledged and lead nowhere.
    dead: AtomicU64,
    /// So many commits are done, and the connection is cut before anybody hears of it.
    unheard: AtomicU64,
}

impl Between {
    async fn before(database: &Database) -> Self {
        let address = database.address();
        let (_, place) = address.split_once('@').unwrap();
        let (server, _) = place.split_once('/').unwrap();
        let server = server.to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let own = listener.local_addr().unwrap().to_string();
        let between = Self {
            address: address.replace(&server, &own),
            made: Arc::default(),
            faults: Arc::default(),
        };
        let (made, trouble) = (Arc::clone(&between.made), Arc::clone(&between.faults));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let number = made.fetch_add(1, Ordering::Relaxed) + 1;
                let (from, to) = client.into_split();
                let server = TcpStream::connect(&server).await.unwrap();
                let (back, forth) = server.into_split();
                let cut = Arc::new(AtomicBool::new(false));
                let (trouble, shared) = (Arc::clone(&trouble), Arc::clone(&cut));
                let lives = {
                    let trouble = Arc::clone(&trouble);
                    move || {
                        if number > trouble.dead.load(Ordering::Relaxed) {
                            Delivery::Arrives
                        } else {
                            Delivery::IsLost
                        }
                    }
                };
                let living = lives.clone();
                tokio::spawn(carry(from, forth, move |piece| {
                    if is_commit(piece) && trouble.loses_a_commit() {
                        cut.store(true, Ordering::Relaxed);
                    }
                    living()
                }));
                tokio::spawn(carry(back, to, move |_| {
                    if shared.load(Ordering::Relaxed) {
                        return Delivery::Cut;
                    }
                    lives()
                }));
            }
        });
        between
    }

    fn url(&self) -> DatabaseUrl {
        DatabaseUrl::parse(&SecretString::from(self.address.clone())).unwrap()
    }

    /// So many commits are done without anybody hearing of it.
    fn lose_commits(&self, count: u64) {
        self.faults.unheard.store(count, Ordering::Relaxed);
    }

    /// The other end of all connections of before dies.
    fn die(&self) {
        let made = self.made.load(Ordering::Relaxed);
        self.faults.dead.store(made, Ordering::Relaxed);
    }
}

impl ConnectionFaults {
    fn loses_a_commit(&self) -> bool {
        let less = |left: u64| left.checked_sub(1);
        self.unheard
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_ok()
    }
}

/// What becomes of a piece of what is said.
enum Delivery {
    Arrives,
    IsLost,
    /// So does the connection.
    Cut,
}

fn is_commit(piece: &[u8]) -> bool {
    piece.windows(6).any(|word| word == b"COMMIT")
}

async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, fate: impl Fn(&[u8]) -> Delivery) {
    let mut piece = [0; 4_096];
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        match fate(&piece[..length]) {
            Delivery::Arrives => {
                if to.write_all(&piece[..length]).await.is_err() {
                    return;
                }
            }
            Delivery::IsLost => {}
            Delivery::Cut => return,
        }
    }
}

/// An inbox that reaches its database through something, and in which a repository is due.
async fn woken(database: &Database) -> (Between, PostgresInbox) {
    let between = Between::before(database).await;
    let inbox = PostgresInbox::open(&between.url(), DEFAULT_ROOM)
        .await
        .unwrap();
    inbox.wake_repository(WIDGET, at(0)).await.unwrap();
    (between, inbox)
}

/// Each of these would wait for ever for an answer.
#[tokio::test]
async fn what_is_not_answered_is_asked_again_elsewhere() {
    let database = Database::new();
    let (between, inbox) = woken(&database).await;

    between.die();
    let lease = timeout(PATIENCE, claim(&inbox, "one", at(0)))
        .await
        .unwrap();

    between.die();
    let leases = [lease.clone()];
    let beat = timeout(PATIENCE, inbox.extend_leases(&leases, at(5), LEASE)).await;
    assert!(beat.unwrap().unwrap().contains(&WIDGET));
    // The first attempt took its time. The lease is counted from the one that counts.
    let wake = inbox.read_wake(WIDGET).await.unwrap().unwrap();
    let until = wake.held.unwrap().until;
    assert!(
        until > at(5) + LEASE + SignedDuration::from_secs(2),
        "{until}"
    );

    between.die();
    let accepted = timeout(
        PATIENCE,
        inbox.accept_delivery(delivery("a", WIDGET, at(6))),
    )
    .await;
    assert_eq!(accepted.unwrap().unwrap(), Accepted::Stored);
}

/// A lease was given, and its answer was lost. It must neither be missed nor count as an attempt that never came back.
#[tokio::test]
async fn a_lease_without_a_reader_is_not_counted() {
    let database = Database::new();
    let (between, inbox) = woken(&database).await;

    between.lose_commits(1);
    let lease = claim(&inbox, "one", at(0)).await;
    assert_eq!((lease.attempt, lease.token), (1, 2));
    let settled = inbox.release_lease(&lease, at(1)).await.unwrap();
    assert_eq!(settled, Settled::Until(Some(at(1))));

    // Not even the last attempt is heard of.
    between.lose_commits(3);
    let one = holder("one");
    let lost = inbox.claim_leases(&one, at(2), LEASE, &[WIDGET]).await;
    lost.unwrap_err();
    let wake = inbox.read_wake(WIDGET).await.unwrap().unwrap();
    assert_eq!((wake.attempts, wake.held.is_some()), (1, true));
    let lease = inbox
        .claim_leases(&one, at(3), LEASE, &[WIDGET])
        .await
        .unwrap();
    assert_eq!(only(lease).attempt, 1);
}
