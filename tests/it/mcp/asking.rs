//! A person is asked before something is done that cannot be taken back, in the way of each revision.

use phileas::sandbox::world_setup;
use phileas_world::github::Verdict;
use serde_json::{Value, json};

use super::host::{HANDSHAKE, TODAY, TestService, job, place, place_with_plan};

/// A plan that lets phileas merge.
const GREEN: &str = "cycle = [\"curator\"]\n[defaults]\nmerge = \"green\"\n";

fn form() -> Value {
    json!({"elicitation": {"form": {}}})
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"confirm": true}})
}

/// A job whose pull request is open; its id and its newest commit.
fn opened(place: &TestService) -> (String, String) {
    let made = place
        .host(HANDSHAKE, &[])
        .done("jules_create_job", job("Change it."));
    place.pass(30);
    (made["job_id"].as_str().unwrap().to_owned(), head(place))
}

fn head(place: &TestService) -> String {
    let world = place.shared.lock_world();
    let repo = world
        .github()
        .repository_by_name(world_setup::OWNER, world_setup::NAME)
        .unwrap();
    world.github().pull(repo, 1).unwrap().head.oid.to_string()
}

fn checks(place: &TestService, conclusion: &str) {
    let mut world = place.shared.lock_world();
    let now = world.now();
    let repo = world
        .github()
        .repository_by_name(world_setup::OWNER, world_setup::NAME)
        .unwrap();
    let head = world.github().pull(repo, 1).unwrap().head.oid;
    let by = "github-actions[bot]";
    world
        .github_mut()
        .set_checks(repo, head, "build", Some(conclusion), by, now);
}

fn is_merged(place: &TestService) -> bool {
    let world = place.shared.lock_world();
    let repo = world
        .github()
        .repository_by_name(world_setup::OWNER, world_setup::NAME)
        .unwrap();
    world.github().pull(repo, 1).unwrap().merged.is_some()
}

fn is_archived(place: &TestService, id: &str) -> bool {
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
    // Closing the question is no answer.
    host.answers.push(json!({"action": "cancel"}));
    host.refused(
        "jules_cancel_job",
        json!({"job_id": id}),
        "closed the question",
    );
    let question = &host.notifications[0];
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

/// An agent cannot say yes in the place of a person who said no, nor ask until the person gives in.
#[test]
fn a_no_is_final_for_that_very_action() {
    let place = place(Vec::new());
    let create = |prompt: &str| {
        let made = place
            .host(HANDSHAKE, &[])
            .done("jules_create_job", job(prompt));
        made["job_id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (create("Long."), create("Longer."));
    let nos = [
        json!({"action": "decline"}),
        json!({"action": "accept", "content": {"confirm": false}}),
        json!({"action": "accept"}),
    ];
    for no in nos {
        let mut host = place.host_that_can(HANDSHAKE, &[], form());
        host.answers.push(no);
        host.refused(
            "jules_cancel_job",
            json!({"job_id": first}),
            "the person refused",
        );
        let asked = host.notifications.len();
        for arguments in [
            json!({"job_id": first}),
            json!({"job_id": first, "confirm": true}),
            json!({"job_id": format!("sessions/{first}"), "confirm": true}),
        ] {
            host.refused("jules_cancel_job", arguments, "has refused");
        }
        assert_eq!(host.notifications.len(), asked, "no person is asked again");
        assert!(!is_archived(&place, &first));
        // Another action is another question.
        host.answers.push(json!({"action": "cancel"}));
        host.refused("jules_cancel_job", json!({"job_id": second}), "closed");
        host.answers.push(json!({"action": "decline"}));
        let run = json!({"repo": "acme/widget"});
        host.refused("run", run.clone(), "the person refused");
        let run = json!({"repo": "acme/widget", "confirm": true});
        host.refused("run", run, "has refused");
    }
    let mut host = place.host_that_can(TODAY, &[], form());
    let arguments = json!({"job_id": first});
    let asked = host.call("jules_cancel_job", arguments.clone());
    let state = asked["requestState"].clone();
    for (answer, word) in [
        (json!({"action": "decline"}), "the person refused"),
        (yes(), "has refused"),
    ] {
        let params = json!({"name": "jules_cancel_job", "arguments": arguments,
            "requestState": state, "inputResponses": {"confirm": answer}});
        let result = host.ask("tools/call", params)["result"].clone();
        assert_eq!(result["isError"], true, "{result}");
        assert!(result.to_string().contains(word), "{result}");
    }
    host.refused(
        "jules_cancel_job",
        json!({"job_id": first, "confirm": true}),
        "has refused",
    );
    assert!(!is_archived(&place, &first));
    assert!(place.shared.lock_world().books().sessions.len() == 2);
}

/// Where the client can ask, `confirm: true` asks the person like any other call.
#[test]
fn an_agent_cannot_confirm_for_a_person_who_can_be_asked() {
    let place = place(Vec::new());
    let id = place
        .host(HANDSHAKE, &[])
        .done("jules_create_job", job("Long."))["job_id"]
        .clone();
    let id = id.as_str().unwrap();
    let confirmed = json!({"job_id": id, "confirm": true});
    let mut host = place.host_that_can(TODAY, &[], form());
    let asked = host.call("jules_cancel_job", confirmed.clone());
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let run = json!({"repo": "acme/widget", "confirm": true});
    let asked = host.call("run", run.clone());
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    // One yes is one run.
    for (word, is_error) in [("forecast", None), ("used before", Some(true))] {
        let params = json!({"name": "run", "arguments": run, "requestState": asked["requestState"],
            "inputResponses": {"confirm": yes()}});
        let result = host.ask("tools/call", params)["result"].clone();
        assert_eq!(
            result["isError"].as_bool().filter(|error| *error),
            is_error,
            "{result}"
        );
        assert!(result.to_string().contains(word), "{result}");
    }
    let mut host = place.host_that_can(HANDSHAKE, &[], form());
    host.answers.push(json!({"action": "cancel"}));
    host.refused("jules_cancel_job", confirmed, "closed the question");
    assert_eq!(host.notifications.len(), 1);
    assert!(!is_archived(&place, id));
}

/// The gate of the label stands before a merge of an agent's, too.
#[test]
fn what_the_plan_keeps_from_merging_is_not_merged_for_an_agent() {
    let merge = |place: &TestService, id: &str, capabilities: Value| {
        checks(place, "success");
        place.pass(3);
        let mut host = place.host_that_can(TODAY, &[], capabilities);
        let head = head(place);
        let arguments =
            json!({"job_id": id, "confirm": true, "payload": {"expected_head_sha": head}});
        host.call("jules_merge_pr", arguments)
    };
    let refused = |place: &TestService, id: &str, word: &str| {
        for capabilities in [json!({}), form()] {
            let result = merge(place, id, capabilities);
            assert_eq!(result["isError"], true, "{result}");
            assert!(result.to_string().contains(word), "{word}: {result}");
        }
        assert!(!is_merged(place), "{word}");
    };
    for plan in [
        "cycle = [\"curator\"]\n",
        "cycle = [\"curator\"]\n[defaults]\nmerge = \"off\"\n",
        &format!("{GREEN}mode = \"observe\"\n"),
    ] {
        let off = place_with_plan(plan, Vec::new());
        let (id, _) = opened(&off);
        refused(&off, &id, "refused.merge_off");
    }
    let own = format!("{GREEN}[gate]\nprotected_paths = [\"**\"]\n");
    let own = place_with_plan(&own, Vec::new());
    let (id, _) = opened(&own);
    refused(&own, &id, "refused.protected_path");

    let place = place_with_plan(GREEN, Vec::new());
    let (id, _) = opened(&place);
    for conclusion in ["skipped", "neutral"] {
        checks(&place, conclusion);
    }
    {
        let mut world = place.shared.lock_world();
        let now = world.now();
        let github = world.github_mut();
        let repo = github
            .repository_by_name(world_setup::OWNER, world_setup::NAME)
            .unwrap();
        let issue = github.open_issue(repo, "Stop", "", &[], "maintainer", now);
        github.add_label(repo, issue, "phileas:pause", "maintainer", now);
    }
    refused(&place, &id, "paused");
}

/// The person says yes to files, not to what an agent tells of them.
#[test]
fn the_question_before_a_merge_names_every_file() {
    let place = place_with_plan(GREEN, Vec::new());
    let (id, _) = opened(&place);
    checks(&place, "success");
    place.pass(3);
    let files: Vec<String> = {
        let world = place.shared.lock_world();
        let github = world.github();
        let repo = github
            .repository_by_name(world_setup::OWNER, world_setup::NAME)
            .unwrap();
        let pull = github.pull(repo, 1).unwrap();
        let before = github.list_files(repo, pull.base.oid);
        let mut files = github.list_files(repo, pull.head.oid);
        files.retain(|file| !before.contains(file));
        files
    };
    assert!(!files.is_empty());
    let mut host = place.host_that_can(TODAY, &[], form());
    let asked = host.call("jules_merge_pr", json!({"job_id": id}));
    let message = asked["inputRequests"]["confirm"]["params"]["message"].as_str();
    let message = message.unwrap_or_else(|| panic!("{asked}"));
    for file in files {
        assert!(message.contains(&file), "{file}: {message}");
    }
}

#[test]
fn a_pull_request_is_merged_at_the_commit_that_was_reviewed() {
    let place = place_with_plan(GREEN, Vec::new());
    let (id, commit) = opened(&place);
    let mut host = place.host(TODAY, &[]);
    let merge = |payload: Value| json!({"job_id": id, "confirm": true, "payload": payload});
    let pinned = json!({"expected_head_sha": commit});
    let asked = merge(pinned.clone());
    host.refused("jules_merge_pr", asked, "refused.checks_not_green");
    checks(&place, "neutral");
    let asked = merge(pinned.clone());
    host.refused(
        "jules_merge_pr",
        asked,
        "no check of its newest commit has passed",
    );
    checks(&place, "failure");
    host.refused("jules_merge_pr", merge(pinned.clone()), "commit failed");
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
    let place = place_with_plan(GREEN, Vec::new());
    let (id, commit) = opened(&place);
    checks(&place, "success");
    {
        let mut world = place.shared.lock_world();
        let now = world.now();
        let repo = world
            .github()
            .repository_by_name(world_setup::OWNER, world_setup::NAME)
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
    let place = place_with_plan(GREEN, Vec::new());
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
