//! Tests that a persona whose work is not wanted rests until what it works on has changed.

use phileas_domain::engine::{PullFile, Reason, RunRequest};
use phileas_domain::model::{PersonaId, PullNumber};
use phileas_domain::state::{Outcome, PersonaState};

use crate::support::persona_yields;
use crate::support::scenario::Scenario;
use crate::support::subjects::new_file;

const PLAN: &str = "cycle = [\"a\"]\n[defaults]\nskip_unchanged = false\nrest_after = 2\n[budget]\nmax_open_pulls = 9\ndaily_sessions = 50\n";

/// The next session opens a pull request with these files, and a person closes it.
fn is_refused(scenario: &mut Scenario, files: Vec<PullFile>) -> PullNumber {
    scenario.tick();
    scenario.minutes(5);
    let number = scenario.opens_pull();
    scenario.pull_files.insert(number, files);
    // Nothing else starts before its end is recorded.
    scenario.paused_by_variable = Some("yes".to_owned());
    scenario.tick();
    scenario.close(number);
    scenario.tick();
    scenario.tick();
    scenario.paused_by_variable = None;
    scenario.minutes(1);
    number
}

fn turned_down(plan: &str) -> Scenario {
    let mut scenario = Scenario::new(plan, &["a"]);
    scenario.writer("ada");
    for lines in [12, 3] {
        is_refused(&mut scenario, vec![new_file("src/render.rs", lines)]);
    }
    scenario
}

fn known(scenario: &Scenario) -> &PersonaState {
    &scenario.state().personas[&PersonaId::from("a")]
}

fn rests(scenario: &mut Scenario) -> bool {
    let before = scenario.sessions.len();
    scenario.tick();
    let is_resting = scenario.all_reasons().contains(&Reason::PersonaResting);
    assert_eq!(is_resting, scenario.sessions.len() == before);
    is_resting
}

fn detail(scenario: &Scenario) -> &str {
    let mut lines = scenario.lines.iter();
    let line = lines.find(|line| line.reason == Reason::PersonaResting);
    &line.unwrap().detail
}

#[test]
fn it_rests_until_one_of_its_files_changes_and_not_for_another() {
    let mut scenario = turned_down(PLAN);
    let until = scenario.now + jiff::SignedDuration::from_hours(180 * 24);
    assert!(rests(&mut scenario));
    assert!(
        detail(&scenario).contains("it rests until `src/render.rs` changes on the default branch"),
        "{}",
        detail(&scenario)
    );
    let figures = persona_yields(&scenario.snapshot());
    assert_eq!(figures["a"].resting_for, ["src/render.rs"]);
    let latest = figures["a"].resting_until.unwrap();
    assert!(latest < until && latest > until - jiff::SignedDuration::from_hours(1));
    // Neither time nor passes end it.
    scenario.hours(90 * 24);
    let mut state = scenario.state().clone();
    state.tracks.get_mut("default").unwrap().passes = 1000;
    scenario.set_state(state);
    assert!(rests(&mut scenario));
    assert_eq!(scenario.spans_read, 0, "the branch has not moved");

    scenario.touched = vec!["src/count.rs".to_owned(), "docs/render.rs".to_owned()];
    scenario.push();
    for _ in 0..3 {
        assert!(rests(&mut scenario));
    }
    assert_eq!(scenario.spans_read, 1, "each commit is compared once");

    scenario.touched = vec!["src/render.rs".to_owned()];
    scenario.push();
    assert!(!rests(&mut scenario));
    assert_eq!(scenario.spans_read, 2);
    let known = known(&scenario);
    assert!(known.rests_for.is_empty() && known.rests_since.is_none());
    assert_eq!((known.rested_at, known.no_output_streak), (None, 2));
}

#[test]
fn repeated_work_counts_as_refused_work_does() {
    let mut scenario = Scenario::new(PLAN, &["a"]);
    scenario.tick();
    scenario.minutes(5);
    let first = scenario.opens_pull();
    let change = || vec![new_file("src/render.rs", 12)];
    scenario.pull_files.insert(first, change());
    is_refused(&mut scenario, change());
    assert!(known(&scenario).rests_for.is_empty());
    is_refused(&mut scenario, change());
    let outcomes = scenario.outcomes();
    assert_eq!(outcomes[1..], [const { Some(Outcome::Repeated) }; 2]);
    assert!(rests(&mut scenario));
    assert_eq!(known(&scenario).rests_for, ["src/render.rs"]);
}

#[test]
fn work_that_changes_nothing_names_no_file_so_that_rest_ends_with_time() {
    let mut scenario = Scenario::new(PLAN, &["a"]);
    for _ in 0..2 {
        is_refused(&mut scenario, vec![]);
    }
    assert_eq!(scenario.outcomes(), [const { Some(Outcome::NoOp) }; 2]);
    assert!(rests(&mut scenario));
    assert!(known(&scenario).rests_for.is_empty());
    scenario.push();
    assert!(rests(&mut scenario));
    assert_eq!(scenario.spans_read, 0);
    scenario.hours(8 * 24);
    assert!(!rests(&mut scenario));
}

#[test]
fn a_further_refusal_begins_another_rest_from_the_commit_of_its_end() {
    let mut scenario = turned_down(PLAN);
    scenario.touched = vec!["src/render.rs".to_owned()];
    scenario.push();
    assert!(!rests(&mut scenario));
    scenario.minutes(5);
    let third = scenario.opens_pull();
    scenario
        .pull_files
        .insert(third, vec![new_file("src/count.rs", 5)]);
    scenario.paused_by_variable = Some("yes".to_owned());
    scenario.tick();
    scenario.push();
    scenario.close(third);
    scenario.tick();
    scenario.paused_by_variable = None;
    assert_eq!(
        known(&scenario).rests_for,
        ["src/count.rs", "src/render.rs"]
    );
    assert!(rests(&mut scenario), "that push came before");
    scenario.touched = vec!["src/count.rs".to_owned()];
    scenario.push();
    assert!(!rests(&mut scenario));
}

#[test]
fn a_person_who_asks_gets_a_session_and_its_merge_ends_the_rest() {
    let mut scenario = turned_down(PLAN);
    assert!(rests(&mut scenario));
    scenario.ask = RunRequest::Persona("a".into());
    scenario.tick();
    scenario.ask = RunRequest::Due;
    assert_eq!(scenario.sessions.len(), 3);
    scenario.minutes(5);
    let wanted = scenario.opens_pull();
    scenario.tick();
    assert!(rests(&mut scenario), "only that session was asked for");
    scenario.merge(wanted);
    scenario.tick();
    assert!(known(&scenario).rests_for.is_empty());
    assert_eq!(scenario.sessions.len(), 4);
}

#[test]
fn it_ends_where_github_cannot_tell_what_has_changed() {
    for (commits_exist, files_cut) in [(false, false), (true, true)] {
        let mut scenario = turned_down(PLAN);
        scenario.touched = vec!["src/count.rs".to_owned()];
        scenario.commits_exist = commits_exist;
        scenario.files_cut = files_cut;
        assert!(rests(&mut scenario));
        scenario.push();
        assert!(!rests(&mut scenario), "{commits_exist} {files_cut}");
    }
}

#[test]
fn it_ends_when_its_work_is_remembered_no_longer() {
    let plan = format!("{PLAN}[novelty]\nremember_refusals = \"30d\"\n");
    let mut scenario = turned_down(&plan);
    scenario.hours(29 * 24);
    assert!(rests(&mut scenario));
    scenario.hours(2 * 24);
    assert!(!rests(&mut scenario));
}

#[test]
fn without_records_it_ends_with_time() {
    let plan = format!("{PLAN}[novelty]\nmode = \"off\"\n");
    let mut scenario = turned_down(&plan);
    assert!(rests(&mut scenario));
    scenario.push();
    assert!(rests(&mut scenario));
    assert_eq!(scenario.spans_read, 0);
    scenario.hours(8 * 24);
    assert!(!rests(&mut scenario));
}

#[test]
fn commits_are_compared_only_when_a_turn_is_due() {
    let plan = PLAN.replace("cycle = [\"a\"]", "[schedules]\na = \"0 9 * * *\"");
    let mut scenario = Scenario::new(&plan, &["a"]);
    for lines in [12, 3] {
        scenario.tick();
        scenario.hours(24);
        is_refused(&mut scenario, vec![new_file("src/render.rs", lines)]);
    }
    scenario.touched = vec!["src/render.rs".to_owned()];
    scenario.push();
    scenario.tick();
    assert!(!scenario.all_reasons().contains(&Reason::PersonaResting));
    assert_eq!((scenario.spans_read, scenario.sessions.len()), (0, 2));
    scenario.hours(24);
    assert!(!rests(&mut scenario));
    assert_eq!(scenario.spans_read, 1);
}
