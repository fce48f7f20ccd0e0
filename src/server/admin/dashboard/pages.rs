//! The templates of the pages. Askama escapes every inserted value.

use askama::Template;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use phileas_domain::model::RepositoryName;

use super::assets::{ICON, SCRIPT, STYLE};
use super::format::Moment;
use super::service_problems::ServiceProblem;
use super::view::deliveries::{DeliveryView, InboxView, SuspendedView};
use super::view::front::FrontView;
use super::view::repository::{ComingView, PulseView, RepositoryPage};
use super::view::review::{ReviewPage, TextPart};

/// The frame of every page.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) style: &'static str,
    pub(super) script: &'static str,
    pub(super) icon: &'static str,
    pub(super) version: &'static str,
    /// The time of the service's clock.
    pub(super) now: Moment,
    /// The token of forms.
    pub(super) csrf: String,
    /// Whether the reader is authorized.
    pub(super) inside: bool,
    /// Whether the reader can sign out.
    pub(super) session: bool,
    /// Whether the page updates itself.
    pub(super) live: bool,
    /// The topic that the page listens to.
    pub(super) topic: Option<String>,
    /// The part of the dashboard.
    pub(super) place: &'static str,
    /// The result of the last form.
    pub(super) result: Option<&'static str>,
    /// The problems of the service.
    pub(super) problems: Vec<ServiceProblem>,
}

impl Frame {
    pub(super) fn new(now: Moment, csrf: String) -> Self {
        Self {
            style: &STYLE.path,
            script: &SCRIPT.path,
            icon: &ICON.path,
            version: env!("CARGO_PKG_VERSION"),
            now,
            csrf,
            inside: false,
            session: false,
            live: false,
            topic: None,
            place: "",
            result: None,
            problems: Vec::new(),
        }
    }
}

#[derive(Template)]
#[template(path = "front.html")]
pub(super) struct Front {
    pub(super) frame: Frame,
    pub(super) view: FrontView,
    /// The search as a part of an address.
    pub(super) query: String,
    pub(super) inbox: Option<InboxView>,
    /// Why there may be no repositories.
    pub(super) no_repositories_reason: String,
    /// Entries of `phileas.toml` that cannot be reached: name, and why.
    pub(super) unreached: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "repository.html")]
pub(super) struct Repository {
    pub(super) frame: Frame,
    pub(super) id: u64,
    pub(super) name: RepositoryName,
    pub(super) heartbeat: PulseView,
    pub(super) view: Option<RepositoryPage>,
    pub(super) coming: Option<Vec<ComingView>>,
    pub(super) horizon: i64,
    /// Why there is no forecast.
    pub(super) no_forecast: &'static str,
    /// Why there is no summary.
    pub(super) no_summary: &'static str,
}

#[derive(Template)]
#[template(path = "review.html")]
pub(super) struct Review {
    pub(super) frame: Frame,
    pub(super) id: u64,
    pub(super) name: RepositoryName,
    pub(super) view: Option<ReviewPage>,
    /// Why there is no summary.
    pub(super) no_summary: &'static str,
}

#[derive(Template)]
#[template(path = "deliveries.html")]
pub(super) struct Deliveries {
    pub(super) frame: Frame,
    pub(super) suspended: Vec<SuspendedView>,
    pub(super) rows: Vec<DeliveryView>,
    /// Whether there are newer ones.
    pub(super) later: bool,
    /// Where the next page begins.
    pub(super) before: Option<u64>,
    /// Deliveries that the webhook refused since the start: how many, and why.
    pub(super) refused: Vec<(u64, &'static str)>,
}

#[derive(Template)]
#[template(path = "login.html")]
pub(super) struct Login {
    pub(super) frame: Frame,
    pub(super) wrong: Option<&'static str>,
    /// The page to open after signing in.
    pub(super) next: String,
}

#[derive(Template)]
#[template(path = "message.html")]
pub(super) struct Message {
    pub(super) frame: Frame,
    pub(super) heading: &'static str,
    pub(super) text: String,
}

/// Returns a page as a response.
pub(super) fn page_response(status: StatusCode, page: &impl Template) -> Response {
    match page.render() {
        Ok(text) => {
            let mut response = (status, text).into_response();
            let html = HeaderValue::from_static("text/html; charset=utf-8");
            response.headers_mut().insert(header::CONTENT_TYPE, html);
            response
        }
        Err(error) => {
            tracing::error!("a page cannot be rendered: {error}");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
