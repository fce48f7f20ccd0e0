//! Connects the parts of a service.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use phileas_domain::model::Holder;
use tokio::net::TcpListener;
use tokio::sync::Notify;

use crate::adapters::pause::Pause;
use crate::runtime::driver::{Bounds, Heartbeat};
use crate::runtime::inbox::Inbox;
use crate::runtime::ports::Clock;
use crate::server::admin::audit::Audit;
use crate::server::admin::dashboard::{self, Access, Board, Dashboard};
use crate::server::admin::feed::Feed;
use crate::server::admin::metrics::{self, Metrics, MetricsSources};
use crate::server::public::counters::Figures;
use crate::server::public::webhook::{Intake, RepositoryFilter, Secrets};
use crate::server::repositories::Repositories;
use crate::server::service::Service;
use crate::server::shutdown::Shutdown;
use crate::server::worker::fleet::Fleet;
use crate::server::worker::housekeeping::Housekeeping;
use crate::server::worker::sweep::Sweep;
use crate::server::worker::tick_observer::TickObserver;
use crate::server::worker::ticks::Ticks;

/// What runs beside the listeners.
pub(crate) type Workers<C> = (Housekeeping, Option<(Fleet<C>, Sweep<C>)>);

/// What one service has and another lacks.
pub(crate) struct Parts<I, C> {
    pub(crate) inbox: Arc<I>,
    /// The repositories; `None` without a GitHub identity: deliveries are stored, and no repository is ticked.
    pub(crate) repositories: Option<Arc<Repositories>>,
    /// Notified when the list of repositories may have changed.
    pub(crate) changed: Arc<Notify>,
    /// The name of this process: its decisions and leases begin with it.
    pub(crate) run: String,
    /// The value of `PHILEAS_PAUSED`.
    pub(crate) paused: Option<String>,
    pub(crate) observers: Vec<Arc<dyn TickObserver>>,
    pub(crate) feed: Option<Arc<Feed>>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) audit: Arc<Audit>,
    pub(crate) clock: Arc<C>,
    pub(crate) bounds: Bounds,
    pub(crate) secrets: Secrets,
    pub(crate) accepted: RepositoryFilter,
    /// The address under which GitHub knows the service.
    pub(crate) public_url: Option<String>,
    pub(crate) public: TcpListener,
    pub(crate) admin: TcpListener,
    pub(crate) access: Arc<Access>,
    /// What it serves beside the dashboard and the metrics.
    pub(crate) more_admin_routes: Router,
    /// The base URL of GitHub's pages; `None` where nothing has a page there.
    pub(crate) github: Option<String>,
    /// How long deliveries are still accepted after shutdown was requested.
    pub(crate) drain: Duration,
    /// When the drain is cut short.
    pub(crate) hurry: Shutdown,
    /// When the service is to end.
    pub(crate) ending: Shutdown,
}

/// Connects the parts of a service.
pub(crate) fn assemble<I, C>(parts: Parts<I, C>) -> Service<I, Workers<C>>
where
    I: Inbox + 'static,
    C: Clock + Pause + 'static,
{
    let heartbeat = Arc::new(Heartbeat::default());
    let figures = Arc::new(Figures::default());
    let board = Arc::new(Board::default());
    let clock: Arc<dyn Pause> = Arc::clone(&parts.clock) as _;
    let workers = parts.repositories.clone().map(|repositories| {
        let ticks = Ticks::new(Arc::clone(&repositories), parts.run.clone(), parts.paused)
            .with_feed(parts.feed.clone())
            .seen_by(Arc::clone(&board) as _)
            .seen_by(Arc::clone(&parts.metrics) as _);
        let fleet = Fleet {
            ticks: Arc::new(parts.observers.into_iter().fold(ticks, Ticks::seen_by)),
            repositories: Arc::clone(&repositories),
            clock: Arc::clone(&parts.clock),
            holder: Holder::new(parts.run),
            bounds: parts.bounds,
            heartbeat: Arc::clone(&heartbeat),
        };
        let sweep = Sweep {
            repositories,
            clock: Arc::clone(&parts.clock),
            public_url: parts.public_url,
        };
        (fleet, sweep)
    });
    let measured = metrics::routes(MetricsSources {
        metrics: parts.metrics,
        figures: Arc::clone(&figures),
        inbox: Arc::clone(&parts.inbox),
        repositories: parts.repositories.clone(),
        feed: parts.feed,
        clock: Arc::clone(&clock),
    });
    let dashboard = Dashboard {
        inbox: Arc::clone(&parts.inbox),
        board,
        repositories: parts.repositories,
        clock: Arc::clone(&clock),
        access: Arc::clone(&parts.access),
        audit: parts.audit,
        figures: Arc::clone(&figures),
        heartbeat: Arc::clone(&heartbeat),
        github: parts.github,
        ending: parts.ending,
    };
    let intake = Intake::new(
        Arc::clone(&parts.inbox),
        parts.secrets,
        parts.accepted,
        Arc::clone(&figures),
    );
    Service {
        intake: intake.with_change_notifier(parts.changed).with_clock(clock),
        inbox: parts.inbox,
        public: parts.public,
        admin: parts.admin,
        access: parts.access,
        admin_routes: dashboard::routes(dashboard, measured.merge(parts.more_admin_routes)),
        figures,
        driver: (Housekeeping, workers),
        heartbeat,
        drain: parts.drain,
        hurry: parts.hurry,
    }
}
