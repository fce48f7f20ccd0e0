//! The driver: ticks every repository when it is due.
//!
//! One timer serves all repositories. The inbox says when the next one is due. The driver sleeps
//! until then, until a delivery arrives, or until a running tick ends. The result of a tick decides
//! when its repository is due again. No repository goes without a tick for longer than
//! [`RECONCILE`], and these ticks are spread over the hour.
//!
//! Guarantees:
//!
//! 1. A repository is ticked by one task of this process at a time, under a fenced lease that the
//!    driver extends. When the lease is lost, or expires because it could not be extended, the tick is
//!    stopped before its next effect.
//! 2. No repository is leased before there is room for its tick. At most [`Bounds::ticks`] ticks
//!    run at once, and at most [`Bounds::per_lane`] that share a lane (a GitHub installation, a Jules
//!    key). So a slow or exhausted account does not delay the others. Within these bounds, the
//!    repository that has been due for longest goes first.
//! 3. A tick that panics, or never ends, is a fault of its repository; the others continue.
//! 4. A repository whose ticks have killed the process twice is ticked while no other tick runs, so
//!    that a third death shows which repository causes it.
//! 5. A repository that this process cannot tick now is deferred for [`DEFER_TIME`], so that
//!    other processes with the same inbox can tick it. Then this process ticks it, one at a time.
//! 6. At shutdown the driver stops running ticks, waits for them for [`DRAIN`], and releases every
//!    lease.

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
pub use deferred::DEFER_TIME;
pub use heartbeat::{Heartbeat, OVERDUE, STUCK_AFTER};
pub use stop::{StopSignal, Stopper, stop_pair};
pub use task::{ABANDON_AFTER, TICK_LIMIT};
pub use ticker::{Lane, Ticked, Ticker};

/// How long a lease lasts. Another process takes over from one that died after this time. A process
/// that was suspended for longer stops before its next effect.
pub const LEASE: SignedDuration = SignedDuration::from_secs(15);
/// The longest sleep: a machine's clock may be changed meanwhile.
pub const LONGEST_SLEEP: SignedDuration = SignedDuration::from_secs(60);
/// How long running ticks may take at shutdown. Less than the 25 s that a service has.
pub const DRAIN: SignedDuration = SignedDuration::from_secs(20);
/// How long a shutdown may take to release the leases of ticks that were aborted.
const GIVING_BACK: SignedDuration = SignedDuration::from_secs(3);
/// How often the driver checks whether the machine's clock was set back.
const CALL_BACK: SignedDuration = SignedDuration::from_secs(60);
/// How many leases the driver remembers that could not be ended while the inbox was unavailable.
const MAX_UNENDED: usize = 1_000;
/// How often a round reads the inbox before the loop continues.
const LOOKS_PER_ROUND: usize = 16;
/// How many due repositories are read at once. The others are read after some of these were ticked.
const MAX_DUE: usize = 50_000;

/// How many ticks may run at once, and how long they hold their repositories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The most ticks at once.
    pub ticks: usize,
    /// The most ticks at once that share a lane.
    pub per_lane: usize,
    /// How long a lease lasts, at most [`MAX_LEASE`](super::inbox::MAX_LEASE). It is extended after a third of that.
    pub lease: SignedDuration,
}

impl Bounds {
    /// How often leases are extended.
    #[must_use]
    pub fn heartbeat(&self) -> SignedDuration {
        self.lease / 3
    }
}

impl Default for Bounds {
    /// 32 ticks, 12 that share an account. A tick sends one request after another, so this is also
    /// the number of requests at once; GitHub allows 100.
    /// <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api>
    fn default() -> Self {
        Self {
            ticks: 32,
            per_lane: 12,
            lease: LEASE,
        }
    }
}

/// Ticks repositories when they are due.
#[derive(Debug)]
pub struct Driver<I, C, T> {
    /// Says when each repository is due.
    pub inbox: Arc<I>,
    /// The clock.
    pub clock: Arc<C>,
    /// Runs the ticks.
    pub ticker: Arc<T>,
    /// The name of this run in leases.
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
    /// Repositories that are due and wait for room.
    queue: Queue,
    /// Repositories that are due and wait until no other tick runs.
    waiting_alone: BTreeSet<RepositoryId>,
    /// The repository whose tick must be the only one.
    alone: Option<RepositoryId>,
    lanes: Lanes,
    left: Deferred,
    inbox_outages: InboxOutages,
    outages: Arc<TickOutageLog>,
    /// Leases that could not be ended while the inbox was unavailable.
    unended: Vec<Lease>,
    /// Not before this time does the driver try again to end them, because the inbox has failed.
    end_after: Timestamp,
    /// When leases were last extended.
    extended_at: Timestamp,
    /// Not before this time does the driver try again to extend them, because the inbox has failed.
    extend_after: Timestamp,
    /// Not before this time does the driver read again which repositories are due.
    next_check: Timestamp,
    /// When to check again whether the clock was set back.
    call_back_at: Timestamp,
    /// Whether the driver shuts down: no tick is started.
    leaving: Arc<AtomicBool>,
}

/// Calls of the inbox that may fail repeatedly, and their outages.
struct InboxOutages {
    asking: OutageLog,
    claiming: OutageLog,
    extending: OutageLog,
    calling_back: OutageLog,
}

impl Default for InboxOutages {
    fn default() -> Self {
        Self {
            asking: OutageLog::new("the due repositories cannot be read from the inbox"),
            claiming: OutageLog::new("no repository can be claimed"),
            extending: OutageLog::new("leases cannot be extended"),
            calling_back: OutageLog::new(
                "repositories that a wrong clock deferred cannot be made due",
            ),
        }
    }
}

/// The task of a tick has ended.
struct Ended {
    repository: RepositoryId,
    /// The lease, if the inbox was unavailable for too long to end it.
    unended: Option<Lease>,
}

/// A repository whose tick runs.
struct RunningTick {
    lease: Lease,
    stopper: Stopper,
    lanes: Vec<Lane>,
}

impl<I: Inbox + 'static, C: Clock, T: Ticker> Driver<I, C, T> {
    /// Ticks the repositories that are due, until `ending` completes.
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

    /// Runs a round. The error is the time of a shutdown request, at which running ticks are
    /// stopped at once. The round still waits for the inbox, because it may have granted leases.
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

    /// Extends leases, starts the ticks that may start, and returns the latest time for the next
    /// round.
    ///
    /// A due repository without room stays in the queue, without a lease, and starts as soon as a
    /// tick ends. While the queue waits, the driver reads the due repositories once a
    /// [`RETRY_DELAY`], however often it is woken: a repository that became due meanwhile may be in
    /// a lane that has room. When all of the queue have started, it reads them at once.
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
            until = until.min(time_after(hands.extended_at, self.bounds.heartbeat()));
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
            // A slow inbox may take as long to read as a lease lasts.
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
        // Either very many repositories become due one after another, or one is due and cannot be
        // leased.
        hands.next_check = time_after(self.clock.now(), RETRY_DELAY);
        until.min(hands.next_check)
    }

    /// Reads which repositories are due. `true`: one of them cannot be started even with room, or
    /// the inbox failed.
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
        // A repository whose lease has expired may be due while its tick still runs. That tick was
        // stopped, and must end first.
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
            // It may have been started since the queue was built, and be due again.
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
            .claim_leases(&self.holder, self.clock.now(), self.bounds.lease, &ids)
            .await;
        // The inbox may have taken long to reply.
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
        // These are not due any more, or must wait.
        for lanes in entered.values() {
            hands.lanes.leave_lanes(lanes);
        }
    }

    /// Starts the next repository that must be ticked alone, once no tick runs. `true`: none is
    /// waiting, so that others may start. A tick ends within [`TICK_LIMIT`] and [`ABANDON_AFTER`],
    /// which limits how long the others wait.
    async fn start_alone(&self, hands: &mut LoopState) -> bool {
        while let Some(id) = hands.waiting_alone.first().copied() {
            if !hands.running.is_empty() {
                return false;
            }
            let claimed_at = self.clock.now();
            let claimed = self
                .inbox
                .claim_alone(&self.holder, claimed_at, self.bounds.lease, id);
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
                                "the process died {ALONE_AFTER_DEATHS} times or more while it ticked this repository; \
                                 phileas now ticks it alone, and suspends it if the process dies again"
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

    /// Logs whether this claim suspended a repository. A suspended one gets no tick whose end could
    /// log it.
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
                "the repository is suspended: {}; phileas continues with the others. `phileas service suspended list` \
                 shows the reason, `phileas service suspended resume` resumes it",
                suspended.because
            );
        }
    }

    /// Starts the tick of a repository that has entered its lanes.
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

    /// Releases the leases that could not be ended while the inbox was unavailable. A process that
    /// took one over has counted a death of this process, which the inbox now takes back.
    async fn end_leases(&self, hands: &mut LoopState) {
        if hands.unended.is_empty() {
            return;
        }
        let now = self.clock.now();
        // After the clock was set back, a short pause must not last a day.
        hands.end_after = hands.end_after.min(time_after(now, RETRY_DELAY));
        if now < hands.end_after {
            return;
        }
        while let Some(lease) = hands.unended.last() {
            if let Err(InboxError::Unavailable(because)) =
                self.inbox.release_lease(lease, now).await
            {
                tracing::debug!("a lease cannot be released yet: {because}");
                hands.end_after = time_after(self.clock.now(), RETRY_DELAY);
                return;
            }
            hands.unended.pop();
        }
    }

    /// Makes repositories due that a wrong clock deferred too far.
    async fn call_back(&self, hands: &mut LoopState) {
        let now = self.clock.now();
        // After the clock was set back, this time would come much too late.
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

    /// Ends a tick whose task has ended its lease.
    fn finish_tick(&self, hands: &mut LoopState, ended: Result<Ended, tokio::task::JoinError>) {
        // A task catches every panic; only tasks that were aborted at shutdown have none of this.
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
        // A lease ends a moment before its tick, so the last read may have left out this repository
        // as running. With an empty queue, the driver reads again.
        if hands.queue.is_empty() {
            hands.next_check = self.clock.now();
        }
    }

    /// Extends all leases when they are due for it, and stops ticks whose lease is lost. A tick
    /// whose lease could not be extended finds by itself when it ends. `false`: the inbox has
    /// failed, and is not called for a [`RETRY_DELAY`], even if deliveries arrive.
    async fn extend(&self, hands: &mut LoopState) -> bool {
        let now = self.clock.now();
        // After the clock was set back, a short pause must not last a day.
        hands.extend_after = hands.extend_after.min(time_after(now, RETRY_DELAY));
        let due = time_after(hands.extended_at, self.bounds.heartbeat());
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
        // A clock that was set back must not let leases expire.
        if hands.extended_at <= now && now < due {
            return true;
        }
        match self
            .inbox
            .extend_leases(&leases, now, self.bounds.lease)
            .await
        {
            Ok(held) => {
                hands.inbox_outages.extending.record_success(|| now);
                hands.extended_at = now;
                for (repository, running) in &hands.running {
                    if held.contains(repository) {
                        // Counted from before the call: the inbox has not received it any earlier.
                        running
                            .stopper
                            .extend_lease(time_after(now, self.bounds.lease));
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

    /// Releases all leases at once, so that an inbox on disk waits for the disk only once.
    async fn give_back(&self, leases: Vec<Lease>) {
        let mut giving = JoinSet::new();
        let now = self.clock.now();
        for lease in leases {
            let inbox = Arc::clone(&self.inbox);
            giving.spawn(async move {
                if let Err(error) = inbox.release_lease(&lease, now).await {
                    tracing::warn!("a lease cannot be released and will expire: {error}");
                }
            });
        }
        while giving.join_next().await.is_some() {}
    }

    /// Shuts down: starts no tick, stops and awaits running ticks, releases every lease. Their time
    /// began with the request.
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
                "a tick did not stop in time and was aborted; the ledger is valid, as after a kill"
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
