//! Tests until when comments have been read, and what is said of those that may have been missed.

use phileas_domain::engine::{Reason, SessionState, Verdict, read_requests};
use phileas_domain::state::{State, rebuild};

use super::comments::scenario;
use crate::support::scenario::{Answering, Scenario};

/// A scenario whose ledger says that comments were read until a quarter of an hour ago.
fn listened() -> Scenario {
    let mut scenario = scenario();
    scenario.writes(7, "/phileas pause", "ada");
    scenario.tick();
    let heard = scenario.state().cursors.comments_since;
    assert_eq!(heard, scenario.now.checked_sub(MARGIN).ok());
    scenario
}

/// What GitHub may not show yet.
const MARGIN: jiff::SignedDuration = jiff::SignedDuration::from_mins(15);

fn missed(scenario: &Scenario) -> Vec<String> {
    let lines = scenario.lines.iter();
    let lines = lines.filter(|line| line.reason == Reason::CommentsMissed);
    lines
        .map(|line| {
            assert_eq!(line.verdict, Verdict::Waiting);
            line.detail.clone()
        })
        .collect()
}

/// phileas was down for two days: comments that may be missing are reported, however old.
#[test]
fn what_was_said_since_the_last_look_and_is_not_shown_is_owned_up_to() {
    let mut scenario = listened();
    scenario.hours(48);
    let a_day = jiff::SignedDuration::from_hours(24);
    let a_day_ago = scenario.now.checked_sub(a_day).unwrap();
    scenario.comment_coverage.cut.insert(7, a_day_ago);
    scenario.comment_coverage.issues_after = Some(a_day_ago);
    scenario.tick();
    let [said] = &missed(&scenario)[..] else {
        panic!("{:?}", scenario.lines);
    };
    assert!(said.contains("on #7, issues"), "{said}");
    // It is owned up to once, not with every tick from then on.
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(missed(&scenario), [] as [&str; 0]);
}

#[test]
fn each_thing_that_is_not_shown_is_owned_up_to_by_itself() {
    for (part, words) in [
        ("a thread", "is read, on #7; "),
        (
            "issues",
            "is read, on issues that were touched before others; ",
        ),
        (
            "pulls",
            "is read, on pull requests that were touched before others; ",
        ),
    ] {
        let mut scenario = listened();
        scenario.hours(48);
        let at = scenario.now.checked_sub(MARGIN).ok();
        match part {
            "a thread" => drop(scenario.comment_coverage.cut.insert(7, at.unwrap())),
            "issues" => scenario.comment_coverage.issues_after = at,
            _ => scenario.comment_coverage.pulls_after = at,
        }
        scenario.tick();
        let missed = missed(&scenario);
        assert!(missed.len() == 1 && missed[0].contains(words), "{missed:?}");
    }
}

#[test]
fn what_was_shown_at_the_last_look_is_not_missed_however_much_was_said() {
    let mut scenario = listened();
    let before = scenario.now.checked_sub(MARGIN).unwrap();
    scenario.comment_coverage.cut.insert(7, before);
    scenario.comment_coverage.issues_after = Some(before);
    scenario.comment_coverage.pulls_after = Some(before);
    scenario.hours(2);
    scenario.tick();
    assert_eq!(missed(&scenario), [] as [&str; 0]);
}

/// Unauthorized users cannot fill the ledger: for any number of comments, one commit an hour records the cursor.
#[test]
fn comments_of_unauthorized_users_change_only_the_comment_cursor() {
    let mut scenario = listened();
    let before = scenario.headlines.len();
    for _ in 0..11 {
        scenario.writes(7, "/phileas run b", "outsider");
        scenario.minutes(5);
        scenario.tick();
    }
    assert_eq!(scenario.headlines.len(), before, "within the hour");
    scenario.minutes(5);
    scenario.tick();
    assert_eq!(scenario.headlines.len(), before + 1);
    assert_eq!(scenario.state().requests.len(), 1, "the writer's own");
    let asked = scenario.permission_reads;
    scenario.minutes(20);
    scenario.tick();
    scenario.hours(2);
    scenario.tick();
    assert_eq!(scenario.headlines.len(), before + 2);
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(
        scenario.permission_reads,
        asked + 2,
        "no account is read for ever"
    );
    assert!(scenario.sessions.is_empty());
}

/// A writer's request is not skipped because another one was recorded first.
#[test]
fn a_command_that_cannot_be_decided_yet_does_not_count_as_read() {
    let mut scenario = scenario();
    scenario.label(7, "b", "ada");
    scenario.tick();
    scenario.minutes(3);
    scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.minutes(1);
    scenario.listing_works = false;
    scenario.writes(7, "/phileas approve", "ada");
    let said_at = scenario.now;
    scenario.tick();
    scenario.hours(2);
    scenario.writes(7, "/phileas status", "ada");
    scenario.tick();
    assert!(scenario.state().cursors.comments_since.unwrap() < said_at);
    scenario.listing_works = true;
    scenario.minutes(1);
    scenario.tick();
    assert!(
        scenario
            .effects
            .iter()
            .any(|one| one.name() == "approve_plan")
    );
    scenario.minutes(20);
    scenario.writes(7, "/phileas status", "ada");
    scenario.tick();
    assert!(scenario.state().cursors.comments_since.unwrap() > said_at);
}

/// One request without a known result does not silence the others.
#[test]
fn a_turn_cancelled_before_its_session_is_reported_and_blocks_nothing() {
    let mut scenario = scenario();
    scenario.answering = Answering::Refused;
    scenario.writes(7, "/phileas run b", "ada");
    scenario.tick();
    assert!(scenario.sessions.is_empty());
    scenario.minutes(20);
    scenario.writes(7, "/phileas cancel", "ada");
    scenario.tick();
    scenario.minutes(1);
    scenario.answering = Answering::Session;
    scenario.writes(7, "/phileas run a", "ada");
    scenario.tick();
    let status = scenario.status(7);
    assert!(
        status.contains("cancelled before it had a session"),
        "{status}"
    );
    assert!(
        status.contains("`a`, requested by `ada`: at work"),
        "{status}"
    );
}

/// A service may work with the token of a person who also labels and comments.
#[test]
fn the_person_whose_token_phileas_uses_is_authorized_and_phileas_is_not() {
    let mut scenario = scenario();
    scenario.viewer = Some(crate::support::subjects::account("ada"));
    scenario.writes(7, "/phileas run a\n<!-- phileas:status -->", "ada");
    scenario.tick();
    assert!(scenario.sessions.is_empty());
    scenario.writes(7, "/phileas run b", "ada");
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["b"]);
}

/// What a rebuilt ledger's predecessor executed is unknown; later commands are executed.
#[test]
fn a_rebuilt_ledger_executes_no_past_command() {
    let mut scenario = scenario();
    scenario.writes(7, "/phileas pause", "ada");
    scenario.tick();
    assert!(scenario.state().paused.is_some());
    scenario.minutes(5);
    let repository = scenario.snapshot().repository.id;
    let rebuilt = rebuild::rebuild(repository, scenario.now, "new-nonce".to_owned(), &[]);
    scenario.set_state(rebuilt.state);
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.state().paused, None);
    assert!(scenario.state().requests.is_empty());
    scenario.writes(7, "/phileas pause", "ada");
    scenario.tick();
    assert!(scenario.state().paused.is_some());
}

/// The branch was deleted, or the ledger was made by hand: what an earlier one executed is unknown.
#[test]
fn a_ledger_without_a_comment_cursor_executes_no_past_command() {
    for ledger in [None, Some(State::default())] {
        let mut scenario = scenario();
        scenario.writes(7, "/phileas pause", "ada");
        scenario.writes(7, "/phileas run b", "ada");
        scenario.hours(1);
        if let Some(by_hand) = ledger {
            scenario.set_state(by_hand);
        }
        scenario.tick();
        assert!(scenario.sessions.is_empty(), "{:?}", scenario.lines);
        let [said] = &missed(&scenario)[..] else {
            panic!("{:?}", scenario.lines);
        };
        assert!(said.contains("(2 are read)"), "{said}");
        assert!(said.contains("to be given again"), "{said}");
        assert!(scenario.comments.is_empty(), "old words are not answered");
        // Later commands are executed; earlier ones are not.
        scenario.minutes(1);
        scenario.writes(7, "/phileas run b", "ada");
        scenario.tick();
        assert_eq!(scenario.personas_run(), ["b"]);
        assert_eq!(scenario.state().paused, None);
        scenario.minutes(1);
        scenario.tick();
        assert_eq!(missed(&scenario), [] as [&str; 0]);
        assert_eq!(scenario.effects, []);
    }
}

/// A person who sets phileas up may write a command before its first run.
#[test]
fn a_command_within_the_hour_before_the_first_tick_is_executed() {
    let mut scenario = scenario();
    scenario.writes(7, "/phileas run b", "ada");
    scenario.pass(jiff::SignedDuration::from_secs(3599));
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["b"]);
    assert_eq!(missed(&scenario), [] as [&str; 0]);
}

/// The first tick may not be able to decide on it; the hour is that of the birth, and not that of every tick.
#[test]
fn a_command_from_before_the_ledgers_birth_is_executed_more_than_an_hour_after() {
    let mut scenario = scenario();
    scenario.writes(7, "/phileas run b", "ada");
    scenario.minutes(59);
    let repository = scenario.snapshot().repository.id;
    scenario.set_state(State::new_ledger(
        repository,
        scenario.now,
        "nonce".to_owned(),
    ));
    scenario.minutes(30);
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["b"]);
}

/// A flood of commands causes no more reads at once, and nothing is lost.
#[test]
fn of_many_commands_and_labels_twenty_issues_each_are_read_at_a_time() {
    for by_label in [false, true] {
        let mut scenario = scenario();
        let repository = scenario.snapshot().repository.id;
        scenario.set_state(State::new_ledger(
            repository,
            scenario.now,
            "nonce".to_owned(),
        ));
        for number in 100..125 {
            scenario.issue(number, "It is slow", "Opening takes a minute.");
            if by_label {
                scenario.label(number, "b", "ada");
            } else {
                scenario.writes(number, "/phileas run b", "ada");
            }
        }
        // A comment's subject is not read before its author is known to be a writer.
        let mut snapshot = scenario.snapshot();
        assert_eq!(read_requests(&snapshot).subjects.is_empty(), !by_label);
        let writer = scenario.permissions["ada"];
        snapshot.permissions.insert("ada".into(), writer);
        let read_next = read_requests(&snapshot).subjects;
        assert_eq!(read_next, (100..120).collect(), "by label: {by_label}");
    }
}
