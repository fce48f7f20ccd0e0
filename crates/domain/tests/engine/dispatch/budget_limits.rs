//! Tests budgets at their limits: the last session that fits, the first that does not, and when there is room again.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{
    Checks, Line, Listing, ListingNeed, Outage, PullState, Reason, RunRequest, SessionState,
    budget_figures, decide, read_requests,
};
use phileas_domain::model::PullNumber;
use phileas_domain::state::{Outcome, State};

use crate::layers::hand_over::{changes, ends, scenario, slots};
use crate::support::scenario::{Answering, Scenario};

const TWO: &str =
    "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\n[defaults]\nskip_unchanged = false\nretry = 1\n";

fn line(scenario: &Scenario, reason: Reason) -> &Line {
    let found = scenario.lines.iter().find(|line| line.reason == reason);
    found.unwrap_or_else(|| panic!("{reason}: {:?}", scenario.lines))
}

fn in_minutes(scenario: &Scenario, minutes: i64) -> Option<Timestamp> {
    Some(scenario.now + SignedDuration::from_mins(minutes))
}

#[test]
fn failed_checks_block_starts_only_where_the_plan_says_so() {
    let gate = "cycle = [\"a\"]\n[gate]\nmain_red = \"critical_only\"\n";
    for (plan, checks, starts) in [
        ("cycle = [\"a\"]\n", Checks::Failed, true),
        (gate, Checks::Passed, true),
        (gate, Checks::Pending, true),
        (gate, Checks::None, true),
        (gate, Checks::Failed, false),
    ] {
        let mut scenario = Scenario::new(plan, &["a"]);
        scenario.checks = checks;
        scenario.tick();
        assert_eq!(scenario.sessions.len(), usize::from(starts), "{checks:?}");
        if !starts {
            assert_eq!(
                line(&scenario, Reason::DefaultChecksFailed).until,
                in_minutes(&scenario, 30)
            );
            scenario.ask = RunRequest::Persona("a".into());
            scenario.tick();
            assert_eq!(
                scenario.sessions.len(),
                1,
                "a person's request is not held back"
            );
        }
    }
}

#[test]
fn a_second_attempt_is_no_new_work_for_reviewers() {
    let mut scenario = Scenario::new(&format!("{TWO}[budget]\nmax_open_pulls = 1\n"), &["a", "b"]);
    scenario.tick();
    scenario.minutes(5);
    scenario.opens_pull_of(0);
    scenario.becomes(SessionState::Failed);
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a", "b", "b"]);
    assert_eq!(
        line(&scenario, Reason::ReviewBacklog).until,
        in_minutes(&scenario, 30)
    );
}

#[test]
fn the_first_ten_that_wait_for_a_review_are_named() {
    let plan =
        "cycle = [\"a\"]\n[defaults]\nskip_unchanged = false\n[budget]\nmax_open_pulls = 10\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    scenario.tick();
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.minutes(5);
    scenario.paused_by_variable = Some("yes".to_owned());
    scenario.tick();
    scenario.paused_by_variable = None;
    let mut state = scenario.state().clone();
    let entry = state.history[&0].clone();
    assert_eq!(entry.outcome, Some(Outcome::PrOpen));
    let named = "#1, #2, #3, #4, #5, #6, #7, #8, #9, #10";
    for number in 2..=11 {
        let mut entry = entry.clone();
        entry.pr_number = Some(PullNumber(number));
        entry.session_id = Some(format!("{number}").into());
        entry.turn = None;
        state.history.insert(number - 1, entry);
        let mut pull = scenario.pulls[&PullNumber(1)].clone();
        pull.number = PullNumber(number);
        scenario.pulls.insert(pull.number, pull);
        scenario.set_state(state.clone());
        if number < 10 {
            continue;
        }
        scenario.tick();
        let more = if number > 10 { ", …" } else { "" };
        let expected =
            format!("{number} pull requests wait for a review ({named}{more}); the limit is 10");
        assert_eq!(line(&scenario, Reason::ReviewBacklog).detail, expected);
    }
    scenario.pulls.get_mut(&PullNumber(3)).unwrap().state = PullState::Merged;
    scenario.pulls.get_mut(&PullNumber(4)).unwrap().state = PullState::Merged;
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 2, "nine leave room");
}

#[test]
fn what_is_announced_counts_as_spent_before_its_session_is_known() {
    for (budget, reason, text) in [
        (
            "max_active = 1",
            Reason::BudgetActive,
            "1 session is live; the limit is 1",
        ),
        (
            "daily_sessions = 1",
            Reason::BudgetDaily,
            "1 sessions were started within a day; the limit is 1",
        ),
        (
            "key_active = 1",
            Reason::JulesQuota,
            "the key has 1 live sessions; its limit is 1",
        ),
        (
            "key_daily = 1\nreserve_for_people = 0",
            Reason::JulesQuota,
            "the key has started 1 sessions within a day; 1 of its 1 may start without a request",
        ),
    ] {
        let mut scenario = Scenario::new(&format!("{TWO}[budget]\n{budget}\n"), &["a", "b"]);
        scenario.answering = Answering::Dies;
        scenario.tick();
        assert_eq!(scenario.reasons("one"), [Reason::DueTrack], "{budget}");
        assert_eq!(scenario.reasons("two"), [reason], "{budget}");
        assert_eq!(line(&scenario, reason).detail, text);
    }
}

#[test]
fn a_session_of_today_and_an_announced_one_are_two() {
    let plan =
        format!("{TWO}[budget]\ndaily_sessions = 2\nmax_active = 5\nreserve_for_people = 0\n");
    let mut scenario = Scenario::new(&plan, &["a", "c"]);
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a"]);
    scenario.minutes(1);
    scenario.persona("b", "emoji: \"🔧\"");
    scenario.answering = Answering::Dies;
    scenario.tick();
    scenario.ask = RunRequest::Persona("c".into());
    scenario.tick();
    let text = "2 sessions were started within a day; the limit is 2";
    assert_eq!(line(&scenario, Reason::BudgetDaily).detail, text);
    let figures = budget_figures(&scenario.snapshot());
    assert_eq!((figures.day, figures.live), (2, 2));
}

/// Jules dates sessions and GitHub the ticks, so a budget's day is two minutes longer than a day.
#[test]
fn a_day_and_two_minutes_after_a_start_there_is_room_again() {
    let plan =
        "cycle = [\"a\"]\n[defaults]\nskip_unchanged = false\n[budget]\ndaily_sessions = 1\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    scenario.tick();
    let freed = scenario.now + SignedDuration::from_mins(24 * 60 + 2);
    scenario.minutes(5);
    let pull = scenario.opens_pull();
    scenario.merge(pull);
    scenario.tick();
    assert_eq!(line(&scenario, Reason::BudgetDaily).until, Some(freed));
    scenario.now = freed - SignedDuration::from_secs(1);
    scenario.tick();
    assert_eq!(line(&scenario, Reason::BudgetDaily).until, Some(freed));
    assert_eq!(scenario.sessions.len(), 1);
    scenario.now = freed;
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 2);
}

#[test]
fn a_lowered_limit_waits_for_the_youngest_that_must_leave() {
    let plan = "cycle = [\"a\"]\n[defaults]\nskip_unchanged = false\n[budget]\ndaily_sessions = 3\nmax_open_pulls = 9\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    let mut starts = Vec::new();
    for _ in 0..3 {
        starts.push(scenario.now);
        scenario.tick();
        scenario.minutes(30);
        scenario.opens_pull();
    }
    let lowered = plan.replace("daily_sessions = 3", "daily_sessions = 2");
    scenario
        .files
        .insert(".jules/schedules.toml".to_owned(), lowered);
    scenario.tick();
    let freed = starts[1] + SignedDuration::from_mins(24 * 60 + 2);
    assert_eq!(line(&scenario, Reason::BudgetDaily).until, Some(freed));
}

#[test]
fn sessions_of_other_repositories_use_up_the_key_and_those_that_ended_do_not() {
    let plan =
        "cycle = [\"a\", \"b\"]\n[defaults]\nskip_unchanged = false\n[budget]\nkey_active = 1\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.tick();
    scenario.minutes(5);
    let pull = scenario.opens_pull();
    scenario.merge(pull);
    let mut other = scenario.sessions[0].clone();
    other.id = "77".into();
    other.title = "Something else".to_owned();
    other.prompt = Some("Do something else.".to_owned());
    other.state = SessionState::InProgress;
    other.pulls.clear();
    scenario.sessions.push(other);
    scenario.minutes(5);
    scenario.tick();
    let said = line(&scenario, Reason::JulesQuota);
    assert_eq!(said.detail, "the key has 1 live sessions; its limit is 1");
    assert_eq!(said.until, in_minutes(&scenario, 1));
    scenario.sessions[1].state = SessionState::Completed;
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a", "b"]);
}

#[test]
fn before_a_start_jules_lists_a_day_or_back_to_the_newest_entry_for_two_weeks_at_most() {
    let plan = "cycle = [\"a\"]\n[defaults]\nskip_unchanged = false\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    scenario.tick();
    let started = scenario.now;
    scenario.minutes(5);
    let pull = scenario.opens_pull();
    scenario.merge(pull);
    scenario.paused_by_variable = Some("yes".to_owned());
    scenario.tick();
    scenario.paused_by_variable = None;
    let day = SignedDuration::from_hours(24);
    for (hours, since) in [
        (23, -day),
        (24, -day),
        (72, SignedDuration::from_hours(-72)),
        (24 * 14, day * -14),
        (24 * 20, day * -14),
    ] {
        scenario.now = started + SignedDuration::from_hours(hours);
        let expected = ListingNeed::Since(scenario.now + since);
        assert_eq!(
            read_requests(&scenario.snapshot()).listing,
            Some(expected),
            "{hours} hours later"
        );
    }
}

#[test]
fn a_spent_key_is_not_used_until_its_time_and_used_at_it() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.set_state(State::default());
    let until = scenario.now + SignedDuration::from_hours(3);
    let mut state = scenario.state().clone();
    state.budget.paused_until = Some(until);
    scenario.set_state(state.clone());
    scenario.tick();
    let said = line(&scenario, Reason::JulesQuota);
    assert_eq!(said.detail, "the key's quota is spent");
    assert_eq!(said.until, Some(until));
    assert_eq!(scenario.listings, 0, "Jules is not asked in vain");
    state.budget.reason = Some("Jules says so".to_owned());
    scenario.set_state(state);
    scenario.now = until - SignedDuration::from_secs(1);
    scenario.tick();
    assert_eq!(line(&scenario, Reason::JulesQuota).detail, "Jules says so");
    assert_eq!(scenario.sessions.len(), 0);
    scenario.now = until;
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 1);
}

#[test]
fn a_key_whose_listing_fails_starts_nothing_and_reports_the_next_attempt() {
    for (credential, reason) in [
        (false, Reason::JulesUnavailable),
        (true, Reason::JulesCredential),
    ] {
        for asked_for in [None, Some(90)] {
            let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
            scenario.set_state(State::default());
            let mut snapshot = scenario.snapshot();
            snapshot.sessions = Listing::Failed(Outage {
                detail: "no".to_owned(),
                retry_at: asked_for.and_then(|minutes| in_minutes(&scenario, minutes)),
                credential,
            });
            let decision = decide(&snapshot, &[]);
            let mut lines = decision.report.lines.iter();
            let line = lines.find(|line| line.track.is_some()).unwrap();
            assert_eq!(line.reason, reason);
            assert_eq!(line.until, in_minutes(&scenario, asked_for.unwrap_or(1)));
            assert_eq!(decision.change, None);
            // A refused key is a person's affair.
            assert_eq!(decision.effects.len(), usize::from(credential));
        }
    }
}

/// Work in progress is finished; only new work waits until people have time to review.
#[test]
fn a_second_attempt_of_a_layer_does_not_wait_for_reviewers() {
    let mut scenario = scenario();
    let plan = scenario.files.get_mut(".jules/schedules.toml").unwrap();
    *plan = plan.replace(
        "[budget]",
        "[defaults]\nretry = 1\n[budget]\nmax_open_pulls = 1",
    );
    scenario.persona("a", "emoji: \"🔧\"");
    scenario.tick();
    assert_eq!(slots(&scenario), ["narrator"], "{:#?}", scenario.lines);
    scenario.ask = RunRequest::Persona("a".into());
    scenario.tick();
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.ask = RunRequest::Due;
    scenario.tick();
    assert_eq!(scenario.outcomes().last().unwrap(), &Some(Outcome::PrOpen));
    scenario.sessions[0].state = SessionState::Failed;
    scenario.sessions[0].updated_at = Some(scenario.now);
    scenario.tick();
    assert_eq!(slots(&scenario), ["narrator"], "{:#?}", scenario.lines);
    assert!(scenario.reasons("layers").contains(&Reason::DueRetry));
    ends(&mut scenario, "narrator", vec![changes()]);
    scenario.tick();
    assert!(slots(&scenario).is_empty(), "{:#?}", scenario.lines);
    assert!(scenario.reasons("layers").contains(&Reason::ReviewBacklog));
}
