//! Hearing of wakes that other processes have written, and looking after the connection and the clock.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{sleep, timeout};
use tokio_postgres::{AsyncMessage, Client, Connection};

use super::address::DatabaseUrl;
use super::clock::{Ahead, CLOCK};
use super::failure::Failure;
use super::locked::CHANNEL;
use super::state::State;
use crate::runtime::inbox::InboxError;

/// How long it is waited before the next attempt to connect. Meanwhile it is looked for news as often.
const AGAIN: Duration = Duration::from_secs(1);
/// How often it is looked whether the database answers and what its clock says.
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

/// One connection, until it ends.
async fn connected(url: &DatabaseUrl, state: &State) -> Result<(), Failure> {
    let tls = url
        .tls()
        .map_err(|error| Failure::Damaged(error.to_string()))?;
    let config = url.config();
    let connecting = timeout(PATIENCE, config.connect(tls));
    let (client, connection) = connecting.await.map_err(|_| Failure::late(PATIENCE))??;
    tokio::select! {
        ended = hear(connection, state) => ended,
        ended = look(&client, state) => ended,
    }
}

/// Drives the connection, and tells of each notification.
async fn hear<S, T>(mut connection: Connection<S, T>, state: &State) -> Result<(), Failure>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
        if let AsyncMessage::Notification(_) = message? {
            state.tell();
        }
    }
    Ok(())
}

/// Looks, again and again.
async fn look(client: &Client, state: &State) -> Result<(), Failure> {
    let listen = format!("LISTEN {CHANNEL}");
    let listening = timeout(PATIENCE, client.batch_execute(&listen));
    listening.await.map_err(|_| Failure::late(PATIENCE))??;
    // What was told before anybody listened.
    state.tell();
    let clock = timeout(PATIENCE, client.prepare(CLOCK));
    let clock = clock.await.map_err(|_| Failure::late(PATIENCE))??;
    loop {
        let measured = timeout(PATIENCE, Ahead::measured(client, &clock));
        let ahead = measured.await.map_err(|_| Failure::late(PATIENCE))??;
        ahead.note(state);
        state.works();
        sleep(LOOK).await;
    }
}
