//! Tests `/phileas refuse` and `/phileas forget`.

use phileas_domain::engine::{Actor, Effect, PullChange, PullEvent, PullState};
use phileas_domain::model::PullNumber;
use phileas_domain::state::Outcome;
use phileas_domain::work::{HOT_PATH, JULES_BOT_ID, RefusalReason, WorkFile, WorkRecord};

use crate::support::scenario::Scenario;
use crate::support::subjects::account;

/// An open pull request of a session, on which `ada` may write.
fn with_pull(plan: &str) -> (Scenario, u64) {
    let plan = format!("cycle = [\"a\"]\n[budget]\ndaily_sessions = 1\n{plan}");
    let mut scenario = Scenario::new(&plan, &["a"]);
    scenario.writer("ada");
    scenario.tick();
    scenario.minutes(5);
    let number = scenario.opens_pull().0;
    scenario.tick();
    scenario.pull_subject(number, true);
    scenario.minutes(1);
    (scenario, number)
}

fn record(scenario: &Scenario) -> WorkRecord {
    let file = WorkFile::parse(scenario.exchange.text(HOT_PATH).unwrap()).unwrap();
    file.records().next().unwrap().clone()
}

fn comment_and_tick(scenario: &mut Scenario, number: u64, text: &str, who: &str) {
    scenario.writes(number, text, who);
    scenario.tick();
    scenario.minutes(1);
    scenario.tick();
}

fn is_open(scenario: &Scenario, number: u64) -> bool {
    scenario.pulls[&PullNumber(number)].state == PullState::Open
}

fn closings(scenario: &Scenario) -> usize {
    let closes = |effect: &&Effect| matches!(effect, Effect::ClosePull { .. });
    scenario.effects.iter().filter(closes).count()
}

#[test]
fn a_writer_refuses_a_pull_request_and_the_record_keeps_the_reason() {
    for (text, reason, never) in [
        (
            "/phileas refuse out-of-scope",
            RefusalReason::OutOfScope,
            false,
        ),
        (
            "/phileas refuse wrong never\nIt breaks the build.",
            RefusalReason::Wrong,
            true,
        ),
        (
            "/phileas refuse too-large please split it",
            RefusalReason::TooLarge,
            false,
        ),
    ] {
        let (mut scenario, number) = with_pull("");
        comment_and_tick(&mut scenario, number, text, "ada");
        assert!(!is_open(&scenario, number));
        let record = record(&scenario);
        assert_eq!(record.outcome, Some(Outcome::Rejected));
        let refused = record.refused.unwrap();
        assert_eq!((refused.reason, refused.never), (reason, never));
        assert_eq!(refused.until.is_none(), never);
        assert!(refused.comment.is_some());
        assert!(refused.digest.unwrap().starts_with("sha256:"));
        let work = &scenario.state().work;
        assert!(work.refused.is_empty() && work.open.is_empty(), "{work:?}");
    }
}

#[test]
fn only_people_with_write_access_refuse_and_only_for_a_reason() {
    for (text, who) in [
        ("/phileas refuse out-of-scope", "outsider"),
        ("/phileas refuse", "ada"),
        ("/phileas refuse boring", "ada"),
        ("> /phileas refuse wrong", "ada"),
    ] {
        let (mut scenario, number) = with_pull("");
        comment_and_tick(&mut scenario, number, text, who);
        assert!(is_open(&scenario, number), "{text} by {who}");
        assert!(scenario.state().work.refused.is_empty());
    }
}

#[test]
fn what_is_no_work_of_jules_is_not_refused() {
    let (mut scenario, _) = with_pull("");
    scenario.pull_subject(70, true);
    scenario.pull_subject(71, false);
    scenario.issue(72, "It is slow", "Very.");
    for number in [70, 71, 72] {
        comment_and_tick(&mut scenario, number, "/phileas refuse wrong", "ada");
        assert!(scenario.state().work.refused.is_empty(), "#{number}");
    }
    let (mut scenario, number) = with_pull("[novelty]\nmode = \"off\"\n");
    comment_and_tick(&mut scenario, number, "/phileas refuse wrong", "ada");
    assert!(is_open(&scenario, number));
}

#[test]
fn a_pull_request_is_closed_once_and_one_that_is_reopened_stays_open() {
    for who in ["ada", "tidy[bot]"] {
        let (mut scenario, number) = with_pull("");
        scenario.writes(number, "/phileas refuse wrong", "ada");
        scenario.tick();
        assert_eq!(closings(&scenario), 1);
        // It is reopened before phileas has seen that it was closed.
        scenario.minutes(1);
        reopens(&mut scenario, number, who);
        let mut again = 0;
        for _ in 0..3 {
            scenario.minutes(20);
            scenario.tick();
            again += closings(&scenario);
        }
        let by_person = who == "ada";
        assert_eq!(again, usize::from(!by_person), "{who}");
        assert_eq!(is_open(&scenario, number), by_person);
        if by_person {
            assert!(scenario.state().work.refused.is_empty());
        }
    }
}

/// A replica of GitHub may show a pull request open for a while after it was closed.
#[test]
fn an_older_state_of_a_closed_pull_request_withdraws_no_refusal() {
    let (mut scenario, number) = with_pull("");
    scenario.writes(number, "/phileas refuse wrong", "ada");
    scenario.tick();
    scenario.pulls.get_mut(&PullNumber(number)).unwrap().state = PullState::Open;
    scenario.minutes(20);
    scenario.tick();
    assert_eq!(closings(&scenario), 0);
    assert_eq!(scenario.state().work.refused.len(), 1);
}

/// `who` reopens the pull request now.
fn reopens(scenario: &mut Scenario, number: u64, who: &str) {
    let number = PullNumber(number);
    scenario.pulls.get_mut(&number).unwrap().state = PullState::Open;
    let event = PullEvent {
        at: scenario.now,
        actor: Some(account(who)),
        what: PullChange::Reopened,
    };
    scenario.pull_events.insert(number, vec![event]);
}

/// Whether the next ticks leave the pull request open.
fn stays_open(scenario: &mut Scenario, number: u64) -> bool {
    for _ in 0..3 {
        scenario.tick();
        if !is_open(scenario, number) {
            return false;
        }
        scenario.minutes(20);
    }
    scenario.state().work.refused.is_empty()
}

#[test]
fn a_pull_request_that_a_person_reopened_before_the_next_run_stays_open() {
    for (who, stays) in [("ada", true), ("tidy[bot]", false)] {
        let (mut scenario, number) = with_pull("");
        scenario.writes(number, "/phileas refuse wrong", "ada");
        scenario.minutes(5);
        reopens(&mut scenario, number, who);
        scenario.minutes(5);
        assert_eq!(stays_open(&mut scenario, number), stays, "{who}");
    }
    // A refusal after the reopening counts.
    let (mut scenario, number) = with_pull("");
    reopens(&mut scenario, number, "ada");
    scenario.minutes(5);
    scenario.writes(number, "/phileas refuse wrong", "ada");
    assert!(!stays_open(&mut scenario, number));
}

#[test]
fn a_refusal_stands_where_github_does_not_show_what_happened() {
    let (mut scenario, number) = with_pull("");
    scenario.unshown_activity.insert(PullNumber(number));
    comment_and_tick(&mut scenario, number, "/phileas refuse wrong", "ada");
    assert!(!is_open(&scenario, number));
    assert!(scenario.state().work.refused.is_empty());
}

/// The process died after the closing and before the ledger knew.
#[test]
fn a_pull_request_whose_closing_got_lost_and_that_a_person_reopened_stays_open() {
    let (mut scenario, number) = with_pull("");
    scenario.lost = vec!["close_pull"];
    scenario.writes(number, "/phileas refuse wrong", "ada");
    scenario.tick();
    assert_eq!(closings(&scenario), 1);
    scenario.lost.clear();
    scenario.minutes(5);
    reopens(&mut scenario, number, "ada");
    scenario.minutes(20);
    assert!(stays_open(&mut scenario, number));
}

#[test]
fn a_closing_that_got_lost_is_repeated_and_given_up_in_the_end() {
    let (mut scenario, number) = with_pull("");
    scenario.lost = vec!["close_pull"];
    scenario.writes(number, "/phileas refuse wrong", "ada");
    scenario.tick();
    assert!(is_open(&scenario, number));
    scenario.lost.clear();
    scenario.hours(1);
    scenario.tick();
    assert!(!is_open(&scenario, number));

    let (mut scenario, number) = with_pull("");
    scenario.lost = vec!["close_pull"];
    scenario.writes(number, "/phileas refuse wrong", "ada");
    let mut count = 0;
    for _ in 0..40 {
        scenario.tick();
        count += closings(&scenario);
        scenario.hours(1);
    }
    assert!((2..=10).contains(&count), "{count}");
    // A person closes it by hand: the record has the reason.
    let pull = scenario.pulls.get_mut(&PullNumber(number)).unwrap();
    (pull.state, pull.closed_at) = (PullState::Closed, Some(scenario.now));
    for _ in 0..3 {
        scenario.tick();
        scenario.minutes(1);
    }
    let reason = record(&scenario).refused.map(|refused| refused.reason);
    assert_eq!(reason, Some(RefusalReason::Wrong));
    assert!(scenario.state().work.refused.is_empty());
}

#[test]
fn what_is_merged_is_not_refused_and_what_is_open_is_not_forgotten() {
    let (mut scenario, number) = with_pull("");
    comment_and_tick(&mut scenario, number, "/phileas forget", "ada");
    assert!(scenario.state().work.forgotten.is_empty());
    scenario.merge(PullNumber(number));
    scenario.writes(number, "/phileas refuse wrong", "ada");
    scenario.tick();
    assert!(scenario.state().work.refused.is_empty());
    assert_eq!(record(&scenario).outcome, Some(Outcome::Merged));
}

/// Jules' account opened it, and no session of the ledger.
#[test]
fn the_work_of_a_session_that_a_person_started_is_refused_and_forgotten_when_it_is_closed() {
    let (mut scenario, first) = with_pull("");
    let mut pull = scenario.pulls[&PullNumber(first)].clone();
    let number = 40;
    pull.number = PullNumber(number);
    pull.bot_id = Some(JULES_BOT_ID);
    pull.state = PullState::Closed;
    scenario.pulls.insert(pull.number, pull);
    scenario.pull_subject(number, true);
    let author = |bot: &str, id| Actor {
        login: bot.into(),
        id: Some(id),
        bot: true,
    };
    let of_record = |scenario: &Scenario| {
        let file = WorkFile::parse(scenario.exchange.text(HOT_PATH).unwrap()).unwrap();
        file.get(number).cloned()
    };
    // A name proves nothing.
    scenario.subject(number).author = Some(author("google-labs-jules[bot]", 7));
    comment_and_tick(&mut scenario, number, "/phileas refuse wrong", "ada");
    assert_eq!(of_record(&scenario), None);
    scenario.subject(number).author = Some(author("google-labs-jules[bot]", JULES_BOT_ID));
    comment_and_tick(&mut scenario, number, "/phileas refuse wrong", "ada");
    let refused = of_record(&scenario).unwrap().refused;
    assert_eq!(refused.map(|one| one.reason), Some(RefusalReason::Wrong));
    comment_and_tick(&mut scenario, number, "/phileas forget", "ada");
    let found = of_record(&scenario).unwrap();
    assert!(found.refused.is_none() && found.forgotten);
}

#[test]
fn forget_withdraws_a_refusal() {
    let (mut scenario, number) = with_pull("");
    comment_and_tick(&mut scenario, number, "/phileas refuse wrong never", "ada");
    assert!(record(&scenario).refused.is_some());
    comment_and_tick(&mut scenario, number, "/phileas forget", "outsider");
    assert!(record(&scenario).refused.is_some());
    comment_and_tick(&mut scenario, number, "/phileas forget", "ada");
    let found = record(&scenario);
    assert!(found.refused.is_none() && found.forgotten);
    assert!(scenario.state().work.forgotten.is_empty());
    assert!(!is_open(&scenario, number));
    // A closed pull request can be refused again.
    comment_and_tick(&mut scenario, number, "/phileas refuse duplicate", "ada");
    let found = record(&scenario);
    assert_eq!(
        found.refused.map(|refused| refused.reason),
        Some(RefusalReason::Duplicate)
    );
    assert!(!found.forgotten);
}
