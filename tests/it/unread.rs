//! Jules tells of a session in its listing, and not what happened in it.

use phileas_domain::engine::Reason;
use phileas_world::jules::{Ending, Scenario};
use phileas_world::{Face, Fault, FaultPlan};
use serde_json::json;

use crate::support::ticks::{MINUTE, quiet_world, tick};
use crate::support::{Folder, Phileas, Served};

/// Two tracks, of which one has a session that cannot be read: the other one continues, and the report names the session.
#[test]
fn one_session_that_cannot_be_read_stops_no_other_track() {
    let repository = Folder::repository(
        "[tracks]\none = [\"curator\"]\ntwo = [\"refactor\"]\n[defaults]\nmax_nudges = 0\nskip_unchanged = false\nrest_after = 0\n",
        &["curator", "refactor"],
    );
    let shared = quiet_world(
        &repository,
        7,
        vec![Scenario {
            ending: Some(Ending::NoChange),
            ..Scenario::default().with_minutes(5.0)
        }],
    );
    tick(&shared, "first");
    let of = |track: &str| {
        let world = shared.lock_world();
        let line = format!(" track={track} ");
        let sessions = &world.books().sessions;
        let ours = sessions.iter().filter(|one| one.prompt.contains(&line));
        ours.map(|one| one.id.clone()).collect::<Vec<_>>()
    };
    let broken = of("one")[0].clone();
    for status in [503, 403] {
        let plan: FaultPlan = serde_json::from_value(json!({"rules": [{
            "face": Face::Jules,
            "path": format!("*/sessions/{broken}/activities"),
            "fault": Fault::Status { status, retry_after: None, html: false, done: false },
        }]}))
        .unwrap();
        shared.lock_world().faults_mut().replace_plan(plan);
        shared.advance_time(MINUTE * 30);
        let before = of("two").len();
        let report = tick(&shared, &format!("unread:{status}"));
        assert_eq!(of("two").len(), before + 1, "the other track goes on");
        let reasons = report
            .waiting
            .iter()
            .filter(|(_, line)| line.track == Some("one".into()));
        let reasons: Vec<_> = reasons.map(|(_, line)| line.reason).collect();
        assert_eq!(reasons, [Reason::SessionUnread]);
        let [failed] = &report.failed[..] else {
            panic!("{:?}", report.failed);
        };
        assert_eq!(failed.what, "read_session");
        assert_eq!(failed.about, format!("session {broken}"));
        let status = status.to_string();
        assert!(failed.detail.contains(&status), "{failed:?}");
    }
    shared
        .lock_world()
        .faults_mut()
        .replace_plan(FaultPlan::default());
    shared.advance_time(MINUTE * 30);
    tick(&shared, "whole");
    assert_eq!(
        of("one").len(),
        2,
        "its own track goes on when it can be read"
    );
}

/// What a tick could not do is a line of its own for programs and for people, not a bare count.
#[test]
fn an_effect_that_failed_is_named() {
    let repository = Folder::repository(
        "cycle = [\"curator\"]\n[defaults]\nskip_unchanged = false\nrest_after = 0\n",
        &["curator"],
    );
    let scenario = Scenario {
        ending: Some(Ending::NoChange),
        ..Scenario::default().with_minutes(5.0)
    };
    let shared = quiet_world(&repository, 7, vec![scenario]);
    tick(&shared, "first");
    shared.advance_time(MINUTE * 30);
    let id = shared.lock_world().books().sessions[0].id.clone();
    let plan: FaultPlan = serde_json::from_value(json!({"rules": [{
        "face": Face::Jules,
        "path": "*:sendMessage",
        "fault": Fault::Status { status: 400, retry_after: None, html: false, done: false },
    }]}))
    .unwrap();
    shared.lock_world().faults_mut().replace_plan(plan);
    let served = Served::start(&shared, None);
    let ended = Phileas::tick(&served).run().expect(0);
    let lines: Vec<serde_json::Value> = ended
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let failed: Vec<_> = lines
        .iter()
        .filter(|line| line["failed"].is_object())
        .collect();
    assert_eq!(failed.len(), 1, "{ended}");
    let failed = &failed[0]["failed"];
    assert_eq!(failed["effect"], "send_message");
    assert_eq!(failed["about"], format!("session {id}"));
    assert!(
        failed["detail"].as_str().unwrap().contains("400"),
        "{failed}"
    );
    assert_eq!(ended.summary()["failed_effects"], 1);
}
