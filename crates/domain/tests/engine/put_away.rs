//! The session of a pull request that is over is archived, once, and not while somebody is at it.

use phileas_domain::engine::{Effect, PullState, Reason, SessionState};
use phileas_domain::model::PullNumber;

use crate::desk::Desk;

const PULL: PullNumber = PullNumber(1);

/// A pull request that has just been merged, or closed. Nothing else is due for days.
fn over(merged: bool) -> Desk {
    let mut desk = Desk::new("[schedules]\na = \"0 0 1 1 *\"\n", &["a"]);
    desk.ask = phileas_domain::engine::Ask::Persona("a".into());
    desk.tick();
    desk.ask = phileas_domain::engine::Ask::Due;
    desk.minutes(5);
    desk.opens_pull();
    desk.tick();
    desk.hours(1);
    if merged {
        desk.merge(PULL);
    } else {
        desk.close(PULL);
    }
    desk.pulls.get_mut(&PULL).unwrap().closed_at = Some(desk.now);
    desk.tick();
    desk
}

fn archives(desk: &Desk) -> usize {
    let is_archive = |effect: &&Effect| matches!(effect, Effect::ArchiveSession { .. });
    desk.effects.iter().filter(is_archive).count()
}

#[test]
fn a_session_is_archived_a_day_after_the_end_of_its_pull_request_and_then_forgotten() {
    for merged in [true, false] {
        let mut desk = over(merged);
        assert!(desk.state().pulls.contains_key(&PULL));
        desk.minutes(24 * 60 - 1);
        desk.tick();
        assert_eq!(
            (archives(&desk), desk.looks),
            (0, 0),
            "nobody asks Jules before"
        );
        desk.minutes(1);
        desk.tick();
        assert_eq!(archives(&desk), 1);
        assert!(desk.all_reasons().contains(&Reason::SessionArchived));
        desk.minutes(30);
        desk.tick();
        assert_eq!(archives(&desk), 0);
        assert!(desk.state().pulls.is_empty());
        let looks = desk.looks;
        desk.hours(24);
        desk.tick();
        assert_eq!((archives(&desk), desk.looks), (0, looks));
    }
}

#[test]
fn an_archiving_that_was_lost_is_done_again_and_given_up_after_a_week() {
    let mut desk = over(true);
    desk.lost = vec!["archive_session"];
    desk.hours(24);
    for _ in 0..7 {
        desk.tick();
        assert_eq!(archives(&desk), 1);
        desk.hours(24);
    }
    desk.tick();
    assert_eq!(archives(&desk), 0);
    assert!(desk.state().pulls.is_empty());
}

#[test]
fn a_reopened_pull_request_keeps_its_session_until_it_is_closed_again() {
    let mut desk = over(false);
    desk.hours(23);
    let pull = desk.pulls.get_mut(&PULL).unwrap();
    pull.state = PullState::Open;
    pull.closed_at = None;
    desk.hours(48);
    desk.tick();
    assert_eq!(archives(&desk), 0);
    desk.close(PULL);
    desk.pulls.get_mut(&PULL).unwrap().closed_at = Some(desk.now);
    desk.tick();
    assert_eq!(archives(&desk), 0);
    desk.hours(24);
    desk.tick();
    assert_eq!(archives(&desk), 1);
}

#[test]
fn a_session_that_somebody_is_at_is_left_alone() {
    for state in [
        SessionState::Paused,
        SessionState::AwaitingUserFeedback,
        SessionState::InProgress,
    ] {
        let mut desk = over(true);
        desk.hours(23);
        let is_work = state == SessionState::InProgress;
        desk.becomes(state);
        desk.hours(23);
        desk.tick();
        assert_eq!(archives(&desk), 0);
        desk.hours(1);
        desk.tick();
        // One that stands still at its work never says that it is done.
        assert_eq!(archives(&desk), usize::from(is_work));
    }
}

#[test]
fn sessions_that_people_are_at_do_not_stand_in_the_way_of_others() {
    let mut desk = over(true);
    let first = desk.state().pulls[&PULL].clone();
    let mut state = desk.state().clone();
    // Six more of the same age, whose sessions wait for somebody; the seventh does not.
    for number in 2..=8 {
        let mut session = desk.sessions[0].clone();
        session.id = format!("{number:017}").as_str().into();
        if number < 8 {
            session.state = SessionState::Paused;
        }
        let mut pull = desk.pulls[&PULL].clone();
        pull.number = PullNumber(number);
        desk.pulls.insert(pull.number, pull);
        let mut known = first.clone();
        known.session_id = session.id.clone();
        state.pulls.insert(PullNumber(number), known);
        desk.sessions.push(session);
    }
    desk.set_state(state);
    desk.hours(24);
    desk.tick();
    desk.tick();
    let eighth = desk.sessions.last().unwrap();
    assert!(eighth.archived, "{:?}", desk.state().pulls);
    let looks = desk.looks;
    desk.minutes(29);
    desk.tick();
    assert_eq!(desk.looks, looks, "nobody is looked at by every tick");
    desk.hours(24 * 7);
    desk.tick();
    desk.tick();
    assert!(desk.state().pulls.is_empty(), "{:?}", desk.state().pulls);
}

#[test]
fn a_deleted_session_is_not_archived() {
    let mut desk = over(true);
    desk.sessions.clear();
    desk.hours(24);
    desk.tick();
    assert_eq!(archives(&desk), 0);
    assert!(desk.state().pulls.is_empty());
}

/// Where Jules never shows that a session is archived, it is asked a few times and not for a week.
#[test]
fn an_archiving_that_never_shows_is_given_up_soon() {
    let mut desk = over(true);
    desk.lost = vec!["archive_session"];
    desk.hours(24);
    let (mut count, commits) = (0, desk.headlines.len());
    for _ in 0..7 * 48 {
        desk.tick();
        count += archives(&desk);
        desk.minutes(30);
    }
    assert_eq!(count, 8);
    assert!(desk.headlines.len() <= commits + 9, "{:?}", desk.headlines);
    assert!(desk.state().pulls.is_empty());
}

/// Five sessions that cannot be read do not keep the sixth from being archived.
#[test]
fn what_cannot_be_read_does_not_stand_in_the_way_of_others() {
    let mut desk = over(true);
    let first = desk.state().pulls[&PULL].clone();
    let mut state = desk.state().clone();
    for number in 2..=6 {
        let mut session = desk.sessions[0].clone();
        session.id = format!("{number:017}").as_str().into();
        let mut pull = desk.pulls[&PULL].clone();
        pull.number = PullNumber(number);
        desk.pulls.insert(pull.number, pull);
        let mut known = first.clone();
        known.session_id = session.id.clone();
        state.pulls.insert(PullNumber(number), known);
        desk.sessions.push(session);
    }
    desk.set_state(state);
    let outage = phileas_domain::engine::Outage {
        detail: "500".to_owned(),
        retry_at: None,
        credential: false,
    };
    for session in &desk.sessions[..5] {
        desk.unread.insert(session.id.clone(), outage.clone());
    }
    desk.hours(24);
    desk.tick();
    desk.tick();
    assert!(desk.sessions[5].archived, "{:?}", desk.state().pulls);
}

/// What was closed during a long pause is archived after it.
#[test]
fn a_pause_of_a_fortnight_leaves_no_session_behind() {
    let mut desk = over(true);
    desk.paused_by_variable = Some("1".to_owned());
    desk.hours(14 * 24);
    desk.tick();
    assert_eq!(archives(&desk), 0);
    desk.paused_by_variable = None;
    desk.tick();
    assert_eq!(archives(&desk), 1);
}
