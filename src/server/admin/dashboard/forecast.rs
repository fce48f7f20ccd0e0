//! Makes forecasts on demand, because each takes a while and most would never be read.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{Assumptions, Forecast, Snapshot, simulate};
use phileas_domain::model::RepositoryId;
use tokio::sync::Semaphore;

use super::board::{Board, MAX_FACTS};
use crate::adapters::renderer;

/// How far a forecast reaches, in hours.
pub const HORIZON: i64 = 24;
/// How long a page waits for a forecast. After that the page shows it when it is ready.
const PATIENCE: Duration = Duration::from_millis(400);

/// The newest forecasts.
#[derive(Debug)]
pub struct Forecasts {
    made: Mutex<BTreeMap<RepositoryId, (Timestamp, Arc<Forecast>)>>,
    /// One at a time: a large plan keeps a core busy for some seconds.
    room: Arc<Semaphore>,
}

impl Default for Forecasts {
    fn default() -> Self {
        Self {
            made: Mutex::default(),
            room: Arc::new(Semaphore::new(1)),
        }
    }
}

impl Forecasts {
    /// Returns the forecast from these facts. `None`: it is being made, and the board reports when
    /// it is ready.
    pub async fn cached_forecast(
        self: &Arc<Self>,
        id: RepositoryId,
        facts: Arc<Snapshot>,
        board: &Arc<Board>,
    ) -> Option<Arc<Forecast>> {
        let at = facts.now;
        if let Some(made) = self.make_forecast(id, at) {
            return Some(made);
        }
        let permit = Arc::clone(&self.room).try_acquire_owned().ok()?;
        let (this, board) = (Arc::clone(self), Arc::clone(board));
        let mut making = tokio::task::spawn_blocking(move || {
            let until = at.checked_add(SignedDuration::from_hours(HORIZON));
            let until = until.unwrap_or(Timestamp::MAX);
            let renderer = renderer::shared_renderer();
            let _kept = renderer.keep_ready();
            let forecast = simulate(&facts, until, Assumptions::default(), &*renderer);
            let forecast = Arc::new(forecast);
            this.store_forecast(id, at, &forecast);
            drop(permit);
            forecast
        });
        match tokio::time::timeout(PATIENCE, &mut making).await {
            Ok(made) => made.ok(),
            Err(_) => {
                tokio::spawn(async move {
                    if making.await.is_ok() {
                        board.publish_change(id);
                    }
                });
                None
            }
        }
    }

    fn make_forecast(&self, id: RepositoryId, at: Timestamp) -> Option<Arc<Forecast>> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let (of, forecast) = made.get(&id)?;
        (*of == at).then(|| Arc::clone(forecast))
    }

    fn store_forecast(&self, id: RepositoryId, at: Timestamp, forecast: &Arc<Forecast>) {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.len() >= MAX_FACTS && !made.contains_key(&id) {
            let oldest = made.iter().min_by_key(|(_, (at, _))| *at);
            let oldest = oldest.map(|(id, _)| *id);
            if let Some(oldest) = oldest {
                made.remove(&oldest);
            }
        }
        made.insert(id, (at, Arc::clone(forecast)));
    }
}
