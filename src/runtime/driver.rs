//! The clock, and the loop over many repositories: whoever is due is ticked, and nobody else.
//!
//! One timer serves all repositories: the inbox tells when the next one is due, and the driver sleeps until then, until
//! something is heard, or until a running tick ends. What a tick answers decides when its repository is due again; no
//! repository is left alone for longer than [`RECONCILE`], and these looks are spread over the hour.
//!
//! What is promised:
//!
//! 1. A repository is ticked by one task of this process at a time, under a fenced lease that is kept alive meanwhile.
//!    When the lease is lost, the tick is told to stop before its next effect.
//! 2. At most [`Bounds::ticks`] ticks run at once, and at most [`Bounds::per_lane`] that share a lane (a GitHub
//!    installation, a Jules key), so that one slow or spent account does not hold up the others. Within that, whoever
//!    has been due for longest goes first.
//! 3. A tick that panics, or never ends, is a fault of its repository; the others go on.
//! 4. At the end running ticks are told to stop, are waited for for [`DRAIN`], and every lease is given back.

mod calendar;
mod lanes;
mod pulse;
mod shielded;
mod stop;
mod task;
mod ticker;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::{Holder, RepositoryId};
use tokio::task::JoinSet;

use super::inbox::{Inbox, Lease};
use super::ports::Clock;
use lanes::Lanes;
use task::Task;

pub use calendar::{RECONCILE, next_look, next_reconcile};
pub use pulse::{OVERDUE, Pulse, STUCK_AFTER};
pub use stop::{Stop, Stopper, stopper};
pub use task::{ABANDON_AFTER, TICK_LIMIT};
pub use ticker::{Lane, Ticked, Ticker};

/// How long a lease is given for. A process that dies is taken over after this.
pub const LEASE: SignedDuration = SignedDuration::from_secs(60);
/// How often leases are extended.
pub const HEARTBEAT: SignedDuration = SignedDuration::from_secs(15);
/// The longest sleep, because a machine's clock may be set.
pub const LONGEST_SLEEP: SignedDuration = SignedDuration::from_secs(60);
/// How long running ticks may still take at the end. Below the 25 s that a service has.
pub const DRAIN: SignedDuration = SignedDuration::from_secs(20);
/// The pause after repositories were turned away because their lanes were full, or after the inbox failed.
const BREATH: SignedDuration = SignedDuration::from_secs(1);
/// How often a round claims at most before it looks around again.
const CLAIMS_PER_ROUND: usize = 16;
/// How many are claimed at a time. Those that find no room even to wait are given back, and then stand behind all
/// others that are due.
const CLAIM_BATCH: usize = 32;
/// How many leased repositories may wait for room in all.
const MAX_WAITING: usize = 256;

/// How much may happen at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Ticks at once.
    pub ticks: usize,
    /// Ticks at once that share a lane.
    pub per_lane: usize,
    /// Leased repositories that may wait for room in their lanes, for each lane.
    pub waiting_per_lane: usize,
}

impl Default for Bounds {
    /// 32 ticks, 12 that share an account. A tick asks one thing after another, so that this is also the number of
    /// requests at once; GitHub allows 100.
    /// <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api>
    fn default() -> Self {
        Self {
            ticks: 32,
            per_lane: 12,
            waiting_per_lane: 24,
        }
    }
}

/// Ticks repositories when they are due.
#[derive(Debug)]
pub struct Driver<I, C, T> {
    /// Who is due when.
    pub inbox: Arc<I>,
    /// The time.
    pub clock: Arc<C>,
    /// What a tick is.
    pub ticker: Arc<T>,
    /// The name of this run.
    pub holder: Holder,
    /// How much may happen at once.
    pub bounds: Bounds,
    /// Tells a watchdog that the loop turns.
    pub pulse: Arc<Pulse>,
}

/// What a driver has in its hands.
struct Hands {
    tasks: JoinSet<RepositoryId>,
    running: BTreeMap<RepositoryId, Running>,
    /// Leased, and waiting for room in their lanes; longest overdue first.
    waiting: VecDeque<Lease>,
    lanes: Lanes,
    /// When leases were last extended.
    extended_at: Timestamp,
    /// Nobody is claimed before this.
    breathe_until: Timestamp,
}

/// A repository whose tick runs.
struct Running {
    lease: Lease,
    stopper: Stopper,
    lanes: Vec<Lane>,
}

impl<I: Inbox + 'static, C: Clock, T: Ticker> Driver<I, C, T> {
    /// Ticks whoever is due, until `ending` is done.
    pub async fn run(self, ending: impl Future<Output = ()> + Send) {
        let now = self.clock.now();
        let mut hands = Hands {
            tasks: JoinSet::new(),
            running: BTreeMap::new(),
            waiting: VecDeque::new(),
            lanes: Lanes::new(self.bounds.per_lane),
            extended_at: now,
            breathe_until: now,
        };
        let mut news = self.inbox.news();
        let mut ending = std::pin::pin!(ending);
        loop {
            let sleep_until = self.round(&mut hands).await;
            tokio::select! {
                biased;
                () = &mut ending => break,
                Some(ended) = hands.tasks.join_next() => self.ended(&mut hands, ended),
                heard = news.changed() => if heard.is_err() { break },
                () = self.clock.sleep_until(sleep_until) => {}
            }
        }
        self.drain(hands).await;
    }

    /// Keeps leases alive, starts whoever may start, and answers when to come back at the latest.
    async fn round(&self, hands: &mut Hands) -> Timestamp {
        let now = self.clock.now();
        self.pulse.turned(now);
        self.extend(hands, now).await;
        self.start_waiting(hands);
        let mut until = later(now, LONGEST_SLEEP);
        if !hands.running.is_empty() || !hands.waiting.is_empty() {
            until = until.min(later(hands.extended_at, HEARTBEAT));
        }
        let mut turned_away = BTreeSet::new();
        for _ in 0..CLAIMS_PER_ROUND {
            if now < hands.breathe_until || hands.running.len() >= self.bounds.ticks {
                break;
            }
            match self.inbox.next_due().await {
                Ok(Some(due)) if due <= now => self.claim(hands, &mut turned_away).await,
                Ok(due) => return due.map_or(until, |due| until.min(due)),
                Err(error) => {
                    tracing::error!("the inbox cannot be asked who is due: {error}");
                    hands.breathe_until = later(now, BREATH);
                }
            }
        }
        if hands.running.len() >= self.bounds.ticks {
            return until;
        }
        // Some are due and found no room, or there are very many of them.
        hands.breathe_until = hands.breathe_until.max(later(now, BREATH));
        until.min(hands.breathe_until)
    }

    /// Claims some of those who are due, and starts them or lets them wait as far as there is room.
    async fn claim(&self, hands: &mut Hands, turned_away: &mut BTreeSet<RepositoryId>) {
        let now = self.clock.now();
        let claimed = self
            .inbox
            .claim(&self.holder, now, LEASE, CLAIM_BATCH)
            .await;
        let leases = match claimed {
            Ok(leases) => leases,
            Err(error) => {
                tracing::error!("nobody can be claimed: {error}");
                hands.breathe_until = later(now, BREATH);
                return;
            }
        };
        let mut progress = false;
        let mut given_back = Vec::new();
        for lease in leases {
            match self.take(hands, lease) {
                None => progress = true,
                Some(lease) => {
                    // Whoever comes round again has seen all others go by.
                    progress |= turned_away.insert(lease.repository);
                    given_back.push(lease);
                }
            }
        }
        self.give_back(given_back).await;
        if !progress {
            hands.breathe_until = later(now, BREATH);
        }
    }

    /// Starts a repository's tick, or lets it wait for room in its lanes. Answers with the lease where there is no room
    /// even to wait.
    fn take(&self, hands: &mut Hands, lease: Lease) -> Option<Lease> {
        if hands.running.contains_key(&lease.repository) {
            // It was taken over from ourselves: its old tick has been told to stop, and must end first.
            return Some(lease);
        }
        let lanes = self.ticker.lanes(lease.repository);
        let free = hands.running.len() < self.bounds.ticks;
        if free && hands.lanes.has_room(&lanes) {
            self.start(hands, lease, lanes);
            return None;
        }
        let most = self.bounds.waiting_per_lane;
        if hands.waiting.len() < MAX_WAITING && hands.lanes.may_wait(&lanes, most) {
            hands.lanes.wait(&lanes);
            hands.waiting.push_back(lease);
            return None;
        }
        Some(lease)
    }

    fn start(&self, hands: &mut Hands, lease: Lease, lanes: Vec<Lane>) {
        let (stopper, stop) = stopper();
        let task = Task {
            inbox: Arc::clone(&self.inbox),
            clock: Arc::clone(&self.clock),
            ticker: Arc::clone(&self.ticker),
            pulse: Arc::clone(&self.pulse),
            lease: lease.clone(),
            stop,
        };
        let repository = lease.repository;
        hands.tasks.spawn(async move {
            if let Err(panic) = shielded::shielded(task.run()).await {
                tracing::error!(
                    repository = repository.0,
                    "ending a lease panicked: {panic}"
                );
            }
            repository
        });
        hands.lanes.enter(&lanes);
        let running = Running {
            lease,
            stopper,
            lanes,
        };
        hands.running.insert(running.lease.repository, running);
    }

    /// Starts those who waited for room, in the order in which they came.
    fn start_waiting(&self, hands: &mut Hands) {
        for _ in 0..hands.waiting.len() {
            let Some(lease) = hands.waiting.pop_front() else {
                return;
            };
            let lanes = self.ticker.lanes(lease.repository);
            let free = hands.running.len() < self.bounds.ticks;
            if free && hands.lanes.has_room(&lanes) {
                self.start(hands, lease, lanes);
            } else {
                hands.waiting.push_back(lease);
            }
        }
        let waiting: Vec<Vec<Lane>> = hands
            .waiting
            .iter()
            .map(|lease| self.ticker.lanes(lease.repository))
            .collect();
        hands.lanes.recount(&waiting);
    }

    /// A tick has ended, and its lease with it.
    fn ended(&self, hands: &mut Hands, ended: Result<RepositoryId, tokio::task::JoinError>) {
        // A task catches every panic; what is left are tasks that were cut off at the end.
        let Ok(repository) = ended else { return };
        if let Some(running) = hands.running.remove(&repository) {
            hands.lanes.leave(&running.lanes);
        }
    }

    /// Extends all leases when it is time. Whose lease is lost must stop.
    async fn extend(&self, hands: &mut Hands, now: Timestamp) {
        let due = later(hands.extended_at, HEARTBEAT);
        let leases: Vec<Lease> = hands
            .running
            .values()
            .map(|running| running.lease.clone())
            .chain(hands.waiting.iter().cloned())
            .collect();
        if leases.is_empty() {
            hands.extended_at = now;
            return;
        }
        if now < due {
            return;
        }
        match self.inbox.heartbeat(&leases, now, LEASE).await {
            Ok(held) => {
                hands.extended_at = now;
                hands
                    .waiting
                    .retain(|lease| held.contains(&lease.repository));
                for (repository, running) in &hands.running {
                    if !held.contains(repository) {
                        running.stopper.stop();
                    }
                }
            }
            Err(error) => {
                tracing::error!("leases cannot be extended: {error}");
                // Leases that may have run out are not relied on. They are asked about again at the next round.
                if now >= later(hands.extended_at, LEASE) {
                    hands.waiting.clear();
                    for running in hands.running.values() {
                        running.stopper.stop();
                    }
                }
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
                if let Err(error) = inbox.release(&lease, now).await {
                    tracing::warn!("a lease cannot be given back and will run out: {error}");
                }
            });
        }
        while giving.join_next().await.is_some() {}
    }

    /// Ends: nobody new is started, running ticks are told to stop and waited for, every lease is given back.
    async fn drain(&self, mut hands: Hands) {
        for running in hands.running.values() {
            running.stopper.stop();
        }
        self.give_back(hands.waiting.drain(..).collect()).await;
        let deadline = later(self.clock.now(), DRAIN);
        loop {
            tokio::select! {
                biased;
                ended = hands.tasks.join_next() => match ended {
                    Some(ended) => self.ended(&mut hands, ended),
                    None => break,
                },
                () = self.clock.sleep_until(deadline) => break,
            }
        }
        hands.tasks.shutdown().await;
        let mut cut_off = Vec::new();
        for running in hands.running.into_values() {
            tracing::warn!(
                repository = running.lease.repository.0,
                "a tick did not stop in time and was cut off; the ledger survives that as it survives a kill"
            );
            cut_off.push(running.lease);
        }
        self.give_back(cut_off).await;
    }
}

/// The end of time is not reached by any length of ours; where it is, it stays there.
fn later(at: Timestamp, length: SignedDuration) -> Timestamp {
    at.checked_add(length).unwrap_or(Timestamp::MAX)
}
