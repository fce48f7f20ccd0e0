//! Checks every request to the admin listener, and adds security headers to every response.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};

use super::access::{AccessRefusal, Visitor, WINDOW};
use super::context::DashboardContext;
use crate::server::admin::audit::AuditEntry;

/// The browser loads nothing from other hosts, runs no script of a page, and sends no form to other
/// hosts.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The id of a request, for logs.
#[derive(Debug, Clone)]
pub(super) struct RequestId(pub(super) String);

/// The author of the request, before a handler decides whether it needs one.
#[derive(Debug, Clone)]
pub(super) struct Asker(Result<Visitor, AccessRefusal>);

/// Refuses a request for another host name, and a form of another site.
pub(super) async fn check_request<I>(
    State(context): State<Arc<DashboardContext<I>>>,
    mut request: Request,
    next: Next,
) -> Response {
    let id = format!("{:016x}", fastrand::u64(..));
    request.extensions_mut().insert(RequestId(id.clone()));
    let access = &context.dashboard.access;
    let who = access.identify_visitor(request.headers(), Instant::now());
    // A client with the token knows this service, whatever host name it uses. A foreign page may
    // have invented any other credential.
    let program = who == Ok(Visitor::Bearer);
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let response = if !program && !access.is_our_host(request.headers()) {
        let word = "the service does not know this host name; use its address, or add the name to \
            PHILEAS_ADMIN_HOSTS\n";
        (StatusCode::MISDIRECTED_REQUEST, word).into_response()
    } else if !reads && !access.is_own_origin(request.headers()) {
        let word = "this form comes from another page; let a proxy in front pass the Host header on, or add the public \
            name to PHILEAS_ADMIN_HOSTS\n";
        (StatusCode::FORBIDDEN, word).into_response()
    } else {
        request.extensions_mut().insert(Asker(who));
        next.run(request).await
    };
    secure_headers(response, &id)
}

/// Passes authorized requests on. People without a session are redirected to the login form.
pub(super) async fn require_visitor<I>(
    State(context): State<Arc<DashboardContext<I>>>,
    mut request: Request,
    next: Next,
) -> Response {
    let page = request.method() == Method::GET
        && request
            .headers()
            .get(header::ACCEPT)
            .and_then(|kinds| kinds.to_str().ok())
            .is_some_and(|kinds| kinds.contains("text/html"));
    let asker = request.extensions_mut().remove::<Asker>();
    match asker.map_or(Err(AccessRefusal::Unauthorized), |Asker(who)| who) {
        Ok(who) => {
            request.extensions_mut().insert(who);
            next.run(request).await
        }
        Err(AccessRefusal::TooMany) => too_many(),
        Err(refused) => {
            if let Some(result) = refused.audit_text()
                && let Some(RequestId(id)) = request.extensions().get()
            {
                context.dashboard.audit.record_entry(&AuditEntry {
                    at: context.current_time(),
                    who: "unknown",
                    what: "bearer",
                    about: None,
                    result,
                    request: id,
                });
            }
            if page && refused == AccessRefusal::Unauthorized {
                let wanted = request
                    .uri()
                    .path_and_query()
                    .map_or("/", |path| path.as_str());
                let wanted = form_urlencoded::byte_serialize(wanted.as_bytes()).collect::<String>();
                return Redirect::to(&format!("/login?next={wanted}")).into_response();
            }
            let word = if context.dashboard.access.is_guarded() {
                "an admin token is required\n"
            } else {
                "this service has no admin token: leave the Authorization header out\n"
            };
            let mut refused = (StatusCode::UNAUTHORIZED, word).into_response();
            let how = HeaderValue::from_static("Bearer");
            refused.headers_mut().insert(header::WWW_AUTHENTICATE, how);
            refused
        }
    }
}

/// The response to a client that has sent too many wrong tokens.
pub(super) fn too_many() -> Response {
    let word = "too many wrong tokens; try again in a minute\n";
    let mut refused = (StatusCode::TOO_MANY_REQUESTS, word).into_response();
    let after = HeaderValue::from(WINDOW.as_secs());
    refused.headers_mut().insert(header::RETRY_AFTER, after);
    refused
}

/// Adds headers so that a page runs no foreign code, cannot be framed, sends no referrer to other
/// sites, and is not cached. Files whose names change with their content are cached.
fn secure_headers(mut response: Response, id: &str) -> Response {
    let headers = response.headers_mut();
    let fixed: [(HeaderName, &'static str); 6] = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Not `no-referrer`: with it browsers send forms with the origin `null`, which any site can
        // send.
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, id);
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}
