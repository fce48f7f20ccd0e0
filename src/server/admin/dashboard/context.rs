//! What the handlers of the dashboard work with.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use phileas_domain::model::{RepositoryId, RepositoryName};

use super::access::Access;
use super::board::Board;
use super::forecast::Forecasts;
use super::live_updates::Listeners;
use crate::adapters::pause::Pause;
use crate::runtime::driver::Heartbeat;
use crate::server::admin::audit::Audit;
use crate::server::public::counters::Figures;
use crate::server::repositories::Repositories;
use crate::server::shutdown::Shutdown;

/// What the dashboard is made of.
pub struct Dashboard<I> {
    /// What was heard, and who is due.
    pub inbox: Arc<I>,
    /// The latest of each repository.
    pub board: Arc<Board>,
    /// The repositories. `None`: the service has no GitHub credential.
    pub repositories: Option<Arc<Repositories>>,
    /// The service's clock.
    pub clock: Arc<dyn Pause>,
    /// Who may come in.
    pub access: Arc<Access>,
    /// Records what people do.
    pub audit: Arc<Audit>,
    /// What the listeners count.
    pub figures: Arc<Figures>,
    /// Whether what ticks repositories lives.
    pub heartbeat: Arc<Heartbeat>,
    /// Where people meet GitHub, such as `https://github.com`.
    pub github: String,
    /// When open pages are let go.
    pub ending: Shutdown,
}

/// What the handlers share.
pub(super) struct DashboardContext<I> {
    pub(super) dashboard: Dashboard<I>,
    pub(super) forecasts: Arc<Forecasts>,
    pub(super) listeners: Listeners,
}

impl<I> DashboardContext<I> {
    pub(super) fn current_time(&self) -> Timestamp {
        self.dashboard.clock.now()
    }

    /// The names of all that the service looks after.
    pub(super) fn repository_names(&self) -> BTreeMap<RepositoryId, RepositoryName> {
        let members = self.dashboard.repositories.as_ref();
        let members = members.map(|all| all.list_members()).unwrap_or_default();
        members
            .iter()
            .map(|member| (member.id, member.name.clone()))
            .collect()
    }
}
