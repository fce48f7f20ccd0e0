//! The parts of a service, put together.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;

use crate::runtime::driver::Heartbeat;
use crate::runtime::inbox::Inbox;
use crate::server::admin::dashboard::Access;
use crate::server::public::counters::Figures;
use crate::server::public::health;
use crate::server::public::listen::{Listeners, serve_listener};
use crate::server::public::webhook::{self, Intake};
use crate::server::shutdown::Shutdown;
use crate::server::worker::driver::Driver;

/// How long the service may take to end by default. Orchestrators kill after 30 s.
pub const TIME_TO_END: Duration = Duration::from_secs(25);
/// By so much a service with a long drain takes longer than it. Requests at work and the driver have this long still; what
/// is cut off then was not answered, and the sweep has it sent again.
const AFTER_DRAIN: Duration = Duration::from_secs(5);
/// For so long before the end no connection is accepted, so that most requests at work are answered.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// A service that is about to be started.
#[derive(Debug)]
pub struct Service<I, D> {
    /// Where deliveries are kept.
    pub inbox: Arc<I>,
    /// Which deliveries are accepted.
    pub intake: Intake<I>,
    /// The public listener.
    pub public: TcpListener,
    /// The listener of the people who run the service.
    pub admin: TcpListener,
    /// What is served there, beside `/healthz` and `/readyz`.
    pub admin_routes: Router,
    /// Who may come in there.
    pub access: Arc<Access>,
    /// What the public listener counts.
    pub figures: Arc<Figures>,
    /// What works beside the listeners.
    pub driver: D,
    /// Whether what ticks repositories lives.
    pub heartbeat: Arc<Heartbeat>,
    /// How long deliveries are taken at least once the service is to end, while `/readyz` says so already: until the balancer that
    /// shares them out has looked.
    pub drain: Duration,
    /// When the drain is cut short: an operator who asks for the end a second time does not want to wait.
    pub hurry: Shutdown,
}

/// How long a service with this drain may take to end.
#[must_use]
pub fn time_to_end(drain: Duration) -> Duration {
    TIME_TO_END.max(drain.saturating_add(AFTER_DRAIN))
}

impl<I: Inbox + 'static, D: Driver<I>> Service<I, D> {
    /// Serves until the service is to end, or until the driver ends. `false`: it had to be cut off after
    /// [`time_to_end`].
    ///
    /// From then on `/readyz` answers 503, and the driver ends. Deliveries are stored all the same until it has, and until
    /// the drain is over; then the listeners close. What is stored meanwhile is left to other services, or to the next
    /// start.
    pub async fn run(self, ending: Shutdown) -> bool {
        let (stop, stopping) = crate::server::shutdown_pair();
        let (close, closing) = crate::server::shutdown_pair();
        let (ticked, driver_ended) = crate::server::shutdown_pair();
        let time_to_end = time_to_end(self.drain);
        let health = health::health_routes(
            Arc::clone(&self.inbox),
            self.heartbeat,
            stopping.clone(),
            self.access,
        );
        let public = webhook::webhook_routes(self.intake).merge(health.public);
        let admin = self.admin_routes.merge(health.admin);
        let listeners = Arc::<Listeners>::default();
        let serving = async {
            tokio::join!(
                serve_listener(
                    self.public,
                    public,
                    Arc::clone(&self.figures),
                    Arc::clone(&listeners),
                    closing.clone()
                ),
                serve_listener(
                    self.admin,
                    admin,
                    Arc::clone(&self.figures),
                    Arc::clone(&listeners),
                    closing.clone()
                ),
            )
        };
        let driving = async {
            self.driver.run(self.inbox, stopping.clone()).await;
            stop.request_shutdown();
            ticked.request_shutdown();
        };
        let draining = async {
            stopping.clone().wait_for_shutdown().await;
            let drain = wait_for_drain(self.drain, self.hurry);
            wait_until_drained(driver_ended, drain, time_to_end - LAST_ANSWERS).await;
            close.request_shutdown();
        };
        let work = async { tokio::join!(serving, driving, draining) };
        let mut work = std::pin::pin!(work);
        let mut asked = ending;
        let told = async {
            let mut stopping = stopping.clone();
            tokio::select! {
                () = asked.wait_for_shutdown() => stop.request_shutdown(),
                () = stopping.wait_for_shutdown() => {}
            }
        };
        tokio::select! {
            _ = &mut work => return true,
            () = told => {}
        }
        tokio::time::timeout(time_to_end, work).await.is_ok()
    }
}

/// Waits until the driver has ended and the drain is over, and for no longer than the limit.
async fn wait_until_drained(
    mut driver_ended: Shutdown,
    drain: impl Future<Output = ()>,
    limit: Duration,
) {
    let drained = async { tokio::join!(driver_ended.wait_for_shutdown(), drain) };
    // A driver that takes longer is cut off in the end; requests at work are answered before.
    let _late = tokio::time::timeout(limit, drained).await;
}

/// Waits for the drain, or until there is hurry.
async fn wait_for_drain(drain: Duration, mut hurry: Shutdown) {
    tokio::select! {
        () = tokio::time::sleep(drain) => {}
        () = hurry.wait_for_shutdown() => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_drain_leaves_time_to_end() {
        let seconds = |drain| time_to_end(Duration::from_secs(drain)).as_secs();
        assert_eq!([0, 15, 20, 60].map(seconds), [25, 25, 25, 65]);
    }

    #[tokio::test]
    async fn a_driver_that_never_ends_is_not_waited_for() {
        let (_never, driver_ended) = crate::server::shutdown_pair();
        let limit = Duration::from_millis(20);
        for drain in [Duration::ZERO, Duration::from_secs(3600)] {
            wait_until_drained(driver_ended.clone(), tokio::time::sleep(drain), limit).await;
        }
    }

    #[tokio::test]
    async fn a_second_signal_does_not_wait_for_the_drain() {
        let (now, hurry) = crate::server::shutdown_pair();
        let waiting = tokio::spawn(wait_for_drain(Duration::from_secs(3600), hurry));
        now.request_shutdown();
        waiting.await.unwrap();
    }
}
