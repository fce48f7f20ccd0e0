//! The webhook by itself, asked without a connection. The fuzz target `tests/fuzz/inputs/webhook.rs` asks it, too.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderValue, Request};
use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit as _, Mac as _};
use phileas::server::public::counters::Figures;
use phileas::server::public::webhook::{Intake, RepositoryFilter, Secrets, webhook_routes};
use sha2::Sha256;
use tower::ServiceExt as _;

use crate::support::memory_inbox::MemoryInbox;

/// The secret of the services under test.
pub(super) const SECRET: &str = "0123456789abcdef-test-secret-of-hooks";

/// A signature over these bytes.
pub(super) fn sign(secret: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body);
    format!("sha256={}", HEXLOWER.encode(&mac.finalize().into_bytes()))
}

/// What is said to headers and a body; the inbox has all the room that it could want.
pub(super) fn status(headers: &[(&'static str, Vec<u8>)], body: &[u8]) -> u16 {
    let secrets = Secrets::from_list(&SECRET.into()).unwrap();
    let inbox = Arc::new(MemoryInbox::new(100));
    let intake = Intake::new(
        inbox,
        secrets,
        RepositoryFilter::default(),
        Arc::new(Figures::default()),
    );
    let mut request = Request::post("/webhook")
        .body(Body::from(body.to_vec()))
        .unwrap();
    let known = [("content-type", b"application/json".to_vec())];
    for (name, value) in known.iter().chain(headers) {
        // What can stand in no header never comes this far.
        if let Ok(value) = HeaderValue::from_bytes(value) {
            request.headers_mut().append(*name, value);
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let answer = runtime
        .block_on(webhook_routes(intake).oneshot(request))
        .unwrap();
    answer.status().as_u16()
}

/// What is said to a body that is signed.
pub(super) fn signed(event: &[u8], delivery: &[u8], body: &[u8]) -> u16 {
    let headers = [
        ("x-github-event", event.to_vec()),
        ("x-github-delivery", delivery.to_vec()),
        ("x-hub-signature-256", sign(SECRET, body).into_bytes()),
    ];
    status(&headers, body)
}
