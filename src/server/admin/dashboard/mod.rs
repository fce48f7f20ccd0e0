//! The dashboard on the admin listener: what every repository does, waits for and has come to.
//!
//! ```text
//! ticks  --Onlooker-->  board (in memory)  --view-->  plain values  --pages-->  HTML
//! inbox  ------------------------------------^
//! ```
//!
//! Pages are made on the server and complete without a script; with it they renew themselves when the board or the inbox
//! tells of a change. Everything comes from this binary, under a policy that lets nothing else in. Texts of agents and of
//! other people are cut, freed of what steers, and escaped by the templates.

pub mod access;
mod actions;
pub mod assets;
pub mod board;
pub mod forecast;
pub mod format;
mod handlers;
pub mod live_updates;
mod pages;
mod request_guard;
mod service_problems;
pub mod summary;
#[cfg(test)]
mod tests;
pub mod view;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{get, post};
use jiff::Timestamp;
use phileas_domain::model::{RepositoryId, RepositoryName};

use crate::adapters::pause::Pause;
use crate::runtime::driver::Pulse;
use crate::runtime::inbox::Inbox;
use crate::server::admin::audit::Audit;
use crate::server::public::counters::Figures;
use crate::server::repositories::Repositories;
use crate::server::shutdown::Ending;

pub use access::{Access, AccessError};
pub use board::Board;

/// The longest form that is read, in bytes.
pub const MAX_FORM: usize = 8 << 10;

/// What the dashboard is made of.
pub struct Dashboard<I> {
    /// What was heard, and who is due.
    pub inbox: Arc<I>,
    /// The latest of each repository.
    pub board: Arc<Board>,
    /// The repositories. `None`: nobody has said who the service is to GitHub.
    pub repositories: Option<Arc<Repositories>>,
    /// The service's clock.
    pub clock: Arc<dyn Pause>,
    /// Who may come in.
    pub access: Arc<Access>,
    /// Where deeds are written down.
    pub audit: Arc<Audit>,
    /// What the listeners count.
    pub figures: Arc<Figures>,
    /// Whether what ticks repositories lives.
    pub pulse: Arc<Pulse>,
    /// Where people meet GitHub, such as `https://github.com`.
    pub github: String,
    /// When open pages are let go.
    pub ending: Ending,
}

/// What the handlers share.
struct Desk<I> {
    dashboard: Dashboard<I>,
    forecasts: Arc<forecast::Forecasts>,
    listeners: live_updates::Listeners,
}

impl<I> Desk<I> {
    fn now(&self) -> Timestamp {
        self.dashboard.clock.now()
    }

    /// The names of all that the service looks after.
    fn names(&self) -> BTreeMap<RepositoryId, RepositoryName> {
        let members = self.dashboard.repositories.as_ref();
        let members = members.map(|all| all.members()).unwrap_or_default();
        members
            .iter()
            .map(|member| (member.id, member.name.clone()))
            .collect()
    }
}

/// The addresses of the dashboard. `guarded` are further ones that only those may see who are let in.
pub fn routes<I: Inbox + 'static>(dashboard: Dashboard<I>, guarded: Router) -> Router {
    let desk = Arc::new(Desk {
        dashboard,
        forecasts: Arc::default(),
        listeners: live_updates::Listeners::default(),
    });
    let inside = Router::new()
        .route("/", get(handlers::front::<I>))
        .route("/repositories/{id}", get(handlers::repository::<I>))
        .route("/repositories/{id}/look", post(actions::look::<I>))
        .route("/repositories/{id}/resume", post(actions::resume::<I>))
        .route("/repositories/{id}/pause", post(actions::pause::<I>))
        .route("/repositories/{id}/unpause", post(actions::unpause::<I>))
        .route("/deliveries", get(handlers::deliveries::<I>))
        .route("/deliveries/replay", post(actions::replay::<I>))
        .route("/events", get(handlers::events::<I>))
        .route("/logout", post(actions::logout::<I>))
        .with_state(Arc::clone(&desk))
        .merge(guarded)
        .layer(middleware::from_fn_with_state(
            Arc::clone(&desk),
            request_guard::admit::<I>,
        ));
    let outside = Router::new()
        .route(
            "/login",
            get(handlers::login::<I>).post(actions::login::<I>),
        )
        .route(
            &assets::STYLE.path,
            get(|| async { assets::STYLE.answer() }),
        )
        .route(
            &assets::SCRIPT.path,
            get(|| async { assets::SCRIPT.answer() }),
        )
        .route(&assets::ICON.path, get(|| async { assets::ICON.answer() }))
        .with_state(Arc::clone(&desk));
    inside
        .merge(outside)
        .layer(DefaultBodyLimit::max(MAX_FORM))
        .layer(middleware::from_fn_with_state(
            desk,
            request_guard::receive::<I>,
        ))
}
