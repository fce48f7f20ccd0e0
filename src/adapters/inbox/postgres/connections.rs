//! The connections of a process: how they are made, and when none is given.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{
    Client, Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime,
};

use super::address::DatabaseUrl;
use super::failure::Failure;
use super::schema::{OpenError, unreachable};
use super::state::State;

/// How many connections a process has at most, beside the one that listens.
const CONNECTIONS: usize = 8;
/// How long it is waited for one of them at the start.
const PATIENCE: Duration = Duration::from_secs(5);
/// Where a role or a database says `off`, a commit is answered before it is on disk, and a crash loses what was accepted.
/// Every other setting waits for the disk of the server; how long it waits for standbys is left to whoever runs it, so
/// that `remote_apply` stays what it is. Said in the session, it holds even when the server's files are read again.
const DURABLE: &str = "SELECT set_config('synchronous_commit', coalesce(nullif( \
                       current_setting('synchronous_commit'), 'off'), 'on'), false)";

/// The connections of a process. They are given while this version can work with the tables.
#[derive(Debug, Clone)]
pub(super) struct Connections {
    pool: Pool,
    state: Arc<State>,
}

impl Connections {
    /// Connects once.
    pub(super) async fn open(
        url: &DatabaseUrl,
        state: Arc<State>,
    ) -> Result<(Self, Client), OpenError> {
        let recycling_method = RecyclingMethod::Fast;
        let manager =
            Manager::from_config(url.config(), url.tls()?, ManagerConfig { recycling_method });
        let place = url.shown();
        let durable = Hook::async_fn(|client, _| {
            Box::pin(async move {
                let set = client.batch_execute(DURABLE).await;
                set.map_err(HookError::Backend)
            })
        });
        let pool = Pool::builder(manager)
            .max_size(CONNECTIONS)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(PATIENCE))
            .create_timeout(Some(PATIENCE))
            .recycle_timeout(Some(PATIENCE))
            .post_create(durable)
            .build()
            .map_err(|error| OpenError::Unreachable {
                place: place.clone(),
                detail: error.to_string(),
            })?;
        let client = pool.get().await;
        let client = client.map_err(|error| unreachable(&place, error.into()))?;
        Ok((Self { pool, state }, client))
    }

    /// One that nobody else uses.
    pub(super) async fn get(&self) -> Result<Client, Failure> {
        match self.state.unreadable() {
            Some(because) => Err(Failure::Newer(because)),
            None => Ok(self.pool.get().await?),
        }
    }

    /// Why an attempt has not come to its end within a time. Where all connections are at work, the others may well be
    /// answered. Otherwise the one that it had is closed, and the idle ones beside it: their other end may be the same.
    pub(super) fn late(&self, silent: Option<Client>, patience: Duration) -> Failure {
        let status = self.pool.status();
        if silent.is_none() && status.available == 0 && status.size >= status.max_size {
            return Failure::busy(status.size, patience);
        }
        drop(silent.map(Client::take));
        self.forget_idle();
        Failure::late(patience)
    }

    /// Closes the idle ones. Where one was lost, the others may be, too, and nobody knows it yet.
    pub(super) fn forget_idle(&self) {
        self.pool.retain(|_, _| false);
    }
}
