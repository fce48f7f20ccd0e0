//! What is done about an event.

use std::collections::BTreeMap;

use phileas::adapters::jules;
use phileas::jobs::handler::{Allowed, EventHandler, HandledEvent};
use phileas::jobs::settle::PullSettlement;
use phileas::sandbox::world_setup;
use phileas_domain::jobs::{Event, RetireReason};
use phileas_world::Fault;
use phileas_world::jules::BeatAction;

use super::stage::{Stage, beat, rule, stage};

const ALLOWED: Allowed = Allowed {
    checks_session: true,
    checks: true,
    retries: 1,
    approve_plans: false,
    settling: PullSettlement {
        archive: true,
        retire: true,
    },
};

async fn deal(stage: &Stage, event: &Event, allowed: Allowed) -> HandledEvent {
    let accounts: BTreeMap<String, jules::Client> = BTreeMap::from([(
        "default".to_owned(),
        stage.jules(true, world_setup::JULES_KEY),
    )]);
    let pulls = stage.pulls();
    let handler = EventHandler {
        paths: &stage.paths,
        accounts: &accounts,
        pulls: Some(&pulls),
        allowed,
    };
    handler
        .handle_event(event, stage.shared.world_time())
        .await
        .unwrap()
}

fn finishes() -> Vec<phileas_world::jules::Beat> {
    vec![
        beat(20.0, BeatAction::Start),
        beat(40.0, BeatAction::Plan),
        beat(60.0, BeatAction::EditSomehow),
        beat(10.0, BeatAction::Push),
        beat(0.0, BeatAction::Complete { outputs: true }),
    ]
}

fn fails() -> Vec<phileas_world::jules::Beat> {
    vec![
        beat(20.0, BeatAction::Start),
        beat(60.0, BeatAction::Fail("no disk".to_owned())),
    ]
}

#[tokio::test]
async fn a_completed_job_is_shown_with_its_changes_and_checks_and_settled_when_it_is_merged() {
    let stage = stage(vec![("finishes", finishes())], Vec::new());
    let id = stage.start_session("finishes", false).await;
    let events = stage.watch(10).await;
    let dealt = deal(&stage, &events[0], ALLOWED).await;
    for part in [
        "completed: job",
        "changes: ",
        "pull request: https://github.com/acme/widget/pull/",
        "open",
        "jules_merge_pr",
    ] {
        assert!(dealt.text.contains(part), "{part}\n{}", dealt.text);
    }
    assert!(!dealt.document["files"].as_array().unwrap().is_empty());
    let none = Allowed {
        checks_session: false,
        checks: false,
        ..ALLOWED
    };
    let before = stage.shared.lock_world().books().requests.len();
    let dealt = deal(&stage, &events[0], none).await;
    assert_eq!(
        stage.shared.lock_world().books().requests.len(),
        before,
        "{}",
        dealt.text
    );
    {
        let mut world = stage.shared.lock_world();
        let now = world.now();
        let github = world.github_mut();
        let repo = github.repository_by_name("acme", "widget").unwrap();
        github.close_pull(repo, 1, "maintainer", now);
    }
    deal(&stage, &events[0], ALLOWED).await;
    let job = stage.paths.jobs_file().get(&id).unwrap().unwrap();
    assert_eq!(job.retired.unwrap().reason, RetireReason::Closed);
    assert!(
        stage
            .shared
            .lock_world()
            .jules()
            .session(id.as_str())
            .unwrap()
            .is_archived()
    );
}

#[tokio::test]
async fn a_failed_job_is_tried_again_within_its_cap() {
    let stage = stage(vec![("fails", fails())], Vec::new());
    let first = stage.start_session("fails", false).await;
    let events = stage.watch(10).await;
    assert_eq!(events[0].message_text(), Some("no disk"));
    let never = Allowed {
        retries: 0,
        ..ALLOWED
    };
    deal(&stage, &events[0], never).await;
    assert_eq!(stage.shared.lock_world().jules().sessions().count(), 1);
    let dealt = deal(&stage, &events[0], ALLOWED).await;
    let second = dealt.document["retried_as"].as_str().unwrap().to_owned();
    assert!(dealt.text.contains(&second), "{}", dealt.text);
    // The same event again: the job is retired, and nothing is started.
    deal(&stage, &events[0], ALLOWED).await;
    assert_eq!(stage.shared.lock_world().jules().sessions().count(), 2);
    let jobs = stage.paths.jobs_file();
    let old = jobs.get(&first).unwrap().unwrap();
    assert_eq!(old.retired.unwrap().reason, RetireReason::Retried);
    let new = jobs.get(&second.parse().unwrap()).unwrap().unwrap();
    assert_eq!((new.retry_of, new.attempt), (Some(first), Some(2)));
    assert_eq!(new.metadata["task"], "fails");
    let events = stage.watch(10).await;
    assert_eq!(events.len(), 1, "the second one fails as well");
    let dealt = deal(&stage, &events[0], ALLOWED).await;
    assert!(dealt.text.contains("not retried again"), "{}", dealt.text);
    assert_eq!(stage.shared.lock_world().jules().sessions().count(), 2);
}

/// The answer to the create is lost, or the handler is killed after it: there is still one session.
#[tokio::test]
async fn a_retry_whose_answer_is_lost_is_found_and_not_doubled() {
    let stage = stage(vec![("fails", fails())], Vec::new());
    stage.start_session("fails", false).await;
    let events = stage.watch(10).await;
    let mut lost = rule("/v1alpha/sessions", Fault::DropAfter {});
    lost.method = Some("POST".to_owned());
    let plan = phileas_world::FaultPlan { rules: vec![lost] };
    stage.shared.lock_world().faults_mut().replace_plan(plan);
    let dealt = deal(&stage, &events[0], ALLOWED).await;
    assert!(dealt.again, "{}", dealt.text);
    stage
        .shared
        .lock_world()
        .faults_mut()
        .replace_plan(phileas_world::FaultPlan::default());
    let dealt = deal(&stage, &events[0], ALLOWED).await;
    assert!(
        !dealt.again && dealt.document["retried_as"].is_string(),
        "{}",
        dealt.text
    );
    assert_eq!(stage.shared.lock_world().jules().sessions().count(), 2);
}

/// Between the event and the agent another person has answered, and Jules goes on.
#[tokio::test]
async fn no_agent_is_told_to_answer_what_is_answered() {
    let asks = vec![
        beat(20.0, BeatAction::Start),
        beat(60.0, BeatAction::Ask("Tabs or spaces?".to_owned())),
    ];
    let stage = stage(vec![("asks", asks)], Vec::new());
    let id = stage.start_session("asks", false).await;
    let events = stage.watch(10).await;
    let dealt = deal(&stage, &events[0], ALLOWED).await;
    assert!(dealt.text.contains("next: answer it"), "{}", dealt.text);
    assert!(dealt.document["settled"].is_null(), "{}", dealt.document);
    let jules = stage.jules(true, world_setup::JULES_KEY);
    jules.send_message(id.as_str(), "Tabs.").await.unwrap();
    stage
        .shared
        .advance_time(std::time::Duration::from_secs(60));
    let dealt = deal(&stage, &events[0], ALLOWED).await;
    assert!(
        dealt.text.contains("settled: it was answered at"),
        "{}",
        dealt.text
    );
    assert!(!dealt.text.contains("next:"), "{}", dealt.text);
    assert!(dealt.document["settled"].is_string(), "{}", dealt.document);
    // Without a look nothing is known, and nothing is asked.
    let blind = Allowed {
        checks_session: false,
        ..ALLOWED
    };
    let before = stage.shared.lock_world().books().requests.len();
    let dealt = deal(&stage, &events[0], blind).await;
    assert!(dealt.text.contains("next: answer it"), "{}", dealt.text);
    assert_eq!(stage.shared.lock_world().books().requests.len(), before);
}

#[tokio::test]
async fn a_plan_is_approved_only_on_demand() {
    let stage = stage(vec![("finishes", finishes())], Vec::new());
    let id = stage.start_session("finishes", true).await;
    let events = stage.watch(5).await;
    let state = || {
        stage
            .shared
            .lock_world()
            .jules()
            .session(id.as_str())
            .unwrap()
            .state()
            .wire_name()
    };
    let dealt = deal(&stage, &events[0], ALLOWED).await;
    assert!(dealt.text.contains("jules_approve_plan"), "{}", dealt.text);
    assert_eq!(state(), "AWAITING_PLAN_APPROVAL");
    let allowed = Allowed {
        approve_plans: true,
        ..ALLOWED
    };
    deal(&stage, &events[0], allowed).await;
    stage
        .shared
        .advance_time(std::time::Duration::from_secs(50));
    assert_ne!(state(), "AWAITING_PLAN_APPROVAL");
}

/// Each of the actions that follow a merge can be turned off by itself.
#[tokio::test]
async fn what_is_turned_off_is_left_alone_after_a_merge() {
    for (archive, retire) in [(false, false), (true, false), (false, true)] {
        let stage = stage(vec![("finishes", finishes())], Vec::new());
        let id = stage.start_session("finishes", false).await;
        let events = stage.watch(10).await;
        {
            let mut world = stage.shared.lock_world();
            let now = world.now();
            let github = world.github_mut();
            let repo = github.repository_by_name("acme", "widget").unwrap();
            github.merge_pull(repo, 1, "maintainer", now).unwrap();
        }
        let settling = PullSettlement { archive, retire };
        deal(
            &stage,
            &events[0],
            Allowed {
                settling,
                ..ALLOWED
            },
        )
        .await;
        let job = stage.paths.jobs_file().get(&id).unwrap().unwrap();
        let reason = job.retired.map(|retired| retired.reason);
        assert_eq!(reason, retire.then_some(RetireReason::Merged));
        let world = stage.shared.lock_world();
        let session = world.jules().session(id.as_str()).unwrap();
        assert_eq!(session.is_archived(), archive, "{archive} {retire}");
    }
}
