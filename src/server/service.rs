//! Runs the listeners and the driver of a service until its shutdown.

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

/// How long a shutdown may take by default. Orchestrators kill after 30 s.
pub const TIME_TO_END: Duration = Duration::from_secs(25);
/// A shutdown with a long drain may take this much longer than the drain. Running requests and the
/// driver have this time. A delivery that is then aborted got no reply, and the sweep requests it
/// again.
const AFTER_DRAIN: Duration = Duration::from_secs(5);
/// No connection is accepted in this last part of a shutdown, so that most running requests
/// complete.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// A service before its start.
#[derive(Debug)]
pub struct Service<I, D> {
    /// Stores deliveries.
    pub inbox: Arc<I>,
    /// Says which deliveries are accepted.
    pub intake: Intake<I>,
    /// The public listener.
    pub public: TcpListener,
    /// The listener for operators.
    pub admin: TcpListener,
    /// The routes of the admin listener, apart from `/healthz` and `/readyz`.
    pub admin_routes: Router,
    /// Who may use the admin listener.
    pub access: Arc<Access>,
    /// The counters of the public listener.
    pub figures: Arc<Figures>,
    /// The work beside the listeners.
    pub driver: D,
    /// Shows whether the driver works.
    pub heartbeat: Arc<Heartbeat>,
    /// How long deliveries are accepted at least after a shutdown was requested, while `/readyz`
    /// reports it: until the load balancer has noticed.
    pub drain: Duration,
    /// Ends the drain early: an operator who requests a shutdown a second time does not want to
    /// wait.
    pub hurry: Shutdown,
}

/// How long a shutdown with this drain may take.
#[must_use]
pub fn time_to_end(drain: Duration) -> Duration {
    TIME_TO_END.max(drain.saturating_add(AFTER_DRAIN))
}

impl<I: Inbox + 'static, D: Driver<I>> Service<I, D> {
    /// Serves until a shutdown is requested, or until the driver ends. `false`: it was aborted
    /// after [`time_to_end`].
    ///
    /// From the request on `/readyz` returns 503, and the driver ends. Deliveries are still stored
    /// until it has ended and the drain is over; then the listeners close. Other services, or the
    /// next start, handle what is stored meanwhile.
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

/// Waits until the driver has ended and the drain is over, at most until the limit.
async fn wait_until_drained(
    mut driver_ended: Shutdown,
    drain: impl Future<Output = ()>,
    limit: Duration,
) {
    let drained = async { tokio::join!(driver_ended.wait_for_shutdown(), drain) };
    // A slower driver is aborted at the end; running requests complete before.
    let _late = tokio::time::timeout(limit, drained).await;
}

/// Waits for the drain, or until it is ended early.
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
