//! The context of the dashboard's handlers.

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
use crate::runtime::inbox::Wake;
use crate::server::admin::audit::Audit;
use crate::server::public::counters::Figures;
use crate::server::repositories::Repositories;
use crate::server::shutdown::Shutdown;

/// The parts of the dashboard.
pub struct Dashboard<I> {
    /// Deliveries, and the due repositories.
    pub inbox: Arc<I>,
    /// The latest state of each repository.
    pub board: Arc<Board>,
    /// The repositories. `None`: the service has no GitHub credential.
    pub repositories: Option<Arc<Repositories>>,
    /// The service's clock.
    pub clock: Arc<dyn Pause>,
    /// Who may use the admin listener.
    pub access: Arc<Access>,
    /// Records the actions of people.
    pub audit: Arc<Audit>,
    /// The counters of the listeners.
    pub figures: Arc<Figures>,
    /// Shows whether the driver works.
    pub heartbeat: Arc<Heartbeat>,
    /// The address of GitHub's pages, such as `https://github.com`. `None`: nothing on these pages has a page elsewhere,
    /// as in a sandbox.
    pub github: Option<String>,
    /// When connections of open pages are closed.
    pub ending: Shutdown,
}

/// The shared context of all handlers.
pub(super) struct DashboardContext<I> {
    pub(super) dashboard: Dashboard<I>,
    pub(super) forecasts: Arc<Forecasts>,
    pub(super) listeners: Listeners,
}

impl<I> DashboardContext<I> {
    pub(super) fn current_time(&self) -> Timestamp {
        self.dashboard.clock.now()
    }

    /// The name of a repository that the service manages, or that its inbox knows.
    pub(super) fn name_of(
        &self,
        repository: RepositoryId,
        wake: Option<&Wake>,
    ) -> Option<RepositoryName> {
        let known = self.repository_names().remove(&repository);
        known.or_else(|| wake?.name.clone())
    }

    /// The names of all repositories that the service manages.
    pub(super) fn repository_names(&self) -> BTreeMap<RepositoryId, RepositoryName> {
        let members = self.dashboard.repositories.as_ref();
        let members = members.map(|all| all.list_members()).unwrap_or_default();
        members
            .iter()
            .map(|member| (member.id, member.name.clone()))
            .collect()
    }
}
