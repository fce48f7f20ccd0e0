//! Measures how far this machine's clock is from the database's.

use deadpool_postgres::Transaction;
use jiff::{SignedDuration, Timestamp};
use tokio_postgres::{GenericClient, Statement};

use super::failure::Failure;
use super::state::State;

/// The query for the database's clock, in microseconds.
pub(super) const CLOCK: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
/// The largest allowed difference from the database's clock, in microseconds. Two machines differ by at most twice as
/// much, which leaves a lease long enough for its next heartbeat, and for one that fails.
const APART: i64 = 2_000_000;

/// How far this machine's clock is ahead of the database's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClockSkew(i64);

impl ClockSkew {
    /// Reads the database's clock by [`CLOCK`], with an error of at most half of the time that the answer takes.
    pub(super) async fn measure_skew(
        client: &(impl GenericClient + Sync),
        clock: &Statement,
    ) -> Result<Self, Failure> {
        let before = Timestamp::now().as_microsecond();
        let there: i64 = client.query_one(clock, &[]).await?.try_get(0)?;
        let after = Timestamp::now().as_microsecond();
        Ok(Self(i64::midpoint(before, after).saturating_sub(there)))
    }

    /// Reads the database's clock within a transaction.
    pub(super) async fn measure_in(transaction: &Transaction<'_>) -> Result<Self, Failure> {
        let clock = transaction.prepare_cached(CLOCK).await?;
        Self::measure_skew(&**transaction, &clock).await
    }

    /// The problem to report if the two clocks are too far apart.
    pub(super) fn skew_problem(self) -> Option<String> {
        (self.0.saturating_abs() > APART).then(|| {
            format!(
                "this machine's clock is {:.1} seconds {} the database's, so that nothing is claimed here: a lease of \
                 another machine could seem to have run out; set the clocks by a time service",
                self.0.saturating_abs() as f64 / 1e6,
                if self.0 > 0 { "ahead of" } else { "behind" }
            )
        })
    }

    /// Converts a time of this machine's clock to the database's if the two are too far apart.
    pub(super) fn to_database_time(self, at: Timestamp) -> Timestamp {
        match self.skew_problem() {
            Some(_) => at
                .checked_sub(SignedDuration::from_micros(self.0))
                .unwrap_or(at),
            None => at,
        }
    }

    /// Records the result for all parts of the inbox.
    pub(super) fn record_in(self, state: &State) {
        state.set_clock_problem(self.skew_problem());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_may_differ_a_little() {
        let second = 1_000_000;
        for near in [0, 2 * second, -2 * second] {
            assert_eq!(ClockSkew(near).skew_problem(), None);
        }
        let said = |ahead| ClockSkew(ahead).skew_problem().unwrap();
        assert!(said(2 * second + 1).contains("2.0 seconds ahead of"));
        assert!(said(-60 * second).contains("60.0 seconds behind"));
    }

    #[test]
    fn only_what_a_wrong_clock_said_is_corrected() {
        let at = |second| Timestamp::from_second(second).unwrap();
        assert_eq!(ClockSkew(1_000_000).to_database_time(at(100)), at(100));
        assert_eq!(ClockSkew(60_000_000).to_database_time(at(100)), at(40));
        assert_eq!(ClockSkew(-60_000_000).to_database_time(at(100)), at(160));
    }
}
