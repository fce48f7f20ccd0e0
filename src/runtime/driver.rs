//! The loop over many repositories: it ticks those that are due, and no others.
//!
//! One timer serves all repositories: the inbox tells when the next one is due, and the driver sleeps until then, until
//! a delivery arrives, or until a running tick ends. The result of a tick decides when its repository is due again; no
//! repository goes without a tick for longer than [`RECONCILE`], and these ticks are spread over the hour.
//!
//! Guarantees:
//!
//! 1. A repository is ticked by one task of this process at a time, under a fenced lease that is kept alive meanwhile.
//!    When the lease is lost, or expires because it could not be extended, the tick is stopped before
//!    its next effect.
//! 2. No repository is leased before there is room for its tick. At most [`Bounds::ticks`] ticks run at once, and at most [`Bounds::per_lane`] that share a lane (a GitHub
//!    installation, a Jules key), so that one slow or spent account does not hold up the others. Within that, the repository that
//!    has been due for longest goes first.
//! 3. A tick that panics, or never ends, is a fault of its repository; the others go on.
//! 4. A repository whose ticks have killed the process twice is ticked while no other tick runs, so that a third death
//!    shows which repository causes it.
//! 5. A repository that this process cannot tick now is left to others that share its inbox for [`LEFT_TO_OTHERS`],
//!    and then ticked here, one at a time.
//! 6. At the end running ticks are stopped, the driver waits for them for [`DRAIN`], and every lease is released.

mod calendar;
mod deferred;
mod heartbeat;
mod lanes;
mod outage_log;
mod queue;
mod shielded;
mod stop;
mod task;
mod tick_outage_log;
mod ticker;

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::{Holder, RepositoryId};
use tokio::task::JoinSet;

use super::inbox::{ALONE_AFTER_DEATHS, Inbox, InboxError, Lease, Suspended};
use super::ports::Clock;
use super::time::time_after;
use deferred::Deferred;
use lanes::Lanes;
use outage_log::OutageLog;
use queue::Queue;
use task::{RETRY_DELAY, Task};
use tick_outage_log::TickOutageLog;

pub use calendar::{RECONCILE, next_look, next_reconcile};
pub use deferred::LEFT_TO_OTHERS;
pub use heartbeat::{Heartbeat, OVERDUE, STUCK_AFTER};
pub use stop::{StopSignal, Stopper, stop_pair};
pub use task::{ABANDON_AFTER, TICK_LIMIT};
pub use ticker::{Lane, Ticked, Ticker};

/// How long a lease lasts. A process that dies is taken over after this, and one that stands still for longer
/// stops before its next effect.
pub const LEASE: SignedDuration = SignedDuration::from_secs(15);
/// How often leases are extended.
pub const HEARTBEAT: SignedDuration = SignedDuration::from_secs(5);
/// The longest sleep, because a machine's clock may be set.
pub const LONGEST_SLEEP: SignedDuration = SignedDuration::from_secs(60);
/// How long running ticks may still take at the end. Below the 25 s that a service has.
pub const DRAIN: SignedDuration = SignedDuration::from_secs(20);
/// How long a shutdown may take to release the leases of ticks that were cut off.
const GIVING_BACK: SignedDuration = SignedDuration::from_secs(3);
/// How often the driver checks whether the machine's clock was set back.
const CALL_BACK: SignedDuration = SignedDuration::from_secs(60);
/// How many leases are kept at most that could not be ended while the inbox was unavailable.
const MAX_UNENDED: usize = 1_000;
/// How often a round checks at most before the loop continues.
const LOOKS_PER_ROUND: usize = 16;
/// How many due repositories are read at most. Those behind them wait until some of them were ticked.
const MAX_DUE: usize = 50_000;

/// How many ticks may run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Ticks at once.
    pub ticks: usize,
    /// Ticks at once that share a lane.
    pub per_lane: usize,
}

impl Default for Bounds {
    /// 32 ticks, 12 that share an account. A tick asks one thing after another, so that this is also the number of
    /// requests at once; GitHub allows 100.
    /// <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api>
    fn default() -> Self {
        Self {
            ticks: 32,
            per_lane: 12,
        }
    }
}

/// Ticks repositories when they are due.
#[derive(Debug)]
pub struct Driver<I, C, T> {
    /// When each repository is due.
    pub inbox: Arc<I>,
    /// The time.
    pub clock: Arc<C>,
    /// Runs the ticks.
    pub ticker: Arc<T>,
    /// The name of this run.
    pub holder: Holder,
    /// How many ticks may run at once.
    pub bounds: Bounds,
    /// Shows a watchdog that the loop runs.
    pub heartbeat: Arc<Heartbeat>,
}

/// The state of a driver's loop.
struct LoopState {
    tasks: JoinSet<Ended>,
    running: BTreeMap<RepositoryId, RunningTick>,
    /// Due, and waiting for room.
    queue: Queue,
    /// Due, and waiting for the end of every other tick.
    waiting_alone: BTreeSet<RepositoryId>,
    /// The repository whose tick must be the only one.
    alone: Option<RepositoryId>,
    lanes: Lanes,
    left: Deferred,
    inbox_outages: InboxOutages,
    outages: Arc<TickOutageLog>,
    /// Leases that could not be ended while the inbox was unavailable.
    unended: Vec<Lease>,
    /// Before this they are not tried again, because that has failed.
    end_after: Timestamp,
    /// When leases were last extended.
    extended_at: Timestamp,
    /// Before this it is not tried again to extend them, because that has failed.
    extend_after: Timestamp,
    /// The driver does not ask before this time again which repositories are due.
    next_check: Timestamp,
    /// When to check again whether the clock was set back.
    call_back_at: Timestamp,
    /// The driver shuts down: no tick is started.
    leaving: Arc<AtomicBool>,
}

/// Calls of the inbox that may fail again and again.
struct InboxOutages {
    asking: OutageLog,
    claiming: OutageLog,
    extending: OutageLog,
    calling_back: OutageLog,
}

impl Default for InboxOutages {
    fn default() -> Self {
        Self {
            asking: OutageLog::new("the inbox cannot be asked which repositories are due"),
            claiming: OutageLog::new("no repository can be claimed"),
            extending: OutageLog::new("leases cannot be extended"),
            calling_back: OutageLog::new(
                "repositories that a wrong clock put off cannot be made due",
            ),
        }
    }
}

/// The task of a tick has ended.
struct Ended {
    repository: RepositoryId,
    /// The lease, where the inbox was unavailable for too long to end it.
    unended: Option<Lease>,
}

/// A repository whose tick runs.
struct RunningTick {
    lease: Lease,
    stopper: Stopper,
    lanes: Vec<Lane>,
}

impl<I: Inbox + 'static, C: Clock, T: Ticker> Driver<I, C, T> {
    /// Ticks the repositories that are due, until `ending` is done.
    pub async fn run(self, ending: impl Future<Output = ()> + Send) {
        let now = self.clock.now();
        let mut hands = LoopState {
            tasks: JoinSet::new(),
            running: BTreeMap::new(),
            queue: Queue::default(),
            waiting_alone: BTreeSet::new(),
            alone: None,
            lanes: Lanes::new(self.bounds.per_lane),
            left: Deferred::default(),
            inbox_outages: InboxOutages::default(),
            outages: Arc::default(),
            unended: Vec::new(),
            end_after: now,
            extended_at: now,
            extend_after: now,
            next_check: now,
            call_back_at: now,
            leaving: Arc::default(),
        };
        let mut news = self.inbox.watch_changes();
        let mut ending = std::pin::pin!(ending);
        loop {
            let sleep_until = match self.round_before(&mut hands, ending.as_mut()).await {
                Ok(sleep_until) => sleep_until,
                Err(asked_at) => return self.drain_ticks(hands, asked_at).await,
            };
            tokio::select! {
                biased;
                () = &mut ending => break,
                Some(ended) = hands.tasks.join_next() => self.finish_tick(&mut hands, ended),
                heard = news.changed() => if heard.is_err() { break },
                () = self.clock.sleep_until(sleep_until) => {}
            }
        }
        let now = self.clock.now();
        self.drain_ticks(hands, now).await;
    }

    /// Runs a round. An error is the time of a shutdown request. Running ticks are stopped at once, however long the inbox takes
    /// to answer. The round still waits for its answer, because the inbox may have given leases.
    async fn round_before(
        &self,
        hands: &mut LoopState,
        ending: Pin<&mut (impl Future<Output = ()> + Send)>,
    ) -> Result<Timestamp, Timestamp> {
        let stoppers: Vec<Stopper> = hands.list_stoppers().cloned().collect();
        let leaving = Arc::clone(&hands.leaving);
        let mut round = std::pin::pin!(self.run_round(hands));
        tokio::select! {
            biased;
            () = ending => {
                let asked_at = self.clock.now();
                leaving.store(true, Ordering::Relaxed);
                stoppers.iter().for_each(Stopper::stop);
                round.await;
                Err(asked_at)
            }
            sleep_until = &mut round => Ok(sleep_until),
        }
    }

    /// Keeps leases alive, starts the ticks that may start, and answers when to come back at the latest.
    ///
    /// A repository that is due and finds no room stays in the queue, without a lease, and starts as soon as a tick ends. While
    /// there are such, the inbox is asked once a [`RETRY_DELAY`] which others are due, however often this is called: a
    /// repository that became due meanwhile may be in a lane that has room. Once all of them have started, it is asked at once.
    async fn run_round(&self, hands: &mut LoopState) -> Timestamp {
        let now = self.clock.now();
        if hands.is_leaving() {
            return now;
        }
        self.heartbeat.record_turn(now);
        hands.outages.flush(now);
        if !self.extend(hands).await {
            return hands.extend_after;
        }
        if !hands.is_leaving() {
            self.end_leases(hands).await;
            self.call_back(hands).await;
        }
        let now = self.clock.now();
        // After the clock was set back, a short pause must not last a day.
        hands.next_check = hands.next_check.min(time_after(now, RETRY_DELAY));
        let mut until = time_after(now, LONGEST_SLEEP);
        if !hands.running.is_empty() {
            until = until.min(time_after(hands.extended_at, HEARTBEAT));
        }
        self.start_queued(hands).await;
        for _ in 0..LOOKS_PER_ROUND {
            if hands.is_leaving() || hands.running.len() >= self.bounds.ticks {
                // The queue waits for the end of a tick.
                return until;
            }
            if self.clock.now() < hands.next_check {
                return until.min(hands.next_check);
            }
            // Reads of a slow inbox may take as long as a lease lasts.
            if !self.extend(hands).await {
                return hands.extend_after;
            }
            match self.inbox.next_due().await {
                Ok(Some(due)) if due <= self.clock.now() => {
                    let blocked = self.check_inbox(hands).await;
                    self.start_queued(hands).await;
                    if blocked || !hands.queue.is_empty() || !hands.waiting_alone.is_empty() {
                        hands.next_check = time_after(self.clock.now(), RETRY_DELAY);
                    }
                }
                Ok(due) => {
                    hands
                        .inbox_outages
                        .asking
                        .record_success(|| self.clock.now());
                    return due.map_or(until, |due| until.min(due));
                }
                Err(error) => {
                    let now = self.clock.now();
                    hands.inbox_outages.asking.record_failure(error, now);
                    hands.next_check = time_after(now, RETRY_DELAY);
                }
            }
        }
        // Very many become due one after another, or a repository is due and cannot be leased.
        hands.next_check = time_after(self.clock.now(), RETRY_DELAY);
        until.min(hands.next_check)
    }

    /// Reads which repositories are due. `true`: one is that cannot be started whatever room there is, or the inbox failed.
    async fn check_inbox(&self, hands: &mut LoopState) -> bool {
        let now = self.clock.now();
        let due = match self.inbox.list_due(now, MAX_DUE).await {
            Ok(due) => {
                hands
                    .inbox_outages
                    .asking
                    .record_success(|| self.clock.now());
                due
            }
            Err(error) => {
                hands
                    .inbox_outages
                    .asking
                    .record_failure(error, self.clock.now());
                return true;
            }
        };
        let seen = due.len();
        // Of those whose lease has run out although their tick still runs: it was stopped, and must end first.
        let free: Vec<RepositoryId> = due
            .into_iter()
            .filter(|id| !hands.running.contains_key(id))
            .collect();
        let is_ours = |id| !self.inbox.is_shared() || self.ticker.is_ready(id);
        let free = hands.left.take_due(free, now, is_ours);
        let blocked = free.len() < seen;
        let alone: BTreeSet<RepositoryId> = match self.inbox.due_alone(now).await {
            Ok(alone) => alone.into_iter().collect(),
            Err(error) => {
                hands
                    .inbox_outages
                    .asking
                    .record_failure(error, self.clock.now());
                return true;
            }
        };
        let (waiting_alone, free): (Vec<_>, Vec<_>) =
            free.into_iter().partition(|id| alone.contains(id));
        hands.waiting_alone = waiting_alone.into_iter().collect();
        hands.queue = Queue::new(free, |id| self.ticker.repository_lanes(id));
        blocked
    }

    /// Leases and starts repositories of the queue as far as there is room.
    async fn start_queued(&self, hands: &mut LoopState) {
        if hands.is_leaving() || !self.start_alone(hands).await {
            return;
        }
        let mut entered = BTreeMap::new();
        while hands.running.len() + entered.len() < self.bounds.ticks {
            let Some((id, lanes)) = hands.queue.enter_next(&mut hands.lanes) else {
                break;
            };
            // It may have been started since the queue was made, and be due again.
            if hands.running.contains_key(&id) {
                hands.lanes.leave_lanes(&lanes);
            } else {
                entered.insert(id, lanes);
            }
        }
        if entered.is_empty() {
            return;
        }
        let ids: Vec<RepositoryId> = entered.keys().copied().collect();
        let claimed = self
            .inbox
            .claim_leases(&self.holder, self.clock.now(), LEASE, &ids)
            .await;
        // The answer may have taken long.
        let now = self.clock.now();
        match claimed {
            Ok(leases) => {
                hands.inbox_outages.claiming.record_success(|| now);
                let (stand, over): (Vec<_>, Vec<_>) =
                    leases.into_iter().partition(|lease| now < lease.until);
                for lease in stand {
                    if let Some(lanes) = entered.remove(&lease.repository) {
                        self.start(hands, lease, lanes);
                    }
                }
                self.give_back(over).await;
                if hands.queue.is_empty() {
                    hands.next_check = now;
                }
            }
            Err(error) => {
                hands.inbox_outages.claiming.record_failure(error, now);
                hands.queue = Queue::default();
                hands.next_check = time_after(now, RETRY_DELAY);
            }
        }
        // Those that are not due any more, or that have to wait.
        for lanes in entered.values() {
            hands.lanes.leave_lanes(lanes);
        }
    }

    /// Starts the next repository that must be ticked alone, once no tick runs. `true`: none is waiting, so that others
    /// may be started. A tick ends within [`TICK_LIMIT`] and [`ABANDON_AFTER`], which bounds how long the others wait.
    async fn start_alone(&self, hands: &mut LoopState) -> bool {
        while let Some(id) = hands.waiting_alone.first().copied() {
            if !hands.running.is_empty() {
                return false;
            }
            let claimed_at = self.clock.now();
            let claimed = self.inbox.claim_alone(&self.holder, claimed_at, LEASE, id);
            let claimed = claimed.await;
            let now = self.clock.now();
            match claimed {
                Ok(lease) => {
                    hands.inbox_outages.claiming.record_success(|| now);
                    hands.waiting_alone.remove(&id);
                    match lease {
                        Some(lease) if now < lease.until => {
                            let repository = self.ticker.display_name(id);
                            tracing::warn!(
                                repository,
                                "the process died {ALONE_AFTER_DEATHS} times or more while this repository was ticked; it \
                                 is ticked alone now, and suspended if the process dies again"
                            );
                            let lanes = self.ticker.repository_lanes(id);
                            hands.lanes.enter_lanes(&lanes);
                            hands.alone = Some(id);
                            self.start(hands, lease, lanes);
                        }
                        Some(over) => self.give_back(vec![over]).await,
                        None => self.report_suspension(id, claimed_at).await,
                    }
                }
                Err(error) => {
                    hands.inbox_outages.claiming.record_failure(error, now);
                    hands.next_check = time_after(now, RETRY_DELAY);
                    return false;
                }
            }
        }
        hands.alone.is_none()
    }

    /// Logs that a repository was suspended by the claim of this time, where that is so: no tick of it ends that could.
    async fn report_suspension(&self, id: RepositoryId, claimed_at: Timestamp) {
        let Ok(Some(wake)) = self.inbox.read_wake(id).await else {
            return;
        };
        let is_new =
            |suspended: &&Suspended| suspended.at.as_microsecond() >= claimed_at.as_microsecond();
        if let Some(suspended) = wake.suspended.as_ref().filter(is_new) {
            let repository = self.ticker.display_name(id);
            tracing::error!(
                repository,
                "the repository is suspended: {}; the others go on. `phileas service suspended list` says why, `phileas service suspended \
                 resume` resumes it",
                suspended.because
            );
        }
    }

    /// Starts a repository's tick, which has entered its lanes.
    fn start(&self, hands: &mut LoopState, lease: Lease, lanes: Vec<Lane>) {
        let clock = Arc::clone(&self.clock);
        let (stopper, stop) = stop_pair(lease.until, move || clock.now());
        let task = Task {
            inbox: Arc::clone(&self.inbox),
            clock: Arc::clone(&self.clock),
            ticker: Arc::clone(&self.ticker),
            heartbeat: Arc::clone(&self.heartbeat),
            lease: lease.clone(),
            leaving: Arc::clone(&hands.leaving),
            outages: Arc::clone(&hands.outages),
            stopper: stopper.clone(),
            stop,
        };
        let repository = lease.repository;
        hands.tasks.spawn(async move {
            let unended = match shielded::catch_panic(task.run()).await {
                Ok(unended) => unended,
                Err(panic) => {
                    tracing::error!(
                        repository = repository.0,
                        "ending a lease panicked: {panic}"
                    );
                    None
                }
            };
            Ended {
                repository,
                unended,
            }
        });
        let running = RunningTick {
            lease,
            stopper,
            lanes,
        };
        hands.running.insert(running.lease.repository, running);
    }

    /// Releases the leases that could not be ended while the inbox was unavailable. Where another process has taken one over, it
    /// has counted a death of this one, which the inbox takes back now.
    async fn end_leases(&self, hands: &mut LoopState) {
        if hands.unended.is_empty() {
            return;
        }
        let now = self.clock.now();
        // A clock that was set back must not make the delay as long as a day.
        hands.end_after = hands.end_after.min(time_after(now, RETRY_DELAY));
        if now < hands.end_after {
            return;
        }
        while let Some(lease) = hands.unended.last() {
            if let Err(InboxError::Unavailable(because)) =
                self.inbox.release_lease(lease, now).await
            {
                tracing::debug!("a lease cannot be given back yet: {because}");
                hands.end_after = time_after(self.clock.now(), RETRY_DELAY);
                return;
            }
            hands.unended.pop();
        }
    }

    /// Calls back repositories that a clock deferred too far before it was set back.
    async fn call_back(&self, hands: &mut LoopState) {
        let now = self.clock.now();
        // Were the clock set back meanwhile, this would never come.
        hands.call_back_at = hands.call_back_at.min(time_after(now, CALL_BACK));
        if now < hands.call_back_at {
            return;
        }
        hands.call_back_at = time_after(now, CALL_BACK);
        match self.inbox.call_back(now).await {
            Ok(called) => {
                hands.inbox_outages.calling_back.record_success(|| now);
                if called > 0 {
                    tracing::warn!(
                        repositories = called,
                        "the machine's clock was set back; repositories that it had deferred too far are due now"
                    );
                }
            }
            Err(error) => {
                let now = self.clock.now();
                hands.inbox_outages.calling_back.record_failure(error, now);
                hands.next_check = time_after(now, RETRY_DELAY);
            }
        }
    }

    /// A tick has ended, and its lease with it.
    fn finish_tick(&self, hands: &mut LoopState, ended: Result<Ended, tokio::task::JoinError>) {
        // A task catches every panic; what is left are tasks that were cut off at the end.
        let Ok(Ended {
            repository,
            unended,
        }) = ended
        else {
            return;
        };
        if hands.unended.len() < MAX_UNENDED {
            hands.unended.extend(unended);
        }
        if let Some(running) = hands.running.remove(&repository) {
            hands.lanes.leave_lanes(&running.lanes);
        }
        if hands.alone == Some(repository) {
            hands.alone = None;
        }
        // It may have been seen as due while it still ran, for its lease ends a moment before it does. Then it is what
        // the others wait for.
        if hands.queue.is_empty() {
            hands.next_check = self.clock.now();
        }
    }

    /// Extends all leases when it is time. Whose lease is lost must stop; whose lease cannot be extended knows itself
    /// when it is over. `false`: the inbox has failed, and is not called for a [`RETRY_DELAY`], even if deliveries arrive.
    async fn extend(&self, hands: &mut LoopState) -> bool {
        let now = self.clock.now();
        // After the clock was set back, a short pause must not last a day.
        hands.extend_after = hands.extend_after.min(time_after(now, RETRY_DELAY));
        let due = time_after(hands.extended_at, HEARTBEAT);
        let leases: Vec<Lease> = hands
            .running
            .values()
            .map(|running| running.lease.clone())
            .collect();
        if leases.is_empty() {
            hands.extended_at = now;
            return true;
        }
        if now < hands.extend_after {
            return false;
        }
        // A clock that was set back must not let leases run out.
        if hands.extended_at <= now && now < due {
            return true;
        }
        match self.inbox.extend_leases(&leases, now, LEASE).await {
            Ok(held) => {
                hands.inbox_outages.extending.record_success(|| now);
                hands.extended_at = now;
                for (repository, running) in &hands.running {
                    if held.contains(repository) {
                        // Counted from before the call: the inbox has not received it any earlier.
                        running.stopper.extend_lease(time_after(now, LEASE));
                    } else {
                        running.stopper.stop();
                    }
                }
                true
            }
            Err(error) => {
                let now = self.clock.now();
                hands.inbox_outages.extending.record_failure(error, now);
                hands.extend_after = time_after(now, RETRY_DELAY);
                false
            }
        }
    }

    /// Gives leases back all at once, so that an inbox on disk needs to wait for it only once.
    async fn give_back(&self, leases: Vec<Lease>) {
        let mut giving = JoinSet::new();
        let now = self.clock.now();
        for lease in leases {
            let inbox = Arc::clone(&self.inbox);
            giving.spawn(async move {
                if let Err(error) = inbox.release_lease(&lease, now).await {
                    tracing::warn!("a lease cannot be given back and will run out: {error}");
                }
            });
        }
        while giving.join_next().await.is_some() {}
    }

    /// Shuts down: no tick is started, running ticks are stopped and waited for, every lease is released. Their time
    /// began when it was asked for.
    async fn drain_ticks(&self, mut hands: LoopState, asked_at: Timestamp) {
        hands.leaving.store(true, Ordering::Relaxed);
        hands.list_stoppers().for_each(Stopper::stop);
        let deadline = time_after(asked_at, DRAIN);
        loop {
            tokio::select! {
                biased;
                ended = hands.tasks.join_next() => match ended {
                    Some(ended) => self.finish_tick(&mut hands, ended),
                    None => break,
                },
                () = self.clock.sleep_until(deadline) => break,
            }
        }
        hands.tasks.shutdown().await;
        let mut cut_off = hands.unended;
        for running in hands.running.into_values() {
            tracing::warn!(
                repository = running.lease.repository.0,
                "a tick did not stop in time and was cut off; the ledger survives that as it survives a kill"
            );
            cut_off.push(running.lease);
        }
        let deadline = time_after(self.clock.now(), GIVING_BACK);
        tokio::select! {
            biased;
            () = self.give_back(cut_off) => {}
            () = self.clock.sleep_until(deadline) => {}
        }
    }
}

impl LoopState {
    fn list_stoppers(&self) -> impl Iterator<Item = &Stopper> {
        self.running.values().map(|running| &running.stopper)
    }

    fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::Relaxed)
    }
}
