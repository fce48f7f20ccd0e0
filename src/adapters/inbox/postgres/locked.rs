//! Rows of repositories that nobody else can change until the transaction ends.

use std::collections::{BTreeMap, BTreeSet};

use deadpool_postgres::Transaction;
use futures_util::future::try_join_all;
use phileas_domain::model::RepositoryId;

use super::failure::Failure;
use super::rows::{UPDATE, Written, integer, wake, wake_columns};
use crate::runtime::inbox::Wake;

/// Whoever waits for another process' wakes listens to this.
pub(super) const CHANNEL: &str = "phileas_wake";

/// Rows that are locked. They are always locked in the order of their ids, so that nobody waits in a circle.
pub(super) struct Locked {
    before: BTreeMap<RepositoryId, Wake>,
    now: BTreeMap<RepositoryId, Wake>,
}

impl Locked {
    /// Locks the rows of these repositories. Those that are missing are made where `make` says so.
    pub(super) async fn rows(
        transaction: &Transaction<'_>,
        repositories: &BTreeSet<RepositoryId>,
        make: bool,
    ) -> Result<Self, Failure> {
        let mut before = BTreeMap::new();
        if repositories.is_empty() {
            return Ok(Self {
                now: before.clone(),
                before,
            });
        }
        let ids = repositories.iter().map(|id| integer(id.0));
        let ids = ids.collect::<Result<Vec<i64>, _>>()?;
        if make {
            let statement = transaction
                .prepare_cached(
                    "INSERT INTO phileas.wake (repo) SELECT unnest($1::bigint[]) ON CONFLICT (repo) DO NOTHING",
                )
                .await?;
            transaction.execute(&statement, &[&ids]).await?;
        }
        let statement = transaction
            .prepare_cached(concat!(
                "SELECT ",
                wake_columns!(),
                " FROM phileas.wake WHERE repo = ANY($1) ORDER BY repo FOR UPDATE"
            ))
            .await?;
        for row in transaction.query(&statement, &[&ids]).await? {
            let wake = wake(&row)?;
            before.insert(wake.repository, wake);
        }
        Ok(Self {
            now: before.clone(),
            before,
        })
    }

    pub(super) fn get(&self, id: RepositoryId) -> Option<&Wake> {
        self.now.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: RepositoryId) -> Option<&mut Wake> {
        self.now.get_mut(&id)
    }

    /// Writes what has changed, and tells the other processes where somebody can be claimed earlier than before. They
    /// hear of it when the transaction is committed.
    pub(super) async fn store(&self, transaction: &Transaction<'_>) -> Result<(), Failure> {
        let changed = self
            .now
            .iter()
            .filter(|(id, wake)| self.before.get(id) != Some(wake));
        let mut earlier = false;
        let mut rows = Vec::new();
        for (id, wake) in changed {
            let before = self.before.get(id).and_then(Wake::next_at);
            earlier |= wake
                .next_at()
                .is_some_and(|next| before.is_none_or(|before| next < before));
            rows.push(Written::of(wake)?);
        }
        if rows.is_empty() {
            return Ok(());
        }
        let statement = transaction.prepare_cached(UPDATE).await?;
        try_join_all(
            rows.iter()
                .map(async |row| transaction.execute(&statement, &row.values()).await),
        )
        .await?;
        if earlier {
            let statement = transaction
                .prepare_cached("SELECT pg_notify($1, '')")
                .await?;
            transaction.execute(&statement, &[&CHANNEL]).await?;
        }
        Ok(())
    }
}
