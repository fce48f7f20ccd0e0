//! Runs the driver, the sweep and the listing if the service has a credential.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::Holder;

use crate::runtime::driver::{self, Bounds, Heartbeat};
use crate::runtime::inbox::Inbox;
use crate::runtime::ports::Clock;
use crate::server::repositories::Repositories;
use crate::server::shutdown::Shutdown;
use crate::server::worker::driver::Driver;
use crate::server::worker::ticks::Ticks;

/// How long the first ticks wait for the list of repositories.
const FIRST_LISTING: SignedDuration = SignedDuration::from_secs(30);

/// Updates the list of repositories, and ticks those that are due.
#[derive(Debug)]
pub struct Fleet<C> {
    /// The repositories.
    pub repositories: Arc<Repositories>,
    /// Their ticks.
    pub ticks: Arc<Ticks>,
    /// The clock.
    pub clock: Arc<C>,
    /// The name of this run.
    pub holder: Holder,
    /// How many ticks may run at once.
    pub bounds: Bounds,
    /// Shows a watchdog that the driver works.
    pub heartbeat: Arc<Heartbeat>,
}

impl<I: Inbox + 'static, C: Clock> Driver<I> for Fleet<C> {
    async fn run(self, inbox: Arc<I>, mut ending: Shutdown) {
        let driver = driver::Driver {
            inbox: Arc::clone(&inbox),
            clock: Arc::clone(&self.clock),
            ticker: self.ticks,
            holder: self.holder,
            bounds: self.bounds,
            heartbeat: self.heartbeat,
        };
        let driving = async {
            let limit = retry_time(self.clock.now());
            // A repository that is ticked before the first listing would have to be ticked again.
            tokio::select! {
                biased;
                () = ending.wait_for_shutdown() => return,
                () = self.repositories.wait_for_listing() => {}
                () = self.clock.sleep_until(limit) => {}
            }
            driver.run(async { ending.wait_for_shutdown().await }).await;
        };
        let keeping = self.repositories.keep_listed(&*inbox, &*self.clock);
        // In a fixed order, as everywhere in a service: so a run against models can be repeated.
        tokio::select! {
            biased;
            () = driving => {}
            () = keeping => {}
        }
    }
}

fn retry_time(now: Timestamp) -> Timestamp {
    now.checked_add(FIRST_LISTING).unwrap_or(Timestamp::MAX)
}
