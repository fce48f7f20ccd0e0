//! Keys, prompts and bodies stay where they belong.

use phileas_domain::engine::ListingNeed;
use serde_json::json;

use super::stage::{KEY, at, create, lost, ok, raw, refusal, repository, stage};
use crate::adapters::log_capture::LogCapture;
use crate::adapters::transport::TransportError;
use crate::runtime::ports::{ReadJules as _, WriteJules as _};

async fn play() {
    let foreign = json!({"id": "77", "title": "foreign title", "prompt": "foreign prompt",
        "sourceContext": {"source": "sources/github/foreign/secrets"}});
    let scripted = stage([
        refusal(503, "UNAVAILABLE", &format!("down for {KEY}")),
        raw(500, "text/html", format!("<b>{KEY}</b>")),
        ok(json!({"sessions": [foreign]})),
        lost(),
        raw(429, "text/plain", "busy"),
        raw(200, "application/json", ""),
    ]);
    let noon = at("2026-01-05T12:00:00Z");
    let need = ListingNeed::Since(noon);
    let listed = scripted
        .jules
        .list_sessions(&repository(), &need, noon)
        .await
        .unwrap();
    assert!(listed.sessions.is_empty());
    scripted.jules.create_session(&create()).await.unwrap_err();
    let id = "15".into();
    scripted
        .jules
        .send_message(&id, "a private answer")
        .await
        .unwrap();
}

#[tokio::test]
async fn r15_nothing_of_it_reaches_the_log() {
    let log = LogCapture::begin();
    play().await;
    let log = log.end();
    for told in [
        "route=\"GET /v1alpha/sessions\"",
        "status=503",
        "route=\"POST /v1alpha/sessions\"",
        "status=\"lost\"",
        "a call to Jules is repeated",
    ] {
        assert!(log.contains(told), "{told} is missing in {log}");
    }
    for hidden in [KEY, "foreign", "private", "down for", "busy", "77"] {
        assert!(!log.contains(hidden), "{hidden} stands in {log}");
    }
}

#[tokio::test]
async fn r15_no_debug_and_no_error_shows_the_key() {
    let echo = || refusal(400, "INVALID_ARGUMENT", &format!("the key {KEY} is odd"));
    let scripted = stage([
        echo(),
        echo(),
        Err(TransportError::Lost(format!("cut while sending {KEY}"))),
        raw(400, KEY, KEY),
    ]);
    let id = "15".into();
    let mut shown = vec![format!("{:?} {:?}", scripted.client, scripted.jules)];
    let error = scripted.client.get_session("15").await.unwrap_err();
    shown.push(format!("{error} {error:?}"));
    shown.push(format!(
        "{:?}",
        scripted.jules.create_session(&create()).await.unwrap_err()
    ));
    shown.push(format!(
        "{:?}",
        scripted.jules.archive_session(&id).await.unwrap_err()
    ));
    shown.push(format!(
        "{:?}",
        scripted.jules.archive_session(&id).await.unwrap_err()
    ));
    shown.push(format!("{:?}", scripted.stage.requests()));
    for text in shown {
        assert!(!text.contains(KEY), "{text}");
        assert!(!text.contains("test-key"), "{text}");
    }
}

/// What Jules says of a session goes into messages and the ledger, so that the key is taken out of answers of every kind.
#[tokio::test]
async fn r15_no_answer_that_is_read_holds_the_key() {
    let escaped = KEY.replace('-', "%2D");
    let session = json!({"name": "sessions/15", "id": "15", "title": format!("with {KEY}"),
        "prompt": format!("?key={escaped}"), "sourceContext": {"source": "sources/github/acme/widget"}});
    let other = "AIzaSyD-0123456789abcdefghijklmnopqrstu";
    let scripted = stage([
        ok(session),
        refusal(
            400,
            "INVALID_ARGUMENT",
            &format!("?key={escaped} and {other}"),
        ),
    ]);
    let read = format!("{:?}", scripted.client.get_session("15").await.unwrap());
    let error = format!("{:?}", scripted.client.get_session("15").await.unwrap_err());
    for text in [read, error] {
        for form in [KEY, &escaped, other] {
            assert!(!text.contains(form), "{text}");
        }
    }
}
