//! Tests answers with missing fields, and answers of a future version.

use phileas_domain::engine::{ActivityKind, PlanStep, SessionState};
use phileas_domain::model::PullNumber;
use serde_json::{Value, json};

use super::super::wire::{Activity, Artifact, Kind, Output, Session};
use super::stage::{at, missing, ok, repository, stage};
use crate::runtime::ports::{Disposition, ReadJules as _};

async fn session(body: Value) -> phileas_domain::engine::Session {
    let scripted = stage([ok(body)]);
    scripted
        .jules
        .read_session(&"15".into())
        .await
        .unwrap()
        .unwrap()
}

#[tokio::test]
async fn a_whole_session_is_read() {
    let session = session(json!({
        "name": "sessions/15481661885092594092", "id": "15481661885092594092", "title": "T", "prompt": "do it",
        "sourceContext": {"source": "sources/github/ACME/Widget", "githubRepoContext": {"startingBranch": "main"}},
        "createTime": "2026-01-14T10:00:00.123456Z", "updateTime": "2026-01-14T12:00:00+02:00",
        "state": "COMPLETED", "url": "https://jules.google.com/session/15481661885092594092", "archived": true,
        "outputs": [
            {"pullRequest": {"url": "https://github.com/acme/widget/pull/7", "title": "x"}},
            {"pullRequest": {"url": "https://github.com/acme/other/pull/8"}},
            {"pullRequest": {"url": "https://github.com/acme/widget/pull/7"}},
            {"changeSet": {"source": "sources/github/acme/widget", "gitPatch": {"unidiffPatch": "diff"}}},
            {"hologram": {"depth": 3}}
        ]
    }))
    .await;
    assert_eq!(session.id.as_str(), "15481661885092594092");
    assert_eq!(session.state, SessionState::Completed);
    assert_eq!(session.prompt.as_deref(), Some("do it"));
    assert_eq!(session.source, Some("acme/widget".parse().unwrap()));
    assert_eq!(session.created_at, at("2026-01-14T10:00:00.123456Z"));
    assert_eq!(session.updated_at, Some(at("2026-01-14T10:00:00Z")));
    assert_eq!(session.pulls, [PullNumber(7)]);
    assert!(session.archived && session.has_changes);
}

#[tokio::test]
async fn everything_but_the_name_may_be_missing() {
    let session = session(json!({"name": "15", "outputs": null, "sourceContext": 7})).await;
    assert_eq!(session.id.as_str(), "15");
    assert_eq!(
        session.state,
        SessionState::Unknown("STATE_UNSPECIFIED".to_owned())
    );
    assert_eq!(
        (session.source, session.prompt, session.updated_at),
        (None, None, None)
    );
    assert!(!session.archived && !session.has_changes && session.pulls.is_empty());
}

#[tokio::test]
async fn a_change_set_without_a_patch_changes_nothing() {
    let empty = json!({"name": "sessions/15", "outputs": [{"changeSet": {"gitPatch": {"baseCommitId": "8c8b"}}}]});
    assert!(!session(empty).await.has_changes);
}

#[tokio::test]
async fn every_state_is_known_and_every_other_is_kept() {
    let states = [
        ("QUEUED", SessionState::Queued),
        ("PLANNING", SessionState::Planning),
        ("AWAITING_PLAN_APPROVAL", SessionState::AwaitingPlanApproval),
        ("AWAITING_USER_FEEDBACK", SessionState::AwaitingUserFeedback),
        ("IN_PROGRESS", SessionState::InProgress),
        ("PAUSED", SessionState::Paused),
        ("COMPLETED", SessionState::Completed),
        ("FAILED", SessionState::Failed),
        ("DREAMING", SessionState::Unknown("DREAMING".to_owned())),
        ("completed", SessionState::Unknown("completed".to_owned())),
    ];
    for (text, state) in states {
        assert_eq!(
            session(json!({"id": "1", "state": text})).await.state,
            state
        );
    }
}

#[test]
fn unknown_kinds_survive_as_they_came() {
    let output: Output = serde_json::from_value(json!({"hologram": {"depth": 3}})).unwrap();
    assert_eq!(output, Output::Unknown(json!({"hologram": {"depth": 3}})));

    let activity: Activity = serde_json::from_value(json!({
        "id": "a", "mood": "sunny", "sessionDreamt": {"of": ["sheep"]},
        "artifacts": [{"media": {"data": "AA=="}}, {"odour": 1}]
    }))
    .unwrap();
    assert_eq!(
        activity.kind,
        Kind::Unknown("sessionDreamt".to_owned(), json!({"of": ["sheep"]}))
    );
    assert_eq!(
        activity.artifacts,
        [
            Artifact::Unknown(json!({"media": {"data": "AA=="}})),
            Artifact::Unknown(json!({"odour": 1}))
        ]
    );
    let session: Session = serde_json::from_value(json!({"id": 15, "outputs": ["?"]})).unwrap();
    assert_eq!(session.session_id(), "15");
    assert_eq!(session.outputs, [Output::Unknown(json!("?"))]);
}

#[tokio::test]
async fn activities_are_read_with_all_their_omissions() {
    let patch = json!({"changeSet": {"gitPatch": {"unidiffPatch": "diff --git …"}}});
    let scripted = stage([ok(json!({"activities": [
        {"name": "sessions/15/activities/a1", "createTime": "2026-01-14T10:00:00Z", "originator": "agent",
         "planGenerated": {"plan": {"id": "p", "steps": [{"id": "s", "title": "Look"}, {"id": "t", "index": 1}]}}},
        {"id": "a2", "createTime": "2026-01-14T10:01:00Z", "planApproved": {"planId": "p"}},
        {"id": "a3", "createTime": "2026-01-14T10:02:00.5Z", "progressUpdated": {}, "artifacts": [patch]},
        {"id": "a4", "createTime": "2026-01-14T10:03:00Z", "agentMessaged": {"agentMessage": "Which one?"}},
        {"id": "a5", "createTime": "2026-01-14T10:04:00Z", "userMessaged": {"userMessage": "That one."}},
        {"id": "a6", "createTime": "2026-01-14T10:05:00Z", "sessionCompleted": {}},
        {"id": "a7", "sessionFailed": {"reason": "No machine."}},
        {"id": "a8", "createTime": "2026-01-14T10:07:00Z", "sessionDreamt": {}},
        {"id": "a9", "createTime": "2026-01-14T10:08:00Z"},
    ]}))]);
    let activities = scripted
        .jules
        .read_activities(&"15".into())
        .await
        .unwrap()
        .unwrap();
    let kinds: Vec<_> = activities
        .iter()
        .map(|activity| activity.kind.clone())
        .collect();
    assert_eq!(
        kinds,
        [
            ActivityKind::PlanGenerated {
                id: "p".to_owned(),
                steps: vec![
                    PlanStep {
                        title: "Look".to_owned(),
                        description: String::new()
                    },
                    PlanStep::default()
                ],
            },
            ActivityKind::PlanApproved,
            ActivityKind::Progress {
                title: String::new()
            },
            ActivityKind::AgentMessaged("Which one?".to_owned()),
            ActivityKind::UserMessaged("That one.".to_owned()),
            ActivityKind::Completed,
            ActivityKind::Failed("No machine.".to_owned()),
            ActivityKind::Unknown("sessionDreamt".to_owned()),
            ActivityKind::Unknown(String::new()),
        ]
    );
    assert_eq!(activities[0].id, "a1");
    assert_eq!(activities[6].at, activities[5].at);
    let changed: Vec<_> = activities
        .iter()
        .map(|activity| activity.has_changes)
        .collect();
    assert_eq!(changed.iter().filter(|changed| **changed).count(), 1);
    assert!(changed[2]);
}

#[tokio::test]
async fn a_listing_that_cannot_be_read_is_no_empty_listing() {
    let unreadable = [
        super::stage::raw(200, "application/json", ""),
        super::stage::raw(200, "text/html", "<html>Sign in</html>"),
        ok(json!({"sessions": "none"})),
        ok(json!({"sessions": [{"id": "1"}, "two"]})),
    ];
    for reply in unreadable {
        let scripted = stage([reply]);
        let need = phileas_domain::engine::ListingNeed::Since(at("2026-01-05T00:00:00Z"));
        let failure = scripted
            .jules
            .list_sessions(&repository(), &need, at("2026-01-05T12:00:00Z"))
            .await
            .unwrap_err();
        assert_eq!(failure.disposition, Disposition::Retry { after: None });
        assert!(
            failure.detail.contains("cannot be read"),
            "{}",
            failure.detail
        );
    }
}

#[tokio::test]
async fn what_jules_does_not_know_is_none() {
    let scripted = stage([missing(), missing()]);
    assert_eq!(
        scripted.jules.read_session(&"15".into()).await.unwrap(),
        None
    );
    assert_eq!(
        scripted.jules.read_activities(&"15".into()).await.unwrap(),
        None
    );
    assert_eq!(scripted.stage.waits(), [0; 0]);
}
