//! Tests that a rest in one track is not ended by another.

use phileas_domain::engine::{Reason, RunRequest};
use phileas_domain::state::Outcome;

use crate::support::scenario::Scenario;

#[test]
fn a_rejected_request_does_not_end_a_rest() {
    let plan = "cycle = [\"a\", \"b\"]\n[defaults]\nskip_unchanged = false\n[budget]\nmax_open_pulls = 20\ndaily_sessions = 20\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.tick();
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.tick();
    scenario.minutes(5);
    scenario.opens_pull();
    // `a`'s last three results were not wanted; it rests until the ninth pass, and this is the fifth.
    let mut state = scenario.state().clone();
    state.tracks.get_mut("default").unwrap().passes = 5;
    let known = state.personas.entry("a".into()).or_default();
    known.no_output_streak = 3;
    known.rests_until_pass = Some(9);
    known.rested_at = Some(scenario.now);
    scenario.set_state(state);
    scenario.tick();
    assert!(
        scenario
            .reasons("default")
            .contains(&Reason::PersonaResting)
    );
    scenario.ask = RunRequest::Persona("a".into());
    scenario.tick();
    scenario.ask = RunRequest::Due;
    scenario.minutes(5);
    let asked = scenario.opens_pull();
    scenario.tick();
    scenario.close(asked);
    scenario.tick();
    assert_eq!(scenario.outcomes().last(), Some(&Some(Outcome::Rejected)));
    let known = &scenario.state().personas["a"];
    assert_eq!(
        (known.no_output_streak, known.rests_until_pass),
        (4, Some(9))
    );
    let runs = |scenario: &Scenario| {
        scenario
            .personas_run()
            .iter()
            .filter(|id| *id == "a")
            .count()
    };
    let before = runs(&scenario);
    let other = scenario.sessions.len() - 2;
    scenario.opens_pull_of(other);
    scenario.minutes(5);
    scenario.tick();
    assert!(
        scenario
            .reasons("default")
            .contains(&Reason::PersonaResting)
    );
    assert_eq!(runs(&scenario), before);
}

#[test]
fn a_rest_that_requests_alone_have_earned_lasts_by_days() {
    let plan = "cycle = [\"a\"]\n[defaults]\nskip_unchanged = false\nrest_after = 1\n[novelty]\nmode = \"off\"\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    scenario.ask = RunRequest::Persona("a".into());
    scenario.tick();
    scenario.ask = RunRequest::Due;
    scenario.minutes(5);
    let pull = scenario.opens_pull();
    scenario.close(pull);
    scenario.tick();
    assert_eq!(scenario.state().personas["a"].rests_until_pass, None);
    assert!(
        scenario
            .reasons("default")
            .contains(&Reason::PersonaResting)
    );
    scenario.hours(24 * 8);
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 2);
}

/// A persona in two tracks has its turn in each, though the default branch has not moved.
#[test]
fn what_is_unchanged_is_known_by_track_and_persona() {
    let plan = "[tracks]\none = [\"a\"]\ntwo = [\"a\", \"b\"]\n[schedules]\na = \"0 * * * *\"\n[budget]\nmax_active = 9\n\
                key_active = 9\ndaily_sessions = 99\nkey_daily = 99\nmax_open_pulls = 99\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    for _ in 0..12 {
        scenario.tick();
        while let Some(place) = scenario
            .sessions
            .iter()
            .position(|one| one.pulls.is_empty())
        {
            scenario.opens_pull_of(place);
            scenario.tick();
        }
        scenario.minutes(10);
    }
    let mut ran: Vec<(String, String)> = scenario
        .state()
        .history
        .values()
        .map(|entry| (entry.track_name().to_string(), entry.persona_id.to_string()))
        .collect();
    ran.sort();
    let expected = [
        ("one", "a"),
        ("schedule:a", "a"),
        ("two", "a"),
        ("two", "b"),
    ];
    let expected = expected.map(|(track, persona)| (track.to_owned(), persona.to_owned()));
    assert_eq!(ran, expected);
}
