//! Tests which calls are repeated, which are not, and the messages.

use std::time::Duration;

use phileas_domain::engine::{CreateFailure, ListingNeed};
use serde_json::json;

use super::stage::{
    Reply, at, create, lost, missing, not_sent, ok, raw, refusal, repository, stage, stage_with,
    with_header,
};
use crate::adapters::transport::TransportError;
use crate::runtime::ports::{Disposition, Failure, ReadJules as _, WriteJules as _};

fn spent() -> Reply {
    refusal(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted")
}

fn down() -> Reply {
    refusal(503, "UNAVAILABLE", "The service is currently unavailable.")
}

#[tokio::test]
async fn reads_are_repeated_until_they_succeed() {
    let scripted = stage([down(), lost(), spent(), not_sent(), ok(json!({"id": "15"}))]);
    assert!(
        scripted
            .jules
            .read_session(&"15".into())
            .await
            .unwrap()
            .is_some()
    );
    assert_eq!(scripted.stage.waits(), [1, 2, 4, 8]);
    assert_eq!(scripted.client.request_count(), 5);
}

#[tokio::test]
async fn reads_give_up_after_five_attempts() {
    let scripted = stage((0..5).map(|_| down()));
    let failure = scripted.jules.read_session(&"15".into()).await.unwrap_err();
    assert_eq!(
        failure,
        Failure {
            disposition: Disposition::Retry { after: None },
            detail: "The service is currently unavailable. (status 503 UNAVAILABLE) \
                     (Jules: GET /v1alpha/sessions/{session})"
                .to_owned(),
        }
    );
    assert!(scripted.stage.is_used_up());
}

#[tokio::test]
async fn a_message_is_repeated_only_when_it_was_surely_not_taken() {
    let scripted = stage([spent(), raw(200, "application/json", "")]);
    scripted
        .jules
        .send_message(&"15".into(), "go on")
        .await
        .unwrap();
    assert_eq!(scripted.client.request_count(), 2);

    for (reply, disposition) in [
        (down(), Disposition::Unknown),
        (lost(), Disposition::Unknown),
        (
            Err(TransportError::TooLarge { limit: 9 }),
            Disposition::Unknown,
        ),
        (raw(408, "text/plain", "late"), Disposition::Unknown),
        (not_sent(), Disposition::Retry { after: None }),
        (refusal(400, "INVALID_ARGUMENT", "no"), Disposition::Refused),
        (refusal(401, "UNAUTHENTICATED", "no"), Disposition::Denied),
        (refusal(403, "PERMISSION_DENIED", "no"), Disposition::Denied),
    ] {
        let scripted = stage([reply]);
        let failure = scripted
            .jules
            .send_message(&"15".into(), "go on")
            .await
            .unwrap_err();
        assert_eq!(failure.disposition, disposition, "{failure}");
        assert_eq!(scripted.client.request_count(), 1);
    }
}

#[tokio::test]
async fn a_message_that_finds_no_session_is_sent_again_where_the_session_was_queued() {
    let session = |state: &str| ok(json!({ "name": "sessions/15", "id": "15", "state": state }));
    let again = Disposition::Retry { after: None };
    for (read, disposition) in [
        (missing(), Disposition::NotFound),
        (session("QUEUED"), again.clone()),
        // It began between the message and the read.
        (session("PLANNING"), again.clone()),
        (session("IN_PROGRESS"), again),
        (session("COMPLETED"), Disposition::NotFound),
        (session("FAILED"), Disposition::NotFound),
        // Whether it exists is not known.
        (refusal(401, "UNAUTHENTICATED", "no"), Disposition::Denied),
    ] {
        let scripted = stage([missing(), read]);
        let failure = scripted
            .jules
            .send_message(&"15".into(), "go on")
            .await
            .unwrap_err();
        assert_eq!(failure.disposition, disposition, "{failure}");
        assert_eq!(
            scripted.stage.lines()[..2],
            ["POST /sessions/15:sendMessage", "GET /sessions/15"]
        );
    }
}

#[tokio::test]
async fn calls_use_the_session_path() {
    let scripted = stage([ok(json!({})), ok(json!({}))]);
    scripted.jules.approve_plan(&"15".into()).await.unwrap();
    scripted.jules.archive_session(&"15".into()).await.unwrap();
    assert_eq!(
        scripted.stage.lines(),
        ["POST /sessions/15:approvePlan", "POST /sessions/15:archive"]
    );
}

#[tokio::test]
async fn retry_after_is_respected_up_to_the_limit() {
    let scripted = stage([
        with_header(spent(), "retry-after", "12"),
        ok(json!({"id": "15"})),
    ]);
    scripted.jules.read_session(&"15".into()).await.unwrap();
    assert_eq!(scripted.stage.waits(), [12]);

    let scripted = stage([with_header(spent(), "retry-after", "120")]);
    let failure = scripted.jules.read_session(&"15".into()).await.unwrap_err();
    let after = Some(Duration::from_secs(120));
    assert_eq!(failure.disposition, Disposition::Retry { after });
    assert!(scripted.stage.waits().is_empty());
}

/// The repositories of a key share the refusal, whenever they ask.
#[tokio::test]
async fn a_shared_refusal_asks_only_for_the_rest_of_its_wait() {
    let noon = at("2026-01-05T12:00:00Z");
    let refused = || {
        let dated = with_header(spent(), "date", "Mon, 05 Jan 2026 12:00:00 GMT");
        with_header(dated, "retry-after", "600")
    };
    let shared = || stage_with([refused()], |settings| settings.shared = true);
    let passes = [(0, 600), (400, 200), (150, 50)].map(|(passed, left)| {
        let left = Duration::from_secs(left);
        (Duration::from_secs(passed), left)
    });

    let scripted = shared();
    for (passed, left) in passes {
        scripted.stage.pass(passed);
        let need = ListingNeed::Since(noon);
        let here = repository();
        let listed = scripted.jules.list_sessions(&here, &need, noon);
        let after = Some(left);
        let failure = listed.await.unwrap_err();
        assert_eq!(failure.disposition, Disposition::Retry { after });
    }

    let scripted = shared();
    for (passed, _) in passes {
        scripted.stage.pass(passed);
        let failure = scripted.jules.create_session(&create()).await.unwrap_err();
        let retry_at = Some(at("2026-01-05T12:10:00Z"));
        assert_eq!(failure, CreateFailure::Quota { retry_at });
    }
}

async fn failure_text(reply: Reply) -> String {
    let failure = stage([reply])
        .jules
        .archive_session(&"15".into())
        .await
        .unwrap_err();
    let said = failure.detail;
    assert!(!said.contains('\n') && said.chars().count() < 400, "{said}");
    let route = " (Jules: POST /v1alpha/sessions/{session}:archive)";
    said.strip_suffix(route).unwrap().to_owned()
}

#[tokio::test]
async fn recorded_envelopes_are_read() {
    // google-labs-code/jules-sdk#19 and Hiroki-org/jules-extension#799 recorded these.
    let automation = json!({"error": {"code": 400,
        "message": "Invalid value at 'session.automation_mode' (type.googleapis.com/google.labs.jules.v1alpha.AutomationMode), \"MANUAL\"",
        "status": "INVALID_ARGUMENT",
        "details": [{"@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [{"field": "session.automation_mode", "description": "Invalid value at …"}]}]}});
    assert_eq!(
        failure_text(super::stage::json(400, &automation)).await,
        "Invalid value at 'session.automation_mode' \
         (type.googleapis.com/google.labs.jules.v1alpha.AutomationMode), \"MANUAL\" (status 400 INVALID_ARGUMENT)"
    );
    let unknown = "Unknown name \"createTime\": Cannot bind query parameter. Field 'createTime' could not be found in request message.";
    assert_eq!(
        failure_text(refusal(400, "INVALID_ARGUMENT", unknown)).await,
        format!("{unknown} (status 400 INVALID_ARGUMENT)")
    );
    assert_eq!(
        failure_text(missing()).await,
        "Requested entity was not found. (status 404 NOT_FOUND)"
    );
    let credentials = json!({"error": {"code": 401, "status": "UNAUTHENTICATED", "message": "API keys are not supported by this API.",
        "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "CREDENTIALS_MISSING"}]}});
    assert_eq!(
        failure_text(super::stage::json(401, &credentials)).await,
        "API keys are not supported by this API. (status 401 UNAUTHENTICATED CREDENTIALS_MISSING)"
    );
}

#[tokio::test]
async fn bodies_that_are_no_envelope_are_summed_up() {
    let page = "<!DOCTYPE html>\n<html><head><title>Error 502</title></head>\n<body>Try   again\tlater</body></html>";
    assert_eq!(
        failure_text(raw(502, "text/html", page)).await,
        format!(
            "a body of {} bytes (text/html): Error 502 Try again later (status 502)",
            page.len()
        )
    );
    assert_eq!(failure_text(raw(500, "text/plain", "")).await, "status 500");
    let json = failure_text(raw(400, "application/json", r#"{"error": "flat"}"#)).await;
    assert!(json.contains(r#"{"error": "flat"}"#), "{json}");
    let moved = failure_text(raw(301, "text/html", "")).await;
    assert_eq!(
        moved,
        "status 301 (redirects are not followed; look at JULES_API_BASE)"
    );
    let binary = failure_text(raw(500, "application/grpc", vec![0xff, 0x00, 0x0a])).await;
    assert!(
        binary.starts_with("a body of 3 bytes (application/grpc): "),
        "{binary}"
    );
}

#[tokio::test]
async fn messages_are_cut_and_echoed_prompts_left_out() {
    let long = failure_text(refusal(400, "INVALID_ARGUMENT", &"é".repeat(1_000))).await;
    assert!(long.ends_with("… (status 400 INVALID_ARGUMENT)"), "{long}");
    let prompt = "secret plans ".repeat(10);
    let echo = format!("Invalid value at 'prompt' (TYPE_STRING), \"{prompt}\\\" and more\", sorry");
    assert_eq!(
        failure_text(refusal(400, "INVALID_ARGUMENT", &echo)).await,
        "Invalid value at 'prompt' (TYPE_STRING), \"…\", sorry (status 400 INVALID_ARGUMENT)"
    );
    let open = format!("Invalid value \"{prompt}");
    assert!(
        failure_text(refusal(400, "INVALID_ARGUMENT", &open))
            .await
            .ends_with("Invalid value \"… (status 400 INVALID_ARGUMENT)")
    );
}
