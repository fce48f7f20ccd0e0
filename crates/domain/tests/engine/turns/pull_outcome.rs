//! Tests that a pull request counts more than the state of its session.

use phileas_domain::engine::{ActivityKind, PullState, Reason, SessionState, decide};
use phileas_domain::state::Outcome;

use crate::support::scenario::Scenario;

const COMPLETED: &str = "cycle = [\"a\", \"b\"]\n[defaults]\nadvance_on = \"completed\"\n";
const MERGED: &str = "cycle = [\"a\", \"b\"]\n[defaults]\nadvance_on = \"merged\"\n";

/// A session with an open pull request and a running state.
fn never_done() -> Scenario {
    let mut scenario = Scenario::new(COMPLETED, &["a", "b"]);
    scenario.tick();
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.sessions[0].state = SessionState::InProgress;
    scenario
}

fn messages(scenario: &Scenario) -> usize {
    let all = scenario.activities.values().flatten();
    all.filter(|one| matches!(one.kind, ActivityKind::UserMessaged(_)))
        .count()
}

#[test]
fn a_session_that_never_ends_gets_no_reminder_of_its_pull_request() {
    let mut scenario = never_done();
    let id = scenario.sessions[0].id.clone();
    let now = scenario.now;
    scenario.add_activity(&id, now, ActivityKind::Completed);
    scenario.tick();
    assert_eq!(scenario.reasons("default"), [Reason::SessionRunning]);
    scenario.minutes(30);
    scenario.tick();
    assert_eq!(messages(&scenario), 0);
    assert_eq!(scenario.outcomes()[0], Some(Outcome::PrOpen));
    scenario.merge(phileas_domain::model::PullNumber(1));
    scenario.minutes(5);
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::Merged));
}

#[test]
fn the_pull_request_of_a_session_that_is_given_up_is_followed() {
    let mut scenario = never_done();
    scenario.hours(7);
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::PrOpen));
    assert!(scenario.sessions[0].archived);
    assert!(
        scenario.state().history[&0]
            .note
            .as_ref()
            .unwrap()
            .contains("nothing moved")
    );

    let mut scenario = never_done();
    scenario.sessions[0].state = SessionState::Paused;
    scenario.sessions[0].archived = true;
    scenario.hours(1);
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::PrOpen));
}

#[test]
fn a_merge_ends_the_turn_while_jules_does_not_answer() {
    for merged in [true, false] {
        let mut scenario = Scenario::new(MERGED, &["a", "b"]);
        scenario.tick();
        scenario.minutes(5);
        let pull = scenario.opens_pull();
        scenario.tick();
        scenario.listing_works = false;
        scenario.minutes(30);
        scenario.tick();
        assert_eq!(scenario.reasons("default"), [Reason::PrOpen]);
        let expected = if merged {
            scenario.merge(pull);
            Outcome::Merged
        } else {
            scenario.close(pull);
            Outcome::Rejected
        };
        scenario.minutes(30);
        scenario.tick();
        assert_eq!(scenario.outcomes()[0], Some(expected));
    }
}

#[test]
fn a_session_that_a_listing_leaves_out_is_not_gone() {
    let mut scenario = Scenario::new(MERGED, &["a", "b"]);
    scenario.tick();
    let id = scenario.becomes(SessionState::InProgress);
    scenario.left_out.push(id);
    scenario.hours(1);
    scenario.tick();
    assert_eq!(scenario.outcomes(), [None]);
    assert_eq!(scenario.reasons("default"), [Reason::SessionStuck]);
    scenario.opens_pull();
    scenario.tick();
    assert_eq!(scenario.reasons("default"), [Reason::PrOpen]);
    scenario.sessions.clear();
    scenario.pulls.clear();
    scenario.minutes(30);
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::Cancelled));
}

#[test]
fn a_deleted_session_leaves_its_open_pull_request_behind() {
    let mut scenario = never_done();
    scenario.tick();
    scenario.minutes(30);
    scenario.listing_works = false;
    scenario.tick();
    assert_eq!(scenario.outcomes(), [None], "it may be at work");
    scenario.listing_works = true;
    scenario.sessions.clear();
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::PrOpen));
}

#[test]
fn the_turn_of_a_deleted_session_is_not_cancelled_before_its_pull_request_was_read() {
    let mut scenario = Scenario::new(MERGED, &["a", "b"]);
    scenario.tick();
    scenario.minutes(30);
    let pull = scenario.opens_pull();
    scenario.tick();
    scenario.sessions.clear();
    scenario.pulls.clear();
    let gone = scenario.full_snapshot();
    let state = decide(&gone, &[]).change.unwrap().state;
    let outcome = state.history[&0].outcome.clone();
    assert_eq!(outcome, Some(Outcome::Cancelled));
    let mut unread = gone.clone();
    unread.missing_pulls.clear();
    let decision = decide(&unread, &[]);
    assert_eq!(decision.change, None);
    let line = &decision.report.lines[0];
    assert_eq!((line.reason, line.pr_number), (Reason::PrOpen, Some(pull)));
}

#[test]
fn a_pull_request_that_is_not_there_waits_for_no_review() {
    let plan = "cycle = [\"a\", \"b\"]\n[budget]\nmax_open_pulls = 2\ndaily_sessions = 20\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    for _ in 0..2 {
        scenario.tick();
        scenario.minutes(5);
        scenario.opens_pull();
        scenario.tick();
        scenario.push();
    }
    scenario.tick();
    let backlog = |scenario: &Scenario| {
        let mut lines = scenario.lines.iter();
        let line = lines.find(|line| line.reason == Reason::ReviewBacklog);
        line.map(|line| line.detail.clone())
    };
    let said = backlog(&scenario).unwrap();
    assert!(said.contains("(#1, #2)"), "{said}");
    assert_eq!(scenario.sessions.len(), 2);
    // The repository was moved without its pull requests.
    scenario.pulls.clear();
    scenario.tick();
    assert_eq!(backlog(&scenario), None);
    assert_eq!(scenario.sessions.len(), 3);
}

/// GitHub hides the pull requests of accounts that it takes for spam.
#[test]
fn a_pull_request_that_stays_away_for_a_week_is_over_and_not_read_any_more() {
    let plan = "cycle = [\"a\"]\n[budget]\nmax_open_pulls = 1\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    scenario.tick();
    scenario.minutes(5);
    let pull = scenario.opens_pull();
    scenario.tick();
    let open = scenario.pulls.remove(&pull);
    scenario.hours(7 * 24 - 1);
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::PrOpen));
    scenario.hours(1);
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::Rejected));
    // It comes back, and is merged after all.
    scenario.pulls.extend(open.map(|open| (pull, open)));
    scenario.merge(pull);
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::Merged));
}

#[test]
fn a_pull_request_that_is_open_and_reviewed_waits_for_no_review() {
    let plan = "cycle = [\"a\", \"b\"]\n[budget]\nmax_open_pulls = 1\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.tick();
    scenario.minutes(5);
    let pull = scenario.opens_pull();
    scenario.tick();
    assert_eq!(
        scenario.reasons("default").last(),
        Some(&Reason::ReviewBacklog)
    );
    scenario.pulls.get_mut(&pull).unwrap().reviewed = true;
    assert_eq!(scenario.pulls[&pull].state, PullState::Open);
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 2);
}

/// Some sessions of Jules never leave `IN_PROGRESS`. Three of them are all that a free key may have at once.
#[test]
fn sessions_that_never_say_they_are_done_do_not_use_up_the_key() {
    let plan = "cycle = [\"a\", \"b\"]\n[budget]\ntier = \"free\"\ndaily_sessions = 9\n[defaults]\nskip_unchanged = false\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.tick();
    for turn in 0..5 {
        scenario.minutes(5);
        let pull = scenario.opens_pull_of(turn);
        scenario.merge(pull);
        scenario.hours(4);
        scenario.tick();
        assert_eq!(scenario.sessions.len(), turn + 2);
        scenario.sessions[turn].state = SessionState::InProgress;
    }
}

/// What a person cancels is the session; its pull request is followed on, and its work is not started again.
#[test]
fn a_cancelled_turn_with_a_pull_request_ends_with_what_became_of_that() {
    for expected in [Outcome::PrOpen, Outcome::Merged, Outcome::Rejected] {
        let mut scenario = Scenario::new(MERGED, &["a", "b"]);
        scenario.tick();
        scenario.minutes(5);
        let pull = scenario.opens_pull();
        scenario.tick();
        assert_eq!(scenario.reasons("default"), [Reason::PrOpen]);
        match expected {
            Outcome::Merged => scenario.merge(pull),
            Outcome::Rejected => scenario.close(pull),
            _ => {}
        }
        scenario.cancel_first();
        scenario.tick();
        assert_eq!(scenario.outcomes()[0], Some(expected.clone()));
        assert!(scenario.sessions[0].archived);
        if expected == Outcome::PrOpen {
            scenario.merge(pull);
            scenario.minutes(30);
            scenario.tick();
            assert_eq!(scenario.outcomes()[0], Some(Outcome::Merged));
        }
    }
}
