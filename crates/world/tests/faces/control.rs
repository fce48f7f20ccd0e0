//! Tests of the control of a served world.

use std::sync::{Arc, Mutex};

use phileas_world::Face;
use phileas_world::github::{Role, State};
use phileas_world::http::ClockMode;
use phileas_world::jules::Installed;

use crate::bench::{Served, seeded_world};

const TOKEN: &str = "authorization: Bearer gale-token\r\n";

#[test]
fn time_is_advanced_by_a_span_and_to_an_instant() {
    let served = Served::serve_world(seeded_world().0);
    assert_eq!(
        served.post_control("now", "").json()["now"],
        "2026-01-05T00:00:00Z"
    );
    let moved = served.post_control("advance", r#"{"by": "1h 30m"}"#);
    assert_eq!(moved.json()["now"], "2026-01-05T01:30:00Z");
    let moved = served.post_control("advance", r#"{"to": "2026-01-07T00:00:00Z"}"#);
    assert_eq!(moved.json()["now"], "2026-01-07T00:00:00Z");
    let moved = served.post_control("advance", r#"{"by": "2d"}"#);
    assert_eq!(moved.json()["now"], "2026-01-09T00:00:00Z");
    for (body, status, word) in [
        (r#"{"to": "2026-01-05T00:00:00Z"}"#, 409, "never goes back"),
        (r#"{"by": "soon"}"#, 400, "soon"),
        (r#"{"by": "100y"}"#, 400, "100y"),
        (r#"{"by": "9000d"}"#, 400, "smaller steps"),
        ("{}", 400, "either"),
        (r#"{"for": "1h"}"#, 400, "unknown field `for`"),
        ("", 400, "line 1"),
    ] {
        let refused = served.post_control("advance", body);
        let error = refused.json()["error"].as_str().unwrap().to_owned();
        assert_eq!(refused.status, status, "{body}: {error}");
        assert!(error.contains(word), "{body}: {error}");
    }
    assert_eq!(
        served.post_control("now", "").json()["now"],
        "2026-01-09T00:00:00Z"
    );
}

#[test]
fn faults_knobs_and_scenarios_are_taken_and_mistakes_are_named() {
    let served = Served::serve_world(seeded_world().0);
    let plan =
        r#"{"rules": [{"path": "/rate_limit", "fault": {"kind": "status", "status": 503}}]}"#;
    assert_eq!(served.post_control("faults", plan).json()["rules"], 1);
    assert_eq!(
        served
            .send_request("GET", "/rate_limit", TOKEN, b"")
            .unwrap()
            .status,
        503
    );
    assert_eq!(served.post_control("faults", "{}").status, 200);
    assert_eq!(
        served
            .send_request("GET", "/rate_limit", TOKEN, b"")
            .unwrap()
            .status,
        200
    );

    let knobs = served
        .post_control("knobs", r#"{"title": "dropped", "replica-lag-seconds": 7}"#)
        .json();
    assert_eq!(
        (
            knobs["title"].as_str(),
            knobs["replica-lag-seconds"].as_u64()
        ),
        (Some("dropped"), Some(7))
    );
    let refused = served.post_control("knobs", r#"{"replica-lag-seconds": 9, "titel": "dropped"}"#);
    assert_eq!(refused.status, 400);
    assert!(
        refused.json()["error"]
            .as_str()
            .unwrap()
            .starts_with("knobs.titel")
    );
    assert_eq!(
        served.post_control("knobs", "{}").json()["replica-lag-seconds"],
        7,
        "all or nothing"
    );

    assert_eq!(
        served
            .post_control("scenario", r#"{"ending": "failure"}"#)
            .json()["scenarios"],
        1
    );
    assert_eq!(
        served
            .post_control("scenario", r#"[{"ending": "stuck"}, {}]"#)
            .json()["scenarios"],
        2
    );
    assert_eq!(
        served
            .post_control("scenario", r#"{"ending": "well"}"#)
            .status,
        400
    );

    let books = served.post_control("books", "").json();
    assert_eq!(
        books["requests"].as_array().unwrap().len(),
        2,
        "control is not booked"
    );
    assert_eq!(
        served.post_control("reset-requests", "").json()["forgotten"],
        2
    );
    assert_eq!(
        served.post_control("books", "").json()["requests"]
            .as_array()
            .unwrap()
            .len(),
        0
    );

    assert_eq!(served.post_control("nothing", "{}").status, 404);
    assert_eq!(
        served
            .send_request("GET", "/__world/advance", "", b"")
            .unwrap()
            .status,
        405
    );
}

#[test]
fn people_push_label_review_and_merge() {
    let (world, repo) = seeded_world();
    let served = Served::serve_world(world);
    let act = |body: &str| {
        let reply = served.post_control("act", body);
        assert_eq!(
            reply.status,
            200,
            "{body}: {}",
            String::from_utf8_lossy(&reply.body)
        );
        reply.json()
    };
    let pushed = act(
        r#"{"act": "push-files", "repo": "octo/garden", "by": "gale", "branch": "topic",
        "files": {"a.txt": "1\n", "README.md": null}, "message": "Change"}"#,
    );
    let pull = served
        .send_request(
            "POST",
            "/repos/octo/garden/pulls",
            TOKEN,
            br#"{"title": "T", "head": "topic", "base": "main"}"#,
        )
        .unwrap();
    assert_eq!(pull.status, 201);
    assert_eq!(pull.json()["head"]["sha"], pushed["commit"]);
    act(r#"{"act": "label", "repo": "octo/garden", "number": 1, "label": "ready"}"#);
    act(
        r#"{"act": "review-pull", "repo": "octo/garden", "number": 1, "verdict": "approve", "by": "octo"}"#,
    );
    act(r#"{"act": "comment", "repo": "octo/garden", "number": 1, "body": "Thanks"}"#);
    let merged = act(r#"{"act": "merge-pull", "repo": "octo/garden", "number": 1}"#);
    act(r#"{"act": "unlabel", "repo": "octo/garden", "number": 1, "label": "ready"}"#);
    act(r#"{"act": "delete-branch", "repo": "octo/garden", "branch": "topic"}"#);
    let issue =
        act(r#"{"act": "open-issue", "repo": "octo/garden", "title": "Weeds", "labels": ["bug"]}"#);
    assert_eq!(issue["number"], 2);
    act(r#"{"act": "close", "repo": "octo/garden", "number": 2}"#);
    act(r#"{"act": "edit", "number": 2, "title": "Nettles", "body": "By the shed", "by": "gale"}"#);
    act(r#"{"act": "set-role", "login": "eve", "role": "write"}"#);
    act(r#"{"act": "set-variable", "name": "paused", "value": "1"}"#);

    for (body, status) in [
        (
            r#"{"act": "merge-pull", "repo": "octo/garden", "number": 1}"#,
            409,
        ),
        (
            r#"{"act": "merge-pull", "repo": "octo/garden", "number": 7}"#,
            404,
        ),
        (
            r#"{"act": "comment", "repo": "octo/none", "number": 1, "body": "x"}"#,
            404,
        ),
        (r#"{"act": "comment", "number": 1}"#, 400),
        (r#"{"act": "edit-comment", "comment": 1, "body": "x"}"#, 404),
        (r#"{"act": "set-draft", "number": 1, "draft": true}"#, 409),
        (r#"{"act": "dance", "repo": "octo/garden"}"#, 400),
        (
            r#"{"act": "reply-to-session", "session": "1", "message": "x"}"#,
            404,
        ),
    ] {
        let refused = served.post_control("act", body);
        assert_eq!(refused.status, status, "{body}");
        assert!(refused.json()["error"].is_string());
    }
    let world = served.world.lock().unwrap();
    let github = world.github();
    assert_eq!(
        merged["commit"],
        github.branch_head(repo, "main").unwrap().to_string()
    );
    assert_eq!(github.issue(repo, 2).unwrap().state, State::Closed);
    assert_eq!(github.issue(repo, 2).unwrap().title, "Nettles");
    assert_eq!(github.comments(repo, 1).count(), 1);
    let repository = github.repository(repo).unwrap();
    assert_eq!(repository.variables["PAUSED"].value, "1");
    let eve = github.find_account("eve").unwrap();
    assert_eq!(github.role(repo, eve), Role::Write);
    let by: Vec<_> = world
        .books()
        .github_writes
        .iter()
        .filter(|write| write.what == "pull.merged")
        .map(|write| write.actor.as_str())
        .collect();
    assert_eq!(by, ["octo"], "the owner acts when no person is named");
}

/// A script makes the session ask; the person's answer reaches it.
#[test]
fn a_scripted_session_is_answered_in_the_web_app() {
    let (mut world, _) = seeded_world();
    let jules = world.jules_mut();
    jules.add_key("test-key", "octo");
    jules.install_app("octo", Installed::new("octo", "garden"));
    let world = Arc::new(Mutex::new(world));
    let github = Served::serve_with(Arc::clone(&world), Face::Github, ClockMode::Manual, None);
    let jules = Served::serve_with(Arc::clone(&world), Face::Jules, ClockMode::Manual, None);
    github.post_control(
        "scenario",
        r#"{"questions": ["Which beds?"], "minutes": 10}"#,
    );
    let created = jules
        .send_request(
            "POST",
            "/v1alpha/sessions",
            "x-goog-api-key: test-key\r\n",
            br#"{"prompt": "Weed", "sourceContext": {"source": "sources/github/octo/garden",
                "githubRepoContext": {"startingBranch": "main"}}}"#,
        )
        .unwrap();
    assert_eq!(
        created.status,
        200,
        "{}",
        String::from_utf8_lossy(&created.body)
    );
    let id = created.json()["id"].as_str().unwrap().to_owned();
    github.post_control("advance", r#"{"by": "2h"}"#);
    let asked = github.post_control("books", "").json()["questions"][0].clone();
    assert_eq!(
        (asked["text"].as_str(), asked["answer"].as_str()),
        (Some("Which beds?"), None)
    );
    let reply = format!(r#"{{"act": "reply-to-session", "session": "{id}", "message": "All"}}"#);
    assert_eq!(github.post_control("act", &reply).status, 200);
    github.post_control("advance", r#"{"by": "2h"}"#);
    let books = github.post_control("books", "").json();
    assert_eq!(books["questions"][0]["answer"], "All");
    let states = books["sessions"][0]["states"].as_array().unwrap().clone();
    assert_eq!(states.last().unwrap()[1], "COMPLETED");
}

#[test]
fn deliveries_are_sent_once_and_reported() {
    let (mut world, repo) = seeded_world();
    let now = world.now();
    world
        .github_mut()
        .add_hook(repo, "http://hooks.invalid/x", Some("s"), &["issues"], now);
    let served = Served::serve_world(world);
    served.post_control("act", r#"{"act": "open-issue", "title": "Weeds"}"#);
    served.post_control("advance", r#"{"by": "1h"}"#);
    let due = served.post_control("deliveries", "{}").json();
    assert_eq!(due.as_array().unwrap().len(), 1, "{due}");
    assert_eq!(due[0]["url"], "http://hooks.invalid/x");
    let signature = due[0]["headers"]["x-hub-signature-256"].as_str().unwrap();
    assert!(signature.starts_with("sha256="));
    let body: serde_json::Value = serde_json::from_str(due[0]["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["issue"]["title"], "Weeds");
    assert_eq!(
        served.post_control("deliveries", "{}").json(),
        serde_json::json!([])
    );
    let report = format!(r#"{{"id": {}, "status": 202}}"#, due[0]["id"]);
    assert_eq!(served.post_control("delivered", &report).status, 200);
    assert_eq!(served.post_control("delivered", r#"{"id": 1}"#).status, 404);
    let booked = served.post_control("books", "").json()["deliveries"][0].clone();
    assert_eq!(
        (booked["fate"].as_str(), booked["status"].as_u64()),
        (Some("accepted"), Some(202))
    );
}
