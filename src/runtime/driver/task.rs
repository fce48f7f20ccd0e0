//! Runs one repository's tick, from its lease to the end of the lease.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::{SignedDuration, Timestamp};

use super::calendar::next_look;
use super::heartbeat::Heartbeat;
use super::shielded::catch_panic;
use super::stop::{StopSignal, Stopper};
use super::tick_outage_log::TickOutageLog;
use super::ticker::{Ticked, Ticker};
use crate::runtime::inbox::{Fault, Inbox, InboxError, Lease, Settled};
use crate::runtime::ports::Clock;
use crate::runtime::time::time_after;

/// The pause between two reads of the due repositories while some cannot be started, and after the inbox failed.
pub(super) const RETRY_DELAY: SignedDuration = SignedDuration::from_secs(1);

/// How long a tick may take before it is stopped. The slowest known one creates three sessions at a
/// minute each.
pub const TICK_LIMIT: SignedDuration = SignedDuration::from_mins(10);
/// How long a stopped tick may take until it is abandoned: longer than the longest call that cannot
/// be stopped.
pub const ABANDON_AFTER: SignedDuration = SignedDuration::from_mins(4);
/// How long a task tries to store the result of its tick while the inbox is unavailable: as long as
/// a database takes to restart or to fail over. After that the driver only releases the lease when
/// the inbox replies again.
const SETTLING: SignedDuration = SignedDuration::from_mins(1);

/// The same during a shutdown. The next start, or the end of the lease, does what could not be
/// written, and waiting does not help with a full disk.
const SETTLING_AT_END: SignedDuration = SignedDuration::from_secs(2);

/// A lease, and everything that its tick needs.
pub(super) struct Task<I, C, T> {
    pub(super) inbox: Arc<I>,
    pub(super) clock: Arc<C>,
    pub(super) ticker: Arc<T>,
    pub(super) heartbeat: Arc<Heartbeat>,
    pub(super) lease: Lease,
    /// Whether the driver shuts down.
    pub(super) leaving: Arc<AtomicBool>,
    pub(super) outages: Arc<TickOutageLog>,
    pub(super) stopper: Stopper,
    pub(super) stop: StopSignal,
}

impl<I: Inbox, C: Clock, T: Ticker> Task<I, C, T> {
    /// Ticks, and ends the lease by the result. Returns the lease if the inbox was unavailable for
    /// too long to end it.
    pub(super) async fn run(self) -> Option<Lease> {
        let repository = self.lease.repository;
        let claimed_at = self.clock.now();
        let ticked = match catch_panic(self.run_tick()).await {
            Ok(ticked) => ticked,
            Err(panic) => {
                let repository = self.ticker.display_name(repository);
                tracing::error!(repository, "a tick panicked: {panic}");
                Ticked::Failed(Fault::Own {
                    because: format!("the tick panicked: {panic}"),
                })
            }
        };
        let ended_at = self.clock.now();
        let name = self.ticker.display_name(repository);
        match &ticked {
            Ticked::Gone => {
                tracing::info!(
                    repository = repository.0,
                    "the service does not manage this repository any more, so the inbox forgets it"
                );
            }
            Ticked::Failed(fault) => {
                log_failure(&name, &self.lease, fault, &self.outages, ended_at)
            }
            Ticked::Done { .. } | Ticked::Stopped => {}
        }
        let settled = self.settle_lease(&ticked, claimed_at, ended_at).await;
        self.heartbeat.tick_ended(ended_at);
        let is_left = matches!(settled, Err(InboxError::Unavailable(_)));
        log_settlement(&name, settled);
        is_left.then_some(self.lease)
    }

    /// Ends the lease by the tick's result, and retries while the inbox is unavailable, because an
    /// expired lease counts as a fault of the repository. A late end is harmless: a lease that was
    /// taken over has no effect.
    async fn settle_lease(
        &self,
        ticked: &Ticked,
        claimed_at: Timestamp,
        ended_at: Timestamp,
    ) -> Result<Settled, InboxError> {
        let mut give_up_at = time_after(ended_at, SETTLING);
        let mut leaves_at = None;
        loop {
            match self.settle_once(ticked, claimed_at, ended_at).await {
                Err(InboxError::Unavailable(because)) => {
                    let now = self.clock.now();
                    if self.leaving.load(Ordering::Relaxed) {
                        let since = *leaves_at.get_or_insert(now);
                        give_up_at = give_up_at.min(time_after(since, SETTLING_AT_END));
                    }
                    let again = time_after(now, RETRY_DELAY);
                    if again > give_up_at {
                        return Err(InboxError::Unavailable(because));
                    }
                    self.clock.sleep_until(again).await;
                }
                settled => return settled,
            }
        }
    }

    async fn settle_once(
        &self,
        ticked: &Ticked,
        claimed_at: Timestamp,
        ended_at: Timestamp,
    ) -> Result<Settled, InboxError> {
        let (inbox, lease, now) = (&self.inbox, &self.lease, ended_at);
        match ticked {
            Ticked::Done { wake_at } => {
                let (id, received_at) = (lease.repository, lease.received_at);
                let next = next_look(id, *wake_at, received_at, claimed_at, now);
                inbox.finish_lease(lease, now, Some(next)).await
            }
            Ticked::Stopped => inbox.release_lease(lease, now).await,
            Ticked::Gone => inbox.abandon_lease(lease).await,
            Ticked::Failed(fault) => inbox.fail_lease(lease, now, fault).await,
        }
    }

    /// Waits until the tick is stopped, or its lease has expired because it could not be extended.
    async fn wait_for_stop_signal(&self) {
        let mut told = self.stop.clone();
        loop {
            let until = told.lease_end();
            tokio::select! {
                biased;
                () = told.wait_for_stop() => return,
                () = self.clock.sleep_until(until) => if self.stop.is_requested() { return },
            }
        }
    }

    /// Runs the tick within its time limit.
    async fn run_tick(&self) -> Ticked {
        let limit = time_after(self.clock.now(), TICK_LIMIT);
        let mut tick = std::pin::pin!(self.ticker.tick_repository(&self.lease, self.stop.clone()));
        let too_long = tokio::select! {
            biased;
            ticked = &mut tick => return ticked,
            () = self.wait_for_stop_signal() => false,
            () = self.clock.sleep_until(limit) => true,
        };
        self.stopper.stop();
        let limit = time_after(self.clock.now(), ABANDON_AFTER);
        tokio::select! {
            biased;
            ticked = &mut tick => match ticked {
                // A tick that is repeated at once would only take as long again.
                Ticked::Stopped if too_long => Ticked::Failed(Fault::Outage {
                    because: format!("the tick took longer than {} minutes", TICK_LIMIT.as_mins()),
                    retry_after: None,
                }),
                ticked => ticked,
            },
            () = self.clock.sleep_until(limit) => Ticked::Failed(Fault::Own {
                because: "the tick did not end, and did not stop when it was asked to".to_owned(),
            }),
        }
    }
}

fn log_failure(
    repository: &str,
    lease: &Lease,
    fault: &Fault,
    outages: &TickOutageLog,
    now: Timestamp,
) {
    let attempt = lease.attempt;
    match fault {
        Fault::Own { because } => {
            tracing::error!(repository, attempt, "a tick failed: {because}");
        }
        Fault::Outage {
            because,
            retry_after,
        } => {
            if !outages.note_outage(because, now) {
                return;
            }
            let after = retry_after.map(|after| after.as_secs());
            tracing::warn!(
                repository,
                retry_after = after,
                "a tick has to wait: {because}"
            );
        }
    }
}

fn log_settlement(repository: &str, settled: Result<Settled, InboxError>) {
    match settled {
        Ok(Settled::Until(next)) => {
            let next = next.map(tracing::field::display);
            tracing::debug!(repository, next, "ticked");
        }
        Ok(Settled::Suspended) => tracing::error!(
            repository,
            "the repository is suspended; `phileas service suspended list` shows the reason, `phileas service \
             suspended resume` resumes it"
        ),
        Ok(Settled::Lost) => tracing::warn!(repository, "the lease was lost before the tick ended"),
        Err(error) => tracing::error!(
            repository,
            "a lease cannot be ended and will expire: {error}"
        ),
    }
}
