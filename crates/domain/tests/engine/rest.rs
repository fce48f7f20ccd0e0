//! A rest that was earned in one track is not ended by another.

use phileas_domain::engine::{Ask, Reason};
use phileas_domain::state::Outcome;

use crate::desk::Desk;

#[test]
fn a_rejected_request_does_not_end_a_rest() {
    let plan = "cycle = [\"a\", \"b\"]\n[defaults]\nskip_unchanged = false\n[budget]\nmax_open_pulls = 20\ndaily_sessions = 20\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.tick();
    desk.minutes(5);
    desk.opens_pull();
    desk.tick();
    desk.minutes(5);
    desk.opens_pull();
    // Nobody took `a`'s last three pieces of work; it rests until the ninth pass, and this is the fifth.
    let mut state = desk.state().clone();
    state.tracks.get_mut("default").unwrap().passes = 5;
    let known = state.personas.entry("a".into()).or_default();
    known.empty_streak = 3;
    known.rests_until_pass = Some(9);
    known.rested_at = Some(desk.now);
    desk.set_state(state);
    desk.tick();
    assert!(desk.reasons("default").contains(&Reason::PersonaResting));
    desk.ask = Ask::Persona("a".into());
    desk.tick();
    desk.ask = Ask::Due;
    desk.minutes(5);
    let asked = desk.opens_pull();
    desk.tick();
    desk.close(asked);
    desk.tick();
    assert_eq!(desk.outcomes().last(), Some(&Some(Outcome::Rejected)));
    let known = &desk.state().personas["a"];
    assert_eq!((known.empty_streak, known.rests_until_pass), (4, Some(9)));
    let runs = |desk: &Desk| desk.personas_run().iter().filter(|id| *id == "a").count();
    let before = runs(&desk);
    let other = desk.sessions.len() - 2;
    desk.opens_pull_of(other);
    desk.minutes(5);
    desk.tick();
    assert!(desk.reasons("default").contains(&Reason::PersonaResting));
    assert_eq!(runs(&desk), before);
}

#[test]
fn a_rest_that_requests_alone_have_earned_lasts_by_days() {
    let plan = "cycle = [\"a\"]\n[defaults]\nskip_unchanged = false\nrest_after = 1\n";
    let mut desk = Desk::new(plan, &["a"]);
    desk.ask = Ask::Persona("a".into());
    desk.tick();
    desk.ask = Ask::Due;
    desk.minutes(5);
    let pull = desk.opens_pull();
    desk.close(pull);
    desk.tick();
    assert_eq!(desk.state().personas["a"].rests_until_pass, None);
    assert!(desk.reasons("default").contains(&Reason::PersonaResting));
    desk.hours(24 * 8);
    desk.tick();
    assert_eq!(desk.sessions.len(), 2);
}

/// A persona in two tracks has its turn in each, though the default branch has not moved.
#[test]
fn what_is_unchanged_is_known_by_track_and_persona() {
    let plan = "[tracks]\none = [\"a\"]\ntwo = [\"a\", \"b\"]\n[schedules]\na = \"0 * * * *\"\n[budget]\nmax_active = 9\n\
                key_active = 9\ndaily_sessions = 99\nkey_daily = 99\nmax_open_pulls = 99\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    for _ in 0..12 {
        desk.tick();
        while let Some(place) = desk.sessions.iter().position(|one| one.pulls.is_empty()) {
            desk.opens_pull_of(place);
            desk.tick();
        }
        desk.minutes(10);
    }
    let mut ran: Vec<(String, String)> = desk
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
