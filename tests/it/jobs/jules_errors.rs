//! What goes wrong on the way to Jules, and which agent it wakes.

use jiff::SignedDuration;
use phileas::jobs::registry::RETIRED_FOR;
use phileas_domain::jobs::backoff::FRESH_FOR;
use phileas_domain::jobs::{Job, RetireReason};
use phileas_world::Fault;
use phileas_world::faults::FaultRule;
use phileas_world::jules::BeatAction;

use crate::support::Phileas;

use super::stage::{POLL, beat, kinds_by_job, progress, rule, stage, status};

fn asks() -> Vec<phileas_world::jules::Beat> {
    vec![
        beat(20.0, BeatAction::Start),
        beat(40.0, BeatAction::Plan),
        beat(60.0, BeatAction::Ask("Tabs or spaces?".to_owned())),
    ]
}

fn works() -> Vec<phileas_world::jules::Beat> {
    let mut beats = vec![beat(20.0, BeatAction::Start), beat(40.0, BeatAction::Plan)];
    beats.extend((0..200).map(|_| beat(600.0, progress())));
    beats
}

/// Upstream defect 2: any error of the API woke the agent, with every poll; being asked for patience most of all.
#[tokio::test]
async fn defect_02_patience_wakes_no_agent_and_an_outage_once() {
    let stage = stage(vec![("works", works())], Vec::new());
    stage.start_session("works", false).await;
    let faults = |rules| {
        stage
            .shared
            .lock_world()
            .faults_mut()
            .replace_plan(phileas_world::FaultPlan { rules })
    };
    faults(vec![rule("*", status(429))]);
    assert_eq!(kinds_by_job(&stage.watch(600).await), []);
    let asked = stage.requests()["GET /v1alpha/sessions"];
    assert!(
        asked < 150,
        "{asked} requests in ten hours of being asked for patience"
    );
    faults(Vec::new());
    assert_eq!(kinds_by_job(&stage.watch(60).await), []);
    faults(vec![rule("*", status(503))]);
    let outage = stage.watch(600).await;
    assert_eq!(
        kinds_by_job(&outage),
        [("-".to_owned(), "error".to_owned())]
    );
    let payload = outage[0].payload.clone().unwrap();
    assert_eq!(
        (payload.cause.as_deref(), payload.jobs),
        (Some("unreachable"), Some(1))
    );
    faults(Vec::new());
    assert_eq!(kinds_by_job(&stage.watch(60).await), []);
    // A short one wakes no agent; a second long one does.
    faults(vec![FaultRule {
        nth: Some(1),
        ..rule("*", status(503))
    }]);
    assert_eq!(kinds_by_job(&stage.watch(60).await), []);
    faults(vec![rule("*", Fault::DropBefore {})]);
    assert_eq!(stage.watch(600).await.len(), 1);
}

/// What Jules asks for is kept to, however long it is.
#[tokio::test]
async fn nothing_is_asked_before_jules_allows_it() {
    let patience = Fault::Status {
        status: 429,
        retry_after: Some(3 * 60 * 60),
        html: false,
        done: false,
    };
    let stage = stage(vec![("works", works())], Vec::new());
    stage.start_session("works", false).await;
    let plan = phileas_world::FaultPlan {
        rules: vec![rule("*", patience)],
    };
    stage.shared.lock_world().faults_mut().replace_plan(plan);
    let before = stage.requests().values().sum::<usize>();
    stage.watch(179).await;
    assert_eq!(stage.requests().values().sum::<usize>() - before, 1);
}

/// Section 8 of the seed: 401 is told, and not asked again and again.
#[tokio::test]
async fn a_refused_key_wakes_once_and_a_good_one_goes_on() {
    let stage = stage(vec![("asks", asks())], Vec::new());
    stage.start_session("asks", false).await;
    let mut events = Vec::new();
    for _ in 0..80 {
        stage.shared.advance_time(POLL);
        let monitor = stage.monitor_with("another-key");
        events.extend(
            monitor
                .run_cycle(stage.shared.world_time(), true)
                .await
                .unwrap()
                .events,
        );
    }
    assert_eq!(
        kinds_by_job(&events),
        [("-".to_owned(), "error".to_owned())]
    );
    assert_eq!(
        events[0].payload.clone().unwrap().cause.as_deref(),
        Some("credential")
    );
    assert!(
        !std::fs::read_to_string(&stage.paths.events)
            .unwrap()
            .contains("another-key")
    );
    let asked = stage.requests()["GET /v1alpha/sessions"];
    assert!(asked <= 5, "{asked} requests with a refused key in an hour");
    assert_eq!(stage.watch(20).await.len(), 1, "the question");
}

/// Upstream defect 12: one job that hangs hid all jobs after it.
#[tokio::test]
async fn defect_12_a_job_that_hangs_hides_no_other() {
    let stage = stage(vec![("hangs", asks()), ("asks", asks())], Vec::new());
    let hangs = stage.start_session("hangs", false).await;
    let asks = stage.start_session("asks", false).await;
    let path = format!("*/sessions/{hangs}/*");
    let plan = phileas_world::FaultPlan {
        rules: vec![rule(&path, Fault::TimeoutBefore {})],
    };
    stage.shared.lock_world().faults_mut().replace_plan(plan);
    let events = stage.watch(4).await;
    assert_eq!(
        kinds_by_job(&events),
        [(asks.to_string(), "question".to_owned())]
    );
    let events = stage.watch(120).await;
    assert_eq!(
        kinds_by_job(&events),
        [(hangs.to_string(), "error".to_owned())]
    );
    stage
        .shared
        .lock_world()
        .faults_mut()
        .replace_plan(phileas_world::FaultPlan::default());
    assert_eq!(
        kinds_by_job(&stage.watch(60).await),
        [(hangs.to_string(), "question".to_owned())]
    );
}

/// Upstream defect 14, with a monitor: the lines that can be read are looked at.
#[tokio::test]
async fn defect_14_a_corrupt_line_stops_nothing() {
    let stage = stage(vec![("asks", asks())], Vec::new());
    let job = stage.start_session("asks", false).await;
    let jobs = format!("{{broken\n\"{job}\"\n");
    std::fs::write(&stage.paths.jobs, jobs).unwrap();
    assert_eq!(
        kinds_by_job(&stage.watch(10).await),
        [(job.to_string(), "question".to_owned())]
    );
    let cycle = stage.check().await;
    assert_eq!(cycle.warnings.len(), 1);
    let said = cycle.warnings[0].to_string();
    assert!(said.contains("zai_jobs.jsonl:1:"), "{said}");
}

/// Section 8 of the seed: a session that does not exist leaves the jobs file; one that was just made is waited for.
#[tokio::test]
async fn a_job_that_jules_does_not_know_is_told_once_and_leaves() {
    let stage = stage(Vec::new(), Vec::new());
    let id = "99999999999999999999".parse().unwrap();
    let jobs = stage.paths.jobs_file();
    jobs.register_job(Job::new(id), stage.shared.world_time())
        .unwrap();
    stage.check().await;
    assert!(stage.events().is_empty(), "it may be too young to be seen");
    let events = stage.watch(30).await;
    assert_eq!(events.len(), 1);
    assert_eq!(
        events[0].payload.clone().unwrap().cause.as_deref(),
        Some("not_found")
    );
    let (registry, _) = jobs.read_jobs().unwrap();
    let retired = registry.jobs().next().unwrap().retired.clone().unwrap();
    assert_eq!(retired.reason, RetireReason::NotFound);
    let before = stage.requests();
    assert!(stage.watch(60).await.is_empty());
    assert_eq!(
        stage.requests(),
        before,
        "without live jobs nothing is asked"
    );
    assert!(RETIRED_FOR > SignedDuration::from_hours(24));
}

/// The grace that the README and the help speak of: a minute, and two looks after it.
#[tokio::test]
async fn an_unknown_job_has_the_grace_that_people_are_told_of() {
    assert_eq!(FRESH_FOR, SignedDuration::from_mins(1));
    let stage = stage(Vec::new(), Vec::new());
    let id = "99999999999999999999".parse().unwrap();
    let jobs = stage.paths.jobs_file();
    jobs.register_job(Job::new(id), stage.shared.world_time())
        .unwrap();
    let mut looks = Vec::new();
    for seconds in [0, 59, 1, 5] {
        stage
            .shared
            .advance_time(std::time::Duration::from_secs(seconds));
        looks.push(stage.check().await.events.len());
    }
    assert_eq!(
        looks,
        [0, 0, 0, 1],
        "the second look after the minute tells it"
    );
    let help = Phileas::new(&["agent", "jobs", "add", "--help"])
        .run()
        .expect(0)
        .out;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        help.contains("expected during its first minute as a job")
            && help.contains("two checks in a row"),
        "{help}"
    );
    let page = include_str!("../../../docs/guide/agent.md");
    assert!(page.contains("is waited for during its first minute in the file"));
}

/// A monitor that was killed between its events and its memory does not tell them twice.
#[tokio::test]
async fn what_was_written_before_a_kill_is_not_written_again() {
    let stage = stage(vec![("asks", asks())], Vec::new());
    stage.start_session("asks", false).await;
    stage.check().await;
    let before = std::fs::read_to_string(&stage.paths.monitor).unwrap();
    assert_eq!(stage.watch(10).await.len(), 1);
    std::fs::write(&stage.paths.monitor, before).unwrap();
    assert!(stage.watch(30).await.is_empty());
    assert_eq!(stage.events().len(), 1);
}

/// A machine whose clock is another than Jules': nothing is stuck before its time, and everything is in it.
#[tokio::test]
async fn a_session_is_as_old_as_jules_clock_says() {
    let days = SignedDuration::from_hours(24 * 20);
    for ahead in [days, -days] {
        let hangs = vec![beat(20.0, BeatAction::Start), beat(0.0, BeatAction::Hang)];
        let stage = stage(vec![("hangs", hangs)], Vec::new());
        let id = stage.start_session("hangs", false).await;
        let look = async || {
            let now = stage.shared.world_time() + ahead;
            stage.monitor().run_cycle(now, true).await.unwrap().events
        };
        for _ in 0..15 {
            stage
                .shared
                .advance_time(std::time::Duration::from_secs(60));
            assert_eq!(kinds_by_job(&look().await), [], "{ahead:?}");
        }
        stage
            .shared
            .advance_time(std::time::Duration::from_secs(10 * 60));
        let wanted = [(id.to_string(), "stuck".to_owned())];
        assert_eq!(kinds_by_job(&look().await), wanted, "{ahead:?}");
    }
}

/// A job that sleeps costs its place in one listing, and nothing else.
#[tokio::test]
async fn many_quiet_jobs_cost_one_listing_a_look() {
    let names: Vec<String> = (0..20).map(|number| format!("works {number}.")).collect();
    let scripts = names.iter().map(|name| (name.as_str(), works())).collect();
    let stage = stage(scripts, Vec::new());
    for name in &names {
        stage.start_session(name, false).await;
        stage.shared.advance_time(std::time::Duration::from_secs(1));
    }
    stage.watch(3).await;
    let before = stage.requests();
    assert!(stage.watch(15).await.is_empty());
    let after = stage.requests();
    let spent: usize = after.values().sum::<usize>() - before.values().sum::<usize>();
    assert_eq!(spent, 20, "{after:?}");
}
