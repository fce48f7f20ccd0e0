//! Silence: when a session that says it is at work is looked into, called stuck, and given up.

use phileas_domain::engine::{ActivityKind, Effect, Reason, SessionState, Verdict, needs};
use phileas_domain::model::SessionId;
use phileas_domain::state::Outcome;

use crate::desk::Desk;

const WAITING: Verdict = Verdict::Waiting;

/// A session that was last heard of this very moment.
fn at_work() -> (Desk, SessionId) {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.tick();
    desk.minutes(1);
    let id = desk.becomes(SessionState::InProgress);
    (desk, id)
}

/// Whether the session's log would be read now.
fn is_read(desk: &mut Desk) -> bool {
    let mut snapshot = desk.look();
    snapshot.activities.clear();
    !needs(&snapshot).activities.is_empty()
}

#[test]
fn after_twenty_minutes_a_session_is_looked_into_and_called_stuck() {
    let (mut desk, _) = at_work();
    for seconds in [0, 600, 599] {
        desk.tick_after(seconds);
        let waits = (WAITING, Reason::SessionRunning, Some(60));
        assert_eq!(desk.says("default"), waits);
        assert!(!is_read(&mut desk), "an idle look costs one listing");
    }
    desk.seconds(1);
    assert!(is_read(&mut desk));
    desk.tick();
    assert_eq!(
        desk.says("default"),
        (WAITING, Reason::SessionStuck, Some(60))
    );
    let line = desk.line("default");
    assert_eq!(line.detail, "nothing has moved for 20 minutes");
}

#[test]
fn what_the_log_shows_counts_as_movement() {
    let (mut desk, id) = at_work();
    desk.minutes(15);
    let now = desk.now;
    desk.say(&id, now, ActivityKind::Progress);
    desk.tick_after(20 * 60 - 1);
    assert_eq!(
        desk.says("default"),
        (WAITING, Reason::SessionRunning, Some(60))
    );
    desk.tick_after(1);
    assert_eq!(desk.says("default").1, Reason::SessionStuck);
}

#[test]
fn after_six_hours_a_session_is_given_up_and_archived() {
    let (mut desk, id) = at_work();
    desk.tick_after(6 * 3600 - 1);
    assert_eq!(desk.says("default").1, Reason::SessionStuck);
    assert!(desk.effects.is_empty());
    desk.tick_after(1);
    assert_eq!(desk.outcomes(), [Some(Outcome::Stuck)]);
    assert_eq!(desk.notes(), ["nothing moved for 360 minutes"]);
    let archives = Effect::ArchiveSession { session: id };
    assert_eq!(desk.effects, [archives]);
}

/// Some sessions never leave `IN_PROGRESS`; their log tells that they are done, unless somebody spoke to them since.
#[test]
fn a_session_whose_log_says_that_it_is_done_has_ended_unless_it_was_spoken_to_since() {
    for (spoken, has_ended) in [(-1, true), (0, false), (1, false)] {
        let (mut desk, id) = at_work();
        let at = |desk: &Desk, seconds| desk.now + jiff::SignedDuration::from_secs(seconds);
        let mut said = [
            (at(&desk, 0), ActivityKind::Completed),
            (
                at(&desk, spoken),
                ActivityKind::UserMessaged("Go on.".to_owned()),
            ),
        ];
        said.sort_by_key(|(at, _)| *at);
        for (at, kind) in said {
            desk.say(&id, at, kind);
        }
        desk.minutes(25);
        desk.tick();
        let expected = if has_ended {
            Reason::SessionReminded
        } else {
            Reason::SessionStuck
        };
        assert_eq!(desk.says("default").1, expected, "spoken at {spoken}");
    }
}

#[test]
fn a_session_that_a_person_paused_is_left_alone_and_one_they_archived_is_cancelled() {
    let (mut desk, _) = at_work();
    desk.sessions[0].state = SessionState::Paused;
    desk.hours(10);
    desk.tick();
    let paused = (WAITING, Reason::SessionPaused, Some(30 * 60));
    assert_eq!(desk.says("default"), paused);
    assert!(desk.effects.is_empty());
    desk.sessions[0].archived = true;
    desk.tick();
    assert_eq!(desk.outcomes(), [Some(Outcome::Cancelled)]);
    assert_eq!(desk.notes(), ["a person archived the session"]);
}

#[test]
fn an_archived_session_that_is_still_at_work_is_followed() {
    let (mut desk, _) = at_work();
    desk.sessions[0].archived = true;
    desk.tick();
    assert_eq!(desk.says("default").1, Reason::SessionRunning);
    assert_eq!(desk.outcomes(), [None]);
}
