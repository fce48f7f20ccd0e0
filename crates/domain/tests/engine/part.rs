//! Who takes part: personas that are broken, only on request or sensitive, and what applies to each step.

use phileas_domain::engine::{Ask, Reason, Verdict};
use phileas_domain::state::Outcome;

use crate::desk::Desk;

#[test]
fn a_broken_persona_is_reported_with_its_own_mistake() {
    let mut desk = Desk::new(
        "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\nnone = [\"c\"]\n",
        &[],
    );
    for id in ["a", "b"] {
        let text = format!("---\nid: {id}\nemoji: [\n---\nWork.\n");
        let path = format!(".jules/personas/{id}/prompt.md");
        desk.files.insert(path, text);
    }
    desk.tick();
    for (track, id) in [("one", "a"), ("two", "b")] {
        let line = desk.line(track);
        assert_eq!(
            (line.verdict, line.reason),
            (Verdict::Skipped, Reason::PersonaInvalid)
        );
        let file = format!(".jules/personas/{id}/");
        assert!(line.detail.contains(&file), "{}", line.detail);
    }
    assert_eq!(desk.line("none").detail, "there is no persona `c`");
}

#[test]
fn a_mere_hint_about_a_persona_is_not_why_it_is_missing() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    let mut snapshot = desk.look();
    snapshot.plan.personas.clear();
    let file = ".jules/personas/a/prompt.md";
    snapshot.plan_diagnostics = vec![phileas_domain::Diagnostic::warning(file, "a hint")];
    let decision = phileas_domain::engine::decide(&snapshot, &[]);
    let said: Vec<_> = decision
        .report
        .lines
        .iter()
        .map(|line| line.detail.as_str())
        .collect();
    assert_eq!(said[0], "there is no persona `a`", "{said:?}");
}

#[test]
fn a_persona_that_is_not_scheduled_runs_when_it_is_asked_for_alone() {
    let mut desk = Desk::new("cycle = [\"a\", \"b\"]\n", &["b"]);
    desk.persona("a", "emoji: \"🔧\"\nscheduled: false");
    desk.tick();
    assert_eq!(desk.personas_run(), ["b"]);
    assert_eq!(desk.reasons("default")[0], Reason::PersonaUnscheduled);
    desk.ask = Ask::Persona("a".into());
    desk.tick();
    assert_eq!(desk.personas_run(), ["b", "a"]);
}

#[test]
fn a_sensitive_persona_runs_on_a_public_repository_only_where_it_is_said() {
    let named = "[tracks]\none = [{ persona = \"a\", sensitive = true }]\n";
    for (plan, public, frontmatter, runs) in [
        ("[tracks]\none = [\"a\"]\n", true, "sensitive: true", false),
        ("[tracks]\none = [\"a\"]\n", false, "sensitive: true", true),
        ("[tracks]\none = [\"a\"]\n", true, "sensitive: false", true),
        ("[tracks]\none = [\"a\"]\n", true, "scheduled: true", true),
        (named, true, "sensitive: true", true),
        (named, true, "sensitive: false", true),
    ] {
        let mut desk = Desk::new(plan, &[]);
        desk.persona("a", &format!("emoji: \"🔧\"\n{frontmatter}"));
        desk.public = public;
        desk.tick();
        let expected = if runs {
            Reason::DueTrack
        } else {
            Reason::PersonaSensitive
        };
        assert_eq!(
            desk.reasons("one")[0],
            expected,
            "{plan} {public} {frontmatter}"
        );
        assert_eq!(desk.sessions.len(), usize::from(runs));
    }
}

const EACH_ITS_OWN: &str =
    "[tracks]\none = [{ persona = \"a\", advance_on = \"merged\" }, \"b\"]\n";

#[test]
fn a_step_is_followed_by_its_own_settings() {
    let mut desk = Desk::new(EACH_ITS_OWN, &["a", "b"]);
    desk.tick();
    desk.minutes(5);
    let number = desk.opens_pull();
    desk.tick();
    assert_eq!(desk.reasons("one"), [Reason::PrOpen]);
    desk.merge(number);
    desk.tick();
    desk.minutes(5);
    desk.opens_pull();
    desk.tick();
    let outcomes = desk.outcomes();
    assert_eq!(
        outcomes[..2],
        [Some(Outcome::Merged), Some(Outcome::PrOpen)]
    );
}

#[test]
fn a_persona_that_stands_twice_in_a_track_is_followed_by_the_place_that_runs() {
    let plan = "[tracks]\none = [\"a\", { persona = \"a\", advance_on = \"merged\" }]\n[defaults]\nskip_unchanged = false\n";
    let mut desk = Desk::new(plan, &["a"]);
    desk.tick();
    desk.minutes(5);
    desk.opens_pull();
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::PrOpen));
    desk.minutes(5);
    desk.opens_pull();
    desk.tick();
    assert_eq!(desk.reasons("one"), [Reason::PrOpen]);
}

#[test]
fn a_step_that_was_moved_while_it_ran_keeps_its_settings() {
    let mut desk = Desk::new(EACH_ITS_OWN, &["a", "b"]);
    desk.tick();
    desk.minutes(5);
    desk.opens_pull();
    let moved = "[tracks]\none = [\"b\", { persona = \"a\", advance_on = \"merged\" }]\n";
    desk.files
        .insert(".jules/schedules.toml".to_owned(), moved.to_owned());
    desk.tick();
    assert_eq!(desk.reasons("one"), [Reason::PrOpen]);
}

/// The plan may come to name a layer where a persona's turn is under way.
#[test]
fn a_personas_turn_is_followed_also_where_a_layer_takes_its_place_in_the_plan() {
    let mut desk = Desk::new("[tracks]\none = [\"a\", \"b\"]\n", &["a", "b"]);
    desk.tick();
    desk.files.insert(
        ".jules/schedules.toml".to_owned(),
        "[tracks]\none = [\"layer:observers\", \"b\"]\n".to_owned(),
    );
    desk.minutes(5);
    desk.opens_pull();
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::PrOpen));
}
