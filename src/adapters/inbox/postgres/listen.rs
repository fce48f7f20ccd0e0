//! Listens for wakes that other processes write, and checks the connection, the clock and the version of the tables.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_postgres::{AsyncMessage, Client, Connection};

use super::address::DatabaseUrl;
use super::clock::{CLOCK, ClockSkew};
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
pub(super) async fn listen_for_changes(url: DatabaseUrl, state: Arc<State>) {
    loop {
        let error = match listen_once(&url, &state).await {
            Ok(()) => InboxError::Unavailable("the database has closed the connection".to_owned()),
            Err(failure) => InboxError::from(failure),
        };
        state.record_failure(&error);
        state.notify_change();
        sleep(AGAIN).await;
    }
}

/// Uses one connection until it ends.
async fn listen_once(url: &DatabaseUrl, state: &State) -> Result<(), Failure> {
    let tls = url
        .tls_connector()
        .map_err(|error| Failure::Damaged(error.to_string()))?;
    let config = url.connect_config();
    let connecting = timeout(PATIENCE, config.connect(tls));
    let (client, connection) = connecting
        .await
        .map_err(|_| Failure::timed_out(PATIENCE))??;
    let (changed, place) = (Notify::new(), url.display_address());
    tokio::select! {
        ended = drive_connection(connection, state, &changed) => ended,
        ended = check_periodically(&client, &place, state, &changed) => ended,
    }
}

/// Drives the connection, and reports each notification: of wakes, and of changed tables.
async fn drive_connection<S, T>(
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
            AsyncMessage::Notification(_) => state.notify_change(),
            _ => {}
        }
    }
    Ok(())
}

/// Checks periodically.
async fn check_periodically(
    client: &Client,
    place: &str,
    state: &State,
    changed: &Notify,
) -> Result<(), Failure> {
    let listen = format!("LISTEN {CHANNEL}; LISTEN {}", schema::CHANNEL);
    let listening = timeout(PATIENCE, client.batch_execute(&listen));
    listening
        .await
        .map_err(|_| Failure::timed_out(PATIENCE))??;
    // Notifications may have been sent before this connection listened.
    state.notify_change();
    let clock = timeout(PATIENCE, client.prepare(CLOCK));
    let clock = clock.await.map_err(|_| Failure::timed_out(PATIENCE))??;
    loop {
        let measured = timeout(PATIENCE, ClockSkew::measure_skew(client, &clock));
        let ahead = measured.await.map_err(|_| Failure::timed_out(PATIENCE))??;
        ahead.record_in(state);
        let unreadable = timeout(PATIENCE, schema::tables_problem(client, place));
        let unreadable = unreadable
            .await
            .map_err(|_| Failure::timed_out(PATIENCE))??;
        let unreadable = unreadable.map(|error| error.to_string());
        state.set_tables_problem(unreadable.clone());
        match unreadable {
            Some(because) => state.record_failure(&InboxError::from(Failure::Newer(because))),
            None => {
                // An answer alone does not prove that deliveries can be stored: a standby or a server with a full
                // disk answers, too.
                let written = timeout(PATIENCE, schema::test_write(client));
                written.await.map_err(|_| Failure::timed_out(PATIENCE))??;
                state.record_success();
            }
        }
        // Check changes by others at once.
        tokio::select! {
            () = changed.notified() => {}
            () = sleep(LOOK) => {}
        }
    }
}
