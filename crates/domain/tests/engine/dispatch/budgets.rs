//! Tests the budgets of the repository, the key and the reviewers.

use phileas_domain::engine::{Checks, Reason, RunRequest};

use crate::support::scenario::{Answering, Scenario};

#[test]
fn two_sessions_at_once_and_five_a_day() {
    let plan = "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\nthree = [\"c\"]\n[defaults]\nskip_unchanged = false\n[budget]\nmax_open_pulls = 50\n";
    let mut scenario = Scenario::new(plan, &["a", "b", "c"]);
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 2);
    assert!(scenario.all_reasons().contains(&Reason::BudgetActive));
    for _ in 0..30 {
        for index in 0..scenario.sessions.len() {
            if scenario.sessions[index].state.is_live() {
                scenario.opens_pull_of(index);
            }
        }
        scenario.minutes(20);
        scenario.tick();
    }
    assert_eq!(scenario.sessions.len(), 5);
    assert!(scenario.all_reasons().contains(&Reason::BudgetDaily));
    let freed = scenario.wake_at.unwrap();
    assert!(freed <= scenario.now + jiff::SignedDuration::from_hours(1));
    scenario.hours(24);
    scenario.tick();
    assert_eq!(
        scenario.sessions.len(),
        7,
        "a rolling day later there is room again"
    );
}

#[test]
fn nothing_new_while_people_have_enough_to_review() {
    let mut scenario = Scenario::new(
        "cycle = [\"a\", \"b\", \"c\", \"d\"]\n",
        &["a", "b", "c", "d"],
    );
    let mut numbers = Vec::new();
    for _ in 0..3 {
        scenario.tick();
        scenario.minutes(20);
        numbers.push(scenario.opens_pull());
    }
    assert!(
        scenario
            .tick()
            .reasons("default")
            .contains(&Reason::ReviewBacklog)
    );
    assert_eq!(scenario.sessions.len(), 3);
    scenario.ask = RunRequest::Persona("d".into());
    scenario.tick();
    assert_eq!(
        scenario.sessions.len(),
        4,
        "what a person asks for is not held up"
    );
    scenario.ask = RunRequest::Due;
    scenario.minutes(20);
    scenario.opens_pull();
    scenario.merge(numbers[0]);
    scenario.merge(numbers[1]);
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 5);
}

#[test]
fn a_spent_key_defers_and_is_left_alone_longer_each_time() {
    let mut scenario = Scenario::new("cycle = [\"a\", \"b\"]\n", &["a", "b"]);
    scenario.answering = Answering::Quota;
    scenario.tick();
    let first = scenario.state().budget.paused_until.unwrap();
    assert!(first >= scenario.now + jiff::SignedDuration::from_mins(15));
    assert!(
        scenario.all_reasons().contains(&Reason::JulesQuota)
            || scenario.all_reasons().contains(&Reason::RetryPause)
    );
    scenario.now = first;
    scenario.tick();
    let second = scenario.state().budget.paused_until.unwrap();
    assert!(second.duration_since(first) > jiff::SignedDuration::from_mins(29));
    scenario.answering = Answering::Session;
    scenario.now = second;
    scenario.tick();
    assert_eq!(
        scenario.personas_run(),
        ["a"],
        "deferred is not failed: the same turn starts"
    );
    assert_eq!(scenario.state().budget.quota_failures, 0);
}

#[test]
fn the_keys_own_limits_leave_some_for_people() {
    let plan = "cycle = [\"a\", \"b\"]\n[budget]\nkey_daily = 3\nreserve_for_people = 2\ndaily_sessions = 50\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.tick();
    scenario.minutes(20);
    scenario.opens_pull();
    assert!(
        scenario
            .tick()
            .reasons("default")
            .contains(&Reason::JulesQuota)
    );
    scenario.ask = RunRequest::Persona("b".into());
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 2);
}

#[test]
fn while_the_default_branchs_checks_fail_only_critical_steps_start() {
    let plan = "[tracks]\nfix = [{ persona = \"b\", priority = \"critical\" }]\nother = [\"a\"]\n[gate]\nmain_red = \"critical_only\"\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.checks = Checks::Failed;
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["b"]);
    assert_eq!(scenario.reasons("other"), [Reason::DefaultChecksFailed]);
}
