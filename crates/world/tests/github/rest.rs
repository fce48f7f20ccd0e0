use std::time::Duration;

use phileas_world::clock::later_by;
use phileas_world::faults::{Fault, FaultPlan, FaultRule};
use phileas_world::{Knobs, Outcome};
use serde_json::{Value, json};

use crate::stage::{Stage, json_of};

const REPO: &str = "/repos/olivia/garden";

fn branch_head(stage: &mut Stage, branch: &str) -> String {
    stage.get(&format!("{REPO}/git/ref/heads/{branch}"))["object"]["sha"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn the_git_data_api_commits_by_fast_forward_alone() {
    let mut stage = Stage::new();
    let old = branch_head(&mut stage, "jules");
    let tree = stage.ask_owner(
        "POST",
        &format!("{REPO}/git/trees"),
        json!({"base_tree": old, "tree": [{"path": "a/b.txt", "mode": "100644", "type": "blob", "content": "hello\n"}]}),
    );
    assert_eq!(tree.0, 201, "{}", tree.1);
    let commit = |stage: &mut Stage, parent: &str, message: &str| {
        let body = json!({"message": message, "tree": tree.1["sha"], "parents": [parent]});
        let (status, body) = stage.ask_owner("POST", &format!("{REPO}/git/commits"), body);
        assert_eq!(status, 201, "{body}");
        body["sha"].as_str().unwrap().to_owned()
    };
    let (one, other) = (
        commit(&mut stage, &old, "one"),
        commit(&mut stage, &old, "other"),
    );
    let path = format!("{REPO}/git/refs/heads/jules");
    assert_eq!(stage.ask_owner("PATCH", &path, json!({"sha": one})).0, 200);
    let (status, body) = stage.ask_owner("PATCH", &path, json!({"sha": other, "force": false}));
    assert_eq!(
        (status, body["message"].as_str()),
        (422, Some("Update is not a fast forward"))
    );
    assert_eq!(branch_head(&mut stage, "jules"), one);
    let (status, body) = stage.ask_owner(
        "POST",
        &format!("{REPO}/git/refs"),
        json!({"ref": "refs/heads/jules", "sha": one}),
    );
    assert_eq!(
        (status, body["message"].as_str()),
        (422, Some("Reference already exists"))
    );
    // Both clients' forms of a reference mean the same.
    assert_eq!(
        stage.get(&format!("{REPO}/git/ref/heads%2Fjules"))["object"]["sha"],
        one.as_str()
    );
    let file = stage.get(&format!("{REPO}/contents/a%2Fb.txt?ref=jules"));
    assert_eq!(file["content"], "aGVsbG8K\n");
}

#[test]
fn an_orphan_branch_is_born_once() {
    let mut stage = Stage::new();
    let tree = stage
        .ask_owner(
            "POST",
            &format!("{REPO}/git/trees"),
            json!({"tree": [{"path": "x", "content": "1"}]}),
        )
        .1;
    let commit = stage
        .ask_owner(
            "POST",
            &format!("{REPO}/git/commits"),
            json!({"message": "birth", "tree": tree["sha"], "parents": []}),
        )
        .1;
    assert_eq!(commit["parents"], json!([]));
    let body = json!({"ref": "refs/heads/ledger", "sha": commit["sha"]});
    assert_eq!(
        stage
            .ask_owner("POST", &format!("{REPO}/git/refs"), body.clone())
            .0,
        201
    );
    assert_eq!(
        stage.ask_owner("POST", &format!("{REPO}/git/refs"), body).0,
        422
    );
}

#[test]
fn an_empty_repository_answers_409_until_contents_fill_it() {
    let mut stage = Stage::new();
    stage.world.seed(&phileas_world::seed::Seed {
        owner: "olivia".into(),
        name: "empty".into(),
        ..Default::default()
    });
    let (status, body) =
        stage.ask_owner("GET", "/repos/olivia/empty/git/ref/heads/main", Value::Null);
    assert_eq!(
        (status, body["message"].as_str()),
        (409, Some("Git Repository is empty."))
    );
    let put = json!({"message": "first", "content": "aGk="});
    assert_eq!(
        stage
            .ask_owner("PUT", "/repos/olivia/empty/contents/a.txt", put.clone())
            .0,
        201
    );
    assert_eq!(
        stage
            .ask_owner("PUT", "/repos/olivia/empty/contents/a.txt", put)
            .0,
        422,
        "the sha is missing"
    );
}

#[test]
fn credentials_and_permissions_are_told_apart() {
    let mut stage = Stage::new();
    assert_eq!(
        stage.ask_as("nonsense", "GET", REPO, Value::Null),
        (
            401,
            json!({
        "message": "Bad credentials", "documentation_url": "https://docs.github.com/rest", "status": "401"})
        )
    );
    assert_eq!(
        stage.send_request("GET", REPO, None, None).status(),
        200,
        "a public repository is open to all"
    );
    let label = json!({"name": "new", "color": "ff0000"});
    assert_eq!(
        stage
            .ask_as(
                "token-trudy",
                "POST",
                &format!("{REPO}/labels"),
                label.clone()
            )
            .0,
        403
    );
    assert_eq!(
        stage
            .ask_as("token-walter", "POST", &format!("{REPO}/labels"), label)
            .0,
        201
    );
    let (status, body) = stage.ask_as(
        "token-actions",
        "GET",
        &format!("{REPO}/actions/variables"),
        Value::Null,
    );
    assert_eq!(
        (status, body["message"].as_str()),
        (403, Some("Resource not accessible by integration"))
    );
    for (login, role, old) in [
        ("olivia", "admin", "admin"),
        ("walter", "write", "write"),
        ("trudy", "triage", "read"),
        ("outsider", "read", "read"),
    ] {
        let body = stage.get(&format!("{REPO}/collaborators/{login}/permission"));
        assert_eq!(
            (body["role_name"].as_str(), body["permission"].as_str()),
            (Some(role), Some(old)),
            "{login}"
        );
    }
    assert_eq!(
        stage
            .ask_owner(
                "GET",
                &format!("{REPO}/collaborators/absent-user/permission"),
                Value::Null
            )
            .0,
        404
    );
    // Labels of those who may not put any are dropped without a word.
    let issue = json!({"title": "Please", "labels": ["bug"]});
    let (status, body) = stage.ask_as("token-outsider", "POST", &format!("{REPO}/issues"), issue);
    assert_eq!((status, &body["labels"]), (201, &json!([])));
}

#[test]
fn an_app_gets_tokens_that_end() {
    let mut stage = Stage::new();
    let jwt = stage.app_jwt(-60, 540);
    let (_, list) = stage.ask_as(&jwt, "GET", "/app/installations", Value::Null);
    let id = list[0]["id"].as_u64().unwrap();
    let (status, token) = stage.ask_as(
        &jwt,
        "POST",
        &format!("/app/installations/{id}/access_tokens"),
        Value::Null,
    );
    assert_eq!(status, 201, "{token}");
    let token = token["token"].as_str().unwrap().to_owned();
    assert!(token.starts_with("ghs_") && token.len() > 300);
    let (_, body) = stage.ask_as(&token, "GET", "/installation/repositories", Value::Null);
    assert_eq!(body["repositories"][0]["full_name"], "olivia/garden");
    let end = later_by(stage.world.now(), Duration::from_secs(3_600));
    stage.world.advance_to(end);
    assert_eq!(
        stage
            .ask_as(&token, "GET", "/installation/repositories", Value::Null)
            .0,
        401
    );
    for (issued, ends) in [(0, -1), (0, 700), (120, 500)] {
        let jwt = stage.app_jwt(issued, ends);
        assert_eq!(
            stage.ask_as(&jwt, "GET", "/app", Value::Null).0,
            401,
            "{issued} {ends}"
        );
    }
}

#[test]
fn lists_come_in_pages_with_links() {
    let mut stage = Stage::new();
    let now = stage.world.now();
    for n in 0..25 {
        stage.world.github_mut().open_issue(
            stage.repo,
            &format!("issue {n}"),
            "",
            &["bug"],
            "trudy",
            now,
        );
    }
    let response = stage.send_request(
        "GET",
        &format!("{REPO}/issues?labels=bug&per_page=10&page=2"),
        Some("token-olivia"),
        None,
    );
    assert_eq!(json_of(&response).as_array().unwrap().len(), 10);
    let link = response.headers()["link"].to_str().unwrap();
    let next = link
        .split(", ")
        .find(|part| part.ends_with("rel=\"next\""))
        .unwrap();
    let url = next.trim_start_matches('<').split('>').next().unwrap();
    let path = url.strip_prefix("https://api.github.com").unwrap();
    assert!(
        path.starts_with("/repositories/")
            && link.contains("rel=\"last\"")
            && link.contains("rel=\"prev\"")
    );
    assert_eq!(stage.get(path).as_array().unwrap().len(), 5);
    assert_eq!(
        stage
            .get(&format!("{REPO}/issues?per_page=500"))
            .as_array()
            .unwrap()
            .len(),
        25
    );
}

#[test]
fn an_unchanged_answer_costs_nothing() {
    let mut stage = Stage::new();
    let path = format!("{REPO}/git/ref/heads/main");
    let first = stage.send_request("GET", &path, Some("token-olivia"), None);
    let tag = first.headers()["etag"].to_str().unwrap().to_owned();
    let request = http::Request::get(&path)
        .header("authorization", "Bearer token-olivia")
        .header("if-none-match", &tag)
        .body(bytes::Bytes::new())
        .unwrap();
    let second = crate::stage::expect_reply(stage.world.github_request(request));
    assert_eq!(second.status(), 304);
    assert!(second.headers().get("content-type").is_none() && second.body().is_empty());
    assert_eq!(
        first.headers()["x-ratelimit-remaining"],
        second.headers()["x-ratelimit-remaining"]
    );
    assert_eq!(first.headers()["date"], "Mon, 05 Jan 2026 00:00:00 GMT");
}

#[test]
fn a_renamed_repository_redirects_by_its_number() {
    let mut stage = Stage::new();
    let now = stage.world.now();
    stage
        .world
        .github_mut()
        .rename_repository(stage.repo, "meadow", "olivia", now);
    let response = stage.send_request(
        "GET",
        &format!("{REPO}/git/ref/heads/main"),
        Some("token-olivia"),
        None,
    );
    assert_eq!(response.status(), 301);
    let url = response.headers()["location"].to_str().unwrap().to_owned();
    let path = url.strip_prefix("https://api.github.com").unwrap();
    assert_eq!(stage.get(path)["ref"], "refs/heads/main");
    assert_eq!(stage.get("/repos/olivia/meadow")["id"], stage.repo.0);
}

#[test]
fn a_pull_request_is_merged_at_the_pinned_head_only() {
    let mut stage = Stage::new();
    let (repo, now) = (stage.repo, stage.world.now());
    let github = stage.world.github_mut();
    let main = github.branch_head(repo, "main").unwrap();
    let one = github.commit_files(
        repo,
        Some(main),
        &[("new.txt".into(), Some("1\n".into()))],
        "walter",
        "One",
        now,
    );
    github.create_branch(repo, "feature", one, "walter", now);
    let body =
        json!({"title": "Add", "head": "feature", "base": "main", "body": "", "draft": true});
    let (status, pull) = stage.ask_as(
        "token-walter",
        "POST",
        &format!("{REPO}/pulls"),
        body.clone(),
    );
    assert_eq!((status, &pull["mergeable"]), (201, &Value::Null), "{pull}");
    assert_eq!(
        stage
            .ask_as("token-walter", "POST", &format!("{REPO}/pulls"), body)
            .0,
        422,
        "there is one already"
    );
    let path = format!("{REPO}/pulls/{}", pull["number"]);
    assert_eq!(stage.get(&path)["mergeable_state"], "draft");
    assert_eq!(
        stage
            .ask_owner("PUT", &format!("{path}/merge"), json!({}))
            .0,
        405
    );
    let ready = "mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }";
    let done = stage.post_graphql(ready, json!({"id": pull["node_id"]}));
    assert_eq!(
        done["data"]["markPullRequestReadyForReview"]["pullRequest"]["isDraft"], false,
        "{done}"
    );
    assert_eq!(
        stage
            .ask_owner("PUT", &format!("{path}/merge"), json!({"sha": main}))
            .0,
        409
    );
    let (status, merged) = stage.ask_owner("PUT", &format!("{path}/merge"), json!({"sha": one}));
    assert_eq!((status, &merged["merged"]), (200, &json!(true)), "{merged}");
    assert_eq!(
        branch_head(&mut stage, "main"),
        merged["sha"].as_str().unwrap()
    );
    let after = stage.get(&path);
    assert_eq!(
        (&after["state"], &after["merged"], &after["commits"]),
        (&json!("closed"), &json!(true), &json!(1))
    );
    assert_eq!(
        stage.get(&format!("{path}/files"))[0]["filename"],
        "new.txt"
    );
}

#[test]
fn conflicting_changes_cannot_be_merged() {
    let mut stage = Stage::new();
    let (repo, now) = (stage.repo, stage.world.now());
    let github = stage.world.github_mut();
    let main = github.branch_head(repo, "main").unwrap();
    let change = |text: &str| {
        [(
            "README.md".to_owned(),
            Some(bytes::Bytes::from(text.to_owned())),
        )]
    };
    let theirs = github.commit_files(
        repo,
        Some(main),
        &change("theirs\n"),
        "walter",
        "Theirs",
        now,
    );
    let ours = github.commit_files(repo, Some(main), &change("ours\n"), "olivia", "Ours", now);
    github.create_branch(repo, "theirs", theirs, "walter", now);
    github.move_branch(repo, "main", ours, "olivia", now);
    let (_, pull) = stage.ask_owner(
        "POST",
        &format!("{REPO}/pulls"),
        json!({"title": "T", "head": "theirs", "base": "main"}),
    );
    let path = format!("{REPO}/pulls/{}", pull["number"]);
    assert_eq!(stage.get(&path)["mergeable"], false);
    let (status, body) = stage.ask_owner("PUT", &format!("{path}/merge"), json!({}));
    assert_eq!(
        (status, body["message"].as_str()),
        (405, Some("Pull Request is not mergeable"))
    );
}

#[test]
fn limits_answer_in_their_true_forms() {
    let mut stage = Stage::with_knobs(Knobs {
        primary_limit: 3,
        content_per_minute: 1,
        ..Knobs::documented()
    });
    let comment = |stage: &mut Stage| {
        let request = json!({"title": "x"});
        stage.send_request(
            "POST",
            &format!("{REPO}/issues"),
            Some("token-olivia"),
            Some(&request),
        )
    };
    assert_eq!(comment(&mut stage).status(), 201);
    let second = comment(&mut stage);
    assert_eq!(
        (
            second.status().as_u16(),
            second.headers()["retry-after"].to_str().unwrap()
        ),
        (403, "60")
    );
    stage.get(REPO);
    stage.get(REPO);
    let primary = stage.send_request("GET", REPO, Some("token-olivia"), None);
    assert_eq!(primary.status(), 403);
    assert_eq!(primary.headers()["x-ratelimit-remaining"], "0");
    assert!(
        primary.headers().contains_key("x-ratelimit-reset")
            && !primary.headers().contains_key("retry-after")
    );
    assert_eq!(
        stage.get("/rate_limit")["resources"]["core"]["remaining"],
        0
    );
}

#[test]
fn faults_apply_before_or_after_the_effect() {
    let mut stage = Stage::new();
    let rule = |nth: u64, fault: Fault| FaultRule {
        face: None,
        method: Some("POST".into()),
        path: Some("*/issues".into()),
        body: None,
        nth: Some(nth),
        probability: None,
        from: None,
        until: None,
        fault,
    };
    let rules = vec![rule(1, Fault::DropBefore {}), rule(1, Fault::DropAfter {})];
    stage.world.faults_mut().replace_plan(FaultPlan { rules });
    let send = |stage: &mut Stage| {
        let request = http::Request::post(format!("{REPO}/issues"))
            .header("authorization", "Bearer token-olivia")
            .body(json!({"title": "once"}).to_string().into())
            .unwrap();
        matches!(
            stage.world.github_request(request).outcome,
            Outcome::Dropped
        )
    };
    assert!(send(&mut stage));
    assert_eq!(stage.world.github().issues(stage.repo).count(), 0);
    assert!(send(&mut stage));
    assert_eq!(stage.world.github().issues(stage.repo).count(), 1);
    let requests = &stage.world.books().requests;
    assert_eq!(
        [requests[0].took_effect, requests[1].took_effect],
        [false, true]
    );
    assert_eq!(requests[1].route, "/repos/{owner}/{repo}/issues");
}

#[test]
fn an_unknown_route_is_written_down() {
    let mut stage = Stage::new();
    let (status, body) = stage.ask_owner("GET", &format!("{REPO}/unheard-of"), Value::Null);
    assert_eq!(status, 501);
    assert!(body["message"].as_str().unwrap().contains("/unheard-of"));
    assert_eq!(stage.world.books().unknown_routes().count(), 1);
}

#[test]
fn reads_lag_behind_writes_but_writes_do_not() {
    let mut stage = Stage::with_knobs(Knobs {
        replica_lag_seconds: 5,
        ..Knobs::documented()
    });
    let minute = later_by(stage.world.now(), Duration::from_secs(60));
    stage.world.advance_to(minute);
    let (_, made) = stage.ask_owner("POST", &format!("{REPO}/issues"), json!({"title": "fresh"}));
    let path = format!("{REPO}/issues/{}", made["number"]);
    assert_eq!(
        stage.ask_owner("GET", &path, Value::Null).0,
        404,
        "the replica has not heard of it"
    );
    assert_eq!(
        stage
            .ask_owner("PATCH", &path, json!({"title": "renamed"}))
            .0,
        200
    );
    let soon = later_by(stage.world.now(), Duration::from_secs(5));
    stage.world.advance_to(soon);
    assert_eq!(stage.get(&path)["title"], "renamed");
}

#[test]
fn timelines_tell_who_did_what() {
    let mut stage = Stage::new();
    let (repo, now) = (stage.repo, stage.world.now());
    let github = stage.world.github_mut();
    let number = github.open_issue(repo, "Title", "Body", &[], "outsider", now);
    github.add_label(repo, number, "phileas:sentinel", "walter", now);
    github.rename(repo, number, "Other title", "outsider", now);
    github.comment(repo, number, "Hello", "trudy", now);
    let events = stage.get(&format!("{REPO}/issues/{number}/timeline"));
    let told: Vec<_> = events
        .as_array()
        .unwrap()
        .iter()
        .map(|event| {
            (
                event["event"].as_str().unwrap(),
                event["actor"]["login"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("labeled", "walter"),
            ("renamed", "outsider"),
            ("commented", "trudy")
        ]
    );
    assert!(events[0]["node_id"].as_str().unwrap().starts_with("LE_"));
    let events = stage.get(&format!("{REPO}/issues/{number}/events"));
    assert_eq!(events.as_array().unwrap().len(), 2);
}

#[test]
fn runs_releases_and_installations_are_shown() {
    let mut stage = Stage::new();
    let (repo, now) = (stage.repo, stage.world.now());
    let github = stage.world.github_mut();
    let run = github
        .start_run(
            repo,
            ".github/workflows/ci.yml",
            "push",
            "main",
            "walter",
            now,
        )
        .unwrap();
    let later = later_by(now, Duration::from_secs(60));
    github
        .finish_run(repo, run, "failure", "line one\n", later)
        .unwrap();
    github
        .publish_release(
            repo,
            "v1.0.0",
            &[("phileas", bytes::Bytes::from_static(b"binary"))],
            "olivia",
            now,
        )
        .unwrap();
    let runs = stage.get(&format!("{REPO}/actions/runs?status=failure"));
    assert_eq!(
        (&runs["total_count"], &runs["workflow_runs"][0]["id"]),
        (&json!(1), &json!(run))
    );
    let job = stage.get(&format!("{REPO}/actions/runs/{run}/jobs"))["jobs"][0]["id"].clone();
    let log = stage.send_request(
        "GET",
        &format!("{REPO}/actions/jobs/{job}/logs"),
        Some("token-olivia"),
        None,
    );
    assert_eq!(log.body().as_ref(), b"line one\n");
    assert_eq!(
        stage
            .ask_owner(
                "PUT",
                &format!("{REPO}/actions/workflows/ci.yml/disable"),
                Value::Null
            )
            .0,
        204
    );
    assert_eq!(
        stage.get(&format!("{REPO}/actions/workflows/ci.yml"))["state"],
        "disabled_manually"
    );
    let release = stage.get(&format!("{REPO}/releases/latest"));
    let asset = release["assets"][0]["id"].clone();
    let request = http::Request::get(format!("{REPO}/releases/assets/{asset}"))
        .header("accept", "application/octet-stream");
    let mut get = |request: http::request::Builder| {
        let request = request.body(bytes::Bytes::new()).unwrap();
        crate::stage::expect_reply(stage.world.github_request(request))
    };
    let moved = get(request);
    let storage = moved.headers()["location"].to_str().unwrap();
    let content = get(http::Request::get(storage));
    assert_eq!(content.body().as_ref(), b"binary");
    assert_eq!(
        stage.get(&format!("{REPO}/git/ref/tags/v1.0.0"))["object"]["type"],
        "commit"
    );
}

#[test]
fn tokens_that_begin_so_are_refused_for_a_while() {
    let mut stage = Stage::new();
    let path = "/repos/olivia/garden";
    let status = |stage: &mut Stage, token: &str| {
        let (status, _) = stage.ask_as(token, "GET", path, Value::Null);
        status
    };
    stage.world.github_mut().refuse_tokens("token-wal", true);
    assert_eq!(status(&mut stage, "token-walter"), 401);
    assert_eq!(status(&mut stage, "token-olivia"), 200);
    stage.world.github_mut().refuse_tokens("token-wal", false);
    assert_eq!(status(&mut stage, "token-walter"), 200);
}
