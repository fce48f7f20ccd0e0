//! Each tool against the models of Jules and GitHub; what it did is looked at in their books.

use phileas_world::jules::{Ending, Scenario};
use serde_json::{Value, json};

use super::host::{FIRST, HANDSHAKE, Host, TODAY, TestService, job, place};

fn create(host: &mut Host, prompt: &str) -> String {
    let made = host.done("jules_create_job", job(prompt));
    assert_eq!(made["created"], true);
    made["job_id"].as_str().unwrap().to_owned()
}

fn acts(place: &TestService, id: &str) -> Vec<String> {
    let books = place.shared.lock_world().complete_books();
    let session = books
        .sessions
        .iter()
        .find(|session| session.id == id)
        .unwrap();
    let acts = session.acts.iter();
    acts.map(|act| format!("{} {}", act.what, act.text).trim_end().to_owned())
        .collect()
}

fn sessions(place: &TestService) -> usize {
    place.shared.lock_world().complete_books().sessions.len()
}

#[test]
fn a_job_lives_from_its_creation_to_its_changes() {
    let place = place(vec![
        Scenario::default()
            .with_file("notes.md", "one\ntwo\n")
            .with_minutes(5.0),
    ]);
    let mut host = place.host(TODAY, &[]);
    let mut wanted = job("Write the notes.");
    wanted["constraints"] = json!({"title": "Notes", "language": "English"});
    wanted["acceptance"] = json!(["there are two lines"]);
    let made = host.done("jules_create_job", wanted);
    let id = made["job_id"].as_str().unwrap();
    assert_eq!(made["job"]["repo"], "acme/widget");
    let seen = host.done("jules_get_job", json!({"job_id": format!("sessions/{id}")}));
    assert_eq!(seen["title"], "Notes");
    let prompt = seen["prompt"]["text"].as_str().unwrap();
    assert!(
        prompt.contains("- language: English") && prompt.contains("- there are two lines"),
        "{prompt}"
    );
    host.refused("jules_get_diff", json!({"job_id": id}), "shows no changes");
    place.pass(30);
    let seen = host.done("jules_get_job", json!({"job_id": id}));
    assert_eq!(
        (&seen["state"], &seen["has_changes"]),
        (&json!("COMPLETED"), &json!(true))
    );
    for (state, count) in [("completed", 1), ("FAILED", 0)] {
        let listed = host.done("jules_list_jobs", json!({ "state": state }));
        assert_eq!(listed["jobs"].as_array().unwrap().len(), count, "{state}");
    }
    let unknown =
        "`state` is `DONE`, which is not a known state; the known ones are QUEUED, PLANNING, ";
    host.refused("jules_list_jobs", json!({"state": "DONE"}), unknown);
    let found = host.done("jules_get_artifacts", json!({"job_id": id}));
    assert_eq!(
        found["changes"]["files"],
        json!([{"path": "notes.md", "additions": 2, "deletions": 0}])
    );
    assert!(found["pull_requests"][0]["number"].is_u64(), "{found}");
    let whole = host.done("jules_get_diff", json!({"job_id": id, "file": "notes.md"}));
    assert_eq!(whole["truncated"], false);
    let diff = whole["diff"].as_str().unwrap();
    assert!(diff.contains("\n+one\n+two\n"), "{diff}");
    // In pieces it is the same.
    let (mut pieces, mut cursor) = (String::new(), Value::Null);
    for _ in 0..100 {
        let mut arguments = json!({"job_id": id, "max_bytes": 30});
        if cursor.is_string() {
            arguments["cursor"] = cursor;
        }
        let piece = host.done("jules_get_diff", arguments);
        pieces += piece["diff"].as_str().unwrap();
        assert_eq!(piece["truncated"], piece["next_cursor"].is_string());
        cursor = piece["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(pieces, diff);
    host.refused(
        "jules_get_diff",
        json!({"job_id": id, "file": "other.md"}),
        "but notes.md",
    );
}

#[test]
fn a_key_of_ones_own_makes_one_job() {
    let place = place(Vec::new());
    let mut host = place.host(HANDSHAKE, &[]);
    let mut wanted = job("Once.");
    wanted["idempotency_key"] = json!("task-1");
    let first = host.done("jules_create_job", wanted.clone());
    let second = host.done("jules_create_job", wanted.clone());
    assert_eq!(first["job_id"], second["job_id"]);
    assert_eq!(
        (&first["created"], &second["created"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(sessions(&place), 1);
    let mut other = wanted.clone();
    other["prompt"] = json!("Something else.");
    let first_id = first["job_id"].as_str().unwrap();
    host.refused("jules_create_job", other.clone(), "another prompt");
    host.refused("jules_create_job", other, first_id);
    assert_eq!(sessions(&place), 1);
    wanted["idempotency_key"] = json!("no key!");
    host.refused("jules_create_job", wanted, "idempotency_key");
}

#[test]
fn what_others_must_finish_first_holds_a_job_back() {
    let place = place(Vec::new());
    let mut host = place.host(TODAY, &[]);
    let first = create(&mut host, "First.");
    let mut second = job("Second.");
    second["depends_on"] = json!([first]);
    host.refused("jules_create_job", second.clone(), "not completed");
    assert_eq!(sessions(&place), 1);
    place.pass(30);
    host.done("jules_create_job", second);
    assert_eq!(sessions(&place), 2);
}

#[test]
fn a_question_is_read_and_answered() {
    let place = place(vec![
        Scenario::default()
            .with_question("Tabs or spaces?")
            .with_minutes(5.0),
    ]);
    let mut host = place.host(HANDSHAKE, &[]);
    let id = create(&mut host, "Indent it.");
    place.pass(10);
    let seen = host.done("jules_get_job", json!({"job_id": id}));
    assert_eq!(seen["waits_for"], "answer");
    assert_eq!(seen["question"]["text"], "Tabs or spaces?");
    let said = host.done("jules_get_messages", json!({"job_id": id}));
    let texts = |said: &Value| -> Vec<String> {
        let messages = said["messages"].as_array().unwrap().iter();
        messages
            .map(|one| format!("{}: {}", one["role"], one["content"]["text"]))
            .collect()
    };
    assert!(
        texts(&said).contains(&"\"agent\": \"Tabs or spaces?\"".to_owned()),
        "{said}"
    );
    let cursor = said["next_cursor"].clone();
    host.done(
        "jules_send_message",
        json!({"job_id": id, "message": {"content": "Tabs."}}),
    );
    place.pass(1);
    let since = host.done(
        "jules_get_messages",
        json!({"job_id": id, "cursor": cursor}),
    );
    let since = texts(&since);
    assert_eq!(since[0], "\"user\": \"Tabs.\"");
    assert!(
        !since.iter().any(|text| text.contains("spaces?")),
        "{since:?}"
    );
    assert_eq!(acts(&place, &id), ["message Tabs."]);
    host.refused(
        "jules_get_messages",
        json!({"job_id": id, "cursor": "x"}),
        "cursor",
    );
    host.refused(
        "jules_send_message",
        json!({"job_id": id, "message": " "}),
        "empty",
    );
    host.refused(
        "jules_send_message",
        json!({"job_id": "99", "message": "?"}),
        "knows no job 99",
    );
    // Long texts are cut, and say so; one message at a time reaches all of them.
    let cut = host.done(
        "jules_get_messages",
        json!({"job_id": id, "max_bytes": 3, "limit": 1}),
    );
    assert_eq!(cut["messages"].as_array().unwrap().len(), 1);
    assert_eq!(
        (
            &cut["messages"][0]["content"]["truncated"],
            &cut["has_more"]
        ),
        (&json!(true), &json!(true))
    );
}

#[test]
fn a_plan_is_read_and_approved_once() {
    let place = place(Vec::new());
    let mut host = place.host(TODAY, &[]);
    let mut wanted = job("Plan it.");
    wanted["constraints"] = json!({"require_plan_approval": true});
    let id = host.done("jules_create_job", wanted)["job_id"]
        .as_str()
        .unwrap()
        .to_owned();
    place.pass(10);
    let seen = host.done("jules_get_job", json!({"job_id": id}));
    assert_eq!(seen["waits_for"], "plan_approval");
    assert!(
        seen["plan"]["text"].as_str().unwrap().starts_with("1. "),
        "{seen}"
    );
    host.refused(
        "jules_approve_plan",
        json!({"job_id": id, "plan_id": "another"}),
        "nothing was approved",
    );
    let done = host.done("jules_approve_plan", json!({"job_id": id}));
    assert_eq!(done["approved_now"], true);
    place.pass(1);
    let again = host.done("jules_approve_plan", json!({"job_id": id}));
    assert_eq!(again["approved_now"], false);
    assert_eq!(acts(&place, &id).len(), 1);
}

#[test]
fn a_failed_job_says_why_and_is_begun_again() {
    let failing = Scenario {
        reason: Some("the tests hang".to_owned()),
        ..Scenario::with_ending(Ending::Failure)
    };
    let place = place(vec![failing.with_minutes(5.0).for_nth(1)]);
    let mut host = place.host(HANDSHAKE, &[]);
    let id = create(&mut host, "Try it.");
    host.refused(
        "jules_request_retry",
        json!({"job_id": id}),
        "two jobs would do the same work",
    );
    place.pass(30);
    let seen = host.done("jules_get_job", json!({"job_id": id}));
    assert_eq!(seen["reason"]["text"], "the tests hang");
    let again = host.done(
        "jules_request_retry",
        json!({"job_id": id, "note": "skip the slow ones"}),
    );
    assert_eq!(again["retry_of"], id.as_str());
    let new = host.done("jules_get_job", json!({"job_id": again["job_id"]}));
    let prompt = new["prompt"]["text"].as_str().unwrap();
    assert_eq!(
        prompt,
        format!("Try it.\n\nThis time: skip the slow ones\n\nphileas-retry-of: {id}")
    );
    assert_eq!(acts(&place, &id), ["archive"]);
    assert_eq!(again["created"], true);
    // The answer may not have arrived, or the model asks twice.
    let second = host.done("jules_request_retry", json!({"job_id": id}));
    assert_eq!(
        (&second["job_id"], &second["created"]),
        (&again["job_id"], &json!(false))
    );
    assert_eq!(sessions(&place), 2);
}

/// Upstream defect 7: the list could never be had, because it was asked for the id of a job.
#[test]
fn defect_07_jobs_are_listed_in_pages_that_neither_repeat_nor_miss() {
    let place = place(Vec::new());
    let mut host = place.host(FIRST, &[]);
    let mut all = Vec::new();
    for number in 0..5 {
        let result = host.call("jules_create_job", job(&format!("Number {number}.")));
        let said: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        all.insert(0, said["job_id"].as_str().unwrap().to_owned());
        place.pass(1);
    }
    let mut host = place.host(TODAY, &[]);
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let mut arguments = json!({"repo": "ACME/widget", "limit": 2});
        if cursor.is_string() {
            arguments["cursor"] = cursor;
        }
        let page = host.done("jules_list_jobs", arguments);
        let jobs = page["jobs"].as_array().unwrap();
        seen.extend(
            jobs.iter()
                .map(|job| job["job_id"].as_str().unwrap().to_owned()),
        );
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, all);
    let sources = host.done("jules_list_sources", json!({}));
    assert_eq!(sources["sources"][0]["repo"], "acme/widget");
    assert_eq!(sources["sources"][0]["default_branch"], "main");
}

#[test]
fn phileas_itself_is_asked_and_told() {
    let place = place(Vec::new());
    let mut host = place.host(TODAY, &[]);
    let why = host.done("explain", json!({"repo": "acme/widget"}));
    assert!(!why["lines"].as_array().unwrap().is_empty(), "{why}");
    assert_eq!(why["commits"], 0);
    let before = host.done("status", json!({"repo": "acme/widget"}));
    assert_eq!(before["ledger"], "missing");
    let dry = host.done("run", json!({"repo": "acme/widget", "dry_run": true}));
    assert_eq!(dry["commits"], 0);
    assert_eq!(sessions(&place), 0);
    let ran = host.done("run", json!({"repo": "acme/widget", "confirm": true}));
    assert!(ran["commits"].as_u64().unwrap() > 0, "{ran}");
    assert_eq!(sessions(&place), 1);
    let after = host.done("status", json!({"repo": "acme/widget"}));
    assert_eq!(
        (&after["ledger"], &after["budget"]["live"]),
        (&json!("present"), &json!(1))
    );
    host.refused(
        "run",
        json!({"repo": "acme/widget", "persona": "a", "track": "b"}),
        "not both",
    );
}

/// Upstream defect 15: an id went into the path as it was.
#[test]
fn defect_15_what_is_no_id_is_not_sent() {
    let place = place(Vec::new());
    let mut host = place.host(TODAY, &[]);
    for id in ["../sessions", "1:archive", "1/activities", "", "1 2"] {
        host.refused(
            "jules_get_job",
            json!({"job_id": id}),
            "`job_id` is not the id of a job",
        );
    }
    let requests = place.shared.lock_world().complete_books();
    assert!(requests.sessions.is_empty());
}

/// Jules' own words were INVALID_ARGUMENT and NOT_FOUND.
#[test]
fn a_branch_and_a_repository_that_jules_does_not_see_are_named() {
    let place = place(Vec::new());
    let mut host = place.host(HANDSHAKE, &[]);
    let mut wanted = job("On a branch.");
    wanted["branch"] = json!("no-such-branch");
    host.refused(
        "jules_create_job",
        wanted.clone(),
        "Jules sees no branch `no-such-branch` in acme/widget; its branches are: main",
    );
    wanted["branch"] = json!("main");
    wanted["repo"] = json!("acme/other");
    host.refused(
        "jules_create_job",
        wanted.clone(),
        "acme/other is not connected to Jules",
    );
    wanted.as_object_mut().unwrap().remove("branch");
    host.refused(
        "jules_create_job",
        wanted,
        "acme/other is not connected to Jules",
    );
    assert_eq!(sessions(&place), 0);
}

/// Models write one text where a list is meant, or the list as a text.
#[test]
fn a_text_is_taken_where_a_list_is_meant() {
    let place = place(Vec::new());
    let mut host = place.host(HANDSHAKE, &[]);
    for (given, lines) in [
        (json!("tests pass"), "\n- tests pass"),
        (json!("[\"a\", \"b\"]"), "\n- a\n- b"),
        (json!(["c"]), "\n- c"),
    ] {
        let mut wanted = job("Do it.");
        wanted["acceptance"] = given;
        let made = host.done("jules_create_job", wanted);
        let seen = host.done("jules_get_job", json!({"job_id": made["job_id"]}));
        let prompt = seen["prompt"]["text"].as_str().unwrap();
        assert!(prompt.contains(lines), "{prompt}");
    }
    let waited = host.done(
        "jules_wait_for_event",
        json!({"job_ids": "7", "timeout_s": 0}),
    );
    assert_eq!(waited["timed_out"], true);
    let mut wrong = job("Do it.");
    wrong["acceptance"] = json!(7);
    host.refused("jules_create_job", wrong, "a list of texts");
}

#[test]
fn the_commit_to_review_and_the_forecast_are_named() {
    let place = place(vec![
        Scenario::default()
            .with_file("notes.md", "one\n")
            .with_minutes(5.0),
    ]);
    let mut host = place.host(TODAY, &[]);
    let id = create(&mut host, "Write the notes.");
    place.pass(30);
    let found = host.done("jules_get_artifacts", json!({"job_id": id}));
    let head = found["head_sha"].as_str().unwrap();
    assert_eq!(head.len(), 40, "{found}");
    let diff = host.done("jules_get_diff", json!({"job_id": id}));
    assert_eq!(diff["head_sha"], head);
    assert_eq!(diff["base_commit"], found["changes"]["base_commit"]);
    let why = host.done("explain", json!({"repo": "acme/widget"}));
    assert_eq!(why["forecast"], true);
    let dry = host.done("run", json!({"repo": "acme/widget", "dry_run": true}));
    assert_eq!(dry["forecast"], true);
    let done = host.done("run", json!({"repo": "acme/widget", "confirm": true}));
    assert_eq!(done["forecast"], false);
}

/// Without `phileas agent monitor` it waited for ever, and nothing said why.
#[test]
fn a_wait_checks_the_jobs_itself_where_no_monitor_runs() {
    let place = place(vec![
        Scenario::default()
            .with_question("Tabs or spaces?")
            .with_minutes(5.0),
    ]);
    let mut host = place.host(HANDSHAKE, &[]);
    let nothing = host.done("jules_wait_for_event", json!({"timeout_s": 0}));
    assert_eq!(nothing["last_checked"], Value::Null);
    let id = create(&mut host, "Indent it.");
    place.pass(10);
    let seen = host.done("jules_wait_for_event", json!({"timeout_s": 60}));
    assert_eq!(seen["timed_out"], false, "{seen}");
    assert_eq!(seen["events"][0]["job_id"], id.as_str());
    assert_eq!(seen["events"][0]["event"], "question");
    assert!(seen["last_checked"].is_string(), "{seen}");
}
