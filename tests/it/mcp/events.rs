//! The monitor's files through the tools: jobs are registered, events read, waited for and acknowledged.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Duration;

use jiff::Timestamp;
use phileas_domain::jobs::event::Payload;
use phileas_domain::jobs::{EventKind, Job, NewEvent};
use serde_json::{Value, json};

use super::host::{HANDSHAKE, Host, TODAY, TestService, job, place};

/// What the monitor writes.
pub(super) fn happened(place: &TestService, job: &str, kind: EventKind, message: &str) {
    let draft = NewEvent {
        kind,
        job_id: Some(job.parse().unwrap()),
        status: None,
        message: Some(message.to_owned()),
        last_activity: None,
        payload: Payload {
            repo: Some("acme/widget".to_owned()),
            ..Payload::default()
        },
        cause: message.to_owned(),
    };
    let events = place.paths().events_file();
    events
        .append_events(vec![draft], Timestamp::UNIX_EPOCH)
        .unwrap();
}

fn messages(seen: &Value) -> Vec<&str> {
    let events = seen["events"].as_array().unwrap().iter();
    events
        .map(|event| event["message"]["text"].as_str().unwrap())
        .collect()
}

fn registered(place: &TestService) -> Vec<Job> {
    let (registry, wrong) = place.paths().jobs_file().read_jobs().unwrap();
    assert!(wrong.is_empty());
    registry.jobs().cloned().collect()
}

#[test]
fn a_new_job_is_watched_with_what_jules_does_not_tell_later() {
    let place = place(Vec::new());
    let mut host = place.host(TODAY, &[]);
    let mut wanted = job("Watch me.");
    wanted["parent"] = json!("release 2");
    wanted["acceptance"] = json!(["it builds"]);
    wanted["constraints"] = json!({"require_plan_approval": true});
    let made = host.done("jules_create_job", wanted);
    assert_eq!(made["registered"], true);
    let known = registered(&place);
    assert_eq!(known[0].job_id.as_str(), made["job_id"]);
    assert_eq!(known[0].repo.as_deref(), Some("acme/widget"));
    assert_eq!(
        (known[0].require_plan_approval, known[0].open_pull),
        (Some(true), Some(true))
    );
    assert_eq!(
        known[0].metadata,
        json!({"parent": "release 2", "acceptance": ["it builds"]})
    );
    let mut quiet = job("Do not.");
    quiet["register"] = json!(false);
    assert_eq!(host.done("jules_create_job", quiet)["registered"], false);
    assert_eq!(registered(&place).len(), 1);
    host.done(
        "jules_cancel_job",
        json!({"job_id": made["job_id"], "confirm": true}),
    );
    assert!(
        !registered(&place)[0].is_live(),
        "no client waits for it any more"
    );
}

/// Upstream defect 9: any caller could let the server write to any path.
#[test]
fn defect_09_a_job_is_registered_in_no_other_folder() {
    let place = place(Vec::new());
    let mut command = place.program(&[]).into_command();
    command.current_dir(place.files.path());
    let mut host = Host::start(command, HANDSHAKE, json!({}));
    host.greet();
    let arguments = json!({"job_id": "77", "metadata": {"task": "x"}});
    assert_eq!(
        host.done("jules_register_job", arguments.clone())["was"],
        "new"
    );
    assert_eq!(host.done("jules_register_job", arguments)["was"], "known");
    assert_eq!(registered(&place)[0].metadata["task"], "x");
    let hook = place.files.path().join("hook");
    let notes = place.files.path().join("notes.jsonl");
    fs::write(&hook, "#!/bin/sh\n").unwrap();
    fs::write(&notes, "a note\n").unwrap();
    for path in [
        "/etc/jobs.jsonl",
        "../jobs.jsonl",
        "",
        "hook",
        "notes.jsonl",
    ] {
        let arguments = json!({"job_id": "77", "jobs_path": path});
        host.refused("jules_register_job", arguments, "jobs_path");
    }
    let own = place.paths().jobs;
    host.done(
        "jules_register_job",
        json!({"job_id": "78", "jobs_path": own.to_str().unwrap()}),
    );
    assert_eq!(registered(&place).len(), 2);
}

#[test]
fn events_are_read_in_pages_and_acknowledged() {
    let place = place(Vec::new());
    for (job, text) in [("1", "one"), ("2", "two"), ("1", "three")] {
        happened(&place, job, EventKind::Question, text);
    }
    let mut host = place.host(TODAY, &[]);
    let first = host.done("jules_list_events", json!({"limit": 2}));
    assert_eq!(
        (messages(&first), &first["has_more"]),
        (vec!["one", "two"], &json!(true))
    );
    let second = host.done("jules_list_events", json!({"cursor": first["next_cursor"]}));
    assert_eq!(
        (messages(&second), &second["has_more"]),
        (vec!["three"], &json!(false))
    );
    assert_eq!(
        messages(&host.done("jules_list_events", json!({"job_id": "1"}))),
        ["one", "three"]
    );
    let id = first["events"][0]["event_id"].clone();
    assert_eq!(
        host.done("jules_ack_event", json!({"event_id": id}))["acknowledged_now"],
        true
    );
    assert_eq!(
        host.done("jules_ack_event", json!({"event_id": id}))["acknowledged_now"],
        false
    );
    assert_eq!(
        messages(&host.done("jules_list_events", json!({}))),
        ["two", "three"]
    );
    let all = host.done("jules_list_events", json!({"include_acknowledged": true}));
    assert_eq!(messages(&all).len(), 3);
    host.refused(
        "jules_ack_event",
        json!({"event_id": 99}),
        "there is no event 99",
    );
    let mut other = place.host(TODAY, &["--allow", "acme/gadget"]);
    assert!(messages(&other.done("jules_list_events", json!({}))).is_empty());
    other.refused(
        "jules_ack_event",
        json!({"event_id": 2}),
        "there is no event 2",
    );
}

#[test]
fn who_waits_is_told_at_once_or_when_the_time_is_over() {
    let place = place(Vec::new());
    let mut host = place.host(TODAY, &[]);
    let nothing = host.done("jules_wait_for_event", json!({"timeout_s": 0}));
    assert_eq!(
        (&nothing["timed_out"], messages(&nothing).len()),
        (&json!(true), 0)
    );
    let cursor = nothing["next_cursor"].clone();
    let arguments = json!({"timeout_s": 60, "job_ids": ["7"], "cursor": cursor});
    let id = host.begin(
        "tools/call",
        json!({"name": "jules_wait_for_event", "arguments": arguments}),
    );
    happened(&place, "8", EventKind::Completed, "of another job");
    happened(&place, "7", EventKind::Completed, "done");
    let answer = host.next().unwrap();
    assert_eq!(answer["id"], id);
    let seen = &answer["result"]["structuredContent"];
    assert_eq!(
        (messages(seen), &seen["timed_out"]),
        (vec!["done"], &json!(false))
    );
    let known = host.done("jules_wait_for_event", json!({}));
    assert_eq!(
        messages(&known).len(),
        2,
        "what is not acknowledged is sent without waiting"
    );
}

pub(super) fn subscribed(host: &mut Host, uri: &str) {
    let answer = host.ask("resources/subscribe", json!({"uri": uri}));
    assert_eq!(answer["result"], json!({}), "{answer}");
}

#[test]
fn an_older_client_subscribes_and_is_told() {
    let place = place(Vec::new());
    let mut host = place.host(HANDSHAKE, &[]);
    let id = host.done("jules_create_job", job("Tell me."))["job_id"].clone();
    let of_job = format!("jules://jobs/{}", id.as_str().unwrap());
    for uri in ["jules://events", &of_job] {
        subscribed(&mut host, uri);
    }
    let unknown = host.ask("resources/subscribe", json!({"uri": "jules://nothing"}));
    assert_eq!(unknown["error"]["code"], -32002, "{unknown}");
    host.done(
        "jules_send_message",
        json!({"job_id": id, "message": "Hello."}),
    );
    let told = host.hear("notifications/resources/updated");
    assert_eq!(told["params"]["uri"], of_job.as_str());
    happened(&place, "7", EventKind::Stuck, "nothing happens");
    let told = host.hear("notifications/resources/updated");
    assert_eq!(told["params"]["uri"], "jules://events");
    host.done("jules_register_job", json!({"job_id": "9"}));
    host.hear("notifications/resources/list_changed");
}

#[test]
fn a_client_of_today_listens_to_what_it_asked_for() {
    let place = place(Vec::new());
    let mut host = place.host(TODAY, &[]);
    let wanted = json!({"resourceSubscriptions": ["jules://events", "jules://nothing"], "toolsListChanged": true});
    let id = host.begin("subscriptions/listen", json!({"notifications": wanted}));
    let granted = host.hear("notifications/subscriptions/acknowledged");
    let subscriptions = &granted["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(*subscriptions, json!(["jules://events"]), "{granted}");
    happened(&place, "7", EventKind::Question, "Which?");
    let told = host.hear("notifications/resources/updated");
    assert_eq!(told["params"]["uri"], "jules://events");
    let meta = &told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert_eq!(*meta, id, "{told}");
    assert_eq!(host.leave().1, 0);
}

/// The watcher's own note hid an event from the agent that it had woken.
#[test]
fn what_the_watcher_hands_on_is_still_listed() {
    let place = place(Vec::new());
    happened(&place, "7", EventKind::Question, "ours");
    let theirs = "{\"event\": \"question\", \"job_id\": \"7\", \"message\": \"theirs\"}\n";
    let events = place.paths().events;
    let text = fs::read_to_string(&events).unwrap() + theirs;
    fs::write(&events, text).unwrap();
    let watch = ["watch", "--once", "--command", "true", "--events"];
    let state = place.files.path().join("watcher.json");
    crate::support::Phileas::new(&watch)
        .with(&[
            events.to_str().unwrap(),
            "--state-file",
            state.to_str().unwrap(),
        ])
        .run()
        .expect(0);
    let mut host = place.host(HANDSHAKE, &[]);
    let listed = host.done("jules_list_events", json!({}));
    assert_eq!(messages(&listed), ["ours", "theirs"]);
    for event in [1, 2] {
        host.done("jules_ack_event", json!({"event_id": event}));
    }
    let listed = host.done("jules_list_events", json!({}));
    assert_eq!(messages(&listed).len(), 0);
}

/// A client that waits for a second at a time never saw the end of a check that took two.
#[test]
fn a_check_goes_on_when_its_client_stops_waiting() {
    let slow = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = slow.local_addr().unwrap();
    std::thread::spawn(move || {
        let body = "{\"name\": \"sessions/1\", \"id\": \"1\", \"state\": \"IN_PROGRESS\", \"prompt\": \"x\", \
                    \"createTime\": \"2026-01-05T00:00:00Z\", \"updateTime\": \"2026-01-05T00:00:00Z\"}";
        let length = body.len();
        for stream in slow.incoming() {
            std::thread::spawn(move || {
                let mut stream = stream.unwrap();
                let mut request = [0; 4096];
                while stream.read(&mut request).is_ok_and(|read| read > 0) {
                    std::thread::sleep(Duration::from_millis(1_500));
                    let head = format!(
                        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
                    );
                    if stream.write_all((head + body).as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    let place = place(Vec::new());
    let job = Job::new("1".parse().unwrap());
    place
        .paths()
        .jobs_file()
        .register_job(job, Timestamp::now())
        .unwrap();
    let command = place
        .program(&[])
        .env("JULES_API_BASE", &format!("http://{address}/v1alpha"))
        .into_command();
    let mut host = Host::start(command, TODAY, json!({}));
    let checked = (0..30).find(|_| {
        let waited = host.done("jules_wait_for_event", json!({"timeout_s": 1}));
        waited["last_checked"].is_string()
    });
    assert!(checked.is_some(), "no check came to its end");
}
