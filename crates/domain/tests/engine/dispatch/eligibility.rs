//! Tests which personas run: broken ones, unscheduled ones, sensitive ones, and the policy of each step.

use phileas_domain::engine::{Reason, RunRequest, Verdict};
use phileas_domain::state::Outcome;

use crate::support::scenario::Scenario;

#[test]
fn a_broken_persona_is_reported_with_its_own_mistake() {
    let mut scenario = Scenario::new(
        "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\nnone = [\"c\"]\n",
        &[],
    );
    for id in ["a", "b"] {
        let text = format!("---\nid: {id}\nemoji: [\n---\nWork.\n");
        let path = format!(".jules/personas/{id}/prompt.md");
        scenario.files.insert(path, text);
    }
    scenario.tick();
    for (track, id) in [("one", "a"), ("two", "b")] {
        let line = scenario.line(track);
        assert_eq!(
            (line.verdict, line.reason),
            (Verdict::Skipped, Reason::PersonaInvalid)
        );
        let file = format!(".jules/personas/{id}/");
        assert!(line.detail.contains(&file), "{}", line.detail);
    }
    assert_eq!(scenario.line("none").detail, "there is no persona `c`");
}

#[test]
fn a_mere_hint_about_a_persona_is_not_why_it_is_missing() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    let mut snapshot = scenario.full_snapshot();
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
fn an_unscheduled_persona_runs_only_on_request() {
    let mut scenario = Scenario::new("cycle = [\"a\", \"b\"]\n", &["b"]);
    scenario.persona("a", "emoji: \"🔧\"\nscheduled: false");
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["b"]);
    assert_eq!(scenario.reasons("default")[0], Reason::PersonaUnscheduled);
    scenario.ask = RunRequest::Persona("a".into());
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["b", "a"]);
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
        let mut scenario = Scenario::new(plan, &[]);
        scenario.persona("a", &format!("emoji: \"🔧\"\n{frontmatter}"));
        scenario.public = public;
        scenario.tick();
        let expected = if runs {
            Reason::DueTrack
        } else {
            Reason::PersonaSensitive
        };
        assert_eq!(
            scenario.reasons("one")[0],
            expected,
            "{plan} {public} {frontmatter}"
        );
        assert_eq!(scenario.sessions.len(), usize::from(runs));
    }
}

const EACH_ITS_OWN: &str =
    "[tracks]\none = [{ persona = \"a\", advance_on = \"merged\" }, \"b\"]\n";

#[test]
fn a_step_is_followed_by_its_own_settings() {
    let mut scenario = Scenario::new(EACH_ITS_OWN, &["a", "b"]);
    scenario.tick();
    scenario.minutes(5);
    let number = scenario.opens_pull();
    scenario.tick();
    assert_eq!(scenario.reasons("one"), [Reason::PrOpen]);
    scenario.merge(number);
    scenario.tick();
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.tick();
    let outcomes = scenario.outcomes();
    assert_eq!(
        outcomes[..2],
        [Some(Outcome::Merged), Some(Outcome::PrOpen)]
    );
}

#[test]
fn a_persona_with_two_steps_in_a_track_is_followed_by_the_step_that_runs() {
    let plan = "[tracks]\none = [\"a\", { persona = \"a\", advance_on = \"merged\" }]\n[defaults]\nskip_unchanged = false\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    scenario.tick();
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::PrOpen));
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.tick();
    assert_eq!(scenario.reasons("one"), [Reason::PrOpen]);
}

#[test]
fn a_step_that_was_moved_while_it_ran_keeps_its_settings() {
    let mut scenario = Scenario::new(EACH_ITS_OWN, &["a", "b"]);
    scenario.tick();
    scenario.minutes(5);
    scenario.opens_pull();
    let moved = "[tracks]\none = [\"b\", { persona = \"a\", advance_on = \"merged\" }]\n";
    scenario
        .files
        .insert(".jules/schedules.toml".to_owned(), moved.to_owned());
    scenario.tick();
    assert_eq!(scenario.reasons("one"), [Reason::PrOpen]);
}

/// The plan may come to name a layer where a persona's turn is under way.
#[test]
fn a_personas_turn_is_followed_also_where_a_layer_takes_its_place_in_the_plan() {
    let mut scenario = Scenario::new("[tracks]\none = [\"a\", \"b\"]\n", &["a", "b"]);
    scenario.tick();
    scenario.files.insert(
        ".jules/schedules.toml".to_owned(),
        "[tracks]\none = [\"layer:observers\", \"b\"]\n".to_owned(),
    );
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::PrOpen));
}
