//! Budgets: the repository's, the key's, and the people's.

use phileas_domain::engine::{Ask, Checks, Reason};

use crate::desk::{Answering, Desk};

#[test]
fn two_sessions_at_once_and_five_a_day() {
    let plan = "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\nthree = [\"c\"]\n[defaults]\nskip_unchanged = false\n[budget]\nmax_open_pulls = 50\n";
    let mut desk = Desk::new(plan, &["a", "b", "c"]);
    desk.tick();
    assert_eq!(desk.sessions.len(), 2);
    assert!(desk.all_reasons().contains(&Reason::BudgetActive));
    for _ in 0..30 {
        for index in 0..desk.sessions.len() {
            if desk.sessions[index].state.is_live() {
                desk.opens_pull_of(index);
            }
        }
        desk.minutes(20);
        desk.tick();
    }
    assert_eq!(desk.sessions.len(), 5);
    assert!(desk.all_reasons().contains(&Reason::BudgetDaily));
    let freed = desk.wake_at.unwrap();
    assert!(freed <= desk.now + jiff::SignedDuration::from_hours(1));
    desk.hours(24);
    desk.tick();
    assert_eq!(
        desk.sessions.len(),
        7,
        "a rolling day later there is room again"
    );
}

#[test]
fn nothing_new_while_people_have_enough_to_review() {
    let mut desk = Desk::new(
        "cycle = [\"a\", \"b\", \"c\", \"d\"]\n",
        &["a", "b", "c", "d"],
    );
    let mut numbers = Vec::new();
    for _ in 0..3 {
        desk.tick();
        desk.minutes(20);
        numbers.push(desk.opens_pull());
    }
    assert!(
        desk.tick()
            .reasons("default")
            .contains(&Reason::ReviewBacklog)
    );
    assert_eq!(desk.sessions.len(), 3);
    desk.ask = Ask::Persona("d".into());
    desk.tick();
    assert_eq!(
        desk.sessions.len(),
        4,
        "what a person asks for is not held up"
    );
    desk.ask = Ask::Due;
    desk.minutes(20);
    desk.opens_pull();
    desk.merge(numbers[0]);
    desk.merge(numbers[1]);
    desk.tick();
    assert_eq!(desk.sessions.len(), 5);
}

#[test]
fn a_spent_key_defers_and_is_left_alone_longer_each_time() {
    let mut desk = Desk::new("cycle = [\"a\", \"b\"]\n", &["a", "b"]);
    desk.answering = Answering::Quota;
    desk.tick();
    let first = desk.state().budget.paused_until.unwrap();
    assert!(first >= desk.now + jiff::SignedDuration::from_mins(15));
    assert!(
        desk.all_reasons().contains(&Reason::JulesQuota)
            || desk.all_reasons().contains(&Reason::RetryPause)
    );
    desk.now = first;
    desk.tick();
    let second = desk.state().budget.paused_until.unwrap();
    assert!(second.duration_since(first) > jiff::SignedDuration::from_mins(29));
    desk.answering = Answering::Session;
    desk.now = second;
    desk.tick();
    assert_eq!(
        desk.personas_run(),
        ["a"],
        "deferred is not failed: the same turn starts"
    );
    assert_eq!(desk.state().budget.strikes, 0);
}

#[test]
fn the_keys_own_limits_leave_some_for_people() {
    let plan = "cycle = [\"a\", \"b\"]\n[budget]\nkey_daily = 3\nreserve_for_people = 2\ndaily_sessions = 50\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.tick();
    desk.minutes(20);
    desk.opens_pull();
    assert!(desk.tick().reasons("default").contains(&Reason::JulesQuota));
    desk.ask = Ask::Persona("b".into());
    desk.tick();
    assert_eq!(desk.sessions.len(), 2);
}

#[test]
fn on_a_red_branch_only_the_critical_start() {
    let plan = "[tracks]\nfix = [{ persona = \"b\", priority = \"critical\" }]\nother = [\"a\"]\n[gate]\nmain_red = \"critical_only\"\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.checks = Checks::Red;
    desk.tick();
    assert_eq!(desk.personas_run(), ["b"]);
    assert_eq!(desk.reasons("other"), [Reason::MainRed]);
}
