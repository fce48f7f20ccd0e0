//! Listens for wakes that other processes write, and checks the connection, the clock and the version of the tables.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_postgres::{AsyncMessage, Client, Connection};

use super::address::DatabaseUrl;
use super::clock::{Ahead, CLOCK};
use super::failure::Failure;
use super::locked_wakes::CHANNEL;
use super::schema;
use super::state::State;
use crate::runtime::inbox::InboxError;

/// The pause before the next attempt to connect. Meanwhile the tables are checked as often.
const AGAIN: Duration = Duration::from_secs(1);
/// How often writes, the database's clock and the tables' version are checked.
const LOOK: Duration = Duration::from_secs(10);
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Listens until it is aborted.
pub(super) async fn listen(url: DatabaseUrl, state: Arc<State>) {
    loop {
        let error = match connected(&url, &state).await {
            Ok(()) => InboxError::Unavailable("the database has closed the connection".to_owned()),
            Err(failure) => InboxError::from(failure),
        };
        state.failed(&error);
        state.tell();
        sleep(AGAIN).await;
    }
}

/// Uses one connection until it ends.
async fn connected(url: &DatabaseUrl, state: &State) -> Result<(), Failure> {
    let tls = url
        .tls()
        .map_err(|error| Failure::Damaged(error.to_string()))?;
    let config = url.config();
    let connecting = timeout(PATIENCE, config.connect(tls));
    let (client, connection) = connecting.await.map_err(|_| Failure::late(PATIENCE))??;
    let (changed, place) = (Notify::new(), url.shown());
    tokio::select! {
        ended = hear(connection, state, &changed) => ended,
        ended = look(&client, &place, state, &changed) => ended,
    }
}

/// Drives the connection, and reports each notification: of wakes, and of changed tables.
async fn hear<S, T>(
    mut connection: Connection<S, T>,
    state: &State,
    changed: &Notify,
) -> Result<(), Failure>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
        match message? {
            AsyncMessage::Notification(told) if told.channel() == schema::CHANNEL => {
                changed.notify_one();
            }
            AsyncMessage::Notification(_) => state.tell(),
            _ => {}
        }
    }
    Ok(())
}

/// Checks periodically.
async fn look(
    client: &Client,
    place: &str,
    state: &State,
    changed: &Notify,
) -> Result<(), Failure> {
    let listen = format!("LISTEN {CHANNEL}; LISTEN {}", schema::CHANNEL);
    let listening = timeout(PATIENCE, client.batch_execute(&listen));
    listening.await.map_err(|_| Failure::late(PATIENCE))??;
    // Notifications may have been sent before this connection listened.
    state.tell();
    let clock = timeout(PATIENCE, client.prepare(CLOCK));
    let clock = clock.await.map_err(|_| Failure::late(PATIENCE))??;
    loop {
        let measured = timeout(PATIENCE, Ahead::measured(client, &clock));
        let ahead = measured.await.map_err(|_| Failure::late(PATIENCE))??;
        ahead.note(state);
        let unreadable = timeout(PATIENCE, schema::unreadable(client, place));
        let unreadable = unreadable.await.map_err(|_| Failure::late(PATIENCE))??;
        let unreadable = unreadable.map(|error| error.to_string());
        state.tables(unreadable.clone());
        match unreadable {
            Some(because) => state.failed(&InboxError::from(Failure::Newer(because))),
            None => {
                // An answer alone does not prove that deliveries can be stored: a standby or a server with a full
                // disk answers, too.
                let written = timeout(PATIENCE, schema::touch(client));
                written.await.map_err(|_| Failure::late(PATIENCE))??;
                state.works();
            }
        }
        // Check changes by others at once.
        tokio::select! {
            () = changed.notified() => {}
            () = sleep(LOOK) => {}
        }
    }
}
