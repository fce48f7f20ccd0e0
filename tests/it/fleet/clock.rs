//! A clock that stands still until a test moves it on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use phileas::runtime::ports::Clock;
use phileas::sandbox::SharedWorld;
use tokio::sync::oneshot;

use crate::support::held;

/// How often the other tasks run before time goes on. Far more than any chain of wake-ups has links.
const TURNS: usize = 80;

/// A clock that stands still until a test moves it on. All tasks must run on the test's own thread.
#[derive(Debug, Clone)]
pub(crate) struct StillClock {
    state: Arc<Mutex<ClockState>>,
    /// The world whose time it shows, where it is one's.
    world: Option<SharedWorld>,
    /// How far it moves on by itself each time it is read, as a real one does meanwhile.
    drift: SignedDuration,
}

#[derive(Debug)]
struct ClockState {
    now: Timestamp,
    sleepers: BTreeMap<(Timestamp, u64), oneshot::Sender<()>>,
    count: u64,
    /// How often it was read.
    read: u64,
}

impl StillClock {
    pub(super) fn new(now: Timestamp) -> Self {
        Self {
            state: Arc::new(Mutex::new(ClockState {
                now,
                sleepers: BTreeMap::new(),
                count: 0,
                read: 0,
            })),
            world: None,
            drift: SignedDuration::ZERO,
        }
    }

    /// The clock of a world, which also moves while its services are asked.
    pub(super) fn of(world: &SharedWorld) -> Self {
        Self {
            world: Some(world.clone()),
            ..Self::new(world.world_time())
        }
    }

    /// The same clock, which moves on by so much each time it is read.
    pub(super) fn drifting(self, drift: SignedDuration) -> Self {
        Self { drift, ..self }
    }

    /// How often anybody has looked at it.
    pub(super) fn read(&self) -> u64 {
        held(&self.state).read
    }

    /// How often anybody has gone to sleep.
    pub(super) fn naps(&self) -> u64 {
        held(&self.state).count
    }

    /// Lets everything happen that is due until then, in the order of its time.
    pub(super) async fn pass(&self, length: SignedDuration) {
        let until = self.now() + length;
        loop {
            settle().await;
            let next = held(&self.state).sleepers.pop_first();
            let Some(((at, number), sleeper)) = next else {
                break;
            };
            if sleeper.is_closed() {
                continue;
            }
            if at > until {
                held(&self.state).sleepers.insert((at, number), sleeper);
                break;
            }
            self.move_to(at);
            // When no task waits any more, none is woken.
            let _gone = sleeper.send(());
        }
        self.move_to(until);
        settle().await;
    }

    fn move_to(&self, at: Timestamp) {
        if let Some(world) = &self.world {
            let mut world = world.lock_world();
            if at > world.now() {
                world.advance_to(at);
            }
        }
        let mut state = held(&self.state);
        state.now = state.now.max(at);
    }
}

/// Lets every task run until it waits for something.
pub(super) async fn settle() {
    for _ in 0..TURNS {
        tokio::task::yield_now().await;
    }
}

impl Clock for StillClock {
    fn now(&self) -> Timestamp {
        let own = {
            let mut state = held(&self.state);
            state.read += 1;
            state.now += self.drift;
            state.now
        };
        self.world.as_ref().map_or(own, SharedWorld::world_time)
    }

    async fn sleep_until(&self, at: Timestamp) {
        if at <= self.now() {
            return;
        }
        let woken = {
            let mut state = held(&self.state);
            let (wake, woken) = oneshot::channel();
            state.count += 1;
            let number = state.count;
            state.sleepers.insert((at, number), wake);
            woken
        };
        // The clock is never dropped before its sleepers.
        let _gone = woken.await;
    }
}
