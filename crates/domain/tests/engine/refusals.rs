//! Creates that brought no session: they are no failures of a session, and the persona has seen nothing.

use phileas_domain::engine::{Reason, SessionState};

use crate::desk::{Answering, Desk};

#[test]
fn refused_creates_use_up_no_retry() {
    let plan = "cycle = [\"a\", \"b\"]\n[defaults]\nretry = 1\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.answering = Answering::Refused;
    for _ in 0..2 {
        desk.tick();
        desk.hours(3);
    }
    let refusals = |desk: &Desk| desk.state().tracks["default"].turns[""].refusals;
    assert_eq!(refusals(&desk), 2);
    desk.answering = Answering::Session;
    desk.hours(3);
    desk.tick();
    assert_eq!(refusals(&desk), 0, "they count in a row");
    assert_eq!(desk.notices.len(), 0);
    for expected in [2, 3] {
        desk.minutes(5);
        desk.becomes(SessionState::Failed);
        desk.tick();
        desk.tick();
        assert_eq!(desk.sessions.len(), expected);
    }
    assert_eq!(desk.personas_run(), ["a", "a", "b"]);
}

#[test]
fn a_persona_that_never_started_has_not_seen_the_default_branch() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.answering = Answering::Refused;
    desk.tick();
    desk.cancel_first();
    desk.answering = Answering::Session;
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.personas_run(), ["a"]);
    desk.minutes(5);
    desk.opens_pull();
    desk.tick();
    assert_eq!(
        desk.reasons("default").last(),
        Some(&Reason::Unchanged),
        "once it ran, it has"
    );
}

#[test]
fn a_create_that_was_not_sent_is_not_laid_at_jules_door() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.answering = Answering::NotSent;
    desk.tick();
    let reasons = desk.reasons("default");
    assert!(reasons.contains(&Reason::NotSent), "{reasons:?}");
    assert!(!reasons.contains(&Reason::JulesUnavailable), "{reasons:?}");
}

#[test]
fn a_refused_persona_is_left_out_and_its_track_goes_on() {
    let mut desk = Desk::new("cycle = [\"a\", \"b\"]\n", &["a", "b"]);
    desk.answering = Answering::TurnRefused;
    desk.tick();
    // Each was asked for once, and is not again before its time.
    let refusals = |desk: &Desk| {
        let refused = &desk.state().tracks["default"].refused;
        ["a", "b"].map(|id| refused.get(id).map_or(0, |one| one.times))
    };
    assert_eq!(refusals(&desk), [1, 1]);
    assert!(desk.state().tracks["default"].turns.is_empty());
    let keys: Vec<&str> = desk.notices.iter().map(|one| one.key.as_str()).collect();
    assert_eq!(keys, ["persona:a", "persona:b"]);
    desk.minutes(30);
    desk.tick();
    assert_eq!(refusals(&desk), [1, 1]);
    let reasons = desk.reasons("default");
    assert!(reasons.contains(&Reason::PersonaRefused), "{reasons:?}");

    // The pauses grow.
    desk.minutes(31);
    desk.tick();
    assert_eq!(refusals(&desk), [2, 2]);
    desk.minutes(61);
    desk.tick();
    assert_eq!(refusals(&desk), [2, 2]);

    desk.answering = Answering::Session;
    desk.minutes(60);
    desk.tick();
    assert_eq!(desk.personas_run(), ["a"]);
    assert_eq!(refusals(&desk), [0, 2]);
    desk.tick();
    let keys: Vec<&str> = desk.notices.iter().map(|one| one.key.as_str()).collect();
    assert_eq!(keys, ["persona:b"]);
}

#[test]
fn a_schedule_keeps_the_turn_that_was_refused() {
    let plan = "[schedules]\na = \"0 8 * * *\"\n";
    let mut desk = Desk::new(plan, &["a"]);
    desk.tick();
    desk.hours(24);
    desk.answering = Answering::TurnRefused;
    desk.tick();
    assert_eq!(desk.state().tracks["schedule:a"].turns[""].refusals, 1);
    desk.answering = Answering::Session;
    desk.hours(2);
    desk.tick();
    assert_eq!(desk.personas_run(), ["a"]);
}

fn keys(desk: &Desk) -> Vec<&str> {
    desk.notices.iter().map(|one| one.key.as_str()).collect()
}

/// What refuses one session of a cycle most often refuses all.
#[test]
fn where_many_personas_are_refused_one_issue_lists_them() {
    let ids: Vec<String> = (0..6).map(|n| format!("p{n}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let plan = format!("cycle = {ids:?}\n[budget]\ndaily_sessions = 100\n");
    let mut desk = Desk::new(&plan, &ids);
    desk.answering = Answering::TurnRefused;
    for _ in 0..3 {
        desk.tick();
        assert!(desk.notices.len() <= 1, "{:?}", keys(&desk));
        desk.minutes(1);
    }
    assert_eq!(desk.state().tracks["default"].refused.len(), 6);
    assert_eq!(keys(&desk), ["sessions_refused"]);

    // It stays open until none is refused, and no other one opens beside it.
    desk.answering = Answering::Session;
    while !desk.state().tracks["default"].refused.is_empty() {
        assert_eq!(keys(&desk), ["sessions_refused"]);
        desk.hours(7);
        desk.tick();
        if desk.sessions.last().is_some_and(|one| one.pulls.is_empty()) {
            let pull = desk.opens_pull();
            desk.tick();
            desk.close(pull);
            desk.push();
        }
        desk.tick();
    }
    desk.tick();
    assert_eq!(keys(&desk), [""; 0]);
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
        let mut desk = Desk::new(&plan, &ids);
        desk.tick();
        desk.hours(24);
        desk.answering = answer;
        for _ in 0..3 {
            desk.tick();
            desk.minutes(1);
        }
        assert_eq!(keys(&desk), ["sessions_refused"]);
        desk.answering = Answering::Session;
        for _ in 0..3 {
            desk.hours(3);
            desk.tick();
            desk.tick();
        }
        assert_eq!((desk.sessions.len(), keys(&desk)), (6, Vec::new()));
    }
}

/// What is refused in one track, such as a branch that does not exist, is no matter of the persona's other work.
#[test]
fn a_refusal_belongs_to_the_track_where_it_happened() {
    let plan = "[tracks.bad]\nsteps = [\"a\"]\nbranch = \"gone\"\nstart = \"0 9 * * *\"\n\
                [schedules]\na = \"0 8 * * *\"\n[defaults]\nskip_unchanged = false\n";
    let mut desk = Desk::new(plan, &["a"]);
    desk.tick();
    // The track is refused at 09:00, and at each try after it.
    desk.now = "2026-01-06T09:00:00Z".parse().unwrap();
    let refuse = |desk: &mut Desk| {
        desk.answering = Answering::TurnRefused;
        desk.ask = phileas_domain::engine::Ask::Track("bad".into());
        desk.tick();
        desk.ask = phileas_domain::engine::Ask::Due;
    };
    refuse(&mut desk);
    assert_eq!(keys(&desk), ["persona:a"]);
    // Its schedule is not held back by that.
    desk.answering = Answering::Session;
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.personas_run(), ["a"]);
    let pull = desk.opens_pull();
    desk.tick();
    desk.close(pull);
    desk.push();
    for _ in 0..3 {
        desk.tick();
        assert_eq!(keys(&desk), ["persona:a"], "another track took its session");
        desk.minutes(5);
    }
    let state = desk.state();
    assert_eq!(state.tracks["bad"].refused["a"].times, 1);
    assert!(state.tracks["schedule:a"].refused.is_empty());
}
