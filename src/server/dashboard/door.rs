//! What every request to the admin listener goes through, and every answer.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};

use super::Desk;
use super::access::{Checked, WINDOW, is_own_origin};
use crate::server::audit::Deed;

/// Nothing is loaded from anywhere else, nothing runs that stands in a page, and no form goes elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The id of a request, for logs.
#[derive(Debug, Clone)]
pub(super) struct RequestId(pub(super) String);

/// Before anything else: is the request meant for us, and does it come from a page of ours?
pub(super) async fn receive<I>(
    State(desk): State<Arc<Desk<I>>>,
    mut request: Request,
    next: Next,
) -> Response {
    let id = format!("{:016x}", fastrand::u64(..));
    request.extensions_mut().insert(RequestId(id.clone()));
    let access = &desk.dashboard.access;
    // Who brings the token knows us, by whatever name; no foreign page can make a browser send it.
    let program = request.headers().contains_key(header::AUTHORIZATION);
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let response = if !program && !access.is_our_host(request.headers()) {
        let word = "this name is not known here; use the address itself, or name it in PHILEAS_ADMIN_HOSTS\n";
        (StatusCode::MISDIRECTED_REQUEST, word).into_response()
    } else if !reads && !is_own_origin(request.headers()) {
        (StatusCode::FORBIDDEN, "this form comes from another page\n").into_response()
    } else {
        next.run(request).await
    };
    sealed(response, &id)
}

/// Lets in whoever may come in. People without a session are led to where they can sign in.
pub(super) async fn admit<I>(
    State(desk): State<Arc<Desk<I>>>,
    mut request: Request,
    next: Next,
) -> Response {
    let page = request.method() == Method::GET
        && request
            .headers()
            .get(header::ACCEPT)
            .and_then(|kinds| kinds.to_str().ok())
            .is_some_and(|kinds| kinds.contains("text/html"));
    let program = request.headers().contains_key(header::AUTHORIZATION);
    match desk.dashboard.access.who(request.headers(), Instant::now()) {
        Ok(who) => {
            request.extensions_mut().insert(who);
            next.run(request).await
        }
        Err(Checked::TooMany) => too_many(),
        Err(_) => {
            if program && let Some(RequestId(id)) = request.extensions().get() {
                desk.dashboard.audit.record(&Deed {
                    at: desk.now(),
                    who: "nobody",
                    what: "bearer",
                    about: None,
                    result: "refused",
                    request: id,
                });
            }
            if page && !program {
                return Redirect::to("/login").into_response();
            }
            let mut refused =
                (StatusCode::UNAUTHORIZED, "an admin token is needed\n").into_response();
            let how = HeaderValue::from_static("Bearer");
            refused.headers_mut().insert(header::WWW_AUTHENTICATE, how);
            refused
        }
    }
}

/// The answer to whoever has guessed too often.
pub(super) fn too_many() -> Response {
    let word = "too many wrong tokens; try again in a minute\n";
    let mut refused = (StatusCode::TOO_MANY_REQUESTS, word).into_response();
    let after = HeaderValue::from(WINDOW.as_secs());
    refused.headers_mut().insert(header::RETRY_AFTER, after);
    refused
}

/// An answer that runs nothing foreign, is framed by nobody, tells nobody where its reader comes from, and is kept by
/// nobody but for files whose names change with them.
fn sealed(mut response: Response, id: &str) -> Response {
    let headers = response.headers_mut();
    let fixed: [(HeaderName, &'static str); 6] = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Not `no-referrer`: then browsers send forms with the origin `null`, which is everybody's.
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
