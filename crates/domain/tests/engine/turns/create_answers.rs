//! Tests late answers of create calls, and the pauses after each refusal.

use jiff::SignedDuration;
use phileas_domain::engine::{
    CreateFailure, Effect, Event, NoticeKey, Reason, SessionState, Verdict, decide,
};
use phileas_domain::model::Marker;

use crate::support::scenario::{Answering, Scenario};

const ONE: &str = "cycle = [\"a\"]\n";

/// A scenario whose only turn was announced by a process that died before it called Jules.
fn announced() -> (Scenario, Marker) {
    let mut scenario = Scenario::new(ONE, &["a"]);
    scenario.answering = Answering::Dies;
    scenario.tick();
    let turn = scenario.turn("default").turn.clone();
    (scenario, Marker { turn, attempt: 1 })
}

fn refused(marker: &Marker, failure: CreateFailure) -> Event {
    Event::SessionNotCreated {
        track: "default".into(),
        slot: "".into(),
        marker: marker.clone(),
        failure,
    }
}

#[test]
fn an_answer_to_another_attempt_or_another_turn_changes_nothing() {
    let (mut scenario, marker) = announced();
    let failure = || CreateFailure::Quota { retry_at: None };
    let snapshot = scenario.snapshot();
    let heard = decide(&snapshot, &[refused(&marker, failure())]);
    assert!(heard.change.is_some());
    let mut others = [marker.clone(), marker.clone()];
    others[0].attempt = 2;
    others[1].turn = phileas_domain::model::TurnId::parse("0123456789ab").unwrap();
    for other in others {
        let decision = decide(&snapshot, &[refused(&other, failure())]);
        assert_eq!(decision, decide(&snapshot, &[]), "{other:?}");
    }
    // The session was found meanwhile; the answer is outdated.
    scenario.answering = Answering::Session;
    scenario.ledger = phileas_domain::engine::Ledger::Missing { head: None };
    scenario.tick();
    let marker = Marker {
        turn: scenario.turn("default").turn.clone(),
        attempt: 1,
    };
    let snapshot = scenario.full_snapshot();
    let decision = decide(&snapshot, &[refused(&marker, failure())]);
    assert_eq!(decision, decide(&snapshot, &[]));
    let created = Event::SessionCreated {
        track: "default".into(),
        slot: "".into(),
        marker,
        session: scenario.sessions[0].clone(),
    };
    assert_eq!(decide(&snapshot, &[created]), decide(&snapshot, &[]));
}

#[test]
fn a_key_that_is_refused_before_it_was_proved_good_opens_a_notice_about_the_key() {
    let (mut scenario, marker) = announced();
    let failure = CreateFailure::Credential {
        detail: "401".to_owned(),
    };
    let event = [refused(&marker, failure)];
    let opens = |decision: &phileas_domain::engine::Decision| {
        let mut keys = decision.effects.iter().filter_map(|effect| match effect {
            Effect::OpenNotice { key, .. } => Some(key.clone()),
            _ => None,
        });
        keys.next()
    };
    let decision = decide(&scenario.snapshot(), &event);
    assert_eq!(opens(&decision), Some(NoticeKey::JulesCredential));
    let line = &decision.report.lines[0];
    assert_eq!(
        (line.verdict, line.reason),
        (Verdict::Paused, Reason::JulesCredential)
    );
    // The same key has just listed its sessions: it is this session that it may not start.
    let decision = decide(&scenario.full_snapshot(), &event);
    assert_eq!(opens(&decision), Some(NoticeKey::Turn(marker.turn.clone())));
    assert_eq!(decision.report.lines[0].reason, Reason::CreateRefused);
}

#[test]
fn a_spent_key_is_left_alone_twice_as_long_each_time_up_to_six_hours() {
    let mut scenario = Scenario::new(ONE, &["a"]);
    scenario.answering = Answering::Quota;
    // The scenario's randomness adds 7 in 1020 to each.
    for (minutes, jitter) in [
        (15, 6),
        (30, 12),
        (60, 24),
        (120, 49),
        (240, 98),
        (360, 148),
        (360, 148),
    ] {
        scenario.tick();
        let until = scenario.state().budget.paused_until.unwrap();
        let span = SignedDuration::from_secs(minutes * 60 + jitter);
        assert_eq!(until.duration_since(scenario.now), span);
        scenario.now = until;
    }
    // Jules' retry time makes a pause longer, never shorter.
    for (hours, span) in [(1, 6 * 3600 + 148), (7, 7 * 3600), (30, 24 * 3600)] {
        scenario.answering =
            Answering::QuotaUntil(scenario.now + SignedDuration::from_hours(hours));
        scenario.tick();
        let until = scenario.state().budget.paused_until.unwrap();
        assert_eq!(
            until.duration_since(scenario.now),
            SignedDuration::from_secs(span)
        );
        scenario.now = until;
    }
    scenario.answering = Answering::Session;
    scenario.tick();
    assert_eq!(
        (
            scenario.personas_run(),
            scenario.state().budget.quota_failures
        ),
        (vec!["a".to_owned()], 0)
    );
}

#[test]
fn each_refused_create_is_an_attempt_of_its_own_and_waits_twice_as_long() {
    let mut scenario = Scenario::new(ONE, &["a"]);
    scenario.answering = Answering::Refused;
    for (attempt, hours) in [(1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 24), (7, 24)] {
        scenario.tick();
        assert_eq!(scenario.created_sessions()[0].marker.attempt, attempt);
        let turn = scenario.turn("default");
        assert_eq!((turn.attempt, turn.refusals), (attempt + 1, attempt));
        let pause = SignedDuration::from_hours(hours);
        assert_eq!(turn.not_before, Some(scenario.now + pause));
        scenario.pass(pause);
    }
    scenario.answering = Answering::Session;
    scenario.tick();
    assert!(scenario.sessions[0].title.ends_with(".8]"));
    assert_eq!(scenario.turn("default").refusals, 0);
    assert_eq!(scenario.sessions[0].state, SessionState::Queued);
}

#[test]
fn a_create_that_was_not_sent_is_tried_again_after_two_minutes() {
    let mut scenario = Scenario::new(ONE, &["a"]);
    scenario.answering = Answering::NotSent;
    scenario.tick();
    let pause = SignedDuration::from_mins(2);
    assert_eq!(
        scenario.turn("default").not_before,
        Some(scenario.now + pause)
    );
    scenario.answering = Answering::Session;
    scenario.tick_after(119);
    assert_eq!(
        scenario.line_facts("default"),
        (Verdict::Waiting, Reason::RetryPause, Some(1))
    );
    scenario.tick_after(1);
    assert_eq!(scenario.personas_run(), ["a"]);
}
