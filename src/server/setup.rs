//! The first run: a page that makes the service its own GitHub App, with no more permissions than it uses.
//!
//! ```text
//! console    prints an address with a one-time token
//! GET  /setup?token=…          asks for the public address, and for an organisation if the App is to be one's
//! POST /setup                  shows what will be asked of GitHub, with a button that posts it there
//! GitHub                       asks its user to confirm, and sends the browser back with a code
//! GET  /setup/done?code&state  exchanges the code for the App, once, and keeps it in the data directory
//! ```
//!
//! It is served on the admin listener, and only by `phileas serve --setup`. Whoever has no token sees nothing. The token
//! and the state are drawn anew each time and are worth nothing after the App was made. The App's private key and the
//! secret of its webhook go from GitHub's answer into a file of mode 0600 and are shown to nobody.

mod keep;
mod manifest;
mod page;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

use crate::adapters::github::{Base, convert};
use crate::adapters::transport::Transport;
use crate::runtime::ports::Disposition;
use keep::keep;
use manifest::Wish;
use phileas_domain::model::RepositoryName;

pub use keep::KeepError;
pub use manifest::manifest;

use super::ending::End;

/// Where people meet GitHub.
pub const GITHUB: &str = "https://github.com";
/// The longest form that is read, in bytes.
const MAX_FORM: usize = 8 << 10;
/// The longest field of a form or query that is read, in bytes.
const MAX_FIELD: usize = 500;
/// Bytes of a token or state.
const TOKEN_BYTES: usize = 32;

/// The set-up page, about to be served.
pub struct Setup {
    /// Where the App is kept.
    pub data_dir: PathBuf,
    /// The origin of the page itself, as the browser sees it.
    pub origin: String,
    /// Where people meet GitHub.
    pub github: String,
    /// Where programs do.
    pub base: Base,
    /// The way there.
    pub transport: Arc<dyn Transport>,
    /// What stands in the form at first.
    pub public_url: Option<String>,
    /// Ends the page once the App is kept.
    pub end: End,
}

impl std::fmt::Debug for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup")
            .field("data_dir", &self.data_dir)
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

/// The page, and what it takes to see it.
struct Desk {
    setup: Setup,
    token: String,
    stage: Mutex<Stage>,
}

/// How far it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    /// Nobody has been sent to GitHub yet, or the last one with this state.
    Open { state: Option<String> },
    /// A code is being exchanged.
    Exchanging,
    /// The App is kept.
    Done,
}

/// The routes of the page, and the address that is printed on the console.
///
/// # Errors
///
/// When the system has no randomness.
pub fn routes(setup: Setup) -> Result<(Router, String), getrandom::Error> {
    let token = drawn()?;
    let address = format!("{}/setup?token={token}", setup.origin);
    let desk = Arc::new(Desk {
        setup,
        token,
        stage: Mutex::new(Stage::Open { state: None }),
    });
    let router = Router::new()
        .route("/setup", get(form).post(review))
        .route("/setup/done", get(done))
        .with_state(desk);
    Ok((router, address))
}

fn drawn() -> Result<String, getrandom::Error> {
    let mut bytes = [0; TOKEN_BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(data_encoding::BASE64URL_NOPAD.encode(&bytes))
}

/// Compares without telling by its time how much is right.
fn same(one: &str, other: &str) -> bool {
    let differ = one
        .bytes()
        .zip(other.bytes())
        .fold(0, |differ, (one, other)| differ | (one ^ other));
    one.len() == other.len() && differ == 0
}

impl Desk {
    fn stage<T>(&self, look: impl FnOnce(&mut Stage) -> T) -> T {
        look(&mut self.stage.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the page may be shown to whoever has this token.
    fn admits(&self, token: Option<&str>) -> bool {
        let open = self.stage(|stage| matches!(stage, Stage::Open { .. }));
        open && token.is_some_and(|token| same(token, &self.token))
    }
}

/// One field of a form or query.
fn field(text: &[u8], name: &str) -> Option<String> {
    form_urlencoded::parse(text)
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.into_owned())
        .filter(|value| value.len() <= MAX_FIELD)
}

async fn form(State(desk): State<Arc<Desk>>, RawQuery(query): RawQuery) -> Response {
    let token = field(query.unwrap_or_default().as_bytes(), "token");
    if !desk.admits(token.as_deref()) {
        return refused();
    }
    let url = desk.setup.public_url.as_deref().unwrap_or_default();
    shown(&desk, StatusCode::OK, page::form(&desk.token, url, None))
}

async fn review(State(desk): State<Arc<Desk>>, body: Bytes) -> Response {
    if body.len() > MAX_FORM || !desk.admits(field(&body, "token").as_deref()) {
        return refused();
    }
    let url = field(&body, "url").unwrap_or_default();
    let owner = field(&body, "owner").unwrap_or_default();
    let wish = match Wish::read(&url, &owner) {
        Ok(wish) => wish,
        Err(wrong) => {
            let page = page::form(&desk.token, &url, Some(&wrong));
            return shown(&desk, StatusCode::BAD_REQUEST, page);
        }
    };
    let Ok(state) = drawn() else {
        return broken(&desk, "the system has no randomness");
    };
    desk.stage(|stage| {
        *stage = Stage::Open {
            state: Some(state.clone()),
        };
    });
    let action = wish.action(&desk.setup.github, &state);
    let manifest = manifest(&wish.url, &desk.setup.origin).to_string();
    shown(&desk, StatusCode::OK, page::review(&action, &manifest))
}

async fn done(State(desk): State<Arc<Desk>>, RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    let (code, given) = (
        field(query.as_bytes(), "code"),
        field(query.as_bytes(), "state"),
    );
    let (Some(code), Some(given)) = (code, given) else {
        return refused();
    };
    // The state counts once, whatever comes of it.
    let admitted = desk.stage(|stage| match stage {
        Stage::Open { state: Some(state) } if same(&given, state) => {
            *stage = Stage::Exchanging;
            true
        }
        _ => false,
    });
    if !admitted {
        return refused();
    }
    let again = |text: &str, status: StatusCode| {
        desk.stage(|stage| *stage = Stage::Open { state: None });
        let url = desk.setup.public_url.as_deref().unwrap_or_default();
        shown(&desk, status, page::form(&desk.token, url, Some(text)))
    };
    let well_formed = code
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if !well_formed {
        return again("GitHub has sent no code", StatusCode::BAD_REQUEST);
    }
    let converted = convert(&desk.setup.transport, &desk.setup.base, &code).await;
    let app = match converted {
        Ok(app) => app,
        Err(failure) => {
            let status = match failure.disposition {
                Disposition::Retry { .. } | Disposition::Unknown => StatusCode::BAD_GATEWAY,
                _ => StatusCode::BAD_REQUEST,
            };
            return again(&failure.detail, status);
        }
    };
    let install = app.html_url.clone();
    if let Err(error) = keep(&desk.setup.data_dir, app) {
        tracing::error!("{error}");
        return again(&error.to_string(), StatusCode::INTERNAL_SERVER_ERROR);
    }
    desk.stage(|stage| *stage = Stage::Done);
    let response = shown(&desk, StatusCode::OK, page::done(&install));
    desk.setup.end.now();
    response
}

/// Whoever has no token, or comes too late, learns nothing.
fn refused() -> Response {
    (StatusCode::NOT_FOUND, "").into_response()
}

fn broken(desk: &Desk, why: &str) -> Response {
    shown(desk, StatusCode::INTERNAL_SERVER_ERROR, page::broken(why))
}

/// A page that runs nothing, loads nothing, is kept by nobody, and tells nobody where its reader came from: its address
/// holds the token.
fn shown(desk: &Desk, status: StatusCode, page: String) -> Response {
    let policy = format!(
        "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' {}",
        desk.setup.github
    );
    let mut response = (status, page).into_response();
    let headers = response.headers_mut();
    let fixed: [(HeaderName, &'static str); 4] = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

/// An account's name follows the same rules as the owner of a repository.
fn is_account(text: &str) -> bool {
    format!("{text}/x").parse::<RepositoryName>().is_ok()
}
