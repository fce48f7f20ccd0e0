use std::time::Duration;

use phileas_world::Knobs;
use phileas_world::clock::later_by;
use phileas_world::github::NewApp;
use phileas_world::github::account::{Access, permissions};
use phileas_world::github::hook::{Target, payload_signature};
use serde_json::{Value, json};

use crate::stage::{APP, Stage};

fn hooked_stage(knobs: Knobs) -> Stage {
    let mut stage = Stage::with_knobs(knobs);
    let (repo, now) = (stage.repo, stage.world.now());
    stage.world.github_mut().add_hook(
        repo,
        "http://127.0.0.1:1/webhook",
        Some("parts-secret"),
        &["*"],
        now,
    );
    stage
}

fn label_something(stage: &mut Stage) {
    let (repo, now) = (stage.repo, stage.world.now());
    let github = stage.world.github_mut();
    let number = github.open_issue(repo, "T", "B", &[], "outsider", now);
    github.add_label(repo, number, "bug", "walter", now);
}

#[test]
fn deliveries_are_signed_and_come_in_their_time() {
    let mut stage = hooked_stage(Knobs::documented());
    label_something(&mut stage);
    assert!(
        stage.world.take_due_deliveries().is_empty(),
        "nothing arrives at the very instant"
    );
    let due = stage.world.next_due().unwrap();
    stage
        .world
        .advance_to(later_by(due, Duration::from_secs(1)));
    let deliveries = stage.world.take_due_deliveries();
    let kinds: Vec<_> = deliveries
        .iter()
        .map(|d| (d.event.as_str(), d.action.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(kinds, [("issues", "opened"), ("issues", "labeled")]);
    let labeled = &deliveries[1];
    assert_eq!(labeled.headers["x-github-event"], "issues");
    assert_eq!(labeled.headers["x-github-delivery"], labeled.guid.as_str());
    assert_eq!(
        labeled.headers["x-hub-signature-256"],
        payload_signature("parts-secret", &labeled.body).as_str()
    );
    let payload: Value = serde_json::from_slice(&labeled.body).unwrap();
    assert_eq!(
        (&payload["label"]["name"], &payload["sender"]["login"]),
        (&json!("bug"), &json!("walter"))
    );
    assert_eq!(payload["repository"]["full_name"], "olivia/garden");
    assert!(
        stage.world.take_due_deliveries().is_empty(),
        "each is handed over once"
    );
}

#[test]
fn deliveries_are_lost_and_doubled_as_the_knobs_say() {
    let mut stage = hooked_stage(Knobs {
        webhook_lost: 1.0,
        ..Knobs::documented()
    });
    label_something(&mut stage);
    let hour = later_by(stage.world.now(), Duration::from_secs(3_600));
    stage.world.advance_to(hour);
    assert!(stage.world.take_due_deliveries().is_empty());
    assert!(
        stage
            .world
            .books()
            .deliveries
            .iter()
            .all(|delivery| delivery.state == "lost")
    );

    let mut stage = hooked_stage(Knobs {
        webhook_doubled: 1.0,
        webhook_late_seconds: 300,
        ..Knobs::documented()
    });
    label_something(&mut stage);
    let hour = later_by(stage.world.now(), Duration::from_secs(3_600));
    stage.world.advance_to(hour);
    let deliveries = stage.world.take_due_deliveries();
    assert_eq!(deliveries.len(), 4);
    let mut guids: Vec<_> = deliveries
        .iter()
        .map(|delivery| delivery.guid.clone())
        .collect();
    guids.sort();
    guids.dedup();
    assert_eq!(guids.len(), 2);
}

#[test]
fn failed_deliveries_are_asked_for_again_with_the_same_guid() {
    let mut stage = Stage::new();
    let now = stage.world.now();
    let hook = Target {
        url: "http://127.0.0.1:1/webhook".into(),
        secret: Some("s".into()),
        content_type: "json".into(),
    };
    let app = NewApp {
        id: APP,
        slug: "phileas".into(),
        owner: "olivia".into(),
        permissions: permissions(&[("issues", Access::Write)]),
        events: vec!["issues".into()],
        hook: Some(hook),
        public_key: None,
    };
    stage.world.github_mut().add_app(app, now);
    label_something(&mut stage);
    let minute = later_by(now, Duration::from_secs(60));
    stage.world.advance_to(minute);
    let first = stage.world.take_due_deliveries();
    stage.world.delivery_done(first[0].id, None);
    stage.world.delivery_done(first[1].id, Some(202));
    let jwt = stage.app_jwt(-60, 500);
    let (_, list) = stage.ask_as(
        &jwt,
        "GET",
        "/app/hook/deliveries?per_page=100",
        Value::Null,
    );
    assert_eq!(
        (
            list[0]["status_code"].as_u64(),
            list[1]["status_code"].as_u64()
        ),
        (Some(202), Some(0))
    );
    let (_, failed) = stage.ask_as(
        &jwt,
        "GET",
        "/app/hook/deliveries?status=failure",
        Value::Null,
    );
    assert_eq!(failed.as_array().unwrap().len(), 1);
    let id = &failed[0]["id"];
    assert_eq!(
        stage
            .ask_as(
                &jwt,
                "POST",
                &format!("/app/hook/deliveries/{id}/attempts"),
                Value::Null
            )
            .0,
        202
    );
    let later_on = later_by(stage.world.now(), Duration::from_secs(60));
    stage.world.advance_to(later_on);
    let again = stage.world.take_due_deliveries();
    assert_eq!((again.len(), &again[0].guid), (1, &first[0].guid));
    let payload: Value = serde_json::from_slice(&again[0].body).unwrap();
    assert!(payload["installation"]["id"].is_u64());
    let days = later_by(stage.world.now(), Duration::from_secs(4 * 24 * 3_600));
    stage.world.advance_to(days);
    let jwt = stage.app_jwt(-60, 500);
    assert_eq!(
        stage
            .ask_as(&jwt, "GET", "/app/hook/deliveries", Value::Null)
            .1,
        json!([])
    );
}
