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
//! It is served on the admin listener, and only by `phileas serve --setup`. A client without the token sees nothing. The token
//! and the state are drawn for each start and are worth nothing after the App was made. The App's private key and the
//! secret of its webhook go from GitHub's answer into a file of mode 0600 and are never shown.

mod credential_file;
mod manifest;
mod pages;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

use tokio::sync::watch;

use crate::adapters::github::{Base, Conversion, convert_manifest};
use crate::adapters::transport::Transport;
use crate::runtime::ports::{Disposition, Failure};
use credential_file::write_credentials;
use manifest::AppRequest;

pub use credential_file::CredentialFileError;
pub use manifest::{GITHUB, app_manifest};

use crate::server::shutdown::ShutdownTrigger;

/// The longest form that is read, in bytes.
const MAX_FORM: usize = 8 << 10;
/// The longest field of a form or query that is read, in bytes.
const MAX_FIELD: usize = 500;
/// Bytes of a token or state.
const TOKEN_BYTES: usize = 32;
/// How often a code is tried: GitHub may be away for a moment, and its private key is told once.
const TRIES: u32 = 5;
/// The pause after the first try; it doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(250);

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
    pub end: ShutdownTrigger,
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
struct SetupContext {
    setup: Setup,
    token: String,
    stage: Mutex<SetupStage>,
    /// Taken while a code is being exchanged and its App is kept.
    busy: ActiveExchange,
}

/// Held while a code is being exchanged, which must not be interrupted: GitHub sends the App's private key only once.
pub type ActiveExchange = Arc<tokio::sync::Mutex<()>>;

/// How far it has come.
#[derive(Debug, Clone)]
enum SetupStage {
    /// No browser was sent to GitHub yet, or the last one was sent with this state.
    Open { state: Option<String> },
    /// The code that came with this state is being exchanged, or was.
    Exchanging {
        state: String,
        end: watch::Receiver<Option<ExchangeResult>>,
    },
}

/// What came of a code.
#[derive(Debug, Clone)]
enum ExchangeResult {
    /// The App is kept; here it is installed.
    Kept { page: String },
    /// It is not.
    Failed {
        status: StatusCode,
        why: String,
        /// Whether the same code may still be good.
        again: bool,
    },
}

/// The routes of the page, the address that is printed on the console, and what is held during the exchange.
///
/// # Errors
///
/// When the system has no randomness.
pub fn routes(setup: Setup) -> Result<(Router, String, ActiveExchange), getrandom::Error> {
    let token = draw_token()?;
    let address = format!("{}/setup?token={token}", setup.origin);
    let desk = Arc::new(SetupContext {
        setup,
        token,
        stage: Mutex::new(SetupStage::Open { state: None }),
        busy: ActiveExchange::default(),
    });
    let busy = Arc::clone(&desk.busy);
    let router = Router::new()
        .route("/setup", get(show_form).post(review_request))
        .route("/setup/done", get(finish_setup))
        .with_state(desk);
    Ok((router, address, busy))
}

fn draw_token() -> Result<String, getrandom::Error> {
    let mut bytes = [0; TOKEN_BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(data_encoding::BASE64URL_NOPAD.encode(&bytes))
}

/// Compares without telling by its time how much is right.
fn is_same_secret(one: &str, other: &str) -> bool {
    let differ = one
        .bytes()
        .zip(other.bytes())
        .fold(0, |differ, (one, other)| differ | (one ^ other));
    one.len() == other.len() && differ == 0
}

impl SetupContext {
    fn with_stage<T>(&self, look: impl FnOnce(&mut SetupStage) -> T) -> T {
        look(&mut self.stage.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether this token opens the page.
    fn accepts_token(&self, token: Option<&str>) -> bool {
        let open = self.with_stage(|stage| matches!(stage, SetupStage::Open { .. }));
        open && token.is_some_and(|token| is_same_secret(token, &self.token))
    }
}

/// One field of a form or query.
fn query_field(text: &[u8], name: &str) -> Option<String> {
    form_urlencoded::parse(text)
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.into_owned())
        .filter(|value| value.len() <= MAX_FIELD)
}

async fn show_form(State(desk): State<Arc<SetupContext>>, RawQuery(query): RawQuery) -> Response {
    let token = query_field(query.unwrap_or_default().as_bytes(), "token");
    if !desk.accepts_token(token.as_deref()) {
        return refuse_visitor();
    }
    let url = desk.setup.public_url.as_deref().unwrap_or_default();
    page_response(
        &desk,
        StatusCode::OK,
        pages::form_page(&desk.token, url, None),
    )
}

async fn review_request(State(desk): State<Arc<SetupContext>>, body: Bytes) -> Response {
    if body.len() > MAX_FORM || !desk.accepts_token(query_field(&body, "token").as_deref()) {
        return refuse_visitor();
    }
    let url = query_field(&body, "url").unwrap_or_default();
    let owner = query_field(&body, "owner").unwrap_or_default();
    let request = match AppRequest::from_fields(&url, &owner, &desk.setup.github) {
        Ok(request) => request,
        Err(wrong) => {
            let page = pages::form_page(&desk.token, &url, Some(&wrong));
            return page_response(&desk, StatusCode::BAD_REQUEST, page);
        }
    };
    let Ok(state) = draw_token() else {
        return report_failure(&desk, "the system has no randomness");
    };
    desk.with_stage(|stage| {
        *stage = SetupStage::Open {
            state: Some(state.clone()),
        };
    });
    let action = request.form_action(&desk.setup.github, &state);
    let manifest = app_manifest(&request.url, &desk.setup.origin).to_string();
    page_response(
        &desk,
        StatusCode::OK,
        pages::review_page(&action, &manifest),
    )
}

async fn finish_setup(
    State(desk): State<Arc<SetupContext>>,
    RawQuery(query): RawQuery,
) -> Response {
    let query = query.unwrap_or_default();
    let (code, given) = (
        query_field(query.as_bytes(), "code"),
        query_field(query.as_bytes(), "state"),
    );
    let (Some(code), Some(given)) = (code, given) else {
        return refuse_visitor();
    };
    let well_formed = code
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if !well_formed {
        return show_form_again(&desk, StatusCode::BAD_REQUEST, "GitHub has sent no code");
    }
    let Some(mut end) = exchange_of(&desk, code, &given) else {
        // Another tab, or the page before this one: an App that GitHub has made by then has no owner.
        return page_response(
            &desk,
            StatusCode::NOT_FOUND,
            pages::unknown_visitor_page(&desk.setup.github),
        );
    };
    let ended = match end.wait_for(Option::is_some).await {
        Ok(ended) => ended.clone(),
        Err(_) => None,
    };
    match ended {
        Some(ExchangeResult::Kept { page }) => {
            page_response(&desk, StatusCode::OK, pages::done_page(&page))
        }
        Some(ExchangeResult::Failed {
            status,
            again: true,
            why,
            ..
        }) => {
            let address = format!("/setup/done?{query}");
            page_response(&desk, status, pages::retry_page(&why, &address))
        }
        Some(ExchangeResult::Failed { status, why, .. }) => {
            let hint = pages::leftover_note(&desk.setup.github);
            show_form_again(&desk, status, &format!("{why}.{hint}"))
        }
        None => report_failure(&desk, "the exchange of the code has ended without a result"),
    }
}

/// The exchange that belongs to a state: the one that is under way, or a new one. `None`: the state is unknown.
///
/// It is a task of its own, so that a browser that reloads or goes away cuts nothing off.
fn exchange_of(
    desk: &Arc<SetupContext>,
    code: String,
    given: &str,
) -> Option<watch::Receiver<Option<ExchangeResult>>> {
    let (tell, end) = watch::channel(None);
    let begins = desk.with_stage(|stage| match stage {
        SetupStage::Open { state: Some(state) } if is_same_secret(given, state) => {
            let state = state.clone();
            *stage = SetupStage::Exchanging {
                state,
                end: end.clone(),
            };
            Some(Ok(end))
        }
        SetupStage::Exchanging { state, end } if is_same_secret(given, state) => {
            Some(Err(end.clone()))
        }
        _ => None,
    })?;
    let end = match begins {
        Ok(end) => end,
        Err(under_way) => return Some(under_way),
    };
    let desk = Arc::clone(desk);
    let given = given.to_owned();
    tokio::spawn(async move {
        let busy = Arc::clone(&desk.busy);
        let _busy = busy.lock().await;
        let exchanged = exchange_code(&desk, &code).await;
        if let ExchangeResult::Failed { again, .. } = &exchanged {
            // A state whose code may still be good counts again; another one needs a new visit to GitHub.
            let state = again.then_some(given);
            desk.with_stage(|stage| *stage = SetupStage::Open { state });
        }
        let kept = matches!(exchanged, ExchangeResult::Kept { .. });
        tell.send_replace(Some(exchanged));
        if kept {
            desk.setup.end.request_shutdown();
        }
    });
    Some(end)
}

/// Exchanges a code and keeps the App.
async fn exchange_code(desk: &SetupContext, code: &str) -> ExchangeResult {
    let app = match convert_code(desk, code).await {
        Ok(app) => app,
        Err(failure) => {
            let away = matches!(
                failure.disposition,
                Disposition::Retry { .. } | Disposition::Unknown
            );
            return ExchangeResult::Failed {
                status: if away {
                    StatusCode::BAD_GATEWAY
                } else {
                    StatusCode::BAD_REQUEST
                },
                why: failure.detail,
                again: matches!(failure.disposition, Disposition::Retry { .. }),
            };
        }
    };
    let page = app.html_url.clone();
    match write_credentials(&desk.setup.data_dir, app) {
        Ok(()) => ExchangeResult::Kept { page },
        Err(error) => {
            tracing::error!("{error}");
            ExchangeResult::Failed {
                status: StatusCode::INTERNAL_SERVER_ERROR,
                why: error.to_string(),
                again: false,
            }
        }
    }
}

/// The App, from GitHub. A code is good for an hour, so that whatever may pass is tried again.
async fn convert_code(desk: &SetupContext, code: &str) -> Result<Conversion, Failure> {
    let mut pause = FIRST_PAUSE;
    let mut attempt = 1;
    loop {
        match convert_manifest(&desk.setup.transport, &desk.setup.base, code).await {
            Err(failure)
                if attempt < TRIES && matches!(failure.disposition, Disposition::Retry { .. }) =>
            {
                tracing::warn!("{failure}; it is asked again");
                tokio::time::sleep(pause).await;
                pause *= 2;
                attempt += 1;
            }
            ended => return ended,
        }
    }
}

/// The form once more, with what was wrong.
fn show_form_again(desk: &SetupContext, status: StatusCode, why: &str) -> Response {
    let url = desk.setup.public_url.as_deref().unwrap_or_default();
    page_response(desk, status, pages::form_page(&desk.token, url, Some(why)))
}

/// A client without the token, or one that comes too late, learns nothing.
fn refuse_visitor() -> Response {
    (StatusCode::NOT_FOUND, "").into_response()
}

fn report_failure(desk: &SetupContext, why: &str) -> Response {
    page_response(
        desk,
        StatusCode::INTERNAL_SERVER_ERROR,
        pages::failure_page(why),
    )
}

/// A page that runs and loads nothing, is not cached, and sends no referrer: its address
/// holds the token.
fn page_response(desk: &SetupContext, status: StatusCode, page: String) -> Response {
    let policy = format!(
        "default-src 'none'; style-src '{}'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' {}",
        pages::style_digest(),
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
