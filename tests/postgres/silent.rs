//! Connections whose other end has died, while whoever stands between acknowledges everything.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::SignedDuration;
use phileas::adapters::inbox::postgres::{DatabaseUrl, PostgresInbox};
use phileas::adapters::inbox::sqlite::DEFAULT_ROOM;
use phileas::runtime::inbox::{Accepted, Inbox as _};
use secrecy::SecretString;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::inbox::stand::{LEASE, WIDGET, at, claim, delivery};
use crate::server::Database;

/// How long a call may take: two attempts, and what a busy machine adds.
const PATIENCE: Duration = Duration::from_secs(30);

/// Stands between services and a database.
struct Between {
    address: String,
    made: Arc<AtomicU64>,
    /// Connections up to this one are acknowledged and lead nowhere.
    dead: Arc<AtomicU64>,
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
            dead: Arc::default(),
        };
        let (made, dead) = (Arc::clone(&between.made), Arc::clone(&between.dead));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let number = made.fetch_add(1, Ordering::Relaxed) + 1;
                let (from, to) = client.into_split();
                let server = TcpStream::connect(&server).await.unwrap();
                let (back, forth) = server.into_split();
                tokio::spawn(carry(from, forth, number, Arc::clone(&dead)));
                tokio::spawn(carry(back, to, number, Arc::clone(&dead)));
            }
        });
        between
    }

    fn url(&self) -> DatabaseUrl {
        DatabaseUrl::parse(&SecretString::from(self.address.clone())).unwrap()
    }

    /// The other end of all connections of before dies.
    fn die(&self) {
        let made = self.made.load(Ordering::Relaxed);
        self.dead.store(made, Ordering::Relaxed);
    }
}

async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, number: u64, dead: Arc<AtomicU64>) {
    let mut piece = [0; 4_096];
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        if number > dead.load(Ordering::Relaxed) && to.write_all(&piece[..length]).await.is_err() {
            return;
        }
    }
}

/// Each of these would wait for ever for an answer.
#[tokio::test]
async fn what_is_not_answered_is_asked_again_elsewhere() {
    let database = Database::new();
    let between = Between::before(&database).await;
    let inbox = PostgresInbox::open(&between.url(), DEFAULT_ROOM)
        .await
        .unwrap();
    inbox.wake(WIDGET, at(0)).await.unwrap();

    between.die();
    let lease = timeout(PATIENCE, claim(&inbox, "one", at(0)))
        .await
        .unwrap();

    between.die();
    let leases = [lease.clone()];
    let beat = timeout(PATIENCE, inbox.heartbeat(&leases, at(5), LEASE)).await;
    assert!(beat.unwrap().unwrap().contains(&WIDGET));
    // The first attempt took its time. The lease is counted from the one that counts.
    let wake = inbox.look(WIDGET).await.unwrap().unwrap();
    let until = wake.held.unwrap().until;
    assert!(
        until > at(5) + LEASE + SignedDuration::from_secs(2),
        "{until}"
    );

    between.die();
    let accepted = timeout(PATIENCE, inbox.accept(delivery("a", WIDGET, at(6)))).await;
    assert_eq!(accepted.unwrap().unwrap(), Accepted::Stored);
}
