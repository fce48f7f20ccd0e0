//! What is asked of Jules for a turn, word for word.

use jiff::SignedDuration;
use phileas_domain::engine::{CreateSession, PullState};
use phileas_domain::model::{Marker, RepositoryName};
use phileas_domain::state::Outcome;

use crate::desk::Desk;

fn only(desk: &Desk) -> &CreateSession {
    let created = desk.asked_for();
    assert_eq!(created.len(), 1, "{created:?}");
    created[0]
}

fn text(template: &str) -> String {
    format!("---\nid: a\nemoji: \"🔧\"\n---\n{template}\n")
}

#[test]
fn by_default_a_session_starts_from_the_default_branch_and_opens_a_pull_request() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.tick();
    let turn = desk.turn("default").turn.clone();
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
        not_after: desk.now + SignedDuration::from_mins(2),
    };
    assert_eq!(*only(&desk), expected);
}

#[test]
fn a_plan_may_keep_changes_in_the_session_and_start_from_another_branch() {
    let plan = "cycle = [\"a\"]\n[defaults]\nautomation = \"none\"\nbranch = \"release\"\n";
    let mut desk = Desk::new(plan, &["a"]);
    desk.tick();
    let create = only(&desk);
    assert!(!create.open_pull);
    assert_eq!(create.branch, "release".into());
    assert_eq!(create.make_branch, None);
}

#[test]
fn a_prompt_can_name_the_pull_requests_that_are_open() {
    let mut desk = Desk::new("cycle = [\"b\", \"b\", \"b\", \"a\"]\n", &["b"]);
    let template = text("{% for pull in open_prs %}#{{ pull.number }}.\n{% endfor %}");
    desk.files
        .insert(".jules/personas/a/prompt.md.j2".to_owned(), template);
    for state in [PullState::Merged, PullState::Closed, PullState::Open] {
        desk.tick();
        desk.minutes(5);
        let number = desk.opens_pull();
        desk.pulls.get_mut(&number).unwrap().state = state;
        desk.push();
    }
    desk.tick();
    let prompt = &only(&desk).prompt;
    assert!(prompt.starts_with("#3.\n"), "{prompt}");
    assert!(
        !prompt.contains("#1.") && !prompt.contains("#2."),
        "{prompt}"
    );
}

#[test]
fn a_persona_is_told_how_its_own_last_turn_ended() {
    let mut desk = Desk::new("cycle = [\"a\", \"b\"]\n", &["b"]);
    desk.files
        .insert(".jules/personas/a/prompt.md.j2".to_owned(), text("Work."));
    desk.tick();
    assert!(!only(&desk).prompt.contains("previous turn"));
    desk.minutes(5);
    let number = desk.opens_pull();
    desk.tick();
    let prompt = &only(&desk).prompt;
    assert!(
        !prompt.contains("previous turn"),
        "it is b's first: {prompt}"
    );
    desk.merge(number);
    desk.minutes(5);
    desk.becomes(phileas_domain::engine::SessionState::Failed);
    desk.tick();
    assert_eq!(desk.outcomes()[1], Some(Outcome::Failed));
    let prompt = &only(&desk).prompt;
    let note = "Your previous turn ended as `merged` (pull request #1).";
    assert!(prompt.contains(note), "{prompt}");
}

#[test]
fn what_was_spent_more_than_a_day_ago_is_forgotten_with_the_next_start() {
    let mut desk = Desk::new("cycle = [\"a\"]\n[budget]\ndaily_sessions = 9\n", &["a"]);
    // Two clocks may differ by two minutes, so a budget's day is that much longer.
    let gone = desk.now - SignedDuration::from_mins(24 * 60 + 2);
    let kept = gone + SignedDuration::from_secs(1);
    let mut state = phileas_domain::state::State::default();
    state.budget.created = vec![gone - SignedDuration::from_secs(1), gone, kept];
    desk.set_state(state);
    desk.tick();
    assert_eq!(desk.state().budget.created, [kept, desk.now]);
}

#[test]
fn a_plan_that_leads_back_begins_a_pass() {
    for (edited, (index, passes)) in [
        // The next step stands where the last one stood: the pass goes on.
        (["b", "d"], (1, 0)),
        // It stands before that: a pass begins.
        (["c", "d"], (1, 1)),
    ] {
        let budget = "[budget]\nmax_open_pulls = 9\n";
        let plan = format!("cycle = [\"a\", \"b\", \"c\"]\n{budget}");
        let mut desk = Desk::new(&plan, &["a", "b", "c", "d"]);
        for _ in 0..3 {
            desk.tick();
            desk.minutes(5);
            if desk.turn("default").persona_id.as_str() == edited[0] {
                break;
            }
            desk.opens_pull();
        }
        desk.files.insert(
            ".jules/schedules.toml".to_owned(),
            format!("cycle = {edited:?}\n{budget}"),
        );
        desk.opens_pull();
        desk.tick();
        assert_eq!(desk.turn("default").persona_id, "d".into());
        let track = &desk.state().tracks["default"];
        assert_eq!((track.index, track.passes), (Some(index), passes));
    }
}
