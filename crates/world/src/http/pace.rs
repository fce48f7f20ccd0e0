//! Moves virtual time while a world is served.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::clock::Pace;
use crate::world::World;

/// The real time between two updates of the virtual clock.
const TICK: Duration = Duration::from_millis(20);

/// How virtual time moves while the world is served.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum ClockMode {
    /// Only when it is advanced.
    #[default]
    Manual,
    /// In proportion to real time.
    Accelerated {
        /// The virtual seconds that pass in one real second.
        factor: f64,
    },
}

impl From<ClockMode> for Pace {
    fn from(mode: ClockMode) -> Self {
        match mode {
            ClockMode::Manual => Self::Manual,
            ClockMode::Accelerated { factor } => Self::Accelerated(factor),
        }
    }
}

/// Sets the world's pace and gives the counter of requests that its faces share.
pub(super) fn start_clock(world: &Mutex<World>, mode: ClockMode) -> Arc<AtomicU64> {
    let mut world = world.lock().unwrap_or_else(PoisonError::into_inner);
    // The second face must not restart the pace.
    if world.clock().pace() != mode.into() {
        world.set_pace(mode.into());
    }
    world.arrival_counter()
}

/// Keeps the world at its virtual present until the server ends.
pub(super) async fn keep_time(world: Arc<Mutex<World>>, mut ending: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            _ = ending.wait_for(|end| *end) => return,
            () = tokio::time::sleep(TICK) => {}
        }
        let world = Arc::clone(&world);
        let moved = tokio::task::spawn_blocking(move || {
            if let Ok(mut world) = world.lock() {
                world.catch_up(Instant::now());
            }
        });
        // A world that panicked answers every request with 500; its clock stands.
        if moved.await.is_err() {
            return;
        }
    }
}
