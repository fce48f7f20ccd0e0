//! The dashboard on the admin listener: shows what every repository does, waits for and has produced.
//!
//! ```text
//! ticks  --TickObserver-->  board (in memory)  --view-->  plain values  --pages-->  HTML
//! inbox  ------------------------------------^
//! ```
//!
//! The server renders complete pages, which need no script. With the script they reload their content
//! when the board or the inbox reports a change. Everything comes from this binary, and the content policy
//! allows nothing else. External texts are truncated, freed of control characters, and escaped.

pub mod access;
mod actions;
pub mod assets;
pub mod board;
mod context;
pub mod forecast;
mod form;
pub mod format;
mod handlers;
pub mod live_updates;
mod pages;
mod refused_deliveries;
mod request_guard;
mod service_problems;
pub mod summary;
#[cfg(test)]
mod tests;
pub mod view;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{get, post};

use crate::runtime::inbox::Inbox;

pub use access::{Access, AccessError};
pub use board::Board;
pub use context::Dashboard;
use context::DashboardContext;

/// The longest form that is read, in bytes.
pub const MAX_FORM: usize = 8 << 10;

/// The routes of the dashboard. `guarded` are further routes for the same authorized clients.
pub fn routes<I: Inbox + 'static>(dashboard: Dashboard<I>, guarded: Router) -> Router {
    let context = Arc::new(DashboardContext {
        dashboard,
        forecasts: Arc::default(),
        listeners: live_updates::Listeners::default(),
    });
    let inside = Router::new()
        .route("/", get(handlers::front_page::<I>))
        .route("/repositories/{id}", get(handlers::repository_page::<I>))
        .route("/repositories/{id}/review", get(handlers::review_page::<I>))
        .route("/repositories/{id}/check", post(actions::check_now::<I>))
        .route(
            "/repositories/{id}/resume",
            post(actions::resume_repository::<I>),
        )
        .route(
            "/repositories/{id}/pause",
            post(actions::pause_repository::<I>),
        )
        .route(
            "/repositories/{id}/unpause",
            post(actions::unpause_repository::<I>),
        )
        .route("/deliveries", get(handlers::deliveries_page::<I>))
        .route("/deliveries/replay", post(actions::replay_delivery::<I>))
        .route("/events", get(handlers::event_stream::<I>))
        .route("/logout", post(actions::sign_out::<I>))
        .with_state(Arc::clone(&context))
        .merge(guarded)
        .layer(middleware::from_fn_with_state(
            Arc::clone(&context),
            request_guard::require_visitor::<I>,
        ));
    let outside = Router::new()
        .route(
            "/login",
            get(handlers::login_form::<I>).post(actions::sign_in::<I>),
        )
        .route(
            &assets::STYLE.path,
            get(|| async { assets::STYLE.to_response() }),
        )
        .route(
            &assets::SCRIPT.path,
            get(|| async { assets::SCRIPT.to_response() }),
        )
        .route(
            &assets::ICON.path,
            get(|| async { assets::ICON.to_response() }),
        )
        .with_state(Arc::clone(&context));
    inside
        .merge(outside)
        .layer(DefaultBodyLimit::max(MAX_FORM))
        .layer(middleware::from_fn_with_state(
            context,
            request_guard::check_request::<I>,
        ))
}
