//! Tests the request and the answer of every method.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::wire::NewSession;
use super::super::{Base, PageQuery, routes};
use super::stage::{KEY, ok, raw, route_of, stage, stage_with};

fn body(request: &http::Request<bytes::Bytes>) -> Value {
    serde_json::from_slice(request.body()).unwrap()
}

#[tokio::test]
async fn every_route_is_called() {
    let session = json!({"name": "sessions/15", "id": "15"});
    let scripted = stage([
        ok(json!({"sources": [{"name": "sources/github/acme/widget"}]})),
        ok(json!({"name": "sources/github/acme/widget"})),
        ok(session.clone()),
        ok(json!({"sessions": [session.clone()]})),
        ok(session.clone()),
        ok(json!({})),
        ok(session.clone()),
        ok(session.clone()),
        ok(json!({"activities": [{"name": "sessions/15/activities/a1"}]})),
    ]);
    let all = PageQuery::default();
    let client = &scripted.client;
    assert_eq!(client.list_sources(all).await.unwrap().sources.len(), 1);
    let source = "sources/github/acme/widget";
    assert_eq!(client.get_source(source).await.unwrap().name, source);
    let new = NewSession {
        prompt: "do it".to_owned(),
        title: None,
        source: None,
        open_pull: false,
        environment_variables: false,
        require_plan_approval: false,
    };
    assert_eq!(
        client
            .create_session(&new, None)
            .await
            .unwrap()
            .session_id(),
        "15"
    );
    assert_eq!(client.list_sessions(all).await.unwrap().sessions.len(), 1);
    assert_eq!(client.get_session("15").await.unwrap().session_id(), "15");
    client.send_message("15", "go on").await.unwrap();
    assert!(client.approve_plan("15").await.unwrap().is_some());
    assert!(client.archive_session("15").await.unwrap().is_some());
    assert_eq!(
        client.list_activities("15", all).await.unwrap().activities[0].activity_id(),
        "a1"
    );

    let requests = scripted.stage.requests();
    let called: Vec<&str> = requests.iter().map(route_of).collect();
    assert_eq!(called, routes::ALL);
    assert_eq!(BTreeSet::from_iter(called).len(), routes::ALL.len());
    assert_eq!(client.request_count(), 9);
    for request in &requests {
        assert_eq!(request.headers()["x-goog-api-key"], KEY);
        assert!(request.headers()["x-goog-api-key"].is_sensitive());
        assert!(!request.headers().contains_key("authorization"));
        assert!(!request.uri().to_string().contains(KEY));
    }
    assert_eq!(requests[5].uri().path(), "/v1alpha/sessions/15:sendMessage");
    assert_eq!(body(&requests[2]), json!({"prompt": "do it"}));
    assert_eq!(body(&requests[5]), json!({"prompt": "go on"}));
    for verb in &requests[6..8] {
        assert_eq!(body(verb), json!({}));
    }
}

#[tokio::test]
async fn custom_verbs_may_answer_with_nothing() {
    let scripted = stage((0..3).map(|_| raw(200, "application/json", "")));
    scripted.client.send_message("1", "go on").await.unwrap();
    assert_eq!(scripted.client.approve_plan("1").await.unwrap(), None);
    assert_eq!(scripted.client.archive_session("1").await.unwrap(), None);
}

#[tokio::test]
async fn queries_are_encoded_and_sizes_brought_inside() {
    let scripted = stage([ok(json!({})), ok(json!({}))]);
    let query = |size| PageQuery {
        filter: Some("create_time>\"2026-01-05T12:00:00Z\""),
        page_size: Some(size),
        page_token: Some("a&b=c"),
    };
    scripted
        .client
        .list_activities("1", query(0))
        .await
        .unwrap();
    scripted
        .client
        .list_activities("1", query(1_000))
        .await
        .unwrap();
    let rest = "pageToken=a%26b%3Dc&filter=create_time%3E%222026-01-05T12%3A00%3A00Z%22";
    assert_eq!(
        scripted.stage.lines(),
        [
            format!("GET /sessions/1/activities?pageSize=1&{rest}"),
            format!("GET /sessions/1/activities?pageSize=100&{rest}"),
        ]
    );
}

#[tokio::test]
async fn another_base_replaces_everything_before_the_resource() {
    let (base, _) = Base::parse("http://127.0.0.1:9/proxied/v1beta/").unwrap();
    let scripted = stage_with([ok(json!({}))], |settings| settings.base = base);
    scripted.client.get_session("1").await.unwrap();
    let uri = scripted.stage.requests()[0].uri().to_string();
    assert_eq!(uri, "http://127.0.0.1:9/proxied/v1beta/sessions/1");
}

#[tokio::test]
async fn an_id_that_is_none_is_never_sent() {
    let scripted = stage([]);
    let error = scripted.client.get_session("1/../2?x").await.unwrap_err();
    assert!(
        error.to_string().contains("is not the id of anything"),
        "{error}"
    );
    assert_eq!(scripted.client.request_count(), 0);
}
