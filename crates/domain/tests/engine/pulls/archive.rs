//! Tests that the session of a closed pull request is archived, once, and not while it is in use.

use phileas_domain::engine::{Effect, PullState, Reason, SessionState};
use phileas_domain::model::PullNumber;

use crate::support::scenario::Scenario;

const PULL: PullNumber = PullNumber(1);

/// A pull request that has just been merged, or closed. Nothing else is due for days.
fn over(merged: bool) -> Scenario {
    let mut scenario = Scenario::new("[schedules]\na = \"0 0 1 1 *\"\n", &["a"]);
    scenario.ask = phileas_domain::engine::RunRequest::Persona("a".into());
    scenario.tick();
    scenario.ask = phileas_domain::engine::RunRequest::Due;
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.tick();
    scenario.hours(1);
    if merged {
        scenario.merge(PULL);
    } else {
        scenario.close(PULL);
    }
    scenario.pulls.get_mut(&PULL).unwrap().closed_at = Some(scenario.now);
    scenario.tick();
    scenario
}

fn archives(scenario: &Scenario) -> usize {
    let is_archive = |effect: &&Effect| matches!(effect, Effect::ArchiveSession { .. });
    scenario.effects.iter().filter(is_archive).count()
}

#[test]
fn a_session_is_archived_a_day_after_the_end_of_its_pull_request_and_then_forgotten() {
    for merged in [true, false] {
        let mut scenario = over(merged);
        assert!(scenario.state().pulls.contains_key(&PULL));
        scenario.minutes(24 * 60 - 1);
        scenario.tick();
        assert_eq!(
            (archives(&scenario), scenario.session_reads),
            (0, 0),
            "Jules is not asked before"
        );
        scenario.minutes(1);
        scenario.tick();
        assert_eq!(archives(&scenario), 1);
        assert!(scenario.all_reasons().contains(&Reason::SessionArchived));
        scenario.minutes(30);
        scenario.tick();
        assert_eq!(archives(&scenario), 0);
        assert!(scenario.state().pulls.is_empty());
        let looks = scenario.session_reads;
        scenario.hours(24);
        scenario.tick();
        assert_eq!((archives(&scenario), scenario.session_reads), (0, looks));
    }
}

#[test]
fn an_archiving_that_was_lost_is_done_again_and_given_up_after_a_week() {
    let mut scenario = over(true);
    scenario.lost = vec!["archive_session"];
    scenario.hours(24);
    for _ in 0..7 {
        scenario.tick();
        assert_eq!(archives(&scenario), 1);
        scenario.hours(24);
    }
    scenario.tick();
    assert_eq!(archives(&scenario), 0);
    assert!(scenario.state().pulls.is_empty());
}

#[test]
fn a_reopened_pull_request_keeps_its_session_until_it_is_closed_again() {
    let mut scenario = over(false);
    scenario.hours(23);
    let pull = scenario.pulls.get_mut(&PULL).unwrap();
    pull.state = PullState::Open;
    pull.closed_at = None;
    scenario.hours(48);
    scenario.tick();
    assert_eq!(archives(&scenario), 0);
    scenario.close(PULL);
    scenario.pulls.get_mut(&PULL).unwrap().closed_at = Some(scenario.now);
    scenario.tick();
    assert_eq!(archives(&scenario), 0);
    scenario.hours(24);
    scenario.tick();
    assert_eq!(archives(&scenario), 1);
}

#[test]
fn a_session_in_use_is_not_archived() {
    for state in [
        SessionState::Paused,
        SessionState::AwaitingUserFeedback,
        SessionState::InProgress,
    ] {
        let mut scenario = over(true);
        scenario.hours(23);
        let is_work = state == SessionState::InProgress;
        scenario.becomes(state);
        scenario.hours(23);
        scenario.tick();
        assert_eq!(archives(&scenario), 0);
        scenario.hours(1);
        scenario.tick();
        // A stalled session never reports that it is done.
        assert_eq!(archives(&scenario), usize::from(is_work));
    }
}

#[test]
fn sessions_that_people_are_at_do_not_stand_in_the_way_of_others() {
    let mut scenario = over(true);
    let first = scenario.state().pulls[&PULL].clone();
    let mut state = scenario.state().clone();
    // Six more of the same age, whose sessions wait for a person; the seventh does not.
    for number in 2..=8 {
        let mut session = scenario.sessions[0].clone();
        session.id = format!("{number:017}").as_str().into();
        if number < 8 {
            session.state = SessionState::Paused;
        }
        let mut pull = scenario.pulls[&PULL].clone();
        pull.number = PullNumber(number);
        scenario.pulls.insert(pull.number, pull);
        let mut known = first.clone();
        known.session_id = session.id.clone();
        state.pulls.insert(PullNumber(number), known);
        scenario.sessions.push(session);
    }
    scenario.set_state(state);
    scenario.hours(24);
    scenario.tick();
    scenario.tick();
    let eighth = scenario.sessions.last().unwrap();
    assert!(eighth.archived, "{:?}", scenario.state().pulls);
    let looks = scenario.session_reads;
    scenario.minutes(29);
    scenario.tick();
    assert_eq!(
        scenario.session_reads, looks,
        "not every tick reads a session"
    );
    scenario.hours(24 * 7);
    scenario.tick();
    scenario.tick();
    assert!(
        scenario.state().pulls.is_empty(),
        "{:?}",
        scenario.state().pulls
    );
}

#[test]
fn a_deleted_session_is_not_archived() {
    let mut scenario = over(true);
    scenario.sessions.clear();
    scenario.hours(24);
    scenario.tick();
    assert_eq!(archives(&scenario), 0);
    assert!(scenario.state().pulls.is_empty());
}

/// Where Jules never shows a session as archived, it is tried a few times and not for a week.
#[test]
fn an_archiving_that_never_shows_is_given_up_soon() {
    let mut scenario = over(true);
    scenario.lost = vec!["archive_session"];
    scenario.hours(24);
    let (mut count, commits) = (0, scenario.headlines.len());
    for _ in 0..7 * 48 {
        scenario.tick();
        count += archives(&scenario);
        scenario.minutes(30);
    }
    assert_eq!(count, 8);
    assert!(
        scenario.headlines.len() <= commits + 9,
        "{:?}",
        scenario.headlines
    );
    assert!(scenario.state().pulls.is_empty());
}

/// Five sessions that cannot be read do not keep the sixth from being archived.
#[test]
fn what_cannot_be_read_does_not_stand_in_the_way_of_others() {
    let mut scenario = over(true);
    let first = scenario.state().pulls[&PULL].clone();
    let mut state = scenario.state().clone();
    for number in 2..=6 {
        let mut session = scenario.sessions[0].clone();
        session.id = format!("{number:017}").as_str().into();
        let mut pull = scenario.pulls[&PULL].clone();
        pull.number = PullNumber(number);
        scenario.pulls.insert(pull.number, pull);
        let mut known = first.clone();
        known.session_id = session.id.clone();
        state.pulls.insert(PullNumber(number), known);
        scenario.sessions.push(session);
    }
    scenario.set_state(state);
    let outage = phileas_domain::engine::Outage {
        detail: "500".to_owned(),
        retry_at: None,
        credential: false,
    };
    for session in &scenario.sessions[..5] {
        scenario.unread.insert(session.id.clone(), outage.clone());
    }
    scenario.hours(24);
    scenario.tick();
    scenario.tick();
    assert!(
        scenario.sessions[5].archived,
        "{:?}",
        scenario.state().pulls
    );
}

/// What was closed during a long pause is archived after it.
#[test]
fn a_pause_of_a_fortnight_leaves_no_session_behind() {
    let mut scenario = over(true);
    scenario.paused_by_variable = Some("1".to_owned());
    scenario.hours(14 * 24);
    scenario.tick();
    assert_eq!(archives(&scenario), 0);
    scenario.paused_by_variable = None;
    scenario.tick();
    assert_eq!(archives(&scenario), 1);
}
