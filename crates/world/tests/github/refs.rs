//! References that git cannot hold beside one another, through every way in which one is made.

use serde_json::{Value, json};

use crate::stage::Stage;

const REPO: &str = "/repos/olivia/garden";

fn head(stage: &mut Stage) -> Value {
    stage.get(&format!("{REPO}/git/ref/heads/main"))["object"]["sha"].clone()
}

fn branches(stage: &mut Stage) -> Vec<String> {
    let all = stage.get(&format!("{REPO}/git/matching-refs/heads/"));
    let names = all.as_array().unwrap().iter();
    names
        .map(|one| one["ref"].as_str().unwrap().to_owned())
        .collect()
}

/// The scene has a branch `jules`; git keeps no branch inside it.
#[test]
fn a_branch_inside_another_is_refused() {
    let mut stage = Stage::new();
    let sha = head(&mut stage);
    let before = branches(&mut stage);
    let refs = format!("{REPO}/git/refs");
    for name in ["refs/heads/jules/fix-typo", "refs/heads/main/a/b"] {
        let (status, body) = stage.ask("POST", &refs, json!({"ref": name, "sha": sha}));
        assert_eq!(
            (status, &body["message"]),
            (422, &json!("Reference update failed"))
        );
    }
    let repository = stage.get(REPO)["node_id"].clone();
    let answer = stage.graphql(
        "mutation($input: CreateRefInput!) { createRef(input: $input) { ref { name } } }",
        json!({"input": {"repositoryId": repository, "name": "refs/heads/jules/x", "oid": sha}}),
    );
    assert_eq!(
        answer["errors"][0]["message"], "Reference update failed",
        "{answer}"
    );
    let (status, _) = stage.ask(
        "PUT",
        &format!("{REPO}/contents/a.txt"),
        json!({"message": "m", "content": "YQ==", "branch": "jules/x"}),
    );
    assert_eq!(status, 422);
    let (status, _) = stage.ask(
        "POST",
        &format!("{REPO}/branches/main/rename"),
        json!({"new_name": "jules/main"}),
    );
    assert_eq!(status, 422);
    assert_eq!(branches(&mut stage), before);
}

#[test]
fn a_branch_around_another_is_refused_until_that_one_is_renamed() {
    let mut stage = Stage::new();
    let sha = head(&mut stage);
    let refs = format!("{REPO}/git/refs");
    let mut make = |stage: &mut Stage, name: &str| {
        let body = json!({"ref": format!("refs/heads/{name}"), "sha": sha});
        stage.ask("POST", &refs, body).0
    };
    assert_eq!(make(&mut stage, "phileas/old/one"), 201);
    // Names that only begin alike do not touch one another.
    assert_eq!(make(&mut stage, "phileas-2"), 201);
    assert_eq!(make(&mut stage, "phileas"), 422);
    assert_eq!(make(&mut stage, "phileas/old"), 422);
    assert_eq!(make(&mut stage, "phileas/new"), 201);
    let rename = format!("{REPO}/branches/phileas/old/one/rename");
    let (status, body) = stage.ask("POST", &rename, json!({"new_name": "phileas/old"}));
    assert_eq!((status, &body["name"]), (201, &json!("phileas/old")));
    assert!(!branches(&mut stage).contains(&"refs/heads/phileas/old/one".to_owned()));
    // A person's push by the control interface is refused, too.
    let act = json!({"act": "push-files", "branch": "phileas/old/x", "files": {"a": "1"}});
    let request = http::Request::post("/__world/act")
        .body(bytes::Bytes::from(act.to_string()))
        .unwrap();
    let response = phileas_world::control::handle(&mut stage.world, &request);
    assert_eq!(response.status(), 409);
}
