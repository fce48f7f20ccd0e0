//! Tests of references that git cannot hold beside each other, through every way to create one.

use serde_json::{Value, json};

use crate::stage::Stage;

const REPO: &str = "/repos/olivia/garden";

fn main_ref(stage: &mut Stage) -> Value {
    stage.get(&format!("{REPO}/git/ref/heads/main"))["object"]["sha"].clone()
}

fn branch_names(stage: &mut Stage) -> Vec<String> {
    let all = stage.get(&format!("{REPO}/git/matching-refs/heads/"));
    let names = all.as_array().unwrap().iter();
    names
        .map(|one| one["ref"].as_str().unwrap().to_owned())
        .collect()
}

/// The fixture has a branch `jules`; git keeps no branch inside it.
#[test]
fn a_branch_inside_another_is_refused() {
    let mut stage = Stage::new();
    let sha = main_ref(&mut stage);
    let before = branch_names(&mut stage);
    let refs = format!("{REPO}/git/refs");
    for name in ["refs/heads/jules/fix-typo", "refs/heads/main/a/b"] {
        let (status, body) = stage.ask_owner("POST", &refs, json!({"ref": name, "sha": sha}));
        assert_eq!(
            (status, &body["message"]),
            (422, &json!("Reference update failed"))
        );
    }
    let repository = stage.get(REPO)["node_id"].clone();
    let answer = stage.post_graphql(
        "mutation($input: CreateRefInput!) { createRef(input: $input) { ref { name } } }",
        json!({"input": {"repositoryId": repository, "name": "refs/heads/jules/x", "oid": sha}}),
    );
    assert_eq!(
        answer["errors"][0]["message"], "Reference update failed",
        "{answer}"
    );
    let (status, _) = stage.ask_owner(
        "PUT",
        &format!("{REPO}/contents/a.txt"),
        json!({"message": "m", "content": "YQ==", "branch": "jules/x"}),
    );
    // Contents make no branch.
    assert_eq!(status, 404);
    let (status, _) = stage.ask_owner(
        "POST",
        &format!("{REPO}/branches/main/rename"),
        json!({"new_name": "jules/main"}),
    );
    assert_eq!(status, 422);
    assert_eq!(branch_names(&mut stage), before);
}

#[test]
fn a_branch_around_another_is_refused_until_that_one_is_renamed() {
    let mut stage = Stage::new();
    let sha = main_ref(&mut stage);
    let refs = format!("{REPO}/git/refs");
    let make = |stage: &mut Stage, name: &str| {
        let body = json!({"ref": format!("refs/heads/{name}"), "sha": sha});
        stage.ask_owner("POST", &refs, body).0
    };
    assert_eq!(make(&mut stage, "phileas/old/one"), 201);
    // Names that only begin alike do not touch one another.
    assert_eq!(make(&mut stage, "phileas-2"), 201);
    assert_eq!(make(&mut stage, "phileas"), 422);
    assert_eq!(make(&mut stage, "phileas/old"), 422);
    assert_eq!(make(&mut stage, "phileas/new"), 201);
    let rename = format!("{REPO}/branches/phileas/old/one/rename");
    let (status, body) = stage.ask_owner("POST", &rename, json!({"new_name": "phileas/old"}));
    assert_eq!((status, &body["name"]), (201, &json!("phileas/old")));
    assert!(!branch_names(&mut stage).contains(&"refs/heads/phileas/old/one".to_owned()));
    // A person's push by the control interface is refused, too.
    let act = json!({"act": "push-files", "branch": "phileas/old/x", "files": {"a": "1"}});
    let request = http::Request::post("/__world/act")
        .body(bytes::Bytes::from(act.to_string()))
        .unwrap();
    let response = phileas_world::control::handle_request(&mut stage.world, &request);
    assert_eq!(response.status(), 409);
}

/// Each kind of rule refuses what GitHub refuses, and lets the rest through.
#[test]
fn rules_refuse_making_moving_and_deleting() {
    let pattern = |kind: &str, operator: &str, pattern: &str| json!({"type": kind, "parameters": {"operator": operator, "pattern": pattern}});
    let of = |kind: &str| json!({"type": kind});
    // The rule, and whether a branch can be made, moved, rewritten and deleted under it.
    for (rule, allowed) in [
        (of("creation"), [false, true, true, true]),
        (of("update"), [true, false, false, true]),
        (of("deletion"), [true, true, true, false]),
        (of("non_fast_forward"), [true, true, false, true]),
        (of("pull_request"), [true, false, false, true]),
        (of("merge_queue"), [true, false, false, true]),
        (of("required_status_checks"), [false, false, false, true]),
        (of("required_signatures"), [true, false, false, true]),
        (of("copilot_code_review"), [true, true, true, true]),
        (
            pattern("branch_name_pattern", "starts_with", "feat/"),
            [false, false, false, true],
        ),
        (
            pattern("branch_name_pattern", "regex", "^(topic|x)$"),
            [true, true, true, true],
        ),
        (
            pattern("commit_message_pattern", "starts_with", "feat"),
            [true, false, false, true],
        ),
        (
            pattern("commit_author_email_pattern", "ends_with", "@corp.example"),
            [true, false, false, true],
        ),
        (
            json!({"type": "file_path_restriction", "parameters": {"restricted_file_paths": ["*.txt"]}}),
            [true, false, false, true],
        ),
    ] {
        let mut stage = Stage::new();
        let sha = main_ref(&mut stage);
        let refs = format!("{REPO}/git/refs");
        let topic = format!("{refs}/heads/topic");
        let make = json!({"ref": "refs/heads/topic", "sha": sha});
        let (repo, now) = (stage.repo, stage.world.now());
        let rules = vec![rule.clone()];
        let github = stage.world.github_mut();
        let commit = |github: &mut phileas_world::github::Model, text: &str| {
            let parent = github.branch_head(repo, "main");
            let files = [("a.txt".to_owned(), Some(text.to_owned().into()))];
            let oid = github.commit_files(repo, parent, &files, "olivia", "fix: Write", now);
            json!(oid.to_string())
        };
        let (one, two) = (commit(github, "1"), commit(github, "2"));
        github.set_ruleset(repo, "topic", rules);
        let made = stage.ask_owner("POST", &refs, make.clone());
        assert_eq!(made.0 == 201, allowed[0], "{rule}: {made:?}");
        if !allowed[0] {
            let said = made.1["message"].as_str().unwrap();
            assert!(
                said.starts_with("Repository rule violations found"),
                "{said}"
            );
            stage
                .world
                .github_mut()
                .set_ruleset(repo, "topic", Vec::new());
            assert_eq!(stage.ask_owner("POST", &refs, make).0, 201);
            stage
                .world
                .github_mut()
                .set_ruleset(repo, "topic", vec![rule.clone()]);
        }
        let moved = stage.ask_owner("PATCH", &topic, json!({"sha": one}));
        assert_eq!(moved.0 == 200, allowed[1], "{rule}: {moved:?}");
        let rewritten = stage.ask_owner("PATCH", &topic, json!({"sha": two, "force": true}));
        assert_eq!(rewritten.0 == 200, allowed[2], "{rule}: {rewritten:?}");
        let gone = stage.ask_owner("DELETE", &topic, Value::Null);
        assert_eq!(gone.0 == 204, allowed[3], "{rule}: {gone:?}");
    }
}

#[test]
fn rules_refuse_commits_of_the_other_faces() {
    let mut stage = Stage::new();
    let repo = stage.repo;
    let rules = vec![json!({"type": "commit_message_pattern",
        "parameters": {"operator": "starts_with", "pattern": "feat"}})];
    stage.world.github_mut().set_ruleset(repo, "jules", rules);
    let before = stage.get(&format!("{REPO}/git/ref/heads/jules"))["object"]["sha"].clone();
    let answer = stage.post_graphql(
        "mutation($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }",
        json!({"input": {
            "branch": {"repositoryNameWithOwner": "olivia/garden", "branchName": "jules"},
            "expectedHeadOid": before,
            "message": {"headline": "phileas: intent"},
            "fileChanges": {"additions": [{"path": "a", "contents": "YQ=="}], "deletions": []},
        }}),
    );
    let error = &answer["errors"][0];
    assert_eq!(error["type"], "UNPROCESSABLE");
    let said = error["message"].as_str().unwrap();
    assert!(
        said.starts_with("Repository rule violations found"),
        "{said}"
    );
    let (status, _) = stage.ask_owner(
        "PUT",
        &format!("{REPO}/contents/a"),
        json!({"message": "m", "content": "YQ==", "branch": "jules"}),
    );
    assert_eq!(status, 422);
    let after = stage.get(&format!("{REPO}/git/ref/heads/jules"))["object"]["sha"].clone();
    assert_eq!(before, after);
}

#[test]
fn a_locked_issue_takes_no_comment_of_a_job_and_a_repository_without_issues_no_issue() {
    let mut stage = Stage::new();
    let issues = format!("{REPO}/issues");
    let number = stage.ask_owner("POST", &issues, json!({"title": "One"})).1["number"].clone();
    let comments = format!("{issues}/{number}/comments");
    let repo = stage.repo;
    let body = json!({"body": "Hello"});
    assert_eq!(
        stage
            .ask_as("token-actions", "POST", &comments, body.clone())
            .0,
        201
    );
    let github = stage.world.github_mut();
    assert!(github.set_locked(repo, number.as_u64().unwrap(), true));
    for (token, status) in [
        ("token-actions", 403),
        ("token-trudy", 403),
        ("token-walter", 201),
    ] {
        let (code, reply) = stage.ask_as(token, "POST", &comments, body.clone());
        assert_eq!(code, status, "{token}: {reply}");
    }
    let shut = stage.ask_as(
        "token-actions",
        "PATCH",
        &format!("{issues}/{number}"),
        json!({"state": "closed"}),
    );
    assert_eq!((shut.0, &shut.1["locked"]), (200, &json!(true)));
    stage.world.github_mut().set_has_issues(repo, false);
    assert_eq!(
        stage.ask_owner("POST", &issues, json!({"title": "Two"})).0,
        410
    );
    assert_eq!(stage.get(REPO)["has_issues"], false);
}

/// Pushes are dated by their arrival, and not by their commits.
#[test]
fn the_activity_of_a_branch_tells_its_pushes_newest_first() {
    let mut stage = Stage::new();
    let sha = main_ref(&mut stage);
    let refs = format!("{REPO}/git/refs");
    let (status, _) = stage.ask_owner(
        "POST",
        &refs,
        json!({"ref": "refs/heads/topic", "sha": sha}),
    );
    assert_eq!(status, 201);
    let (status, made) = stage.ask_owner(
        "PUT",
        &format!("{REPO}/contents/a.txt"),
        json!({"message": "m", "content": "YQ==", "branch": "topic"}),
    );
    assert_eq!(status, 201, "{made}");
    for name in ["topic", "refs/heads/topic"] {
        let listed = stage.get(&format!("{REPO}/activity?ref={name}&per_page=10"));
        let listed = listed.as_array().unwrap();
        let kinds: Vec<_> = listed.iter().map(|one| &one["activity_type"]).collect();
        assert_eq!(kinds, ["push", "branch_creation"], "{listed:?}");
        assert_eq!(listed[0]["before"], sha);
        assert_eq!(listed[0]["after"], made["commit"]["sha"]);
        assert_eq!(listed[0]["ref"], "refs/heads/topic");
        assert!(listed[0]["timestamp"].is_string() && listed[0]["actor"]["login"].is_string());
    }
    let others = stage.get(&format!("{REPO}/activity?ref=nowhere"));
    assert_eq!(others, json!([]));
}
