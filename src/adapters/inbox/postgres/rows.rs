//! Converts rows to the inbox's types and back.

use jiff::Timestamp;
use phileas_domain::model::{Holder, RepositoryId};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::failure::Failure;
use crate::runtime::inbox::{Delivery, Held, Record, Suspended, Wake, delivery_outcome};

/// All columns of a repository, in the order in which [`read_wake`] reads them and [`WakeRow`] writes them.
macro_rules! wake_columns {
    () => {
        "repo, name, due_at, generation, done_generation, failed_generation, not_before, attempts, outages, token, \
         lease_owner, lease_until, received_at, suspended_at, suspended_because, probe_at, last_fault, deaths"
    };
}
pub(super) use wake_columns;

/// A counter as PostgreSQL stores it. Counters start at zero and never overflow.
pub(super) fn to_integer(number: u64) -> Result<i64, Failure> {
    i64::try_from(number).map_err(|error| Failure::Damaged(format!("{number}: {error}")))
}

pub(super) fn from_integer(number: i64) -> Result<u64, Failure> {
    u64::try_from(number).map_err(|error| Failure::Damaged(format!("{number}: {error}")))
}

fn from_small_integer(number: i32) -> Result<u32, Failure> {
    u32::try_from(number).map_err(|error| Failure::Damaged(format!("{number}: {error}")))
}

/// An instant in microseconds. Finer parts are dropped.
pub(super) fn to_micros(at: Timestamp) -> i64 {
    at.as_microsecond()
}

pub(super) fn from_micros(micros: i64) -> Result<Timestamp, Failure> {
    Timestamp::from_microsecond(micros).map_err(|error| Failure::Damaged(error.to_string()))
}

fn maybe_instant(row: &Row, column: usize) -> Result<Option<Timestamp>, Failure> {
    row.try_get::<_, Option<i64>>(column)?
        .map(from_micros)
        .transpose()
}

/// Reads a row of [`wake_columns`].
pub(super) fn read_wake(row: &Row) -> Result<Wake, Failure> {
    let number = |column| -> Result<u64, Failure> { from_integer(row.try_get(column)?) };
    let text = |column| -> Result<Option<String>, Failure> { Ok(row.try_get(column)?) };
    let held = match (text(10)?, maybe_instant(row, 11)?) {
        (Some(owner), Some(until)) => Some(Held {
            holder: Holder::new(owner),
            until,
        }),
        _ => None,
    };
    let suspended = match (maybe_instant(row, 13)?, maybe_instant(row, 15)?) {
        (Some(at), Some(probe_at)) => Some(Suspended {
            at,
            because: text(14)?.unwrap_or_default(),
            probe_at,
        }),
        _ => None,
    };
    Ok(Wake {
        repository: RepositoryId(number(0)?),
        // The next delivery reports it again.
        name: text(1)?.and_then(|name| name.parse().ok()),
        due_at: maybe_instant(row, 2)?,
        generation: number(3)?,
        done_generation: number(4)?,
        failed_generation: number(5)?,
        not_before: maybe_instant(row, 6)?,
        attempts: from_small_integer(row.try_get(7)?)?,
        outages: from_small_integer(row.try_get(8)?)?,
        token: number(9)?,
        held,
        received_at: maybe_instant(row, 12)?,
        suspended,
        last_fault: text(16)?,
        deaths: from_small_integer(row.try_get(17)?)?,
    })
}

/// The values of a row to write.
pub(super) struct WakeRow {
    numbers: [i64; 5],
    counts: [i32; 3],
    instants: [Option<i64>; 7],
    texts: [Option<String>; 4],
}

impl WakeRow {
    /// The row of a repository.
    pub(super) fn from_wake(wake: &Wake) -> Result<Self, Failure> {
        let count = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
        let (held, suspended) = (wake.held.as_ref(), wake.suspended.as_ref());
        Ok(Self {
            numbers: [
                to_integer(wake.repository.0)?,
                to_integer(wake.generation)?,
                to_integer(wake.done_generation)?,
                to_integer(wake.failed_generation)?,
                to_integer(wake.token)?,
            ],
            counts: [
                count(wake.attempts),
                count(wake.outages),
                count(wake.deaths),
            ],
            instants: [
                wake.due_at.map(to_micros),
                wake.not_before.map(to_micros),
                held.map(|held| to_micros(held.until)),
                wake.received_at.map(to_micros),
                suspended.map(|suspended| to_micros(suspended.at)),
                suspended.map(|suspended| to_micros(suspended.probe_at)),
                wake.next_at().map(to_micros),
            ],
            texts: [
                wake.name.as_ref().map(ToString::to_string),
                held.map(|held| held.holder.as_str().to_owned()),
                suspended.map(|suspended| without_nul(&suspended.because)),
                wake.last_fault.as_deref().map(without_nul),
            ],
        })
    }

    /// The values in the order of [`UPDATE`].
    pub(super) fn sql_values(&self) -> [&(dyn ToSql + Sync); 19] {
        let [repo, generation, done, failed, token] = &self.numbers;
        let [attempts, outages, deaths] = &self.counts;
        let [due, not_before, until, heard, suspended_at, probe_at, next] = &self.instants;
        let [name, owner, because, fault] = &self.texts;
        [
            repo,
            name,
            due,
            generation,
            done,
            failed,
            not_before,
            attempts,
            outages,
            token,
            owner,
            until,
            heard,
            suspended_at,
            because,
            probe_at,
            fault,
            next,
            deaths,
        ]
    }
}

/// Removes NUL, which PostgreSQL cannot store, from a text. A reason may quote answers of others.
fn without_nul(text: &str) -> String {
    text.replace('\0', "")
}

/// Updates the row of a repository.
pub(super) const UPDATE: &str = "UPDATE phileas.wake SET name = $2, due_at = $3, generation = $4, \
    done_generation = $5, failed_generation = $6, not_before = $7, attempts = $8, outages = $9, token = $10, \
    lease_owner = $11, lease_until = $12, received_at = $13, suspended_at = $14, suspended_because = $15, probe_at = $16, \
    last_fault = $17, next_at = $18, deaths = $19 WHERE repo = $1";

/// All columns of a delivery, in the order in which [`read_record`] reads them. Its outcome follows from two columns
/// of its repository.
pub(super) const RECORD: &str = "SELECT place, id, event, action, delivery.repo, repo_name, installation, subject, \
    sender, delivery.received_at, wakes, times, delivery.generation, done_generation, failed_generation \
    FROM phileas.delivery LEFT JOIN phileas.wake ON wake.repo = delivery.repo";

/// Reads a row of [`RECORD`].
pub(super) fn read_record(row: &Row) -> Result<Record, Failure> {
    let maybe = |column| -> Result<Option<u64>, Failure> {
        row.try_get::<_, Option<i64>>(column)?
            .map(from_integer)
            .transpose()
    };
    let repository = maybe(4)?.map(RepositoryId);
    let (done, failed) = (maybe(13)?, maybe(14)?);
    let known = repository.map(|id| Wake {
        done_generation: done.unwrap_or(0),
        failed_generation: failed.unwrap_or(0),
        ..Wake::new(id)
    });
    let id: &str = row.try_get(1)?;
    let name: Option<&str> = row.try_get(5)?;
    Ok(Record {
        place: from_integer(row.try_get(0)?)?,
        outcome: delivery_outcome(maybe(12)?, known.as_ref()),
        times: from_small_integer(row.try_get(11)?)?,
        delivery: Delivery {
            id: id
                .parse()
                .map_err(|error| Failure::Damaged(format!("the id of a delivery: {error}")))?,
            event: row.try_get(2)?,
            action: row.try_get(3)?,
            repository,
            repository_name: name.and_then(|name| name.parse().ok()),
            installation: maybe(6)?,
            subject: row.try_get(7)?,
            sender: maybe(8)?,
            received_at: from_micros(row.try_get(9)?)?,
            wakes: row.try_get(10)?,
        },
    })
}
