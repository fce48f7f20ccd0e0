//! Many open pull requests at once: whose turn it is to be looked at, and how many sessions are brought back to work.

use phileas_domain::engine::{
    Checks, Effect, FailedCheck, Mergeable, Reason, RedChecks, SessionState,
};
use phileas_domain::model::PullNumber;

use crate::desk::Desk;

/// So many pull requests of sessions that are done.
fn many(count: u64) -> Desk {
    let mut desk = Desk::new("cycle = [\"a\"]\n[budget]\nmax_open_pulls = 1\n", &["a"]);
    desk.tick();
    desk.minutes(5);
    desk.opens_pull();
    desk.tick();
    desk.minutes(5);
    let mut state = desk.state().clone();
    for number in 2..=count {
        let mut session = desk.sessions[0].clone();
        session.id = format!("{number:017}").as_str().into();
        let mut pull = desk.pulls[&PullNumber(1)].clone();
        pull.number = PullNumber(number);
        session.pulls = vec![pull.number];
        let mut entry = state.history[&0].clone();
        entry.pr_number = Some(pull.number);
        entry.session_id = Some(session.id.clone());
        entry.turn = None;
        state.history.insert(number - 1, entry);
        desk.pulls.insert(pull.number, pull);
        desk.sessions.push(session);
    }
    desk.set_state(state);
    desk
}

fn told(desk: &Desk) -> Vec<u64> {
    let all = desk.effects.iter();
    all.filter_map(|effect| match effect {
        Effect::TellPull { pull, .. } => Some(pull.0),
        _ => None,
    })
    .collect()
}

fn fails(desk: &mut Desk, number: u64) {
    let commit = format!("c{number}");
    let pull = desk.pulls.get_mut(&PullNumber(number)).unwrap();
    pull.head_oid = commit.as_str().into();
    pull.checks = Checks::Red;
    let red = RedChecks {
        failed: vec![FailedCheck::default()],
        ..RedChecks::default()
    };
    desk.red.insert(commit.as_str().into(), red);
}

/// A merge that makes eight others conflict does not bring eight sessions back at once.
#[test]
fn no_more_sessions_are_brought_back_than_may_be_live() {
    let mut desk = many(8);
    for pull in desk.pulls.values_mut() {
        pull.mergeable = Mergeable::Conflicting;
    }
    desk.tick();
    assert_eq!(told(&desk), [8, 7]);
    assert!(desk.all_reasons().contains(&Reason::BudgetActive));
    let looks = desk.looks;
    desk.minutes(5);
    desk.tick();
    assert_eq!((told(&desk).len(), desk.looks), (0, looks));
    // One has come back with a commit, and makes room.
    let eighth = desk.pulls.get_mut(&PullNumber(8)).unwrap();
    eighth.head_oid = "mended".into();
    eighth.mergeable = Mergeable::Yes;
    desk.tick();
    assert_eq!(told(&desk), [6]);
    // What does not come back makes room some time later.
    desk.minutes(60);
    desk.tick();
    assert_eq!(told(&desk), [5, 4]);
}

/// Five that wait for a person do not take every look.
#[test]
fn whoever_waits_steps_back_for_the_others() {
    let mut desk = many(7);
    for number in 2..=7 {
        fails(&mut desk, number);
        desk.sessions[number as usize - 1].state = SessionState::AwaitingUserFeedback;
    }
    fails(&mut desk, 1);
    desk.tick();
    assert_eq!((told(&desk).len(), desk.looks), (0, 5));
    desk.tick();
    assert_eq!(told(&desk), [1]);
    assert_eq!(desk.looks, 7);
    for _ in 0..4 {
        desk.minutes(1);
        desk.tick();
    }
    assert_eq!(desk.looks, 7, "nobody is looked at by every tick");
    let mut looks = Vec::new();
    for _ in 0..24 {
        desk.hours(1);
        let before = desk.looks;
        desk.tick();
        desk.tick();
        looks.push(desk.looks - before);
    }
    // Six each, after hours that grow up to six.
    assert!(looks.iter().sum::<usize>() <= 6 * 8, "{looks:?}");
}

/// A session that waits for somebody is heard again when it has pushed.
#[test]
fn a_new_commit_is_looked_at_at_once() {
    let mut desk = many(1);
    fails(&mut desk, 1);
    desk.sessions[0].state = SessionState::AwaitingUserFeedback;
    for _ in 0..3 {
        desk.tick();
        desk.minutes(30);
    }
    desk.tick();
    assert_eq!(told(&desk).len(), 0);
    desk.sessions[0].state = SessionState::Completed;
    fails(&mut desk, 1);
    let pull = desk.pulls.get_mut(&PullNumber(1)).unwrap();
    pull.head_oid = "next".into();
    let red = desk.red["c1"].clone();
    desk.red.insert("next".into(), red);
    desk.tick();
    assert_eq!(told(&desk), [1]);
}

/// Checks that were cancelled cost no look at every tick, and are a person's in the end.
#[test]
fn red_checks_of_which_none_failed_are_a_persons_after_a_second_look() {
    let mut desk = many(1);
    fails(&mut desk, 1);
    desk.red.get_mut("c1").unwrap().failed.clear();
    for _ in 0..5 {
        desk.tick();
        assert_eq!(desk.notices.len(), 0);
        desk.minutes(1);
    }
    assert_eq!(desk.looks, 1);
    desk.tick();
    assert_eq!((desk.looks, desk.notices.len()), (2, 1));
    assert_eq!(told(&desk).len(), 0);
}
