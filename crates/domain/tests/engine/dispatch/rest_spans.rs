//! Tests how long a persona rests: to the second, and to the pass.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{PullState, Reason, RunRequest, SessionState, budget_figures};
use phileas_domain::model::{PersonaId, TrackName};
use phileas_domain::state::PersonaState;

use crate::support::persona_yields;
use crate::support::scenario::Scenario;

const DAY: SignedDuration = SignedDuration::from_hours(24);
const SECOND: SignedDuration = SignedDuration::from_secs(1);
/// Without records of work a rest ends with passes and with time.
const TWICE: &str = "cycle = [\"a\"]\n[defaults]\nskip_unchanged = false\nrest_after = 2\n[novelty]\nmode = \"off\"\n";

/// `a` was turned down so often, and rests since now.
fn turned_down(plan: &str, streak: u32, rests_until_pass: Option<u64>) -> Scenario {
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.paused_by_variable = Some("yes".to_owned());
    let mut state = phileas_domain::state::State::default();
    let known = PersonaState {
        no_output_streak: streak,
        rests_until_pass,
        rested_at: Some(scenario.now),
        ..PersonaState::default()
    };
    state.personas.insert("a".into(), known);
    scenario.set_state(state);
    scenario.paused_by_variable = None;
    scenario
}

fn resting_detail(scenario: &Scenario) -> Option<&str> {
    let mut lines = scenario.lines.iter();
    let line = lines.find(|line| line.reason == Reason::PersonaResting);
    line.map(|line| line.detail.as_str())
}

/// It rests until this instant and no longer.
fn rests_until(mut scenario: Scenario, until: Timestamp) {
    scenario.now = until - SECOND;
    scenario.tick();
    let expected = format!("`a`'s last work was not wanted; it rests, at the latest until {until}");
    assert_eq!(resting_detail(&scenario), Some(expected.as_str()));
    assert_eq!(scenario.sessions.len(), 0);
    scenario.now = until;
    scenario.tick();
    assert_eq!(resting_detail(&scenario), None);
    assert_eq!(scenario.personas_run(), ["a"]);
}

#[test]
fn in_a_track_without_passes_a_rest_lasts_a_week_for_each_cycle() {
    for (streak, weeks) in [(2, 1), (3, 2), (4, 3)] {
        let scenario = turned_down(TWICE, streak, Some(100));
        let until = scenario.now + DAY * 7 * weeks;
        rests_until(scenario, until);
    }
}

#[test]
fn on_a_schedule_a_rest_lasts_a_day_for_each_time_whatever_pass_a_track_is_at() {
    let plan = "[schedules]\na = \"*/5 * * * *\"\n[defaults]\nskip_unchanged = false\nrest_after = 2\ncatch_up = \"one\"\n";
    for (streak, days) in [(2, 1), (3, 2), (5, 4)] {
        // An earned pass of a track counts passes of tracks; a schedule has none.
        let mut scenario = turned_down(plan, streak, Some(0));
        scenario.tick();
        let until = scenario.now + DAY * days;
        rests_until(scenario, until);
    }
}

#[test]
fn in_a_track_that_comes_round_a_rest_ends_with_its_pass() {
    for (passes, rests) in [(7, true), (8, true), (9, false)] {
        let mut scenario = turned_down(TWICE, 2, Some(9));
        let mut state = scenario.state().clone();
        let track = state.tracks.entry("default".into()).or_default();
        track.index = Some(0);
        track.persona_id = Some("a".into());
        // The next turn begins a pass.
        track.passes = passes - 1;
        track.seq = 1;
        scenario.set_state(state);
        scenario.tick();
        assert_eq!(
            resting_detail(&scenario).is_some(),
            rests,
            "in pass {passes}"
        );
    }
}

#[test]
fn who_was_turned_down_less_often_than_the_plan_says_does_not_rest() {
    let mut scenario = turned_down(TWICE, 1, None);
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a"]);
    let never = TWICE.replace("rest_after = 2", "rest_after = 0");
    let mut scenario = turned_down(&never, 9, Some(100));
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a"]);
}

/// Closes the pull request of a session of `a`, in a pass of the track; answers with what is known of `a` then.
fn close_one(scenario: &mut Scenario, passes: u64) -> PersonaState {
    scenario.tick();
    scenario.minutes(5);
    let pull = scenario.opens_pull();
    scenario.paused_by_variable = Some("yes".to_owned());
    scenario.tick();
    scenario.close(pull);
    let mut state = scenario.state().clone();
    state.tracks.get_mut("default").unwrap().passes = passes;
    scenario.set_state(state);
    scenario.minutes(5);
    scenario.tick();
    scenario.paused_by_variable = None;
    scenario.state().personas[&PersonaId::from("a")].clone()
}

#[test]
fn each_refusal_beyond_the_first_ones_lengthens_the_rest_by_a_pass() {
    let mut scenario = Scenario::new(TWICE, &["a"]);
    let known = close_one(&mut scenario, 5);
    assert_eq!(
        (
            known.no_output_streak,
            known.rests_until_pass,
            known.rested_at
        ),
        (1, None, None)
    );
    for (streak, passes, until) in [(2, 5, 7), (3, 20, 23), (4, 40, 44)] {
        scenario.pass(DAY * 30);
        let known = close_one(&mut scenario, passes);
        assert_eq!(
            (
                known.no_output_streak,
                known.rests_until_pass,
                known.rested_at
            ),
            (streak, Some(until), Some(scenario.now))
        );
    }
    // A merge ends it all.
    scenario.pass(DAY * 30);
    scenario.tick();
    scenario.minutes(5);
    let pull = scenario.opens_pull();
    scenario.merge(pull);
    scenario.tick();
    let known = &scenario.state().personas[&PersonaId::from("a")];
    assert_eq!(
        (
            known.no_output_streak,
            known.rests_until_pass,
            known.rested_at
        ),
        (0, None, None)
    );
}

#[test]
fn without_a_rest_in_the_plan_refusals_are_counted_and_no_persona_rests() {
    let mut scenario = Scenario::new(&TWICE.replace("rest_after = 2", "rest_after = 0"), &["a"]);
    for streak in 1..3 {
        let known = close_one(&mut scenario, 5);
        assert_eq!(
            (
                known.no_output_streak,
                known.rests_until_pass,
                known.rested_at
            ),
            (streak, None, None)
        );
    }
}

#[test]
fn a_failure_is_not_laid_at_the_personas_door() {
    let mut scenario = Scenario::new(&TWICE.replace("rest_after = 2", "rest_after = 1"), &["a"]);
    scenario.tick();
    scenario.minutes(5);
    scenario.becomes(SessionState::Failed);
    scenario.tick();
    assert_eq!(
        scenario.state().personas[&PersonaId::from("a")].no_output_streak,
        0
    );
    assert_eq!(scenario.personas_run(), ["a", "a"]);
    // An open pull request has no verdict yet, however often it is checked.
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.tick();
    assert_eq!(
        scenario.state().personas[&PersonaId::from("a")].no_output_streak,
        0
    );
}

#[test]
fn a_pull_request_without_a_review_for_two_weeks_counts_as_one_more_refusal() {
    let mut scenario = Scenario::new(TWICE, &["a"]);
    scenario.tick();
    scenario.minutes(5);
    let pull = scenario.opens_pull();
    let opened = scenario.now;
    scenario.paused_by_variable = Some("yes".to_owned());
    scenario.tick();
    let ignored = |scenario: &Scenario| persona_yields(&scenario.snapshot())["a"].ignored;
    scenario.now = opened + DAY * 14 - SECOND;
    assert_eq!(ignored(&scenario), 0);
    scenario.now = opened + DAY * 14;
    assert_eq!(ignored(&scenario), 1);
    scenario.pulls.get_mut(&pull).unwrap().reviewed = true;
    assert_eq!(ignored(&scenario), 0, "a person has looked at it");
    scenario.pulls.get_mut(&pull).unwrap().reviewed = false;
    scenario.pulls.get_mut(&pull).unwrap().state = PullState::Closed;
    assert_eq!(
        ignored(&scenario),
        0,
        "it is closed, though not settled yet"
    );
    scenario.pulls.get_mut(&pull).unwrap().state = PullState::Open;

    let rested_at = scenario.now;
    let resting = |scenario: &mut Scenario, streak| {
        let mut state = scenario.state().clone();
        let known = state.personas.get_mut("a").unwrap();
        known.no_output_streak = streak;
        known.rested_at = Some(rested_at);
        scenario.set_state(state);
        persona_yields(&scenario.snapshot())["a"].resting_until
    };
    assert_eq!(resting(&mut scenario, 0), None, "once is not twice");
    assert_eq!(resting(&mut scenario, 1), Some(rested_at + DAY * 7));
    assert_eq!(resting(&mut scenario, 2), Some(rested_at + DAY * 14));
    let mut state = scenario.state().clone();
    state.history.get_mut(&0).unwrap().outcome = None;
    scenario.set_state(state);
    assert_eq!(resting(&mut scenario, 2), Some(rested_at + DAY * 7));
}

#[test]
fn a_persona_that_runs_in_several_places_rests_until_the_last_of_them() {
    let plan = "[tracks]\none = [{ persona = \"b\", rest_after = 1 }, { persona = \"a\", rest_after = 3 }]\n[schedules.a]\ncron = \"0 9 * * *\"\nrest_after = 1\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.tick();
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["b", "a"]);
    let mut state = scenario.state().clone();
    for (id, streak) in [("a", 3), ("b", 1)] {
        let known = state.personas.entry(id.into()).or_default();
        known.no_output_streak = streak;
        known.rested_at = Some(scenario.now);
    }
    scenario.set_state(state);
    let figures = persona_yields(&scenario.snapshot());
    // One week in the track; three days on the schedule.
    assert_eq!(figures["a"].resting_until, Some(scenario.now + DAY * 7));
    assert_eq!(figures["b"].resting_until, Some(scenario.now + DAY * 7));
    let passes = state_of(&scenario, "one").map(|track| track.passes);
    assert_eq!(passes, Some(0));
    let mut state = scenario.state().clone();
    state.personas.get_mut("a").unwrap().rests_until_pass = Some(0);
    scenario.set_state(state);
    assert_eq!(
        persona_yields(&scenario.snapshot())["a"].resting_until,
        Some(scenario.now + DAY * 3),
        "the track's rest has passed"
    );
}

fn state_of<'a>(
    scenario: &'a Scenario,
    track: &str,
) -> Option<&'a phileas_domain::state::TrackState> {
    scenario.state().tracks.get(&TrackName::from(track))
}

#[test]
fn a_spent_key_is_paused_up_to_its_instant() {
    let mut scenario = turned_down(TWICE, 0, None);
    scenario.ask = RunRequest::Due;
    let until = scenario.now + DAY;
    let mut state = scenario.state().clone();
    state.budget.paused_until = Some(until);
    scenario.set_state(state);
    let paused_until = |scenario: &Scenario| budget_figures(&scenario.snapshot()).paused_until;
    assert_eq!(paused_until(&scenario), Some(until));
    scenario.now = until - SECOND;
    assert_eq!(paused_until(&scenario), Some(until));
    scenario.now = until;
    assert_eq!(paused_until(&scenario), None);
}
