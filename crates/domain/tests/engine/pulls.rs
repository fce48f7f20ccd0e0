//! A pull request counts more than what Jules says of its session, or does not say.

use phileas_domain::engine::{ActivityKind, PullState, Reason, SessionState, decide};
use phileas_domain::state::Outcome;

use crate::desk::Desk;

const COMPLETED: &str = "cycle = [\"a\", \"b\"]\n[defaults]\nadvance_on = \"completed\"\n";
const MERGED: &str = "cycle = [\"a\", \"b\"]\n[defaults]\nadvance_on = \"merged\"\n";

/// A session with an open pull request that says it is still at work.
fn never_done() -> Desk {
    let mut desk = Desk::new(COMPLETED, &["a", "b"]);
    desk.tick();
    desk.minutes(5);
    desk.opens_pull();
    desk.sessions[0].state = SessionState::InProgress;
    desk
}

fn messages(desk: &Desk) -> usize {
    let all = desk.activities.values().flatten();
    all.filter(|one| matches!(one.kind, ActivityKind::UserMessaged(_)))
        .count()
}

#[test]
fn a_session_that_never_says_it_is_done_is_not_asked_for_the_pull_request_it_has() {
    let mut desk = never_done();
    let id = desk.sessions[0].id.clone();
    let now = desk.now;
    desk.say(&id, now, ActivityKind::Completed);
    desk.tick();
    assert_eq!(desk.reasons("default"), [Reason::SessionRunning]);
    desk.minutes(30);
    desk.tick();
    assert_eq!(messages(&desk), 0);
    assert_eq!(desk.outcomes()[0], Some(Outcome::PrOpen));
    desk.merge(phileas_domain::model::PullNumber(1));
    desk.minutes(5);
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::Merged));
}

#[test]
fn the_pull_request_of_a_session_that_is_given_up_is_followed() {
    let mut desk = never_done();
    desk.hours(7);
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::PrOpen));
    assert!(desk.sessions[0].archived);
    assert!(
        desk.state().history[&0]
            .note
            .as_ref()
            .unwrap()
            .contains("nothing moved")
    );

    let mut desk = never_done();
    desk.sessions[0].state = SessionState::Paused;
    desk.sessions[0].archived = true;
    desk.hours(1);
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::PrOpen));
}

#[test]
fn a_merge_ends_the_turn_while_jules_does_not_answer() {
    for merged in [true, false] {
        let mut desk = Desk::new(MERGED, &["a", "b"]);
        desk.tick();
        desk.minutes(5);
        let pull = desk.opens_pull();
        desk.tick();
        desk.listing_works = false;
        desk.minutes(30);
        desk.tick();
        assert_eq!(desk.reasons("default"), [Reason::PrOpen]);
        let expected = if merged {
            desk.merge(pull);
            Outcome::Merged
        } else {
            desk.close(pull);
            Outcome::Rejected
        };
        desk.minutes(30);
        desk.tick();
        assert_eq!(desk.outcomes()[0], Some(expected));
    }
}

#[test]
fn a_session_that_a_listing_leaves_out_is_not_gone() {
    let mut desk = Desk::new(MERGED, &["a", "b"]);
    desk.tick();
    let id = desk.becomes(SessionState::InProgress);
    desk.left_out.push(id);
    desk.hours(1);
    desk.tick();
    assert_eq!(desk.outcomes(), [None]);
    assert_eq!(desk.reasons("default"), [Reason::SessionStuck]);
    desk.opens_pull();
    desk.tick();
    assert_eq!(desk.reasons("default"), [Reason::PrOpen]);
    desk.sessions.clear();
    desk.pulls.clear();
    desk.minutes(30);
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::Cancelled));
}

#[test]
fn a_deleted_session_leaves_its_open_pull_request_behind() {
    let mut desk = never_done();
    desk.tick();
    desk.minutes(30);
    desk.listing_works = false;
    desk.tick();
    assert_eq!(desk.outcomes(), [None], "it may be at work");
    desk.listing_works = true;
    desk.sessions.clear();
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::PrOpen));
}

#[test]
fn the_turn_of_a_deleted_session_is_not_cancelled_before_its_pull_request_was_read() {
    let mut desk = Desk::new(MERGED, &["a", "b"]);
    desk.tick();
    desk.minutes(30);
    let pull = desk.opens_pull();
    desk.tick();
    desk.sessions.clear();
    desk.pulls.clear();
    let gone = desk.look();
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
    let mut desk = Desk::new(plan, &["a", "b"]);
    for _ in 0..2 {
        desk.tick();
        desk.minutes(5);
        desk.opens_pull();
        desk.tick();
        desk.push();
    }
    desk.tick();
    let backlog = |desk: &Desk| {
        let mut lines = desk.lines.iter();
        let line = lines.find(|line| line.reason == Reason::ReviewBacklog);
        line.map(|line| line.detail.clone())
    };
    let said = backlog(&desk).unwrap();
    assert!(said.contains("(#1, #2)"), "{said}");
    assert_eq!(desk.sessions.len(), 2);
    // The repository was moved without its pull requests.
    desk.pulls.clear();
    desk.tick();
    assert_eq!(backlog(&desk), None);
    assert_eq!(desk.sessions.len(), 3);
}

/// GitHub hides the pull requests of accounts that it takes for spam.
#[test]
fn a_pull_request_that_stays_away_for_a_week_is_over_and_not_read_any_more() {
    let plan = "cycle = [\"a\"]\n[budget]\nmax_open_pulls = 1\n";
    let mut desk = Desk::new(plan, &["a"]);
    desk.tick();
    desk.minutes(5);
    let pull = desk.opens_pull();
    desk.tick();
    let open = desk.pulls.remove(&pull);
    desk.hours(7 * 24 - 1);
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::PrOpen));
    desk.hours(1);
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::Rejected));
    // It comes back, and is merged after all.
    desk.pulls.extend(open.map(|open| (pull, open)));
    desk.merge(pull);
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::Merged));
}

#[test]
fn a_pull_request_that_is_open_and_reviewed_waits_for_no_review() {
    let plan = "cycle = [\"a\", \"b\"]\n[budget]\nmax_open_pulls = 1\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.tick();
    desk.minutes(5);
    let pull = desk.opens_pull();
    desk.tick();
    assert_eq!(desk.reasons("default").last(), Some(&Reason::ReviewBacklog));
    desk.pulls.get_mut(&pull).unwrap().reviewed = true;
    assert_eq!(desk.pulls[&pull].state, PullState::Open);
    desk.tick();
    assert_eq!(desk.sessions.len(), 2);
}

/// Some sessions of Jules never leave `IN_PROGRESS`. Three of them are all that a free key may have at once.
#[test]
fn sessions_that_never_say_they_are_done_do_not_use_up_the_key() {
    let plan = "cycle = [\"a\", \"b\"]\n[budget]\ntier = \"free\"\ndaily_sessions = 9\n[defaults]\nskip_unchanged = false\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.tick();
    for turn in 0..5 {
        desk.minutes(5);
        let pull = desk.opens_pull_of(turn);
        desk.merge(pull);
        desk.hours(4);
        desk.tick();
        assert_eq!(desk.sessions.len(), turn + 2);
        desk.sessions[turn].state = SessionState::InProgress;
    }
}
