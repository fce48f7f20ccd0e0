//! A day of an agent that has started sessions of Jules: it is woken once for each cause, and never otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use phileas::jobs::settle::{PullSettlement, settle_pulls};
use phileas::jobs::{Handler, Watcher};
use phileas::runtime::ports::sessions_api::SessionsApi as _;
use phileas::sandbox::world_setup;
use phileas_domain::jobs::{Event, JobId, PullLink, RetireReason};
use phileas_world::faults::FaultRule;
use phileas_world::jules::BeatAction;
use phileas_world::{Fault, FaultPlan};

use super::stage::{POLL, Stage, beat, progress, rule, stage, status};
use crate::support::{held, print_line};

/// A day of looks, 45 seconds apart.
const LOOKS: u64 = 24 * 60 * 60 / 45;

/// What wakes the agent, in order, for each job of the day. The script of each stands beside it.
const WAKES: [(&str, &[&str]); 4] = [
    // Plan, wait for approval; work; ask; work; ask again; 50 minutes of silence; work; pull request; merged by the agent.
    (
        "whole life",
        &["plan_review", "question", "question", "stuck", "completed"],
    ),
    // Says something every ten minutes for eight hours, and has nothing to change in the end.
    ("busy", &["completed"]),
    // Fails after half an hour.
    ("failing", &["error"]),
    // Is deleted by a person in the web app.
    ("deleted", &["error"]),
];

/// The agent: it notes what it is woken for, and does something about it.
#[derive(Default)]
struct Agent {
    woken: Mutex<Vec<Event>>,
}

impl Handler for &Agent {
    async fn handle_event(&self, event: &Event) -> Result<(), String> {
        held(&self.woken).push(event.clone());
        Ok(())
    }
}

fn faults() -> Vec<FaultRule> {
    let between = |from: &str, until: &str, fault: Fault| FaultRule {
        from: Some(format!("2026-01-05T{from}Z").parse().unwrap()),
        until: Some(format!("2026-01-05T{until}Z").parse().unwrap()),
        ..rule("*", fault)
    };
    let patient = Fault::Status {
        status: 429,
        retry_after: Some(120),
        html: false,
        done: false,
    };
    let seldom = |fault: Fault, probability: f64| FaultRule {
        probability: Some(probability),
        // What the agent does by its own tools is not what is looked at here.
        method: Some("GET".to_owned()),
        ..rule("*", fault)
    };
    vec![
        between("00:04:00", "00:34:00", status(429)),
        between("05:00:00", "06:00:00", patient),
        seldom(status(503), 0.006),
        seldom(Fault::DropAfter {}, 0.004),
    ]
}

fn day() -> Stage {
    let minutes = |count: f64| count * 60.0;
    let whole = vec![
        beat(20.0, BeatAction::Start),
        beat(40.0, BeatAction::Plan),
        beat(minutes(2.0), progress()),
        beat(minutes(1.0), BeatAction::Ask("Tabs or spaces?".to_owned())),
        beat(minutes(2.0), progress()),
        beat(minutes(1.0), BeatAction::Ask("And the tests?".to_owned())),
        beat(minutes(2.0), progress()),
        beat(minutes(50.0), progress()),
        beat(minutes(1.0), BeatAction::EditSomehow),
        beat(10.0, BeatAction::Push),
        beat(0.0, BeatAction::Complete { outputs: true }),
    ];
    let mut busy = vec![beat(20.0, BeatAction::Start), beat(40.0, BeatAction::Plan)];
    busy.extend((0..48).map(|_| beat(minutes(10.0), progress())));
    busy.push(beat(
        30.0,
        BeatAction::Say("Everything is tidy already.".to_owned()),
    ));
    busy.push(beat(0.0, BeatAction::Complete { outputs: false }));
    let failing = vec![
        beat(20.0, BeatAction::Start),
        beat(40.0, BeatAction::Plan),
        beat(minutes(15.0), progress()),
        beat(
            minutes(15.0),
            BeatAction::Fail("There is no room on the disk.".to_owned()),
        ),
    ];
    let mut deleted = vec![beat(20.0, BeatAction::Start), beat(40.0, BeatAction::Plan)];
    deleted.extend((0..20).map(|_| beat(minutes(10.0), progress())));
    let scripts = vec![
        ("whole life", whole),
        ("busy", busy),
        ("failing", failing),
        ("deleted", deleted),
    ];
    stage(scripts, Vec::new())
}

impl Stage {
    /// What an agent does when it is woken.
    async fn answer(&self, event: &Event) {
        let jules = self.jules(true, world_setup::JULES_KEY);
        let Some(id) = &event.job_id else { return };
        match event.event.as_str() {
            "plan_review" => jules.approve_job_plan(id.as_str()).await.unwrap(),
            "question" => jules
                .send_message(id.as_str(), "The first one.")
                .await
                .unwrap(),
            "completed" => {
                let payload = event.payload.clone().unwrap_or_default();
                let Some(link) = payload.pull.as_deref().and_then(PullLink::parse) else {
                    return;
                };
                let mut world = self.shared.lock_world();
                let now = world.now();
                let github = world.github_mut();
                let repo = github.repository_by_name("acme", "widget").unwrap();
                let number = link.number.0;
                github.merge_pull(repo, number, "maintainer", now).unwrap();
            }
            _ => {}
        }
    }
}

#[tokio::test]
async fn an_agent_is_woken_once_for_each_cause_and_never_otherwise() {
    let stage = day();
    let mut jobs: BTreeMap<JobId, &str> = BTreeMap::new();
    for (title, _) in WAKES {
        jobs.insert(
            stage.start_session(title, title == "whole life").await,
            title,
        );
    }
    let plan = FaultPlan { rules: faults() };
    stage.shared.lock_world().faults_mut().replace_plan(plan);
    let agent = Agent::default();
    let settling = PullSettlement {
        archive: true,
        retire: true,
    };
    let mut asked = BTreeMap::new();
    let mut retired = BTreeSet::new();
    for look in 0..LOOKS {
        if look == 60 {
            let id = jobs
                .iter()
                .find(|(_, title)| **title == "deleted")
                .unwrap()
                .0;
            let mut world = stage.shared.lock_world();
            let (now, knobs) = (world.now(), world.knobs().clone());
            let act = phileas_world::jules::WebAct::Delete;
            assert!(world.jules_mut().in_web_app(id.as_str(), act, now, &knobs));
        }
        // Both are started again for each check: what they know is in their files.
        let cycle = stage.check().await;
        let watcher = Watcher::new(&stage.paths, &agent, 5).unwrap().unwrap();
        let before = held(&agent.woken).len();
        watcher.run_pass(stage.shared.world_time()).await.unwrap();
        let woken = held(&agent.woken)[before..].to_vec();
        for event in &woken {
            stage.answer(event).await;
        }
        let accounts = BTreeMap::from([(
            "default".to_owned(),
            stage.jules(false, world_setup::JULES_KEY),
        )]);
        let now = stage.shared.world_time();
        let pulls = stage.pulls();
        let over = settle_pulls(
            &stage.paths,
            &cycle.memory,
            &mut asked,
            &accounts,
            &pulls,
            settling,
            now,
        );
        retired.extend(over.await.unwrap().into_iter().map(|(id, reason)| {
            assert_eq!(reason, RetireReason::Merged);
            id
        }));
        stage.shared.advance_time(POLL);
    }
    let woken = held(&agent.woken).clone();
    let mut wakes: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for event in &woken {
        let title = event
            .job_id
            .as_ref()
            .map_or("the monitor itself", |id| jobs[id]);
        wakes.entry(title).or_default().push(event.event.clone());
    }
    let expected: BTreeMap<&str, Vec<String>> = WAKES
        .iter()
        .map(|(title, kinds)| (*title, kinds.iter().map(ToString::to_string).collect()))
        .collect();
    assert_eq!(wakes, expected);

    let questions: Vec<_> = woken
        .iter()
        .filter(|event| event.event == "question")
        .collect();
    assert_eq!(questions[0].message_text(), Some("Tabs or spaces?"));
    assert_eq!(questions[1].message_text(), Some("And the tests?"));
    let size = std::fs::metadata(&stage.paths.events).unwrap().len();
    assert!(size < 10_000, "{size} bytes of events");
    // The merged job is retired, its session archived; the job that is gone left by itself.
    let (registry, _) = stage.paths.jobs_file().read_jobs().unwrap();
    let live: Vec<_> = registry
        .jobs()
        .filter(|job| job.is_live())
        .map(|job| jobs[&job.job_id])
        .collect();
    assert_eq!(live, ["busy", "failing"]);
    assert_eq!(retired.len(), 1);
    let merged = retired.first().unwrap();
    assert!(
        stage
            .shared
            .lock_world()
            .jules()
            .session(merged.as_str())
            .unwrap()
            .is_archived()
    );
    let requests = stage.requests();
    let sent: usize = requests.values().sum();
    print_line(&format!(
        "a day of 4 jobs: {} wakes, {sent} requests to Jules in {LOOKS} looks {requests:?}",
        woken.len()
    ));
    let beside = sent.saturating_sub(requests["GET /v1alpha/sessions"]);
    assert!(beside < 150, "{beside} requests beside the listings");
}

/// Section 10 of the seed: several monitors on one set of files.
#[tokio::test]
async fn two_monitors_tell_each_cause_once_and_ask_once() {
    let asks = vec![
        beat(20.0, BeatAction::Start),
        beat(40.0, BeatAction::Plan),
        beat(60.0, BeatAction::Ask("Tabs or spaces?".to_owned())),
    ];
    let stage = stage(vec![("asks", asks)], Vec::new());
    let job = stage.start_session("asks", false).await;
    let (one, other) = (stage.monitor(), stage.monitor());
    for _ in 0..20 {
        stage.shared.advance_time(POLL);
        let now = stage.shared.world_time();
        let (first, second) = tokio::join!(one.run_cycle(now, false), other.run_cycle(now, false));
        first.unwrap();
        second.unwrap();
        stage.shared.advance_time(Duration::from_secs(5));
        other
            .run_cycle(stage.shared.world_time(), false)
            .await
            .unwrap();
    }
    let events = stage.events();
    assert_eq!(
        super::stage::kinds_by_job(&events),
        [(job.to_string(), "question".to_owned())]
    );
    let listings = stage.requests()["GET /v1alpha/sessions"];
    assert!(
        listings <= 20,
        "{listings} listings in twenty rounds of two monitors"
    );
    // One of them dies; the other goes on alone.
    drop(one);
    stage.shared.advance_time(POLL);
    assert!(
        !other
            .run_cycle(stage.shared.world_time(), false)
            .await
            .unwrap()
            .busy
    );
}

/// Section 10 of the seed: whose job matters more is told first.
#[tokio::test]
async fn jobs_of_a_higher_priority_are_told_first() {
    let asks = || {
        vec![
            beat(20.0, BeatAction::Start),
            beat(40.0, BeatAction::Plan),
            beat(60.0, BeatAction::Ask("Tabs or spaces?".to_owned())),
        ]
    };
    let titles = ["usual", "low", "critical", "high"];
    let scripts = titles.iter().map(|title| (*title, asks())).collect();
    let stage = stage(scripts, Vec::new());
    let mut jobs = BTreeMap::new();
    for title in titles {
        let id = stage.start_session(title, false).await;
        let priority = serde_json::from_value(serde_json::json!(title)).unwrap_or_default();
        let set = |job: &mut phileas_domain::jobs::Job| job.priority = priority;
        stage.paths.jobs_file().update_job(&id, set).unwrap();
        jobs.insert(id, title);
    }
    stage.shared.advance_time(POLL * 5);
    let told = stage.check().await.events;
    let told: Vec<_> = told
        .iter()
        .map(|event| jobs[event.job_id.as_ref().unwrap()])
        .collect();
    assert_eq!(told, ["critical", "high", "usual", "low"]);
}
