//! The clock of a world in this process: waiting advances it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use phileas_world::World;

use crate::adapters::pause::Pause;
use crate::adapters::transport::BoxFuture;
use crate::runtime::ports::Stopwatch;

/// A world that several clients share.
#[derive(Debug, Clone)]
pub struct SharedWorld(Arc<Mutex<World>>);

impl SharedWorld {
    /// Shares a world.
    #[must_use]
    pub fn new(world: World) -> Self {
        Self(Arc::new(Mutex::new(world)))
    }

    /// Locks the world.
    pub fn lock_world(&self) -> MutexGuard<'_, World> {
        // After a panic with a locked world the run has failed, but its books can still be read.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The shared world, for faces over TCP.
    #[must_use]
    pub fn shared_world(&self) -> Arc<Mutex<World>> {
        Arc::clone(&self.0)
    }

    /// The world's present time.
    #[must_use]
    pub fn world_time(&self) -> Timestamp {
        self.lock_world().now()
    }

    /// Advances the world's time.
    pub fn advance_time(&self, span: Duration) {
        let mut world = self.lock_world();
        let span = SignedDuration::try_from(span).unwrap_or(SignedDuration::MAX);
        let until = world.now().checked_add(span).unwrap_or(Timestamp::MAX);
        world.advance_to(until);
    }
}

/// The world's clock for the runtime and the adapters.
#[derive(Debug, Clone)]
pub struct VirtualTime {
    shared: SharedWorld,
    start: Timestamp,
}

impl VirtualTime {
    /// Creates the clock of a world; its stopwatch starts now.
    #[must_use]
    pub fn new(shared: SharedWorld) -> Self {
        let start = shared.world_time();
        Self { shared, start }
    }
}

impl Stopwatch for VirtualTime {
    fn elapsed(&self) -> Duration {
        self.shared
            .world_time()
            .duration_since(self.start)
            .unsigned_abs()
    }
}

impl Pause for VirtualTime {
    fn now(&self) -> Timestamp {
        self.shared.world_time()
    }

    fn pause_for(&self, length: Duration) -> BoxFuture<'_, ()> {
        self.shared.advance_time(length);
        Box::pin(std::future::ready(()))
    }
}
