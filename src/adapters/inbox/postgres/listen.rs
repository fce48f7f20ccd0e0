//! Hearing of wakes that other processes have written, and looking after the connection, the count and the clock.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{sleep, timeout};
use tokio_postgres::{AsyncMessage, Client, Connection};

use super::address::DatabaseUrl;
use super::failure::Failure;
use super::locked::CHANNEL;
use super::rows::natural;
use super::state::State;
use crate::runtime::inbox::InboxError;

/// How long it is waited before the next attempt to connect. Meanwhile it is looked for news as often.
const AGAIN: Duration = Duration::from_secs(1);
/// How often it is looked whether the database answers and what its clock says.
const LOOK: Duration = Duration::from_secs(10);
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How far this machine's clock may be from the database's. A lease of another machine must not seem to have run out.
const APART: i64 = 5;

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
    loop {
        let looked = timeout(PATIENCE, measure(client, state));
        looked.await.map_err(|_| Failure::late(PATIENCE))??;
        state.works();
        sleep(LOOK).await;
    }
}

/// Counts the deliveries, and holds this machine's clock against the database's.
pub(super) async fn measure(client: &Client, state: &State) -> Result<(), Failure> {
    let row = client
        .query_one(
            "SELECT count(*), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint FROM phileas.delivery",
            &[],
        )
        .await?;
    state.counted(natural(row.try_get(0)?)?);
    state.clock(apart(Timestamp::now().as_microsecond(), row.try_get(1)?));
    Ok(())
}

/// What is to be said of two clocks, in microseconds.
fn apart(here: i64, there: i64) -> Option<String> {
    let seconds = here.saturating_sub(there) / 1_000_000;
    (seconds.abs() > APART).then(|| {
        format!(
            "this machine's clock is {} seconds {} the database's, so that nothing is claimed here: a lease of another \
             machine could seem to have run out; set the clocks by a time service",
            seconds.abs(),
            if seconds > 0 { "ahead of" } else { "behind" }
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_may_differ_a_little() {
        let second = 1_000_000;
        assert_eq!(apart(5 * second, 0), None);
        assert_eq!(apart(0, 5 * second), None);
        assert!(apart(7 * second, 0).unwrap().contains("7 seconds ahead of"));
        assert!(apart(0, 60 * second).unwrap().contains("60 seconds behind"));
    }
}
