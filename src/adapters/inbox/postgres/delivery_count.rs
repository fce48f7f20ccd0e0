//! Counts the stored deliveries.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::attempt::{LONG_ATTEMPT, retried, tried};
use super::connections::Connections;
use super::failure::Failure;
use super::rows::from_integer;
use super::state::State;
use crate::runtime::inbox::InboxError;

/// How often deliveries are counted.
const OFTEN: Duration = Duration::from_secs(10);
/// The share of time that the database may spend on it: counting millions takes seconds.
const PART: u32 = 20;

/// How many deliveries are stored.
pub(super) async fn count_deliveries(connections: &Connections) -> Result<u64, InboxError> {
    retried!(connections, LONG_ATTEMPT, |client| {
        let row = client
            .query_one("SELECT count(*) FROM phileas.delivery", &[])
            .await?;
        from_integer(row.try_get(0)?)
    })
}

/// Counts deliveries until it is aborted, because other services store some, too. If the count fails, this service's
/// own count continues from the last one.
pub(super) async fn again_and_again(connections: Connections, state: Arc<State>) {
    let mut well = true;
    loop {
        let begun = Instant::now();
        match count_deliveries(&connections).await {
            Ok(count) => {
                state.set_stored(count);
                well = true;
            }
            Err(error) if well => {
                tracing::warn!("cannot count the stored deliveries: {error}");
                well = false;
            }
            Err(_) => {}
        }
        sleep(OFTEN.max(begun.elapsed() * PART)).await;
    }
}
