//! Rows of repositories that are locked until the transaction ends.

use std::collections::{BTreeMap, BTreeSet};

use deadpool_postgres::Transaction;
use futures_util::future::try_join_all;
use phileas_domain::model::RepositoryId;

use super::failure::Failure;
use super::rows::{UPDATE, WakeRow, read_wake, to_integer, wake_columns};
use crate::runtime::inbox::Wake;

/// The channel of notifications about wakes.
pub(super) const CHANNEL: &str = "phileas_wake";

/// Locked rows. They are always locked in the order of their ids, so that transactions never deadlock.
pub(super) struct LockedWakes {
    before: BTreeMap<RepositoryId, Wake>,
    now: BTreeMap<RepositoryId, Wake>,
}

impl LockedWakes {
    /// Locks the rows of these repositories. Missing ones are created if `make` says so.
    pub(super) async fn lock_rows(
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
        let ids = repositories.iter().map(|id| to_integer(id.0));
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
            let wake = read_wake(&row)?;
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

    /// Writes the changes, and notifies the other processes if a repository can be claimed earlier than before. The
    /// notification is sent with the commit.
    pub(super) async fn store_wakes(&self, transaction: &Transaction<'_>) -> Result<(), Failure> {
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
            rows.push(WakeRow::from_wake(wake)?);
        }
        if rows.is_empty() {
            return Ok(());
        }
        let statement = transaction.prepare_cached(UPDATE).await?;
        try_join_all(
            rows.iter()
                .map(async |row| transaction.execute(&statement, &row.sql_values()).await),
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
