//! The watcher alone: which events it passes on, in which order, and which it gives up.

use std::fs;
use std::sync::Mutex;

use jiff::{SignedDuration, Timestamp};
use phileas::jobs::{Handler, JobPaths, Watcher};
use phileas_domain::jobs::{Event, EventId, EventKind, NewEvent, Payload};
use serde_json::Value;

use crate::support::{Folder, held};

/// A handler that fails while it is told to.
#[derive(Default)]
struct FailingHandler {
    seen: Mutex<Vec<String>>,
    fails: Mutex<bool>,
}

impl Handler for &FailingHandler {
    async fn handle_event(&self, event: &Event) -> Result<(), String> {
        held(&self.seen).push(event.message_text().unwrap_or_default().to_owned());
        if *held(&self.fails) {
            return Err("no hands free".to_owned());
        }
        Ok(())
    }
}

impl FailingHandler {
    fn seen(&self) -> Vec<String> {
        std::mem::take(&mut held(&self.seen))
    }
}

fn paths(folder: &Folder) -> JobPaths {
    JobPaths {
        jobs: folder.join("jobs.jsonl"),
        events: folder.join("events.jsonl"),
        monitor: folder.join("monitor.json"),
        watcher: folder.join("watcher.json"),
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn write(places: &JobPaths, messages: &[&str]) {
    let draft = |message: &&str| NewEvent {
        kind: EventKind::Question,
        job_id: Some("7".parse().unwrap()),
        status: None,
        message: Some((*message).to_owned()),
        last_activity: None,
        payload: Payload::default(),
        cause: (*message).to_owned(),
    };
    let drafts = messages.iter().map(draft).collect();
    places.events_file().append_events(drafts, at(0)).unwrap();
}

/// Upstream defect 5b: after a crash in the middle all lines of a pass came again.
#[tokio::test]
async fn defect_05b_a_watcher_goes_on_where_the_last_one_was() {
    let folder = Folder::empty();
    let places = paths(&folder);
    let hands = FailingHandler::default();
    write(&places, &["one", "two"]);
    {
        let watcher = Watcher::new(&places, &hands, 5).unwrap().unwrap();
        assert!(
            Watcher::new(&places, &hands, 5).unwrap().is_none(),
            "one watcher a memory"
        );
        assert_eq!(watcher.run_pass(at(0)).await.unwrap().handled, 2);
    }
    write(&places, &["three"]);
    *held(&hands.fails) = true;
    {
        let watcher = Watcher::new(&places, &hands, 5).unwrap().unwrap();
        let passed = watcher.run_pass(at(10)).await.unwrap();
        assert_eq!(passed.retry_at, Some(at(12)));
    }
    assert_eq!(hands.seen(), ["one", "two", "three"]);
    *held(&hands.fails) = false;
    let watcher = Watcher::new(&places, &hands, 5).unwrap().unwrap();
    assert_eq!(watcher.run_pass(at(11)).await.unwrap().handled, 0);
    assert_eq!(watcher.run_pass(at(12)).await.unwrap().handled, 1);
    assert_eq!(hands.seen(), ["three"]);
}

/// Upstream defect 5c: an event whose handler failed was lost.
#[tokio::test]
async fn defect_05c_a_failing_handler_is_tried_again_and_given_up_visibly() {
    let folder = Folder::empty();
    let places = paths(&folder);
    let hands = FailingHandler::default();
    write(&places, &["one", "two"]);
    *held(&hands.fails) = true;
    let watcher = Watcher::new(&places, &hands, 3).unwrap().unwrap();
    let mut now = at(0);
    let mut dead = 0;
    for _ in 0..20 {
        let passed = watcher.run_pass(now).await.unwrap();
        dead += passed.dead;
        now = passed
            .retry_at
            .unwrap_or(now + SignedDuration::from_secs(1));
    }
    assert_eq!(hands.seen(), ["one", "one", "one", "two", "two", "two"]);
    assert_eq!(dead, 2);
    let letters = fs::read_to_string(folder.join("events.jsonl.dead.jsonl")).unwrap();
    let letters: Vec<Value> = letters
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(letters[0]["event"]["message"], "one");
    assert_eq!(
        (&letters[0]["attempts"], &letters[0]["reason"]),
        (&3.into(), &"no hands free".into())
    );
    *held(&hands.fails) = false;
    write(&places, &["three"]);
    assert_eq!(watcher.run_pass(now).await.unwrap().handled, 1);
}

/// Upstream defect 5f: a line of JSON that is no object ended the watcher; one that is no JSON was dropped silently.
#[tokio::test]
async fn defect_05f_a_line_that_is_no_event_is_put_aside() {
    let folder = Folder::empty();
    let places = paths(&folder);
    let hands = FailingHandler::default();
    let lines = "[1]\n7\n{\"event\": 3}\nno json\n\n{\"event\": \"stuck\", \"job_id\": \"7\", \"message\": \"old\"}\n";
    fs::write(&places.events, lines).unwrap();
    let watcher = Watcher::new(&places, &hands, 5).unwrap().unwrap();
    let passed = watcher.run_pass(at(0)).await.unwrap();
    assert_eq!((passed.handled, passed.dead), (1, 4));
    assert_eq!(hands.seen(), ["old"]);
}

#[tokio::test]
async fn an_acknowledged_event_wakes_no_agent() {
    let folder = Folder::empty();
    let places = paths(&folder);
    let hands = FailingHandler::default();
    write(&places, &["one", "two"]);
    places
        .events_file()
        .record_acknowledged(EventId(1))
        .unwrap();
    let watcher = Watcher::new(&places, &hands, 5).unwrap().unwrap();
    assert_eq!(watcher.run_pass(at(0)).await.unwrap().handled, 1);
    assert_eq!(hands.seen(), ["two"]);
    let events = places.events_file();
    assert!(events.handed_on().unwrap().contains(EventId(2)));
    // The agent that was woken has not dealt with it yet.
    assert!(!events.read_acknowledged().unwrap().contains(EventId(2)));
}

/// Upstream defect 5d, with numbers: a file that is rewritten with the same events is not handed on again.
#[tokio::test]
async fn defect_05d_events_are_handed_on_once_in_whatever_file_they_stand() {
    let folder = Folder::empty();
    let places = paths(&folder);
    let hands = FailingHandler::default();
    write(&places, &["one", "two"]);
    let watcher = Watcher::new(&places, &hands, 5).unwrap().unwrap();
    watcher.run_pass(at(0)).await.unwrap();
    let text = fs::read_to_string(&places.events).unwrap();
    let second = text.lines().nth(1).unwrap();
    fs::write(&places.events, format!("{second}\n")).unwrap();
    watcher.run_pass(at(1)).await.unwrap();
    write(&places, &["three"]);
    watcher.run_pass(at(2)).await.unwrap();
    assert_eq!(hands.seen(), ["one", "two", "three"]);
}

/// A number that a list remembers would hide the event of another one.
#[tokio::test]
async fn events_are_handed_on_after_their_file_was_removed_or_replaced() {
    let folder = Folder::empty();
    let places = paths(&folder);
    let hands = FailingHandler::default();
    write(&places, &["one", "two"]);
    let watcher = Watcher::new(&places, &hands, 5).unwrap().unwrap();
    watcher.run_pass(at(0)).await.unwrap();
    fs::remove_file(&places.events).unwrap();
    write(&places, &["three"]);
    watcher.run_pass(at(1)).await.unwrap();
    drop(watcher);
    let other = JobPaths {
        events: folder.join("other.jsonl"),
        ..places
    };
    write(&other, &["four"]);
    let watcher = Watcher::new(&other, &hands, 5).unwrap().unwrap();
    watcher.run_pass(at(2)).await.unwrap();
    assert_eq!(hands.seen(), ["one", "two", "three", "four"]);
}
