//! Tests many open pull requests: which are checked, and how many sessions are brought back to work.

use phileas_domain::engine::{
    Checks, Effect, FailedCheck, FailedChecks, Mergeable, Reason, SessionState,
};
use phileas_domain::model::PullNumber;

use crate::support::scenario::Scenario;

/// So many pull requests of sessions that are done.
fn many(count: u64) -> Scenario {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n[budget]\nmax_open_pulls = 1\n", &["a"]);
    scenario.tick();
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.tick();
    scenario.minutes(5);
    let mut state = scenario.state().clone();
    for number in 2..=count {
        let mut session = scenario.sessions[0].clone();
        session.id = format!("{number:017}").as_str().into();
        let mut pull = scenario.pulls[&PullNumber(1)].clone();
        pull.number = PullNumber(number);
        session.pulls = vec![pull.number];
        let mut entry = state.history[&0].clone();
        entry.pr_number = Some(pull.number);
        entry.session_id = Some(session.id.clone());
        entry.turn = None;
        state.history.insert(number - 1, entry);
        scenario.pulls.insert(pull.number, pull);
        scenario.sessions.push(session);
    }
    scenario.set_state(state);
    scenario
}

fn notified_pulls(scenario: &Scenario) -> Vec<u64> {
    let all = scenario.effects.iter();
    all.filter_map(|effect| match effect {
        Effect::NotifyPullSession { pull, .. } => Some(pull.0),
        _ => None,
    })
    .collect()
}

fn fails(scenario: &mut Scenario, number: u64) {
    let commit = format!("c{number}");
    let pull = scenario.pulls.get_mut(&PullNumber(number)).unwrap();
    pull.head_oid = commit.as_str().into();
    pull.checks = Checks::Failed;
    let red = FailedChecks {
        failed: vec![FailedCheck::default()],
        ..FailedChecks::default()
    };
    scenario.red.insert(commit.as_str().into(), red);
}

/// A merge that makes eight others conflict does not bring eight sessions back at once.
#[test]
fn no_more_sessions_are_brought_back_than_may_be_live() {
    let mut scenario = many(8);
    for pull in scenario.pulls.values_mut() {
        pull.mergeable = Mergeable::Conflicting;
    }
    scenario.tick();
    assert_eq!(notified_pulls(&scenario), [8, 7]);
    assert!(scenario.all_reasons().contains(&Reason::BudgetActive));
    let looks = scenario.session_reads;
    scenario.minutes(5);
    scenario.tick();
    assert_eq!(
        (notified_pulls(&scenario).len(), scenario.session_reads),
        (0, looks)
    );
    // One has come back with a commit, and makes room.
    let eighth = scenario.pulls.get_mut(&PullNumber(8)).unwrap();
    eighth.head_oid = "fixed".into();
    eighth.mergeable = Mergeable::Yes;
    scenario.tick();
    assert_eq!(notified_pulls(&scenario), [6]);
    // What does not come back makes room some time later.
    scenario.minutes(60);
    scenario.tick();
    assert_eq!(notified_pulls(&scenario), [5, 4]);
}

/// Five that wait for a person do not take every check.
#[test]
fn a_waiting_pull_request_yields_to_the_others() {
    let mut scenario = many(7);
    for number in 2..=7 {
        fails(&mut scenario, number);
        scenario.sessions[number as usize - 1].state = SessionState::AwaitingUserFeedback;
    }
    fails(&mut scenario, 1);
    scenario.tick();
    assert_eq!(
        (notified_pulls(&scenario).len(), scenario.session_reads),
        (0, 5)
    );
    scenario.tick();
    assert_eq!(notified_pulls(&scenario), [1]);
    assert_eq!(scenario.session_reads, 7);
    for _ in 0..4 {
        scenario.minutes(1);
        scenario.tick();
    }
    assert_eq!(scenario.session_reads, 7, "not every tick reads a session");
    let mut looks = Vec::new();
    for _ in 0..24 {
        scenario.hours(1);
        let before = scenario.session_reads;
        scenario.tick();
        scenario.tick();
        looks.push(scenario.session_reads - before);
    }
    // Six each, after hours that grow up to six.
    assert!(looks.iter().sum::<usize>() <= 6 * 8, "{looks:?}");
}

/// A session that waits for a person is checked again when it has pushed.
#[test]
fn a_new_commit_is_checked_at_once() {
    let mut scenario = many(1);
    fails(&mut scenario, 1);
    scenario.sessions[0].state = SessionState::AwaitingUserFeedback;
    for _ in 0..3 {
        scenario.tick();
        scenario.minutes(30);
    }
    scenario.tick();
    assert_eq!(notified_pulls(&scenario).len(), 0);
    scenario.sessions[0].state = SessionState::Completed;
    fails(&mut scenario, 1);
    let pull = scenario.pulls.get_mut(&PullNumber(1)).unwrap();
    pull.head_oid = "next".into();
    let red = scenario.red["c1"].clone();
    scenario.red.insert("next".into(), red);
    scenario.tick();
    assert_eq!(notified_pulls(&scenario), [1]);
}

/// Cancelled checks cost no read at every tick, and open a notice in the end.
#[test]
fn unpassed_checks_of_which_none_failed_open_a_notice_after_a_second_check() {
    let mut scenario = many(1);
    fails(&mut scenario, 1);
    scenario.red.get_mut("c1").unwrap().failed.clear();
    for _ in 0..5 {
        scenario.tick();
        assert_eq!(scenario.notices.len(), 0);
        scenario.minutes(1);
    }
    assert_eq!(scenario.session_reads, 1);
    scenario.tick();
    assert_eq!((scenario.session_reads, scenario.notices.len()), (2, 1));
    assert_eq!(notified_pulls(&scenario).len(), 0);
}
