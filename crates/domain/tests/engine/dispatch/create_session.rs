//! Tests the whole create call of a turn.

use jiff::SignedDuration;
use phileas_domain::engine::{CreateSession, PullState};
use phileas_domain::model::{Marker, RepositoryName};
use phileas_domain::state::Outcome;

use crate::support::scenario::Scenario;

fn only(scenario: &Scenario) -> &CreateSession {
    let created = scenario.created_sessions();
    assert_eq!(created.len(), 1, "{created:?}");
    created[0]
}

fn text(template: &str) -> String {
    format!("---\nid: a\nemoji: \"🔧\"\n---\n{template}\n")
}

#[test]
fn by_default_a_session_starts_from_the_default_branch_and_opens_a_pull_request() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.tick();
    let turn = scenario.turn("default").turn.clone();
    let line = format!("phileas-turn: {turn}.1 repository=42 track=default seq=1 slot= persona=a");
    let expected = CreateSession {
        track: "default".into(),
        slot: "".into(),
        marker: Marker {
            turn: turn.clone(),
            attempt: 1,
        },
        persona: "a".into(),
        title: format!("🔧 a: default [phileas:{turn}.1]"),
        prompt: format!("Do the work of a.\n\n{line}"),
        source: "acme/widget".parse::<RepositoryName>().unwrap(),
        branch: "main".into(),
        make_branch: None,
        open_pull: true,
        environment_variables: false,
        require_plan_approval: false,
        not_after: scenario.now + SignedDuration::from_mins(2),
    };
    assert_eq!(*only(&scenario), expected);
}

#[test]
fn a_plan_may_keep_changes_in_the_session_and_start_from_another_branch() {
    let plan = "cycle = [\"a\"]\n[defaults]\nautomation = \"none\"\nbranch = \"release\"\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    scenario.tick();
    let create = only(&scenario);
    assert!(!create.open_pull);
    assert_eq!(create.branch, "release".into());
    assert_eq!(create.make_branch, None);
}

#[test]
fn a_prompt_can_name_the_pull_requests_that_are_open() {
    let mut scenario = Scenario::new("cycle = [\"b\", \"b\", \"b\", \"a\"]\n", &["b"]);
    let template = text("{% for pull in open_prs %}#{{ pull.number }}.\n{% endfor %}");
    scenario
        .files
        .insert(".jules/personas/a/prompt.md.j2".to_owned(), template);
    for state in [PullState::Merged, PullState::Closed, PullState::Open] {
        scenario.tick();
        scenario.minutes(5);
        let number = scenario.opens_pull();
        scenario.pulls.get_mut(&number).unwrap().state = state;
        scenario.push();
    }
    scenario.tick();
    let prompt = &only(&scenario).prompt;
    assert!(prompt.starts_with("#3.\n"), "{prompt}");
    assert!(
        !prompt.contains("#1.") && !prompt.contains("#2."),
        "{prompt}"
    );
}

#[test]
fn a_prompt_names_the_outcome_of_the_personas_last_turn() {
    let mut scenario = Scenario::new("cycle = [\"a\", \"b\"]\n", &["b"]);
    scenario
        .files
        .insert(".jules/personas/a/prompt.md.j2".to_owned(), text("Work."));
    scenario.tick();
    assert!(!only(&scenario).prompt.contains("previous turn"));
    scenario.minutes(5);
    let number = scenario.opens_pull();
    scenario.tick();
    let prompt = &only(&scenario).prompt;
    assert!(
        !prompt.contains("previous turn"),
        "it is b's first: {prompt}"
    );
    scenario.merge(number);
    scenario.minutes(5);
    scenario.becomes(phileas_domain::engine::SessionState::Failed);
    scenario.tick();
    assert_eq!(scenario.outcomes()[1], Some(Outcome::Failed));
    let prompt = &only(&scenario).prompt;
    let note = "Your previous turn ended as `merged` (pull request #1).";
    assert!(prompt.contains(note), "{prompt}");
}

#[test]
fn what_was_spent_more_than_a_day_ago_is_forgotten_with_the_next_start() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n[budget]\ndaily_sessions = 9\n", &["a"]);
    // Two clocks may differ by two minutes, so a budget's day is that much longer.
    let gone = scenario.now - SignedDuration::from_mins(24 * 60 + 2);
    let kept = gone + SignedDuration::from_secs(1);
    let mut state = phileas_domain::state::State::default();
    state.budget.created = vec![gone - SignedDuration::from_secs(1), gone, kept];
    scenario.set_state(state);
    scenario.tick();
    assert_eq!(scenario.state().budget.created, [kept, scenario.now]);
}

#[test]
fn a_plan_that_leads_back_begins_a_pass() {
    for (edited, (index, passes)) in [
        // The next step has the index of the last one: the pass continues.
        (["b", "d"], (1, 0)),
        // It has a lower index: a pass begins.
        (["c", "d"], (1, 1)),
    ] {
        let budget = "[budget]\nmax_open_pulls = 9\n";
        let plan = format!("cycle = [\"a\", \"b\", \"c\"]\n{budget}");
        let mut scenario = Scenario::new(&plan, &["a", "b", "c", "d"]);
        for _ in 0..3 {
            scenario.tick();
            scenario.minutes(5);
            if scenario.turn("default").persona_id.as_str() == edited[0] {
                break;
            }
            scenario.opens_pull();
        }
        scenario.files.insert(
            ".jules/schedules.toml".to_owned(),
            format!("cycle = {edited:?}\n{budget}"),
        );
        scenario.opens_pull();
        scenario.tick();
        assert_eq!(scenario.turn("default").persona_id, "d".into());
        let track = &scenario.state().tracks["default"];
        assert_eq!((track.index, track.passes), (Some(index), passes));
    }
}
