//! Removes old deliveries, and logs when no repository is ticked.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::MissedTickBehavior;

use crate::runtime::inbox::{Inbox, PRUNE_BATCH};
use crate::server::shutdown::Shutdown;
use crate::server::worker::driver::Driver;

/// How often the inbox is cleaned.
const INTERVAL: Duration = Duration::from_secs(60);
/// How many batches are removed at a time. A month's deliveries of a busy fleet are removed within
/// the hour.
const MAX_BATCHES: usize = 100;
/// A repository that has been due for longer than this is logged, because a process should have
/// ticked it.
pub const OVERDUE: SignedDuration = SignedDuration::from_mins(5);

/// Removes expired deliveries, and warns when due repositories are not ticked.
#[derive(Debug, Clone, Copy, Default)]
pub struct Housekeeping;

impl<I: Inbox + 'static> Driver<I> for Housekeeping {
    async fn run(self, inbox: Arc<I>, mut ending: Shutdown) {
        let mut rounds = tokio::time::interval(INTERVAL);
        rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = ending.wait_for_shutdown() => return,
                _ = rounds.tick() => {}
            }
            run_round(&*inbox, Timestamp::now(), &ending).await;
        }
    }
}

async fn run_round(inbox: &impl Inbox, now: Timestamp, ending: &Shutdown) {
    for _ in 0..MAX_BATCHES {
        match inbox.prune_deliveries(now).await {
            Ok(PRUNE_BATCH) if !ending.has_come() => {}
            Ok(_) => break,
            Err(error) => {
                tracing::error!("old deliveries cannot be removed: {error}");
                break;
            }
        }
    }
    match inbox.read_counts(now).await {
        Ok(counts) => {
            let age = counts.oldest_due.map(|due| now.duration_since(due));
            if let Some(age) = age.filter(|age| *age > OVERDUE) {
                tracing::warn!(
                    due = counts.due,
                    "a repository has been due for {} minutes and is not ticked",
                    age.as_mins()
                );
            }
        }
        Err(error) => tracing::error!("the inbox cannot be read: {error}"),
    }
}
