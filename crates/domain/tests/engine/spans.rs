//! How long a persona rests whose work nobody takes: to the second, and to the pass.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{Ask, PullState, Reason, SessionState, budget_figures, yields};
use phileas_domain::model::{PersonaId, TrackName};
use phileas_domain::state::PersonaState;

use crate::desk::Desk;

const DAY: SignedDuration = SignedDuration::from_hours(24);
const SECOND: SignedDuration = SignedDuration::from_secs(1);
const TWICE: &str = "cycle = [\"a\"]\n[defaults]\nskip_unchanged = false\nrest_after = 2\n";

/// `a` was turned down so often, and rests since now.
fn turned_down(plan: &str, streak: u32, rests_until_pass: Option<u64>) -> Desk {
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.paused_by_variable = Some("yes".to_owned());
    let mut state = phileas_domain::state::State::default();
    let known = PersonaState {
        empty_streak: streak,
        rests_until_pass,
        rested_at: Some(desk.now),
        ..PersonaState::default()
    };
    state.personas.insert("a".into(), known);
    desk.set_state(state);
    desk.paused_by_variable = None;
    desk
}

fn said(desk: &Desk) -> Option<&str> {
    let mut lines = desk.lines.iter();
    let line = lines.find(|line| line.reason == Reason::PersonaResting);
    line.map(|line| line.detail.as_str())
}

/// It rests until this instant and no longer.
fn rests_until(mut desk: Desk, until: Timestamp) {
    desk.now = until - SECOND;
    desk.tick();
    let expected = format!("nobody took `a`'s last work; it rests, at the latest until {until}");
    assert_eq!(said(&desk), Some(expected.as_str()));
    assert_eq!(desk.sessions.len(), 0);
    desk.now = until;
    desk.tick();
    assert_eq!(said(&desk), None);
    assert_eq!(desk.personas_run(), ["a"]);
}

#[test]
fn in_a_track_that_stands_still_a_rest_lasts_a_week_for_each_time() {
    for (streak, weeks) in [(2, 1), (3, 2), (4, 3)] {
        let desk = turned_down(TWICE, streak, Some(100));
        let until = desk.now + DAY * 7 * weeks;
        rests_until(desk, until);
    }
}

#[test]
fn on_a_schedule_a_rest_lasts_a_day_for_each_time_whatever_pass_a_track_is_at() {
    let plan = "[schedules]\na = \"*/5 * * * *\"\n[defaults]\nskip_unchanged = false\nrest_after = 2\ncatch_up = \"one\"\n";
    for (streak, days) in [(2, 1), (3, 2), (5, 4)] {
        // An earned pass of a track counts passes of tracks; a schedule has none.
        let mut desk = turned_down(plan, streak, Some(0));
        desk.tick();
        let until = desk.now + DAY * days;
        rests_until(desk, until);
    }
}

#[test]
fn in_a_track_that_comes_round_a_rest_ends_with_its_pass() {
    for (passes, rests) in [(7, true), (8, true), (9, false)] {
        let mut desk = turned_down(TWICE, 2, Some(9));
        let mut state = desk.state().clone();
        let track = state.tracks.entry("default".into()).or_default();
        track.index = Some(0);
        track.persona_id = Some("a".into());
        // The next turn begins a pass.
        track.passes = passes - 1;
        track.seq = 1;
        desk.set_state(state);
        desk.tick();
        assert_eq!(said(&desk).is_some(), rests, "in pass {passes}");
    }
}

#[test]
fn who_was_turned_down_less_often_than_the_plan_says_does_not_rest() {
    let mut desk = turned_down(TWICE, 1, None);
    desk.tick();
    assert_eq!(desk.personas_run(), ["a"]);
    let never = TWICE.replace("rest_after = 2", "rest_after = 0");
    let mut desk = turned_down(&never, 9, Some(100));
    desk.tick();
    assert_eq!(desk.personas_run(), ["a"]);
}

/// Closes the pull request of a session of `a`, in a pass of the track; answers with what is known of `a` then.
fn close_one(desk: &mut Desk, passes: u64) -> PersonaState {
    desk.tick();
    desk.minutes(5);
    let pull = desk.opens_pull();
    desk.paused_by_variable = Some("yes".to_owned());
    desk.tick();
    desk.close(pull);
    let mut state = desk.state().clone();
    state.tracks.get_mut("default").unwrap().passes = passes;
    desk.set_state(state);
    desk.minutes(5);
    desk.tick();
    desk.paused_by_variable = None;
    desk.state().personas[&PersonaId::from("a")].clone()
}

#[test]
fn each_refusal_beyond_the_first_ones_lengthens_the_rest_by_a_pass() {
    let mut desk = Desk::new(TWICE, &["a"]);
    let known = close_one(&mut desk, 5);
    assert_eq!(
        (known.empty_streak, known.rests_until_pass, known.rested_at),
        (1, None, None)
    );
    for (streak, passes, until) in [(2, 5, 7), (3, 20, 23), (4, 40, 44)] {
        desk.pass(DAY * 30);
        let known = close_one(&mut desk, passes);
        assert_eq!(
            (known.empty_streak, known.rests_until_pass, known.rested_at),
            (streak, Some(until), Some(desk.now))
        );
    }
    // A merge ends it all.
    desk.pass(DAY * 30);
    desk.tick();
    desk.minutes(5);
    let pull = desk.opens_pull();
    desk.merge(pull);
    desk.tick();
    let known = &desk.state().personas[&PersonaId::from("a")];
    assert_eq!(
        (known.empty_streak, known.rests_until_pass, known.rested_at),
        (0, None, None)
    );
}

#[test]
fn without_a_rest_in_the_plan_refusals_are_counted_and_nobody_rests() {
    let mut desk = Desk::new(&TWICE.replace("rest_after = 2", "rest_after = 0"), &["a"]);
    for streak in 1..3 {
        let known = close_one(&mut desk, 5);
        assert_eq!(
            (known.empty_streak, known.rests_until_pass, known.rested_at),
            (streak, None, None)
        );
    }
}

#[test]
fn a_failure_is_not_laid_at_the_personas_door() {
    let mut desk = Desk::new(&TWICE.replace("rest_after = 2", "rest_after = 1"), &["a"]);
    desk.tick();
    desk.minutes(5);
    desk.becomes(SessionState::Failed);
    desk.tick();
    assert_eq!(desk.state().personas[&PersonaId::from("a")].empty_streak, 0);
    assert_eq!(desk.personas_run(), ["a", "a"]);
    // An open pull request is nobody's verdict yet, however often it is looked at.
    desk.minutes(5);
    desk.opens_pull();
    desk.tick();
    assert_eq!(desk.state().personas[&PersonaId::from("a")].empty_streak, 0);
}

#[test]
fn a_pull_request_that_nobody_looks_at_for_two_weeks_counts_as_one_more_refusal() {
    let mut desk = Desk::new(TWICE, &["a"]);
    desk.tick();
    desk.minutes(5);
    let pull = desk.opens_pull();
    let opened = desk.now;
    desk.paused_by_variable = Some("yes".to_owned());
    desk.tick();
    let ignored = |desk: &Desk| yields(&desk.snapshot())["a"].ignored;
    desk.now = opened + DAY * 14 - SECOND;
    assert_eq!(ignored(&desk), 0);
    desk.now = opened + DAY * 14;
    assert_eq!(ignored(&desk), 1);
    desk.pulls.get_mut(&pull).unwrap().reviewed = true;
    assert_eq!(ignored(&desk), 0, "somebody has looked at it");
    desk.pulls.get_mut(&pull).unwrap().reviewed = false;
    desk.pulls.get_mut(&pull).unwrap().state = PullState::Closed;
    assert_eq!(ignored(&desk), 0, "it is closed, though not settled yet");
    desk.pulls.get_mut(&pull).unwrap().state = PullState::Open;

    let rested_at = desk.now;
    let resting = |desk: &mut Desk, streak| {
        let mut state = desk.state().clone();
        let known = state.personas.get_mut("a").unwrap();
        known.empty_streak = streak;
        known.rested_at = Some(rested_at);
        desk.set_state(state);
        yields(&desk.snapshot())["a"].resting_until
    };
    assert_eq!(resting(&mut desk, 0), None, "once is not twice");
    assert_eq!(resting(&mut desk, 1), Some(rested_at + DAY * 7));
    assert_eq!(resting(&mut desk, 2), Some(rested_at + DAY * 14));
    let mut state = desk.state().clone();
    state.history.get_mut(&0).unwrap().outcome = None;
    desk.set_state(state);
    assert_eq!(resting(&mut desk, 2), Some(rested_at + DAY * 7));
}

#[test]
fn a_persona_that_runs_in_several_places_rests_until_the_last_of_them() {
    let plan = "[tracks]\none = [{ persona = \"b\", rest_after = 1 }, { persona = \"a\", rest_after = 3 }]\n[schedules.a]\ncron = \"0 9 * * *\"\nrest_after = 1\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.tick();
    desk.minutes(5);
    desk.opens_pull();
    desk.tick();
    assert_eq!(desk.personas_run(), ["b", "a"]);
    let mut state = desk.state().clone();
    for (id, streak) in [("a", 3), ("b", 1)] {
        let known = state.personas.entry(id.into()).or_default();
        known.empty_streak = streak;
        known.rested_at = Some(desk.now);
    }
    desk.set_state(state);
    let figures = yields(&desk.snapshot());
    // One week in the track; three days on the schedule.
    assert_eq!(figures["a"].resting_until, Some(desk.now + DAY * 7));
    assert_eq!(figures["b"].resting_until, Some(desk.now + DAY * 7));
    let passes = state_of(&desk, "one").map(|track| track.passes);
    assert_eq!(passes, Some(0));
    let mut state = desk.state().clone();
    state.personas.get_mut("a").unwrap().rests_until_pass = Some(0);
    desk.set_state(state);
    assert_eq!(
        yields(&desk.snapshot())["a"].resting_until,
        Some(desk.now + DAY * 3),
        "the track's rest has passed"
    );
}

fn state_of<'a>(desk: &'a Desk, track: &str) -> Option<&'a phileas_domain::state::TrackState> {
    desk.state().tracks.get(&TrackName::from(track))
}

#[test]
fn a_spent_key_is_paused_up_to_its_instant() {
    let mut desk = turned_down(TWICE, 0, None);
    desk.ask = Ask::Due;
    let until = desk.now + DAY;
    let mut state = desk.state().clone();
    state.budget.paused_until = Some(until);
    desk.set_state(state);
    let paused_until = |desk: &Desk| budget_figures(&desk.snapshot()).paused_until;
    assert_eq!(paused_until(&desk), Some(until));
    desk.now = until - SECOND;
    assert_eq!(paused_until(&desk), Some(until));
    desk.now = until;
    assert_eq!(paused_until(&desk), None);
}
