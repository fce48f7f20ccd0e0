//! Tests which session a pull request belongs to where the session does not list it, and its target.

use phileas_domain::engine::{Effect, Reason, SessionState};
use phileas_domain::model::PullNumber;
use phileas_domain::state::Outcome;

use crate::support::scenario::Scenario;

/// Whether a pull request of this branch and this description is taken for the session's own. `{}` is the session's id.
fn is_found(branch: &str, body: &str) -> bool {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.tick();
    scenario.minutes(5);
    let number = scenario.opens_pull();
    let session = &mut scenario.sessions[0];
    let id = session.id.to_string();
    session.state = SessionState::InProgress;
    session.pulls.clear();
    let pull = scenario.pulls.get_mut(&number).unwrap();
    pull.head = branch.replace("{}", &id).as_str().into();
    pull.body = body.replace("{}", &id);
    scenario.tick();
    scenario.outcomes() == [Some(Outcome::PrOpen)]
}

#[test]
fn a_branch_with_the_sessions_id_is_its_own() {
    for branch in [
        "jules-{}",
        "feat/ui-{}",
        "jules-{}-0a1b2c3d",
        "jules-{}-ABCDEF09",
    ] {
        assert!(is_found(branch, ""), "{branch}");
    }
    for branch in [
        "work",
        "{}",
        "ui{}",
        "ui-{}0",
        "ui-{}-0a1b2c3d",
        "jules-{}-",
        "jules-{}-0a1b2c3",
        "jules-{}-0a1b2c3d4",
        "jules-{}-0a1b2c3g",
        "jules-{}x-0a1b2c3d",
        "jules-{}.0a1b2c3d",
    ] {
        assert!(!is_found(branch, ""), "{branch}");
    }
}

#[test]
fn a_description_that_links_the_session_is_its_own() {
    for body in [
        "https://jules.google.com/task/{}",
        "See [it](https://jules.google.com/session/{}).",
        "jules.google.com/task/1 and jules.google.com/task/{} both",
    ] {
        assert!(is_found("work", body), "{body}");
    }
    for body in [
        "",
        "{}",
        "task/{}",
        "https://jules.google.com/task/ {}",
        "https://jules.google.com/task/{}0",
        "https://jules.google.com/session/{}a",
        "https://jules.google.com/tasks/{}",
    ] {
        assert!(!is_found("work", body), "{body}");
    }
}

#[test]
fn a_pull_request_that_is_older_than_the_session_is_not_its_own() {
    for (seconds, found) in [(-1, false), (0, true)] {
        let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
        scenario.tick();
        scenario.minutes(5);
        let number = scenario.opens_pull();
        let session = &mut scenario.sessions[0];
        session.state = SessionState::InProgress;
        session.pulls.clear();
        let at = session.created_at + jiff::SignedDuration::from_secs(seconds);
        scenario.pulls.get_mut(&number).unwrap().created_at = at;
        scenario.tick();
        assert_eq!(scenario.outcomes() == [Some(Outcome::PrOpen)], found);
    }
}

/// What a live turn's pull request with this base is pointed at, under this `branch`.
fn pointed(branch: &str, base: Option<&str>) -> Vec<(PullNumber, String)> {
    let plan =
        format!("cycle = [\"a\"]\n[defaults]\nadvance_on = \"merged\"\nbranch = \"{branch}\"\n");
    let mut scenario = Scenario::new(&plan, &["a"]);
    scenario.tick();
    let start = scenario.created_sessions()[0].branch.clone();
    scenario.minutes(5);
    let number = scenario.opens_pull();
    let pull = scenario.pulls.get_mut(&number).unwrap();
    pull.base = base.map_or(start, Into::into);
    scenario.tick();
    assert_eq!(scenario.line_facts("default").1, Reason::PrOpen);
    let moves = scenario.effects.iter().filter_map(|effect| match effect {
        Effect::RetargetPull { pull, base } => Some((*pull, base.to_string())),
        _ => None,
    });
    moves.collect()
}

#[test]
fn a_pull_request_into_a_branch_of_ours_is_pointed_at_the_default_branch() {
    let to_main = [(PullNumber(1), "main".to_owned())];
    assert_eq!(pointed("persona", None), to_main);
    for (branch, base) in [
        ("persona", Some("main")),
        ("persona", Some("develop")),
        ("default", None),
        ("release", None),
        ("release", Some("main")),
    ] {
        assert_eq!(pointed(branch, base), [], "{branch} into {base:?}");
    }
}

/// The same, once its turn has ended and its pull request is followed.
fn pointed_later(base: &str, same_repository: bool) -> usize {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.tick();
    scenario.minutes(5);
    let number = scenario.opens_pull();
    scenario.tick();
    let pull = scenario.pulls.get_mut(&number).unwrap();
    pull.base = base.into();
    pull.same_repository = same_repository;
    scenario.tick();
    let moves = |effect: &&Effect| matches!(effect, Effect::RetargetPull { .. });
    scenario.effects.iter().filter(moves).count()
}

#[test]
fn a_pull_request_that_a_person_pointed_elsewhere_is_left_there() {
    assert_eq!(pointed_later("phileas/default/a-1", true), 1);
    assert_eq!(pointed_later("phileas/default/a-1", false), 0);
    assert_eq!(pointed_later("develop", true), 0);
    assert_eq!(pointed_later("main", true), 0);
}
