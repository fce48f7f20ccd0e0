//! The parts of a service, put together.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;

use super::driver::Driver;
use super::ending::Ending;
use super::figures::Figures;
use super::health;
use super::listen::listen;
use super::webhook::{self, Intake};
use crate::runtime::driver::Pulse;
use crate::runtime::inbox::Inbox;

/// How long requests and the driver may still take when the service ends. Orchestrators kill after 30 s.
pub const DRAIN: Duration = Duration::from_secs(25);

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
    /// What the public listener counts.
    pub figures: Arc<Figures>,
    /// What works beside the listeners.
    pub driver: D,
    /// Whether what ticks repositories lives.
    pub pulse: Arc<Pulse>,
}

impl<I: Inbox + 'static, D: Driver<I>> Service<I, D> {
    /// Serves until the service is to end, or until the driver ends. `false`: it had to be cut off after [`DRAIN`].
    pub async fn run(self, ending: Ending) -> bool {
        let (stop, stopping) = super::ending();
        let health = health::routes(Arc::clone(&self.inbox), self.pulse, stopping.clone());
        let public = webhook::routes(self.intake).merge(health.clone());
        let admin = self.admin_routes.merge(health);
        let serving = async {
            tokio::join!(
                listen(
                    self.public,
                    public,
                    Arc::clone(&self.figures),
                    stopping.clone()
                ),
                listen(
                    self.admin,
                    admin,
                    Arc::clone(&self.figures),
                    stopping.clone()
                ),
            )
        };
        let driving = async {
            self.driver.run(self.inbox, stopping.clone()).await;
            stop.now();
        };
        let work = async { tokio::join!(serving, driving) };
        let mut work = std::pin::pin!(work);
        let mut asked = ending;
        let told = async {
            let mut stopping = stopping.clone();
            tokio::select! {
                () = asked.come() => stop.now(),
                () = stopping.come() => {}
            }
        };
        tokio::select! {
            _ = &mut work => return true,
            () = told => {}
        }
        tokio::time::timeout(DRAIN, work).await.is_ok()
    }
}
