//! Budgets at their edges: the last one that fits, the first one that does not, and when there is room again.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{
    Ask, Checks, Line, Listing, ListingNeed, Outage, PullState, Reason, SessionState,
    budget_figures, decide, needs,
};
use phileas_domain::model::PullNumber;
use phileas_domain::state::{Outcome, State};

use crate::desk::{Answering, Desk};
use crate::hand_over::{changes, desk, ends, slots};

const TWO: &str =
    "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\n[defaults]\nskip_unchanged = false\nretry = 1\n";

fn line(desk: &Desk, reason: Reason) -> &Line {
    let found = desk.lines.iter().find(|line| line.reason == reason);
    found.unwrap_or_else(|| panic!("{reason}: {:?}", desk.lines))
}

fn in_minutes(desk: &Desk, minutes: i64) -> Option<Timestamp> {
    Some(desk.now + SignedDuration::from_mins(minutes))
}

#[test]
fn red_checks_hold_back_only_where_the_plan_says_so() {
    let gate = "cycle = [\"a\"]\n[gate]\nmain_red = \"critical_only\"\n";
    for (plan, checks, starts) in [
        ("cycle = [\"a\"]\n", Checks::Red, true),
        (gate, Checks::Green, true),
        (gate, Checks::Pending, true),
        (gate, Checks::None, true),
        (gate, Checks::Red, false),
    ] {
        let mut desk = Desk::new(plan, &["a"]);
        desk.checks = checks;
        desk.tick();
        assert_eq!(desk.sessions.len(), usize::from(starts), "{checks:?}");
        if !starts {
            assert_eq!(line(&desk, Reason::MainRed).until, in_minutes(&desk, 30));
            desk.ask = Ask::Persona("a".into());
            desk.tick();
            assert_eq!(desk.sessions.len(), 1, "a person's wish is not held back");
        }
    }
}

#[test]
fn a_second_attempt_is_no_new_work_for_reviewers() {
    let mut desk = Desk::new(&format!("{TWO}[budget]\nmax_open_pulls = 1\n"), &["a", "b"]);
    desk.tick();
    desk.minutes(5);
    desk.opens_pull_of(0);
    desk.becomes(SessionState::Failed);
    desk.tick();
    assert_eq!(desk.personas_run(), ["a", "b", "b"]);
    assert_eq!(
        line(&desk, Reason::ReviewBacklog).until,
        in_minutes(&desk, 30)
    );
}

#[test]
fn the_first_ten_that_wait_for_a_review_are_named() {
    let plan =
        "cycle = [\"a\"]\n[defaults]\nskip_unchanged = false\n[budget]\nmax_open_pulls = 10\n";
    let mut desk = Desk::new(plan, &["a"]);
    desk.tick();
    desk.minutes(5);
    desk.opens_pull();
    desk.minutes(5);
    desk.paused_by_variable = Some("yes".to_owned());
    desk.tick();
    desk.paused_by_variable = None;
    let mut state = desk.state().clone();
    let entry = state.history[&0].clone();
    assert_eq!(entry.outcome, Some(Outcome::PrOpen));
    let named = "#1, #2, #3, #4, #5, #6, #7, #8, #9, #10";
    for number in 2..=11 {
        let mut entry = entry.clone();
        entry.pr_number = Some(PullNumber(number));
        entry.session_id = Some(format!("{number}").into());
        entry.turn = None;
        state.history.insert(number - 1, entry);
        let mut pull = desk.pulls[&PullNumber(1)].clone();
        pull.number = PullNumber(number);
        desk.pulls.insert(pull.number, pull);
        desk.set_state(state.clone());
        if number < 10 {
            continue;
        }
        desk.tick();
        let more = if number > 10 { ", …" } else { "" };
        let expected =
            format!("{number} pull requests wait for a review ({named}{more}); the limit is 10");
        assert_eq!(line(&desk, Reason::ReviewBacklog).detail, expected);
    }
    desk.pulls.get_mut(&PullNumber(3)).unwrap().state = PullState::Merged;
    desk.pulls.get_mut(&PullNumber(4)).unwrap().state = PullState::Merged;
    desk.tick();
    assert_eq!(desk.sessions.len(), 2, "nine leave room");
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
            "the key has started 1 sessions within a day; 1 of its 1 may start by themselves",
        ),
    ] {
        let mut desk = Desk::new(&format!("{TWO}[budget]\n{budget}\n"), &["a", "b"]);
        desk.answering = Answering::Dies;
        desk.tick();
        assert_eq!(desk.reasons("one"), [Reason::DueTrack], "{budget}");
        assert_eq!(desk.reasons("two"), [reason], "{budget}");
        assert_eq!(line(&desk, reason).detail, text);
    }
}

#[test]
fn a_session_of_today_and_an_announced_one_are_two() {
    let plan =
        format!("{TWO}[budget]\ndaily_sessions = 2\nmax_active = 5\nreserve_for_people = 0\n");
    let mut desk = Desk::new(&plan, &["a", "c"]);
    desk.tick();
    assert_eq!(desk.personas_run(), ["a"]);
    desk.minutes(1);
    desk.persona("b", "emoji: \"🔧\"");
    desk.answering = Answering::Dies;
    desk.tick();
    desk.ask = Ask::Persona("c".into());
    desk.tick();
    let text = "2 sessions were started within a day; the limit is 2";
    assert_eq!(line(&desk, Reason::BudgetDaily).detail, text);
    let figures = budget_figures(&desk.snapshot());
    assert_eq!((figures.day, figures.live), (2, 2));
}

/// Jules dates sessions and GitHub the looks, so a budget's day is two minutes longer than a day.
#[test]
fn a_day_and_two_minutes_after_a_start_there_is_room_again() {
    let plan =
        "cycle = [\"a\"]\n[defaults]\nskip_unchanged = false\n[budget]\ndaily_sessions = 1\n";
    let mut desk = Desk::new(plan, &["a"]);
    desk.tick();
    let freed = desk.now + SignedDuration::from_mins(24 * 60 + 2);
    desk.minutes(5);
    let pull = desk.opens_pull();
    desk.merge(pull);
    desk.tick();
    assert_eq!(line(&desk, Reason::BudgetDaily).until, Some(freed));
    desk.now = freed - SignedDuration::from_secs(1);
    desk.tick();
    assert_eq!(line(&desk, Reason::BudgetDaily).until, Some(freed));
    assert_eq!(desk.sessions.len(), 1);
    desk.now = freed;
    desk.tick();
    assert_eq!(desk.sessions.len(), 2);
}

#[test]
fn a_lowered_limit_waits_for_the_youngest_that_must_leave() {
    let plan = "cycle = [\"a\"]\n[defaults]\nskip_unchanged = false\n[budget]\ndaily_sessions = 3\nmax_open_pulls = 9\n";
    let mut desk = Desk::new(plan, &["a"]);
    let mut starts = Vec::new();
    for _ in 0..3 {
        starts.push(desk.now);
        desk.tick();
        desk.minutes(30);
        desk.opens_pull();
    }
    let lowered = plan.replace("daily_sessions = 3", "daily_sessions = 2");
    desk.files
        .insert(".jules/schedules.toml".to_owned(), lowered);
    desk.tick();
    let freed = starts[1] + SignedDuration::from_mins(24 * 60 + 2);
    assert_eq!(line(&desk, Reason::BudgetDaily).until, Some(freed));
}

#[test]
fn sessions_of_other_repositories_use_up_the_key_and_those_that_ended_do_not() {
    let plan =
        "cycle = [\"a\", \"b\"]\n[defaults]\nskip_unchanged = false\n[budget]\nkey_active = 1\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.tick();
    desk.minutes(5);
    let pull = desk.opens_pull();
    desk.merge(pull);
    let mut other = desk.sessions[0].clone();
    other.id = "77".into();
    other.title = "Something else".to_owned();
    other.prompt = Some("Do something else.".to_owned());
    other.state = SessionState::InProgress;
    other.pulls.clear();
    desk.sessions.push(other);
    desk.minutes(5);
    desk.tick();
    let said = line(&desk, Reason::JulesQuota);
    assert_eq!(said.detail, "the key has 1 live sessions; its limit is 1");
    assert_eq!(said.until, in_minutes(&desk, 1));
    desk.sessions[1].state = SessionState::Completed;
    desk.tick();
    assert_eq!(desk.personas_run(), ["a", "b"]);
}

#[test]
fn before_a_start_jules_lists_a_day_or_back_to_the_newest_entry_for_two_weeks_at_most() {
    let plan = "cycle = [\"a\"]\n[defaults]\nskip_unchanged = false\n";
    let mut desk = Desk::new(plan, &["a"]);
    desk.tick();
    let started = desk.now;
    desk.minutes(5);
    let pull = desk.opens_pull();
    desk.merge(pull);
    desk.paused_by_variable = Some("yes".to_owned());
    desk.tick();
    desk.paused_by_variable = None;
    let day = SignedDuration::from_hours(24);
    for (hours, since) in [
        (23, -day),
        (24, -day),
        (72, SignedDuration::from_hours(-72)),
        (24 * 14, day * -14),
        (24 * 20, day * -14),
    ] {
        desk.now = started + SignedDuration::from_hours(hours);
        let expected = ListingNeed::Since(desk.now + since);
        assert_eq!(
            needs(&desk.snapshot()).listing,
            Some(expected),
            "{hours} hours later"
        );
    }
}

#[test]
fn a_spent_key_is_left_alone_until_its_instant_and_asked_at_it() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.set_state(State::default());
    let until = desk.now + SignedDuration::from_hours(3);
    let mut state = desk.state().clone();
    state.budget.paused_until = Some(until);
    desk.set_state(state.clone());
    desk.tick();
    let said = line(&desk, Reason::JulesQuota);
    assert_eq!(said.detail, "the key's quota is spent");
    assert_eq!(said.until, Some(until));
    assert_eq!(desk.listings, 0, "Jules is not asked in vain");
    state.budget.reason = Some("Jules says so".to_owned());
    desk.set_state(state);
    desk.now = until - SignedDuration::from_secs(1);
    desk.tick();
    assert_eq!(line(&desk, Reason::JulesQuota).detail, "Jules says so");
    assert_eq!(desk.sessions.len(), 0);
    desk.now = until;
    desk.tick();
    assert_eq!(desk.sessions.len(), 1);
}

#[test]
fn a_key_whose_listing_fails_starts_nothing_and_says_when_it_is_asked_again() {
    for (credential, reason) in [
        (false, Reason::JulesUnavailable),
        (true, Reason::JulesCredential),
    ] {
        for asked_for in [None, Some(90)] {
            let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
            desk.set_state(State::default());
            let mut snapshot = desk.snapshot();
            snapshot.sessions = Listing::Failed(Outage {
                detail: "no".to_owned(),
                retry_at: asked_for.and_then(|minutes| in_minutes(&desk, minutes)),
                credential,
            });
            let decision = decide(&snapshot, &[]);
            let mut lines = decision.report.lines.iter();
            let line = lines.find(|line| line.track.is_some()).unwrap();
            assert_eq!(line.reason, reason);
            assert_eq!(line.until, in_minutes(&desk, asked_for.unwrap_or(1)));
            assert_eq!(decision.change, None);
            // A refused key is a person's affair.
            assert_eq!(decision.effects.len(), usize::from(credential));
        }
    }
}

/// What was begun is brought to its end; only what is new waits until somebody has time to look at it.
#[test]
fn a_second_attempt_of_a_layer_does_not_wait_for_reviewers() {
    let mut desk = desk();
    let plan = desk.files.get_mut(".jules/schedules.toml").unwrap();
    *plan = plan.replace(
        "[budget]",
        "[defaults]\nretry = 1\n[budget]\nmax_open_pulls = 1",
    );
    desk.persona("a", "emoji: \"🔧\"");
    desk.tick();
    assert_eq!(slots(&desk), ["narrator"], "{:#?}", desk.lines);
    desk.ask = Ask::Persona("a".into());
    desk.tick();
    desk.minutes(5);
    desk.opens_pull();
    desk.ask = Ask::Due;
    desk.tick();
    assert_eq!(desk.outcomes().last().unwrap(), &Some(Outcome::PrOpen));
    desk.sessions[0].state = SessionState::Failed;
    desk.sessions[0].updated_at = Some(desk.now);
    desk.tick();
    assert_eq!(slots(&desk), ["narrator"], "{:#?}", desk.lines);
    assert!(desk.reasons("layers").contains(&Reason::DueRetry));
    ends(&mut desk, "narrator", vec![changes()]);
    desk.tick();
    assert!(slots(&desk).is_empty(), "{:#?}", desk.lines);
    assert!(desk.reasons("layers").contains(&Reason::ReviewBacklog));
}
