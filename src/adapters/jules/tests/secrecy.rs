//! Keys, prompts and bodies stay where they belong.

use std::io::Write;
use std::sync::{Arc, Mutex};

use phileas_domain::engine::ListingNeed;
use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;

use super::stage::{KEY, at, create, lost, ok, raw, refusal, repository, stage};
use crate::adapters::transport::TransportError;
use crate::runtime::ports::{ReadJules as _, WriteJules as _};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

async fn play() {
    let foreign = json!({"id": "77", "title": "foreign title", "prompt": "foreign prompt",
        "sourceContext": {"source": "sources/github/foreign/secrets"}});
    let cast = stage([
        refusal(503, "UNAVAILABLE", &format!("down for {KEY}")),
        raw(500, "text/html", format!("<b>{KEY}</b>")),
        ok(json!({"sessions": [foreign]})),
        lost(),
        raw(429, "text/plain", "busy"),
        raw(200, "application/json", ""),
    ]);
    let noon = at("2026-01-05T12:00:00Z");
    let need = ListingNeed::Since(noon);
    let listed = cast.jules.list(&repository(), &need, noon).await.unwrap();
    assert!(listed.sessions.is_empty());
    cast.jules.create(&create()).await.unwrap_err();
    let id = "15".into();
    cast.jules
        .send_message(&id, "a private answer")
        .await
        .unwrap();
}

#[tokio::test]
async fn nothing_of_it_reaches_the_log() {
    // With one subscriber alive, tracing asks the thread that meets a span first whether anybody listens, and other
    // tests' threads say no for everybody. With two alive it asks both of them.
    let _second = tracing::Dispatch::new(tracing_subscriber::registry());
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .without_time()
        .with_max_level(tracing::Level::TRACE)
        .with_span_events(FmtSpan::FULL)
        .with_writer(log.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    play().await;
    drop(guard);

    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for told in [
        "route=\"GET /v1alpha/sessions\"",
        "status=503",
        "route=\"POST /v1alpha/sessions\"",
        "status=\"lost\"",
        "Jules is asked again",
    ] {
        assert!(log.contains(told), "{told} is missing in {log}");
    }
    for hidden in [KEY, "foreign", "private", "down for", "busy", "77"] {
        assert!(!log.contains(hidden), "{hidden} stands in {log}");
    }
}

#[tokio::test]
async fn no_debug_and_no_error_shows_the_key() {
    let echo = || refusal(400, "INVALID_ARGUMENT", &format!("the key {KEY} is odd"));
    let cast = stage([
        echo(),
        echo(),
        Err(TransportError::Lost(format!("cut while sending {KEY}"))),
        raw(400, KEY, KEY),
    ]);
    let id = "15".into();
    let mut shown = vec![format!("{:?} {:?}", cast.client, cast.jules)];
    let error = cast.client.get_session("15").await.unwrap_err();
    shown.push(format!("{error} {error:?}"));
    shown.push(format!(
        "{:?}",
        cast.jules.create(&create()).await.unwrap_err()
    ));
    shown.push(format!("{:?}", cast.jules.archive(&id).await.unwrap_err()));
    shown.push(format!("{:?}", cast.jules.archive(&id).await.unwrap_err()));
    shown.push(format!("{:?}", cast.stage.requests()));
    for text in shown {
        assert!(!text.contains(KEY), "{text}");
        assert!(!text.contains("test-key"), "{text}");
    }
}
