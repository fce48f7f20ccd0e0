//! Tests inactivity: when a running session's activities are read, when it is stuck, and when it is given up.

use phileas_domain::engine::{ActivityKind, Effect, Reason, SessionState, Verdict, read_requests};
use phileas_domain::model::SessionId;
use phileas_domain::state::Outcome;

use crate::support::scenario::Scenario;

const WAITING: Verdict = Verdict::Waiting;

/// A session whose last activity is now.
fn at_work() -> (Scenario, SessionId) {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.tick();
    scenario.minutes(1);
    let id = scenario.becomes(SessionState::InProgress);
    (scenario, id)
}

/// Whether the session's log would be read now.
fn is_read(scenario: &mut Scenario) -> bool {
    let mut snapshot = scenario.full_snapshot();
    snapshot.activities.clear();
    !read_requests(&snapshot).activities.is_empty()
}

#[test]
fn after_twenty_minutes_a_sessions_activities_are_read_and_it_is_stuck() {
    let (mut scenario, _) = at_work();
    for seconds in [0, 600, 599] {
        scenario.tick_after(seconds);
        let waits = (WAITING, Reason::SessionRunning, Some(60));
        assert_eq!(scenario.line_facts("default"), waits);
        assert!(!is_read(&mut scenario), "an idle look costs one listing");
    }
    scenario.seconds(1);
    assert!(is_read(&mut scenario));
    scenario.tick();
    assert_eq!(
        scenario.line_facts("default"),
        (WAITING, Reason::SessionStuck, Some(60))
    );
    let line = scenario.line("default");
    assert_eq!(line.detail, "nothing has moved for 20 minutes");
}

#[test]
fn what_the_log_shows_counts_as_movement() {
    let (mut scenario, id) = at_work();
    scenario.minutes(15);
    let now = scenario.now;
    scenario.add_activity(
        &id,
        now,
        ActivityKind::Progress {
            title: String::new(),
        },
    );
    scenario.tick_after(20 * 60 - 1);
    assert_eq!(
        scenario.line_facts("default"),
        (WAITING, Reason::SessionRunning, Some(60))
    );
    scenario.tick_after(1);
    assert_eq!(scenario.line_facts("default").1, Reason::SessionStuck);
}

#[test]
fn after_six_hours_a_session_is_given_up_and_archived() {
    let (mut scenario, id) = at_work();
    scenario.tick_after(6 * 3600 - 1);
    assert_eq!(scenario.line_facts("default").1, Reason::SessionStuck);
    assert!(scenario.effects.is_empty());
    scenario.tick_after(1);
    assert_eq!(scenario.outcomes(), [Some(Outcome::Stuck)]);
    assert_eq!(scenario.notes(), ["nothing moved for 360 minutes"]);
    let archives = Effect::ArchiveSession { session: id };
    assert_eq!(scenario.effects, [archives]);
}

/// Some sessions never leave `IN_PROGRESS`; their activities show that they are done, unless they got a message since.
#[test]
fn a_session_whose_activities_say_it_is_done_has_ended_unless_it_got_a_message_since() {
    for (spoken, has_ended) in [(-1, true), (0, false), (1, false)] {
        let (mut scenario, id) = at_work();
        let at =
            |scenario: &Scenario, seconds| scenario.now + jiff::SignedDuration::from_secs(seconds);
        let mut said = [
            (at(&scenario, 0), ActivityKind::Completed),
            (
                at(&scenario, spoken),
                ActivityKind::UserMessaged("Go on.".to_owned()),
            ),
        ];
        said.sort_by_key(|(at, _)| *at);
        for (at, kind) in said {
            scenario.add_activity(&id, at, kind);
        }
        scenario.minutes(25);
        scenario.tick();
        let expected = if has_ended {
            Reason::SessionReminded
        } else {
            Reason::SessionStuck
        };
        assert_eq!(
            scenario.line_facts("default").1,
            expected,
            "spoken at {spoken}"
        );
    }
}

#[test]
fn a_session_that_a_person_paused_is_left_alone_and_one_they_archived_is_cancelled() {
    let (mut scenario, _) = at_work();
    scenario.sessions[0].state = SessionState::Paused;
    scenario.hours(10);
    scenario.tick();
    let paused = (WAITING, Reason::SessionPaused, Some(30 * 60));
    assert_eq!(scenario.line_facts("default"), paused);
    assert!(scenario.effects.is_empty());
    scenario.sessions[0].archived = true;
    scenario.tick();
    assert_eq!(scenario.outcomes(), [Some(Outcome::Cancelled)]);
    assert_eq!(scenario.notes(), ["a person archived the session"]);
}

#[test]
fn an_archived_session_that_is_still_at_work_is_followed() {
    let (mut scenario, _) = at_work();
    scenario.sessions[0].archived = true;
    scenario.tick();
    assert_eq!(scenario.line_facts("default").1, Reason::SessionRunning);
    assert_eq!(scenario.outcomes(), [None]);
}
