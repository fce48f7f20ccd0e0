//! Stores deliveries: those that arrive meanwhile go into one transaction, and are answered after its commit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deadpool_postgres::Client;
use futures_util::future::try_join_all;
use jiff::Timestamp;
use phileas_domain::model::RepositoryId;
use tokio::sync::{mpsc, oneshot};

use super::attempt::{ATTEMPT, tried};
use super::clock::ClockSkew;
use super::connections::Connections;
use super::failure::Failure;
use super::locked_wakes::LockedWakes;
use super::rows::{from_integer, to_integer, to_micros};
use super::state::State;
use crate::runtime::inbox::{
    Accepted, Delivery, DeliveryId, InboxError, Outcome, Wake, delivery_outcome,
};

/// How many deliveries may wait to be stored. Further ones are refused.
pub(super) const QUEUE: usize = 1_024;
/// The most that one transaction stores.
const BATCH: usize = 256;

/// A delivery, and the caller that waits for its result.
pub(super) struct QueuedDelivery {
    pub(super) delivery: Delivery,
    pub(super) answer: oneshot::Sender<Result<Accepted, InboxError>>,
}

/// Stores deliveries until the channel is closed.
pub(super) async fn store_deliveries(
    connections: Connections,
    state: Arc<State>,
    mut brought: mpsc::Receiver<QueuedDelivery>,
) {
    let mut batch = Vec::with_capacity(BATCH);
    while brought.recv_many(&mut batch, BATCH).await > 0 {
        match store_batch(&connections, &state, &batch).await {
            // One of them cannot be stored; store the others without it.
            Err(failure) if failure.is_of_data() && batch.len() > 1 => {
                for one in batch.drain(..) {
                    let alone = [one];
                    let stored = store_batch(&connections, &state, &alone).await;
                    answer_batch(&state, alone, stored);
                }
            }
            stored => answer_batch(&state, batch.drain(..), stored),
        }
    }
}

async fn store_batch(
    connections: &Connections,
    state: &State,
    batch: &[QueuedDelivery],
) -> Result<Vec<Accepted>, Failure> {
    let deliveries: Vec<&Delivery> = batch.iter().map(|one| &one.delivery).collect();
    tried!(connections, ATTEMPT, |client| store_batch_once(
        client,
        state,
        &deliveries
    )
    .await)
}

/// Answers the callers, which may be gone.
fn answer_batch(
    state: &State,
    batch: impl IntoIterator<Item = QueuedDelivery>,
    stored: Result<Vec<Accepted>, Failure>,
) {
    match stored {
        Ok(accepted) => {
            state.record_success();
            state.notify_change();
            for (one, accepted) in batch.into_iter().zip(accepted) {
                let _gone = one.answer.send(Ok(accepted));
            }
        }
        Err(failure) => {
            let of_data = failure.is_of_data();
            let error = InboxError::from(failure);
            if of_data {
                tracing::error!("a delivery was not stored: {error}");
            } else {
                state.record_failure(&error);
            }
            for one in batch {
                let _gone = one.answer.send(Err(error.clone()));
            }
        }
    }
}

/// An existing row.
#[derive(Clone, Copy)]
struct Before {
    place: i64,
    repository: Option<RepositoryId>,
    generation: Option<u64>,
}

/// The write for a delivery, after all rules were applied.
struct DeliveryWrite {
    /// When it was received; by the database's clock if this machine's is wrong.
    received_at: Timestamp,
    generation: Option<u64>,
    /// Its row, if it had failed and arrived again: that moves to the end, where the newest are.
    again: Option<i64>,
}

async fn store_batch_once(
    client: &mut Client,
    state: &State,
    deliveries: &[&Delivery],
) -> Result<Vec<Accepted>, Failure> {
    let transaction = client.transaction().await?;
    let woken: BTreeSet<RepositoryId> = deliveries
        .iter()
        .filter_map(|one| one.woken_repository())
        .collect();
    let mut rows = LockedWakes::lock_rows(&transaction, &woken, true).await?;
    // A machine that stores the same delivery has either committed by now, or waits for these rows.
    let (before, ahead) = tokio::try_join!(
        read_known(&transaction, deliveries),
        ClockSkew::measure_in(&transaction)
    )?;
    let mut seen: BTreeSet<&DeliveryId> = BTreeSet::new();
    let mut accepted = Vec::with_capacity(deliveries.len());
    let mut writes = Vec::new();
    for delivery in deliveries {
        let answer = if seen.contains(&delivery.id) {
            Accepted::Duplicate
        } else {
            decide_writes(
                delivery,
                ahead.to_database_time(delivery.received_at),
                before.get(&delivery.id).copied(),
                &mut rows,
                state,
                writes.len(),
                |write| {
                    writes.push((*delivery, write));
                },
            )
        };
        if answer == Accepted::Stored {
            seen.insert(&delivery.id);
        }
        accepted.push((answer, writes.len()));
    }
    let written = try_join_all(
        writes
            .iter()
            .map(|(delivery, write)| write_delivery(&transaction, delivery, write)),
    )
    .await?;
    rows.store_wakes(&transaction).await?;
    transaction.commit().await?;
    state.add_stored(written.iter().filter(|new| **new).count());
    Ok(accepted
        .into_iter()
        .map(|(answer, after)| match answer {
            // Another machine was faster with a delivery that locks no row.
            Accepted::Stored if !written[after - 1] && writes[after - 1].1.again.is_none() => {
                Accepted::Duplicate
            }
            answer => answer,
        })
        .collect())
}

fn decide_writes(
    delivery: &Delivery,
    received_at: Timestamp,
    before: Option<Before>,
    rows: &mut LockedWakes,
    state: &State,
    waiting: usize,
    write: impl FnOnce(DeliveryWrite),
) -> Accepted {
    if let Some(before) = before {
        let wake = before.repository.and_then(|id| rows.get(id));
        if delivery_outcome(before.generation, wake) != Outcome::Failed {
            return Accepted::Duplicate;
        }
    } else if delivery.gives_way() && state.is_nearly_full(waiting) {
        return Accepted::PassedOver;
    } else if state.is_full(waiting) {
        return Accepted::Overloaded;
    }
    let hear =
        |wake: &mut Wake| wake.record_delivery(delivery.repository_name.as_ref(), received_at);
    let generation = delivery
        .woken_repository()
        .and_then(|id| rows.get_mut(id))
        .map(hear);
    write(DeliveryWrite {
        received_at,
        generation,
        again: before.map(|before| before.place),
    });
    Accepted::Stored
}

async fn read_known(
    transaction: &deadpool_postgres::Transaction<'_>,
    deliveries: &[&Delivery],
) -> Result<BTreeMap<DeliveryId, Before>, Failure> {
    let ids: Vec<&str> = deliveries.iter().map(|one| one.id.as_str()).collect();
    let statement = transaction
        .prepare_cached(
            "SELECT id, place, repo, generation FROM phileas.delivery WHERE id = ANY($1)",
        )
        .await?;
    let mut known = BTreeMap::new();
    for row in transaction.query(&statement, &[&ids]).await? {
        let id: &str = row.try_get(0)?;
        let id = id
            .parse()
            .map_err(|error| Failure::Damaged(format!("the id of a delivery: {error}")))?;
        let number = |column| -> Result<Option<u64>, Failure> {
            row.try_get::<_, Option<i64>>(column)?
                .map(from_integer)
                .transpose()
        };
        let before = Before {
            place: row.try_get(1)?,
            repository: number(2)?.map(RepositoryId),
            generation: number(3)?,
        };
        known.insert(id, before);
    }
    Ok(known)
}

/// Writes the row of a delivery. `false`: no row was added.
async fn write_delivery(
    transaction: &deadpool_postgres::Transaction<'_>,
    delivery: &Delivery,
    write: &DeliveryWrite,
) -> Result<bool, Failure> {
    let received_at = to_micros(write.received_at);
    let generation = write.generation.map(to_integer).transpose()?;
    match write.again {
        Some(place) => {
            let statement = transaction
                .prepare_cached(
                    "UPDATE phileas.delivery SET place = nextval(pg_get_serial_sequence('phileas.delivery', 'place')), \
                     times = times + 1, received_at = $2, generation = $3 WHERE place = $1",
                )
                .await?;
            transaction
                .execute(&statement, &[&place, &received_at, &generation])
                .await?;
            Ok(false)
        }
        None => {
            let statement = transaction
                .prepare_cached(
                    "INSERT INTO phileas.delivery (id, event, action, repo, repo_name, installation, subject, sender, \
                     received_at, wakes, times, generation) \
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 1, $11) ON CONFLICT (id) DO NOTHING",
                )
                .await?;
            let number = |number: Option<u64>| number.map(to_integer).transpose();
            let inserted = transaction
                .execute(
                    &statement,
                    &[
                        &delivery.id.as_str(),
                        &delivery.event,
                        &delivery.action,
                        &number(delivery.repository.map(|id| id.0))?,
                        &delivery.repository_name.as_ref().map(ToString::to_string),
                        &number(delivery.installation)?,
                        &delivery.subject,
                        &number(delivery.sender)?,
                        &received_at,
                        &delivery.wakes,
                        &generation,
                    ],
                )
                .await?;
            Ok(inserted == 1)
        }
    }
}
