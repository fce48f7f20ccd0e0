//! Tests create calls without a session: they are no failures of a session, and do not count as the persona's turn.

use phileas_domain::engine::{Reason, SessionState};

use crate::support::scenario::{Answering, Scenario};

#[test]
fn refused_creates_use_up_no_retry() {
    let plan = "cycle = [\"a\", \"b\"]\n[defaults]\nretry = 1\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.answering = Answering::Refused;
    for _ in 0..2 {
        scenario.tick();
        scenario.hours(3);
    }
    let refusals = |scenario: &Scenario| scenario.state().tracks["default"].turns[""].refusals;
    assert_eq!(refusals(&scenario), 2);
    scenario.answering = Answering::Session;
    scenario.hours(3);
    scenario.tick();
    assert_eq!(refusals(&scenario), 0, "they count in a row");
    assert_eq!(scenario.notices.len(), 0);
    for expected in [2, 3] {
        scenario.minutes(5);
        scenario.becomes(SessionState::Failed);
        scenario.tick();
        scenario.tick();
        assert_eq!(scenario.sessions.len(), expected);
    }
    assert_eq!(scenario.personas_run(), ["a", "a", "b"]);
}

#[test]
fn a_persona_that_never_started_has_not_seen_the_default_branch() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.answering = Answering::Refused;
    scenario.tick();
    scenario.cancel_first();
    scenario.answering = Answering::Session;
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a"]);
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.tick();
    assert_eq!(
        scenario.reasons("default").last(),
        Some(&Reason::Unchanged),
        "once it ran, it has"
    );
}

#[test]
fn a_create_that_was_not_sent_is_not_laid_at_jules_door() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.answering = Answering::NotSent;
    scenario.tick();
    let reasons = scenario.reasons("default");
    assert!(reasons.contains(&Reason::NotSent), "{reasons:?}");
    assert!(!reasons.contains(&Reason::JulesUnavailable), "{reasons:?}");
}

#[test]
fn a_refused_persona_is_left_out_and_its_track_goes_on() {
    let mut scenario = Scenario::new("cycle = [\"a\", \"b\"]\n", &["a", "b"]);
    scenario.answering = Answering::TurnRefused;
    scenario.tick();
    // Each was tried once, and is not tried again before its time.
    let refusals = |scenario: &Scenario| {
        let refused = &scenario.state().tracks["default"].refused;
        ["a", "b"].map(|id| refused.get(id).map_or(0, |one| one.times))
    };
    assert_eq!(refusals(&scenario), [1, 1]);
    assert!(scenario.state().tracks["default"].turns.is_empty());
    let keys: Vec<&str> = scenario
        .notices
        .iter()
        .map(|one| one.key.as_str())
        .collect();
    assert_eq!(keys, ["persona:a", "persona:b"]);
    scenario.minutes(30);
    scenario.tick();
    assert_eq!(refusals(&scenario), [1, 1]);
    let reasons = scenario.reasons("default");
    assert!(reasons.contains(&Reason::PersonaRefused), "{reasons:?}");

    // The pauses grow.
    scenario.minutes(31);
    scenario.tick();
    assert_eq!(refusals(&scenario), [2, 2]);
    scenario.minutes(61);
    scenario.tick();
    assert_eq!(refusals(&scenario), [2, 2]);

    scenario.answering = Answering::Session;
    scenario.minutes(60);
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a"]);
    assert_eq!(refusals(&scenario), [0, 2]);
    scenario.tick();
    let keys: Vec<&str> = scenario
        .notices
        .iter()
        .map(|one| one.key.as_str())
        .collect();
    assert_eq!(keys, ["persona:b"]);
}

#[test]
fn a_schedule_keeps_the_turn_that_was_refused() {
    let plan = "[schedules]\na = \"0 8 * * *\"\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    scenario.tick();
    scenario.hours(24);
    scenario.answering = Answering::TurnRefused;
    scenario.tick();
    assert_eq!(scenario.state().tracks["schedule:a"].turns[""].refusals, 1);
    scenario.answering = Answering::Session;
    scenario.hours(2);
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a"]);
}

fn keys(scenario: &Scenario) -> Vec<&str> {
    scenario
        .notices
        .iter()
        .map(|one| one.key.as_str())
        .collect()
}

/// What refuses one session of a cycle most often refuses all.
#[test]
fn where_many_personas_are_refused_one_issue_lists_them() {
    let ids: Vec<String> = (0..6).map(|n| format!("p{n}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let plan = format!("cycle = {ids:?}\n[budget]\ndaily_sessions = 100\n");
    let mut scenario = Scenario::new(&plan, &ids);
    scenario.answering = Answering::TurnRefused;
    for _ in 0..3 {
        scenario.tick();
        assert!(scenario.notices.len() <= 1, "{:?}", keys(&scenario));
        scenario.minutes(1);
    }
    assert_eq!(scenario.state().tracks["default"].refused.len(), 6);
    assert_eq!(keys(&scenario), ["sessions_refused"]);

    // It stays open until none is refused, and no other one opens beside it.
    scenario.answering = Answering::Session;
    while !scenario.state().tracks["default"].refused.is_empty() {
        assert_eq!(keys(&scenario), ["sessions_refused"]);
        scenario.hours(7);
        scenario.tick();
        if scenario
            .sessions
            .last()
            .is_some_and(|one| one.pulls.is_empty())
        {
            let pull = scenario.opens_pull();
            scenario.tick();
            scenario.close(pull);
            scenario.push();
        }
        scenario.tick();
    }
    scenario.tick();
    assert_eq!(keys(&scenario), [""; 0]);
}

/// Schedules keep their turns, and each would have an issue of its own.
#[test]
fn where_many_schedules_are_refused_one_issue_lists_them() {
    let ids: Vec<String> = (0..6).map(|n| format!("p{n}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut plan = "[budget]\ndaily_sessions = 100\nmax_active = 50\n[schedules]\n".to_owned();
    for id in &ids {
        plan.push_str(&format!("{id} = \"0 8 * * *\"\n"));
    }
    for answer in [Answering::Refused, Answering::TurnRefused] {
        let mut scenario = Scenario::new(&plan, &ids);
        scenario.tick();
        scenario.hours(24);
        scenario.answering = answer;
        for _ in 0..3 {
            scenario.tick();
            scenario.minutes(1);
        }
        assert_eq!(keys(&scenario), ["sessions_refused"]);
        scenario.answering = Answering::Session;
        for _ in 0..3 {
            scenario.hours(3);
            scenario.tick();
            scenario.tick();
        }
        assert_eq!((scenario.sessions.len(), keys(&scenario)), (6, Vec::new()));
    }
}

/// What is refused in one track, such as a branch that does not exist, is no matter of the persona's other work.
#[test]
fn a_refusal_belongs_to_the_track_where_it_happened() {
    let plan = "[tracks.bad]\nsteps = [\"a\"]\nbranch = \"gone\"\nstart = \"0 9 * * *\"\n\
                [schedules]\na = \"0 8 * * *\"\n[defaults]\nskip_unchanged = false\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    scenario.tick();
    // The track is refused at 09:00, and at each try after it.
    scenario.now = "2026-01-06T09:00:00Z".parse().unwrap();
    let refuse = |scenario: &mut Scenario| {
        scenario.answering = Answering::TurnRefused;
        scenario.ask = phileas_domain::engine::RunRequest::Track("bad".into());
        scenario.tick();
        scenario.ask = phileas_domain::engine::RunRequest::Due;
    };
    refuse(&mut scenario);
    assert_eq!(keys(&scenario), ["persona:a"]);
    // Its schedule is not held back by that.
    scenario.answering = Answering::Session;
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a"]);
    let pull = scenario.opens_pull();
    scenario.tick();
    scenario.close(pull);
    scenario.push();
    for _ in 0..3 {
        scenario.tick();
        assert_eq!(
            keys(&scenario),
            ["persona:a"],
            "another track took its session"
        );
        scenario.minutes(5);
    }
    let state = scenario.state();
    assert_eq!(state.tracks["bad"].refused["a"].times, 1);
    assert!(state.tracks["schedule:a"].refused.is_empty());
}
