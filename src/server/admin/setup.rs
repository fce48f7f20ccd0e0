//! The set-up page: creates a GitHub App for the service, with no more permissions than it uses.
//!
//! ```text
//! console    prints an address with a one-time token
//! GET  /setup?token=…          asks for the public address, and for an organisation that should own the App
//! POST /setup                  shows the permissions, with a button that posts the manifest to GitHub
//! GitHub                       asks its user to confirm, and sends the browser back with a code
//! GET  /setup/done?code&state  exchanges the code for the App, once, and stores it in the data directory
//! ```
//!
//! Only `phileas serve --setup` serves the page, on the admin listener. A client without the token sees
//! nothing. The token and the state are random for each start, and invalid after the App was created. The
//! App's private key and the secret of its webhook go from GitHub's reply into a file of mode 0600, and are
//! never shown.

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
/// How often a code is tried: GitHub may be unavailable for a moment, and sends the private key
/// only once.
const TRIES: u32 = 5;
/// The pause after the first try; it doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(250);

/// The set-up page, about to be served.
pub struct Setup {
    /// The data directory, which stores the App.
    pub data_dir: PathBuf,
    /// The origin of the page, as the browser sees it.
    pub origin: String,
    /// The address of GitHub's pages.
    pub github: String,
    /// The address of GitHub's API.
    pub base: Base,
    /// The transport to GitHub.
    pub transport: Arc<dyn Transport>,
    /// The first value of the form.
    pub public_url: Option<String>,
    /// Ends the page when the App is stored.
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

/// The page, and the secrets that open it.
struct SetupContext {
    setup: Setup,
    token: String,
    stage: Mutex<SetupStage>,
    /// Locked while a code is exchanged and its App is stored.
    busy: ActiveExchange,
}

/// Locked while a code is exchanged. The exchange must not be interrupted, because GitHub sends the
/// App's private key only once.
pub type ActiveExchange = Arc<tokio::sync::Mutex<()>>;

/// The stage of the set-up.
#[derive(Debug, Clone)]
enum SetupStage {
    /// No browser was sent to GitHub yet, or the last one was sent with this state.
    Open { state: Option<String> },
    /// The code with this state is being or was exchanged.
    Exchanging {
        state: String,
        end: watch::Receiver<Option<ExchangeResult>>,
    },
}

/// The result of an exchange.
#[derive(Debug, Clone)]
enum ExchangeResult {
    /// The App is stored; its page on GitHub installs it.
    Kept { page: String },
    /// The exchange failed.
    Failed {
        status: StatusCode,
        why: String,
        /// Whether the same code may still be valid.
        again: bool,
    },
}

/// Returns the routes of the page, the address for the console, and the lock of the exchange.
///
/// # Errors
///
/// When the system returns no random bytes.
pub fn routes(setup: Setup) -> Result<(Router, String, ActiveExchange), getrandom::Error> {
    let token = draw_token()?;
    let address = format!("{}/setup?token={token}", setup.origin);
    let context = Arc::new(SetupContext {
        setup,
        token,
        stage: Mutex::new(SetupStage::Open { state: None }),
        busy: ActiveExchange::default(),
    });
    let busy = Arc::clone(&context.busy);
    let router = Router::new()
        .route("/setup", get(show_form).post(review_request))
        .route("/setup/done", get(finish_setup))
        .with_state(context);
    Ok((router, address, busy))
}

fn draw_token() -> Result<String, getrandom::Error> {
    let mut bytes = [0; TOKEN_BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(data_encoding::BASE64URL_NOPAD.encode(&bytes))
}

/// Compares secrets in a time that does not show how much of them is equal.
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

/// Returns one field of a form or query.
fn query_field(text: &[u8], name: &str) -> Option<String> {
    form_urlencoded::parse(text)
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.into_owned())
        .filter(|value| value.len() <= MAX_FIELD)
}

async fn show_form(
    State(context): State<Arc<SetupContext>>,
    RawQuery(query): RawQuery,
) -> Response {
    let token = query_field(query.unwrap_or_default().as_bytes(), "token");
    if !context.accepts_token(token.as_deref()) {
        return refuse_visitor();
    }
    let url = context.setup.public_url.as_deref().unwrap_or_default();
    page_response(
        &context,
        StatusCode::OK,
        pages::form_page(&context.token, url, None),
    )
}

async fn review_request(State(context): State<Arc<SetupContext>>, body: Bytes) -> Response {
    if body.len() > MAX_FORM || !context.accepts_token(query_field(&body, "token").as_deref()) {
        return refuse_visitor();
    }
    let url = query_field(&body, "url").unwrap_or_default();
    let owner = query_field(&body, "owner").unwrap_or_default();
    let request = match AppRequest::from_fields(&url, &owner, &context.setup.github) {
        Ok(request) => request,
        Err(wrong) => {
            let page = pages::form_page(&context.token, &url, Some(&wrong));
            return page_response(&context, StatusCode::BAD_REQUEST, page);
        }
    };
    let Ok(state) = draw_token() else {
        return report_failure(&context, "the operating system returned no random bytes");
    };
    context.with_stage(|stage| {
        *stage = SetupStage::Open {
            state: Some(state.clone()),
        };
    });
    let action = request.form_action(&context.setup.github, &state);
    let manifest = app_manifest(&request.url, &context.setup.origin).to_string();
    page_response(
        &context,
        StatusCode::OK,
        pages::review_page(&action, &manifest),
    )
}

async fn finish_setup(
    State(context): State<Arc<SetupContext>>,
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
        return show_form_again(&context, StatusCode::BAD_REQUEST, "GitHub sent no code");
    }
    let Some(mut end) = exchange_of(&context, code, &given) else {
        // The state is of another tab, or of a page before this one. If GitHub has created an App
        // for it, its key is lost.
        return page_response(
            &context,
            StatusCode::NOT_FOUND,
            pages::unknown_visitor_page(&context.setup.github),
        );
    };
    let ended = match end.wait_for(Option::is_some).await {
        Ok(ended) => ended.clone(),
        Err(_) => None,
    };
    match ended {
        Some(ExchangeResult::Kept { page }) => {
            page_response(&context, StatusCode::OK, pages::done_page(&page))
        }
        Some(ExchangeResult::Failed {
            status,
            again: true,
            why,
            ..
        }) => {
            let address = format!("/setup/done?{query}");
            page_response(&context, status, pages::retry_page(&why, &address))
        }
        Some(ExchangeResult::Failed { status, why, .. }) => {
            let hint = pages::leftover_note(&context.setup.github);
            show_form_again(&context, status, &format!("{why}.{hint}"))
        }
        None => report_failure(&context, "the exchange of the code ended without a result"),
    }
}

/// Returns the exchange of a state: the running one, or a new one. `None`: the state is unknown.
///
/// The exchange is a task of its own, so that a browser that reloads or disconnects does not
/// interrupt it.
fn exchange_of(
    context: &Arc<SetupContext>,
    code: String,
    given: &str,
) -> Option<watch::Receiver<Option<ExchangeResult>>> {
    let (tell, end) = watch::channel(None);
    let begins = context.with_stage(|stage| match stage {
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
    let context = Arc::clone(context);
    let given = given.to_owned();
    tokio::spawn(async move {
        let busy = Arc::clone(&context.busy);
        let _busy = busy.lock().await;
        let exchanged = exchange_code(&context, &code).await;
        if let ExchangeResult::Failed { again, .. } = &exchanged {
            // A state whose code may still be valid can be used again; otherwise the person must
            // visit GitHub again.
            let state = again.then_some(given);
            context.with_stage(|stage| *stage = SetupStage::Open { state });
        }
        let kept = matches!(exchanged, ExchangeResult::Kept { .. });
        tell.send_replace(Some(exchanged));
        if kept {
            context.setup.end.request_shutdown();
        }
    });
    Some(end)
}

/// Exchanges a code and stores the App.
async fn exchange_code(context: &SetupContext, code: &str) -> ExchangeResult {
    let app = match convert_code(context, code).await {
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
    match write_credentials(&context.setup.data_dir, app) {
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

/// Gets the App from GitHub. A code is valid for an hour, so temporary failures are tried again.
async fn convert_code(context: &SetupContext, code: &str) -> Result<Conversion, Failure> {
    let mut pause = FIRST_PAUSE;
    let mut attempt = 1;
    loop {
        match convert_manifest(&context.setup.transport, &context.setup.base, code).await {
            Err(failure)
                if attempt < TRIES && matches!(failure.disposition, Disposition::Retry { .. }) =>
            {
                tracing::warn!("{failure}; phileas tries again");
                tokio::time::sleep(pause).await;
                pause *= 2;
                attempt += 1;
            }
            ended => return ended,
        }
    }
}

/// Shows the form again, with the problem.
fn show_form_again(context: &SetupContext, status: StatusCode, why: &str) -> Response {
    let url = context.setup.public_url.as_deref().unwrap_or_default();
    page_response(
        context,
        status,
        pages::form_page(&context.token, url, Some(why)),
    )
}

/// Refuses a client without the token or after the end, without details.
fn refuse_visitor() -> Response {
    (StatusCode::NOT_FOUND, "").into_response()
}

fn report_failure(context: &SetupContext, why: &str) -> Response {
    page_response(
        context,
        StatusCode::INTERNAL_SERVER_ERROR,
        pages::failure_page(why),
    )
}

/// The response of a page that runs and loads nothing, is not cached, and sends no referrer,
/// because its address contains the token.
fn page_response(context: &SetupContext, status: StatusCode, page: String) -> Response {
    let policy = format!(
        "default-src 'none'; style-src '{}'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' {}",
        pages::style_digest(),
        context.setup.github
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
