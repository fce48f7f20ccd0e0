//! Tests that a session is created by one request, and that its failure is classified right.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use phileas_domain::engine::{CreateFailure, ListingNeed};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::super::{Client, JulesKey, RepositoryJules, Settings, SystemPause};
use super::stage::{
    KEY, Reply, Stage, at, create, lost, missing, not_sent, ok, raw, refusal, repository, stage,
    with_header,
};
use crate::adapters::transport::{BoxFuture, Transport, TransportError};
use crate::runtime::ports::{ReadJules as _, WriteJules as _};

const NOON: &str = "2026-01-05T12:00:00Z";

async fn failure(reply: Reply) -> CreateFailure {
    let scripted = stage([reply]);
    let failure = scripted.jules.create_session(&create()).await.unwrap_err();
    // A create is never repeated.
    assert_eq!(scripted.client.request_count(), 1);
    assert!(scripted.stage.waits().is_empty());
    failure
}

#[tokio::test]
async fn exactly_the_documented_fields_are_sent() {
    let scripted = stage([
        ok(json!({"name": "sessions/15", "state": "QUEUED", "createTime": NOON})),
        ok(json!({"id": "16"})),
    ]);
    let session = scripted.jules.create_session(&create()).await.unwrap();
    assert_eq!(session.id.as_str(), "15");
    assert_eq!(session.source, Some("acme/widget".parse().unwrap()));
    let mut plain = create();
    plain.open_pull = false;
    plain.require_plan_approval = false;
    let session = scripted.jules.create_session(&plain).await.unwrap();
    assert_eq!(session.created_at, plain.not_after);

    let bodies: Vec<Value> = scripted
        .stage
        .requests()
        .iter()
        .map(|request| serde_json::from_slice(request.body()).unwrap())
        .collect();
    let context = json!({"source": "sources/github/acme/widget", "githubRepoContext": {"startingBranch": "main"}});
    assert_eq!(
        bodies,
        [
            json!({"prompt": plain.prompt, "title": plain.title, "sourceContext": context,
                   "automationMode": "AUTO_CREATE_PR", "requirePlanApproval": true}),
            json!({"prompt": plain.prompt, "title": plain.title, "sourceContext": context}),
        ]
    );
}

#[tokio::test]
async fn the_source_is_named_as_jules_names_it() {
    let listed = json!({"id": "1", "createTime": NOON, "sourceContext": {"source": "sources/github/Acme/WIDGET"}});
    let scripted = stage([ok(json!({"sessions": [listed]})), ok(json!({"id": "2"}))]);
    scripted
        .jules
        .list_sessions(&repository(), &ListingNeed::Since(at(NOON)), at(NOON))
        .await
        .unwrap();
    scripted.jules.create_session(&create()).await.unwrap();
    let body: Value = serde_json::from_slice(scripted.stage.requests()[1].body()).unwrap();
    assert_eq!(
        body["sourceContext"]["source"],
        "sources/github/Acme/WIDGET"
    );
}

#[tokio::test]
async fn what_never_left_made_no_session() {
    assert!(matches!(
        failure(not_sent()).await,
        CreateFailure::NotSent { .. }
    ));
}

#[tokio::test]
async fn what_may_have_arrived_leaves_it_unknown() {
    let unknown = [
        lost(),
        Err(TransportError::TooLarge { limit: 1 }),
        refusal(500, "INTERNAL", "Internal error encountered."),
        refusal(503, "UNAVAILABLE", "The service is currently unavailable."),
        refusal(504, "DEADLINE_EXCEEDED", "Deadline exceeded."),
        refusal(499, "CANCELLED", "The operation was cancelled."),
        refusal(500, "RESOURCE_EXHAUSTED", "Could not get source"),
        raw(502, "text/html", "<html><title>502</title></html>"),
        raw(408, "text/plain", ""),
        raw(200, "application/json", ""),
        raw(200, "text/html", "<html>Welcome</html>"),
        ok(json!({"title": "a session without an id"})),
    ];
    for reply in unknown {
        let shown = format!("{reply:?}");
        let failure = failure(reply).await;
        assert!(
            matches!(failure, CreateFailure::Unknown { .. }),
            "{shown}: {failure:?}"
        );
    }
}

#[tokio::test]
async fn a_spent_quota_is_told_from_a_refusal_by_its_status() {
    let spent = [
        refusal(
            429,
            "RESOURCE_EXHAUSTED",
            "Resource has been exhausted (e.g. check quota).",
        ),
        raw(429, "text/html", "<html>slow down</html>"),
        refusal(400, "RESOURCE_EXHAUSTED", "Could not get source"),
    ];
    for reply in spent {
        assert_eq!(
            failure(reply).await,
            CreateFailure::Quota { retry_at: None }
        );
    }
    let burst = failure(refusal(400, "FAILED_PRECONDITION", "Could not get source")).await;
    assert!(matches!(burst, CreateFailure::Refused { .. }), "{burst:?}");
}

#[tokio::test]
async fn the_time_to_come_back_is_counted_from_our_clock_or_from_theirs() {
    let spent = || refusal(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted");
    let theirs = with_header(spent(), "date", "Mon, 05 Jan 2026 12:00:30 GMT");
    let theirs = with_header(theirs, "retry-after", "Mon, 05 Jan 2026 13:00:00 GMT");
    let until = |text: &str| CreateFailure::Quota {
        retry_at: Some(at(text)),
    };
    assert_eq!(failure(theirs).await, until("2026-01-05T13:00:00Z"));

    let scripted = stage([ok(json!({})), with_header(spent(), "retry-after", "3600")]);
    scripted
        .jules
        .list_sessions(&repository(), &ListingNeed::Since(at(NOON)), at(NOON))
        .await
        .unwrap();
    scripted.stage.pass(Duration::from_secs(5));
    let failure = scripted.jules.create_session(&create()).await.unwrap_err();
    assert_eq!(failure, until("2026-01-05T13:00:05Z"));
}

#[tokio::test]
async fn a_refused_key_is_no_refused_request() {
    let missing_key = json!({"error": {"code": 401, "status": "UNAUTHENTICATED",
        "message": "API keys are not supported by this API. Expected OAuth2 access token.",
        "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "CREDENTIALS_MISSING"}]}});
    let wrong_key = json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid.",
        "details": [{"reason": "API_KEY_INVALID"}]}});
    for reply in [
        super::stage::json(401, &missing_key),
        super::stage::json(400, &wrong_key),
        refusal(
            403,
            "PERMISSION_DENIED",
            "The caller does not have permission",
        ),
    ] {
        let failure = failure(reply).await;
        assert!(
            matches!(failure, CreateFailure::Credential { .. }),
            "{failure:?}"
        );
    }
    // A refused prompt fails this turn only.
    for reply in [
        refusal(
            400,
            "INVALID_ARGUMENT",
            "Request contains an invalid argument.",
        ),
        raw(400, "text/html", "<html>bad request</html>"),
        raw(413, "text/html", "<html>too large</html>"),
    ] {
        let failure = failure(reply).await;
        assert!(
            matches!(failure, CreateFailure::TurnRefused { .. }),
            "{failure:?}"
        );
    }
    for reply in [
        missing(),
        refusal(409, "ABORTED", "aborted"),
        raw(302, "text/html", ""),
    ] {
        let failure = failure(reply).await;
        assert!(
            matches!(failure, CreateFailure::Refused { .. }),
            "{failure:?}"
        );
    }
}

#[tokio::test]
async fn a_fresh_session_is_looked_for_until_it_appears() {
    let activities = ok(json!({"activities": [{"id": "a"}]}));
    let scripted = stage([
        ok(json!({"id": "15"})),
        missing(),
        missing(),
        missing(),
        activities,
    ]);
    scripted.jules.create_session(&create()).await.unwrap();
    let activities = scripted.jules.read_activities(&"15".into()).await.unwrap();
    assert_eq!(activities.unwrap().len(), 1);
    assert_eq!(scripted.stage.waits(), [1, 2, 4]);
}

#[tokio::test]
async fn a_fresh_session_that_never_appears_is_believed_to_be_gone() {
    let scripted = stage(
        [ok(json!({"id": "15"}))]
            .into_iter()
            .chain((0..8).map(|_| missing())),
    );
    scripted.jules.create_session(&create()).await.unwrap();
    assert_eq!(
        scripted.jules.read_session(&"15".into()).await.unwrap(),
        None
    );
    assert_eq!(scripted.stage.waits(), [1, 2, 4, 8, 16]);
    // 31 seconds are over, the minute is not; after it nothing is waited for.
    scripted.stage.pass(Duration::from_secs(29));
    assert_eq!(
        scripted.jules.read_session(&"15".into()).await.unwrap(),
        None
    );
    assert_eq!(scripted.stage.waits().len(), 5);
    assert_eq!(
        scripted.jules.read_session(&"99".into()).await.unwrap(),
        None
    );
    assert_eq!(scripted.stage.waits().len(), 5);
    assert!(scripted.stage.is_used_up());
}

/// Answers creates only when it is let to, and counts those that wait for it.
struct Gate {
    open: Semaphore,
    inside: AtomicUsize,
    most: AtomicUsize,
}

impl Transport for Gate {
    fn send(&self, _: Request<Bytes>) -> BoxFuture<'_, Reply> {
        Box::pin(async {
            let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(inside, Ordering::SeqCst);
            self.open.acquire().await.unwrap().forget();
            self.inside.fetch_sub(1, Ordering::SeqCst);
            Ok(Response::new(Bytes::from_static(br#"{"id":"1"}"#)))
        })
    }
}

#[tokio::test]
async fn creates_of_a_key_wait_for_one_another() {
    for (wanted, most) in [(2, 2), (0, 1), (99, 5)] {
        let gate = Arc::new(Gate {
            open: Semaphore::new(0),
            inside: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        });
        let mut settings = Settings::new(JulesKey::new(KEY).unwrap());
        settings.creates_in_flight = wanted;
        let stopwatch = Arc::new(Stage::default());
        let client = Client::new(settings, gate.clone(), stopwatch, Arc::new(SystemPause));
        let jules = RepositoryJules::new(Arc::new(client), "acme/widget".parse().unwrap());
        let jules = Arc::new(jules);
        let tasks: Vec<_> = (0..9)
            .map(|_| {
                let jules = jules.clone();
                tokio::spawn(async move { jules.create_session(&create()).await })
            })
            .collect();
        while gate.inside.load(Ordering::SeqCst) < most {
            tokio::task::yield_now().await;
        }
        gate.open.add_permits(9);
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        assert_eq!(gate.most.load(Ordering::SeqCst), most);
    }
}

#[tokio::test]
async fn nothing_is_sent_after_the_deadline() {
    let scripted = stage([ok(json!({}))]);
    scripted
        .jules
        .list_sessions(&repository(), &ListingNeed::Since(at(NOON)), at(NOON))
        .await
        .unwrap();
    scripted.stage.pass(Duration::from_secs(600));
    let failure = scripted.jules.create_session(&create()).await.unwrap_err();
    assert!(
        matches!(failure, CreateFailure::NotSent { .. }),
        "{failure:?}"
    );
    assert_eq!(scripted.client.request_count(), 1);
}
