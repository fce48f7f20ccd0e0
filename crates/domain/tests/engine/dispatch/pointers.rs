//! Tests where a track's pointer leads after its plan was edited.

use phileas_domain::engine::{Reason, RunRequest, Verdict, next_step, set_next_step};
use phileas_domain::plan;
use phileas_domain::state::{TrackState, Turn};

use crate::support::scenario::Scenario;

fn track(steps: &str) -> plan::Track {
    let scenario = Scenario::new(&format!("cycle = [{steps}]\n"), &[]);
    let track = scenario.snapshot().plan.tracks.remove("default");
    track.unwrap()
}

fn after(persona: Option<&str>, index: Option<u64>) -> TrackState {
    TrackState {
        persona_id: persona.map(Into::into),
        index,
        ..TrackState::default()
    }
}

#[test]
fn the_next_step_follows_the_one_that_ran_last() {
    for (steps, persona, index, expected) in [
        // As it was.
        (r#""a", "b", "c""#, None, None, 0),
        (r#""a", "b", "c""#, Some("a"), Some(0), 1),
        (r#""a", "b", "c""#, Some("b"), Some(1), 2),
        (r#""a", "b", "c""#, Some("c"), Some(2), 0),
        (r#""a", "b", "a", "c""#, Some("a"), Some(2), 3),
        // Moved: the persona counts.
        (r#""c", "x", "a", "b""#, Some("a"), Some(0), 3),
        // Moved, with two steps: the first one counts.
        (r#""x", "a", "b", "a", "c""#, Some("a"), Some(4), 2),
        // Removed: the step at its index, or the first one.
        (r#""a", "c", "d""#, Some("b"), Some(1), 1),
        (r#""a", "c""#, Some("b"), Some(0), 0),
        (r#""a", "c""#, Some("b"), Some(7), 0),
        (r#""a", "c""#, Some("b"), None, 0),
        // A step of a layer ran last: its index alone counts, as far as the track reaches.
        (r#""a", "b", "c""#, None, Some(0), 1),
        (r#""a", "b", "c""#, None, Some(1), 2),
        (r#""a", "b", "c""#, None, Some(2), 0),
        (r#""a", "b", "c""#, None, Some(9), 0),
        // An older program knew personas only.
        (r#""a", "b", "c""#, Some("b"), None, 2),
    ] {
        let next = next_step(&track(steps), &after(persona, index));
        assert_eq!(
            next,
            Some(expected),
            "after {persona:?} at {index:?} of {steps}"
        );
    }
}

#[test]
fn a_track_without_steps_has_no_next_one() {
    let mut empty = track("\"a\"");
    empty.steps.clear();
    assert_eq!(next_step(&empty, &after(Some("a"), Some(0))), None);
    let error = set_next_step(&empty, &mut after(None, None), 0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the track has 0 steps, from 0 to 0; there is no 0"
    );
}

#[test]
fn setting_the_pointer_forgets_who_ran_before_unless_it_is_there_already() {
    let track = track(r#""a", "layer:planner", "c""#);
    let ran = TrackState {
        session_id: Some("77".into()),
        pr_number: Some(phileas_domain::model::PullNumber(7)),
        seq: 9,
        passes: 2,
        ..after(Some("a"), Some(0))
    };
    let mut state = ran.clone();
    set_next_step(&track, &mut state, 1).unwrap();
    assert_eq!(state, ran, "it was the next one already");
    for (from, index, persona, last) in [
        (("c", 2), 2, None, Some(1)),
        (("c", 2), 1, Some("a"), Some(0)),
        (("a", 0), 0, None, None),
    ] {
        let mut state = TrackState {
            persona_id: Some(from.0.into()),
            index: Some(from.1),
            ..ran.clone()
        };
        set_next_step(&track, &mut state, index).unwrap();
        let expected = TrackState {
            session_id: None,
            pr_number: None,
            ..TrackState {
                persona_id: persona.map(Into::into),
                index: last,
                ..ran.clone()
            }
        };
        assert_eq!(state, expected, "to {index}");
        assert_eq!(next_step(&track, &state), Some(index));
    }
}

#[test]
fn a_refused_pointer_change_names_the_live_turn_and_its_session() {
    let track = track("\"a\", \"b\"");
    let mut state = TrackState::default();
    let id = phileas_domain::model::TurnId::parse("0123456789ab").unwrap();
    let mut turn = Turn::new(id, "b".into());
    for (session, text) in [
        (None, "a turn of `b` is under way; wait"),
        (Some("77"), "a turn of `b` is under way (session 77); wait"),
    ] {
        turn.session_id = session.map(Into::into);
        state.turns.insert("".into(), turn.clone());
        let error = set_next_step(&track, &mut state, 1)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(text), "{error}");
    }
}

#[test]
fn passes_are_counted_each_time_the_pointer_comes_round() {
    let plan = "cycle = [\"a\", \"b\", \"c\"]\n[defaults]\nskip_unchanged = false\n[budget]\ndaily_sessions = 50\nkey_daily = 90\nmax_open_pulls = 50\n";
    let mut scenario = Scenario::new(plan, &["a", "b", "c"]);
    let mut seen = Vec::new();
    for _ in 0..8 {
        scenario.tick();
        let track = &scenario.state().tracks["default"];
        seen.push((track.passes, track.index.unwrap()));
        scenario.minutes(10);
        scenario.opens_pull();
    }
    let expected = [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 0),
        (1, 1),
        (1, 2),
        (2, 0),
        (2, 1),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_requested_track_runs_alone_and_an_unknown_one_is_refused() {
    let plan = "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.ask = RunRequest::Track("two".into());
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["b"]);
    assert_eq!(scenario.reasons("one"), []);
    assert!(
        !scenario.all_reasons().contains(&Reason::Unknown),
        "{:?}",
        scenario.lines
    );
    scenario.ask = RunRequest::Track("three".into());
    scenario.tick();
    let line = scenario
        .lines
        .iter()
        .find(|line| line.track == Some("three".into()));
    let said = line.map(|line| (line.verdict, line.reason, line.detail.as_str()));
    let expected = (
        Verdict::Refused,
        Reason::Unknown,
        "there is no track `three`",
    );
    assert_eq!(said, Some(expected));
    assert_eq!(scenario.sessions.len(), 1);
}

/// Gives `a` a prompt that names something undefined.
fn break_prompt(scenario: &mut Scenario) {
    let folder = ".jules/personas/a";
    scenario.files.remove(&format!("{folder}/prompt.md"));
    let text = "---\nid: a\nemoji: \"🔧\"\n---\n{{ undefined_value }}\n".to_owned();
    scenario
        .files
        .insert(format!("{folder}/prompt.md.j2"), text);
}

#[test]
fn a_requested_track_skips_a_prompt_that_cannot_be_rendered() {
    let plan = "[tracks.night]\nsteps = [\"a\", \"b\"]\nstart = \"0 3 * * *\"\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    break_prompt(&mut scenario);
    scenario.tick();
    assert_eq!(scenario.reasons("night"), [Reason::NotDue]);
    scenario.ask = RunRequest::Track("night".into());
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["b"]);
    // A request for one persona starts no other.
    let mut scenario = Scenario::new("cycle = [\"a\", \"b\"]\n", &["a", "b"]);
    break_prompt(&mut scenario);
    scenario.ask = RunRequest::Persona("a".into());
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 0);
}

/// The rest of a pass could not run, and can again when the next start has come.
#[test]
fn a_pass_begins_at_its_first_step_also_after_one_that_stopped_in_the_middle() {
    let plan = "[tracks.night]\nsteps = [\"a\", \"b\", \"c\"]\nstart = \"0 3 * * *\"\n[defaults]\nskip_unchanged = false\n\
                rest_after = 0\n[budget]\nmax_open_pulls = 99\n";
    let mut scenario = Scenario::new(plan, &["a", "b", "c"]);
    let prompts = |id: &str| format!(".jules/personas/{id}/prompt.md");
    let whole = scenario.files.clone();
    let turn = |scenario: &mut Scenario| {
        scenario.tick();
        if scenario
            .sessions
            .last()
            .is_some_and(|one| one.pulls.is_empty())
        {
            scenario.opens_pull();
        }
        scenario.tick();
    };
    scenario.tick();
    scenario.files.remove(&prompts("b"));
    scenario.files.remove(&prompts("c"));
    scenario.hours(3);
    for _ in 0..4 {
        turn(&mut scenario);
        scenario.minutes(10);
    }
    assert_eq!(scenario.personas_run(), ["a"]);
    scenario.now = "2026-01-06T03:00:00Z".parse().unwrap();
    scenario.files = whole;
    for _ in 0..6 {
        turn(&mut scenario);
        scenario.minutes(10);
    }
    assert_eq!(scenario.personas_run(), ["a", "a", "b", "c"]);
}

/// Only the day's budget blocks it: the pass continues, however many starts come meanwhile.
#[test]
fn a_pass_that_waits_for_the_budget_goes_on_where_it_stopped() {
    let plan = "[tracks.night]\nsteps = [\"a\", \"b\", \"c\"]\nstart = \"0 3 * * *\"\n[defaults]\nskip_unchanged = false\n\
                rest_after = 0\n[budget]\nmax_open_pulls = 99\ndaily_sessions = 1\n";
    let mut scenario = Scenario::new(plan, &["a", "b", "c"]);
    for _ in 0..5 * 24 {
        scenario.tick();
        if scenario
            .sessions
            .last()
            .is_some_and(|one| one.pulls.is_empty())
        {
            scenario.opens_pull();
            scenario.tick();
        }
        scenario.hours(1);
    }
    assert_eq!(scenario.personas_run(), ["a", "b", "c", "a", "b"]);
}
