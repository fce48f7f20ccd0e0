//! The course of time: every task that waits is listed here, and one at a time goes on.
//!
//! All tasks run on one thread. The released task runs until it waits again; then the next one is chosen: the earliest
//! in virtual time, and among those of one instant the one that the seed draws. So the seed alone decides the order, and
//! the same seed gives the same run.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use phileas::adapters::entropy::Entropy;
use phileas::adapters::pause::Pause;
use phileas::adapters::transport::BoxFuture;
use phileas::runtime::ports::{Clock, Stopwatch};
use phileas::sandbox::SharedWorld;
use phileas_world::chance::{Chance, Stream};
use tokio::sync::oneshot;

use super::faults::Faults;
use crate::support::held;

/// The time of one world, and who waits for it.
pub(super) struct Course {
    pub(super) world: SharedWorld,
    waiting: Mutex<Waiting>,
    faults: Mutex<Faults>,
    strokes: Mutex<BTreeMap<String, u64>>,
    inbox: Mutex<InboxOutage>,
}

/// Until when the inbox is away, and who decides what is done of what it is asked for meanwhile.
struct InboxOutage {
    until: Timestamp,
    chance: Stream,
}

struct Waiting {
    sleepers: BTreeMap<(Timestamp, u64, u64), oneshot::Sender<()>>,
    count: u64,
    order: Stream,
    /// Processes, by their number and their life, that came to the step at which they die.
    doomed: Vec<(usize, u64)>,
}

impl Course {
    pub(super) fn new(world: SharedWorld, chance: &Chance) -> Arc<Self> {
        let until = world.world_time();
        Arc::new(Self {
            world,
            strokes: Mutex::default(),
            inbox: Mutex::new(InboxOutage {
                until,
                chance: chance.stream("inbox"),
            }),
            waiting: Mutex::new(Waiting {
                sleepers: BTreeMap::new(),
                count: 0,
                order: chance.stream("order"),
                doomed: Vec::new(),
            }),
            faults: Mutex::default(),
        })
    }

    pub(super) fn now(&self) -> Timestamp {
        self.world.world_time()
    }

    /// Waits for an instant, and in any case until it is chosen to go on.
    async fn until(&self, at: Timestamp) {
        let woken = {
            let now = self.now();
            let mut waiting = held(&self.waiting);
            let (wake, woken) = oneshot::channel();
            waiting.count += 1;
            let place = (at.max(now), waiting.order.random_bits(), waiting.count);
            waiting.sleepers.insert(place, wake);
            woken
        };
        // The course outlives every task that waits on it.
        let _gone = woken.await;
    }

    /// When the next one goes on.
    pub(super) fn next(&self) -> Option<Timestamp> {
        let mut waiting = held(&self.waiting);
        while let Some(first) = waiting.sleepers.first_entry() {
            if !first.get().is_closed() {
                return Some(first.key().0);
            }
            first.remove();
        }
        None
    }

    /// Lets the next one go on.
    pub(super) fn let_go(&self) {
        if let Some((_, wake)) = held(&self.waiting).sleepers.pop_first() {
            // A task that has died meanwhile does not go on.
            let _gone = wake.send(());
        }
    }

    /// What a process reports as wrong although the world is not at fault.
    pub(super) fn own_fault(&self, because: String) {
        held(&self.faults).add(because);
    }

    /// All that was said so.
    pub(super) fn own_faults(&self) -> Faults {
        held(&self.faults).clone()
    }

    /// A trouble has struck.
    pub(super) fn struck(&self, trouble: &str) {
        *held(&self.strokes).entry(trouble.to_owned()).or_default() += 1;
    }

    /// How often each trouble has struck of which this was told.
    pub(super) fn strokes(&self) -> BTreeMap<String, u64> {
        held(&self.strokes).clone()
    }

    /// Takes the inbox away until an instant.
    pub(super) fn take_inbox(&self, until: Timestamp) {
        held(&self.inbox).until = until;
    }

    /// Whether the inbox is away, and then whether it does what it is asked for all the same.
    pub(super) fn inbox_is_away(&self) -> Option<bool> {
        let now = self.now();
        let mut inbox = held(&self.inbox);
        (now < inbox.until).then(|| inbox.chance.happens(0.5))
    }

    /// The processes that are to die now.
    pub(super) fn doomed(&self) -> Vec<(usize, u64)> {
        std::mem::take(&mut held(&self.waiting).doomed)
    }
}

/// One process: its clock, when it stands still, and the step at which it dies.
pub(super) struct Process {
    pub(super) who: usize,
    /// Its number among all that ever were.
    pub(super) life: u64,
    pub(super) course: Arc<Course>,
    /// By how much its machine's clock is ahead, in milliseconds.
    ahead: AtomicI64,
    lifetime: Mutex<Lifetime>,
    started: Timestamp,
}

struct Lifetime {
    still_until: Timestamp,
    steps_left: Option<u64>,
    entropy: Stream,
}

impl Process {
    /// A process that starts now and dies at one of its steps, counted from 1, or never.
    pub(super) fn new(
        who: usize,
        life: u64,
        course: &Arc<Course>,
        dies_at: Option<u64>,
        entropy: Stream,
    ) -> Arc<Self> {
        let started = course.now();
        Arc::new(Self {
            who,
            life,
            course: Arc::clone(course),
            ahead: AtomicI64::new(0),
            lifetime: Mutex::new(Lifetime {
                still_until: started,
                steps_left: dies_at,
                entropy,
            }),
            started,
        })
    }

    /// A step that others can see, or at which it depends on them: here others may go first, and here it may die.
    pub(super) async fn step(&self) {
        let left = {
            let mut fate = held(&self.lifetime);
            let left = fate.steps_left;
            fate.steps_left = left.map(|left| left.saturating_sub(1));
            left
        };
        if left == Some(1) {
            let doomed = (self.who, self.life);
            held(&self.course.waiting).doomed.push(doomed);
        }
        if left.is_some_and(|left| left <= 1) {
            std::future::pending::<()>().await;
        }
        self.wait(Duration::ZERO).await;
    }

    /// Waits, and for longer while the process stands still.
    pub(super) async fn wait(&self, length: Duration) {
        let length = SignedDuration::try_from(length).unwrap_or(SignedDuration::MAX);
        let at = self.course.now().checked_add(length);
        self.until(at.unwrap_or(Timestamp::MAX)).await;
    }

    async fn until(&self, at: Timestamp) {
        self.course.until(at).await;
        loop {
            let still_until = held(&self.lifetime).still_until;
            if still_until <= self.course.now() {
                return;
            }
            self.course.until(still_until).await;
        }
    }

    /// Stops it for a while, as SIGSTOP and SIGCONT do.
    pub(super) fn stand_still(&self, length: SignedDuration) {
        let until = self.course.now() + length;
        let mut fate = held(&self.lifetime);
        fate.still_until = fate.still_until.max(until);
    }

    /// Lets it live from now on.
    pub(super) fn spare(&self) {
        held(&self.lifetime).steps_left = None;
    }

    pub(super) fn ahead(&self) -> SignedDuration {
        SignedDuration::from_millis(self.ahead.load(Ordering::Relaxed))
    }

    /// Sets its machine's clock.
    pub(super) fn set_ahead(&self, ahead: SignedDuration) {
        self.ahead
            .store(ahead.as_millis() as i64, Ordering::Relaxed);
    }

    /// What its machine's clock says.
    pub(super) fn machine_time(&self) -> Timestamp {
        self.course.now() + self.ahead()
    }
}

/// A process' clocks and randomness, as the service takes them.
#[derive(Clone)]
pub(super) struct Machine(pub(super) Arc<Process>);

impl Clock for Machine {
    fn now(&self) -> Timestamp {
        self.0.machine_time()
    }

    async fn sleep_until(&self, at: Timestamp) {
        if at <= self.0.machine_time() {
            return;
        }
        let at = at.checked_sub(self.0.ahead()).unwrap_or(Timestamp::MAX);
        self.0.until(at).await;
    }
}

impl Pause for Machine {
    fn now(&self) -> Timestamp {
        self.0.machine_time()
    }

    fn pause_for(&self, length: Duration) -> BoxFuture<'_, ()> {
        Box::pin(self.0.wait(length))
    }
}

impl Stopwatch for Machine {
    fn elapsed(&self) -> Duration {
        let elapsed = self.0.course.now().duration_since(self.0.started);
        elapsed.unsigned_abs()
    }
}

impl Entropy for Machine {
    fn draw(&self) -> Result<[u8; 32], getrandom::Error> {
        let mut fate = held(&self.0.lifetime);
        let mut drawn = [0; 32];
        for part in drawn.chunks_mut(8) {
            part.copy_from_slice(&fate.entropy.random_bits().to_le_bytes());
        }
        Ok(drawn)
    }
}
