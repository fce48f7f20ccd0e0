//! The connection pool of a process.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{
    Client, Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime,
};

use super::address::DatabaseUrl;
use super::failure::Failure;
use super::schema::{OpenError, unreachable_database};
use super::state::State;

/// The most connections of a process, beside the one that listens.
const CONNECTIONS: usize = 8;
/// How long the start waits for a connection.
const PATIENCE: Duration = Duration::from_secs(5);
/// With `off` in a role or database, a commit is answered before it is on disk, and a crash loses accepted
/// deliveries. Every other setting waits for the server's disk; whether it waits for standbys is the operator's
/// choice, so `remote_apply` stays as it is. Set in the session, it holds even when the server reloads its
/// configuration.
const DURABLE: &str = "SELECT set_config('synchronous_commit', coalesce(nullif( \
                       current_setting('synchronous_commit'), 'off'), 'on'), false)";

/// The connections of a process. They are available while this version can use the tables.
#[derive(Debug, Clone)]
pub(super) struct Connections {
    pool: Pool,
    state: Arc<State>,
}

impl Connections {
    /// Opens the pool, and connects once.
    pub(super) async fn open_pool(
        url: &DatabaseUrl,
        state: Arc<State>,
    ) -> Result<(Self, Client), OpenError> {
        let recycling_method = RecyclingMethod::Fast;
        let manager = Manager::from_config(
            url.connect_config(),
            url.tls_connector()?,
            ManagerConfig { recycling_method },
        );
        let place = url.display_address();
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
        let client = client.map_err(|error| unreachable_database(&place, error.into()))?;
        Ok((Self { pool, state }, client))
    }

    /// Takes a free connection.
    pub(super) async fn get(&self) -> Result<Client, Failure> {
        match self.state.tables_problem() {
            Some(because) => Err(Failure::Newer(because)),
            None => Ok(self.pool.get().await?),
        }
    }

    /// The failure of an attempt that timed out. If all connections are busy, the others may still be answered.
    /// Otherwise its connection is closed, and the idle ones with it: their other end may be the same.
    pub(super) fn close_silent(&self, silent: Option<Client>, patience: Duration) -> Failure {
        let status = self.pool.status();
        if silent.is_none() && status.available == 0 && status.size >= status.max_size {
            return Failure::all_busy(status.size, patience);
        }
        drop(silent.map(Client::take));
        self.forget_idle();
        Failure::timed_out(patience)
    }

    /// Closes the idle connections. If one was lost, the others may be lost, too, unnoticed.
    pub(super) fn forget_idle(&self) {
        self.pool.retain(|_, _| false);
    }
}
