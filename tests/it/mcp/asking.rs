//! A person is asked before something is done that cannot be taken back, in the way of each revision.

use phileas::sandbox::scene;
use phileas_world::github::Verdict;
use serde_json::{Value, json};

use super::host::{HANDSHAKE, Place, TODAY, job, place};

fn form() -> Value {
    json!({"elicitation": {"form": {}}})
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"confirm": true}})
}

/// A job whose pull request is open; its id and its newest commit.
fn opened(place: &Place) -> (String, String) {
    let made = place
        .host(HANDSHAKE, &[])
        .done("jules_create_job", job("Change it."));
    place.pass(30);
    (made["job_id"].as_str().unwrap().to_owned(), head(place))
}

fn head(place: &Place) -> String {
    let world = place.shared.world();
    let repo = world
        .github()
        .repository_by_name(scene::OWNER, scene::NAME)
        .unwrap();
    world.github().pull(repo, 1).unwrap().head.oid.to_string()
}

fn checks(place: &Place, conclusion: &str) {
    let mut world = place.shared.world();
    let now = world.now();
    let repo = world
        .github()
        .repository_by_name(scene::OWNER, scene::NAME)
        .unwrap();
    let head = world.github().pull(repo, 1).unwrap().head.oid;
    let by = "github-actions[bot]";
    world
        .github_mut()
        .set_checks(repo, head, "build", Some(conclusion), by, now);
}

fn is_merged(place: &Place) -> bool {
    let world = place.shared.world();
    let repo = world
        .github()
        .repository_by_name(scene::OWNER, scene::NAME)
        .unwrap();
    world.github().pull(repo, 1).unwrap().merged.is_some()
}

fn is_archived(place: &Place, id: &str) -> bool {
    let mut host = place.host(HANDSHAKE, &[]);
    host.done("jules_get_job", json!({"job_id": id}))["archived"] == true
}

#[test]
fn an_older_client_asks_in_between() {
    let place = place(Vec::new());
    let id = place
        .host(HANDSHAKE, &[])
        .done("jules_create_job", job("Long."))["job_id"]
        .clone();
    let id = id.as_str().unwrap();
    let mut host = place.host_that_can(HANDSHAKE, &[], form());
    for no in [
        json!({"action": "decline"}),
        json!({"action": "accept", "content": {"confirm": false}}),
    ] {
        host.answers.push(no);
        host.refused("jules_cancel_job", json!({"job_id": id}), "said no");
    }
    let question = &host.told[0];
    assert_eq!(question["method"], "elicitation/create");
    assert!(
        question["params"]["message"].as_str().unwrap().contains(id),
        "{question}"
    );
    assert!(!is_archived(&place, id));
    host.answers.push(yes());
    assert_eq!(
        host.done("jules_cancel_job", json!({"job_id": id}))["cancelled_now"],
        true
    );
    assert!(is_archived(&place, id));
    assert_eq!(
        host.done("jules_cancel_job", json!({"job_id": id}))["cancelled_now"],
        false
    );
}

#[test]
fn a_client_of_today_goes_away_and_comes_back() {
    let place = place(Vec::new());
    let id = place
        .host(HANDSHAKE, &[])
        .done("jules_create_job", job("Long."))["job_id"]
        .clone();
    let id = id.as_str().unwrap();
    let mut host = place.host_that_can(TODAY, &[], form());
    let arguments = json!({"job_id": id});
    let asked = host.call("jules_cancel_job", arguments.clone());
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_eq!(
        asked["inputRequests"]["confirm"]["method"],
        "elicitation/create"
    );
    let state = asked["requestState"].as_str().unwrap();
    assert!(!is_archived(&place, id));
    let mut back = |tool: &str, arguments: &Value, state: &str, answer: Value| {
        let params = json!({"name": tool, "arguments": arguments, "requestState": state,
            "inputResponses": {"confirm": answer}});
        host.ask("tools/call", params)["result"].clone()
    };
    let forged = back("jules_cancel_job", &arguments, &format!("{state}x"), yes());
    assert_eq!(forged["isError"], true, "{forged}");
    let other = json!({"job_id": id, "confirm": false});
    assert_eq!(
        back("jules_cancel_job", &other, state, yes())["isError"],
        true
    );
    let no = back(
        "jules_cancel_job",
        &arguments,
        state,
        json!({"action": "cancel"}),
    );
    assert_eq!(no["isError"], true, "{no}");
    assert!(!is_archived(&place, id));
    let done = back("jules_cancel_job", &arguments, state, yes());
    assert_eq!(done["structuredContent"]["cancelled_now"], true, "{done}");
    assert!(is_archived(&place, id));
}

#[test]
fn a_pull_request_is_merged_at_the_commit_that_was_reviewed() {
    let place = place(Vec::new());
    let (id, commit) = opened(&place);
    let mut host = place.host(TODAY, &[]);
    let merge = |payload: Value| json!({"job_id": id, "confirm": true, "payload": payload});
    let pinned = json!({"expected_head_sha": commit});
    host.refused("jules_merge_pr", merge(pinned.clone()), "no checks");
    checks(&place, "failure");
    host.refused("jules_merge_pr", merge(pinned.clone()), "failed check");
    checks(&place, "success");
    host.refused("jules_merge_pr", merge(json!({})), &commit);
    let other = "0".repeat(40);
    host.refused(
        "jules_merge_pr",
        merge(json!({"expected_head_sha": other})),
        "not 0000",
    );
    host.refused(
        "jules_merge_pr",
        json!({"job_id": id, "payload": pinned}),
        "confirm: true",
    );
    host.refused(
        "jules_merge_pr",
        merge(json!({"pull_number": 99})),
        "no pull request #99",
    );
    assert!(!is_merged(&place));
    let done = host.done("jules_merge_pr", merge(pinned.clone()));
    assert_eq!(
        (&done["merged_now"], &done["head_sha"]),
        (&json!(true), &json!(commit))
    );
    assert_eq!(done["archived_job"], true);
    assert!(is_merged(&place) && is_archived(&place, &id));
    let again = host.done("jules_merge_pr", merge(pinned));
    assert_eq!(again["merged_now"], false);
}

#[test]
fn a_review_that_asks_for_changes_holds_a_merge() {
    let place = place(Vec::new());
    let (id, commit) = opened(&place);
    checks(&place, "success");
    {
        let mut world = place.shared.world();
        let now = world.now();
        let repo = world
            .github()
            .repository_by_name(scene::OWNER, scene::NAME)
            .unwrap();
        world
            .github_mut()
            .review_pull(repo, 1, Verdict::RequestChanges, "no", "maintainer", now);
    }
    let mut host = place.host(TODAY, &[]);
    let arguments =
        json!({"job_id": id, "confirm": true, "payload": {"expected_head_sha": commit}});
    host.refused("jules_merge_pr", arguments, "asks for changes");
    assert!(!is_merged(&place));
}

/// What a person said yes to was one commit; another one is another question.
#[test]
fn an_answer_counts_for_the_commit_that_was_shown() {
    let place = place(Vec::new());
    let (id, commit) = opened(&place);
    checks(&place, "success");
    let mut host = place.host_that_can(TODAY, &[], form());
    let arguments = json!({"job_id": id});
    let asked = host.call("jules_merge_pr", arguments.clone());
    let message = asked["inputRequests"]["confirm"]["params"]["message"]
        .as_str()
        .unwrap();
    assert!(message.contains(&commit), "{message}");
    let state = asked["requestState"].clone();
    host.done(
        "jules_send_message",
        json!({"job_id": id, "message": "One thing more."}),
    );
    for _ in 0..240 {
        if head(&place) != commit {
            break;
        }
        place.pass(1);
    }
    checks(&place, "success");
    let params = json!({"name": "jules_merge_pr", "arguments": arguments, "requestState": state,
        "inputResponses": {"confirm": yes()}});
    let result = host.ask("tools/call", params)["result"].clone();
    assert_eq!(result["isError"], head(&place) != commit, "{result}");
    assert_eq!(is_merged(&place), head(&place) == commit);
}
