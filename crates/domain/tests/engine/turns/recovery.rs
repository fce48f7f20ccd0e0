//! Tests recovery: listings that are too short or too early, archives that failed, clocks that went back.

use phileas_domain::engine::{
    Effect, Ledger, Listing, PullState, Reason, RunRequest, SessionState, decide,
};
use phileas_domain::state::Outcome;

use crate::support::scenario::{Answering, Scenario};

const ONE: &str = "cycle = [\"a\", \"b\"]\n";

#[test]
fn a_deeper_listing_still_answers_what_the_short_one_did() {
    let mut scenario = Scenario::new(
        "[tracks]\none = [\"a\"]\n[schedules]\nb = \"10 * * * *\"\n",
        &["a", "b"],
    );
    scenario.tick();
    scenario.minutes(11);
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a", "b"]);
    // Only the younger one needs the archived sessions; the older one needs the listing to reach further back.
    let session = &mut scenario.sessions[1];
    session.archived = true;
    session.state = SessionState::Paused;
    scenario.minutes(19);
    scenario.listings = 0;
    scenario.tick();
    assert_eq!(scenario.listings, 2);
    assert_eq!(scenario.outcomes(), [None, Some(Outcome::Cancelled)]);
}

#[test]
fn a_listing_that_was_read_too_early_does_not_end_a_turn_however_late_it_is_used() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    scenario.minutes(1);
    let mut snapshot = scenario.full_snapshot();
    let Listing::Taken(listing) = &mut snapshot.sessions else {
        panic!("a live turn needs a listing");
    };
    // The listing lags behind the create, and the process is stopped between looking and deciding.
    listing.sessions.clear();
    listing.archived = true;
    scenario.minutes(20);
    snapshot.now = scenario.now;
    let decision = decide(&snapshot, &[]);
    assert_eq!(decision.change, None);
    let reasons: Vec<_> = decision
        .report
        .lines
        .iter()
        .map(|line| line.reason)
        .collect();
    assert_eq!(reasons, [Reason::SessionRunning]);
}

#[test]
fn a_duplicate_that_could_not_be_archived_is_archived_later() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.answering = Answering::Lost;
    scenario.tick();
    let hidden = scenario.sessions.pop().unwrap();
    scenario.answering = Answering::Session;
    scenario.minutes(16);
    scenario.tick();
    scenario.sessions.push(hidden.clone());
    scenario.answering = Answering::Dies;
    scenario.tick();
    assert_eq!(
        scenario.state().history[&0].duplicates,
        std::slice::from_ref(&hidden.id)
    );
    assert!(!scenario.sessions.last().unwrap().archived);
    scenario.answering = Answering::Session;
    scenario.tick();
    assert!(scenario.sessions.last().unwrap().archived);
    let commits = scenario.headlines.len();
    scenario.tick();
    assert!(
        !scenario
            .effects
            .contains(&Effect::ArchiveSession { session: hidden.id })
    );
    assert_eq!(scenario.headlines.len(), commits);
}

#[test]
fn a_clock_that_went_back_does_not_move_an_end_back() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    scenario.minutes(20);
    let number = scenario.opens_pull();
    scenario.tick();
    scenario.close(number);
    scenario.tick();
    let ended = scenario.state().history[&0].finished_at;
    scenario.hours(-2);
    scenario.pulls.get_mut(&number).unwrap().state = PullState::Merged;
    scenario.tick();
    let entry = &scenario.state().history[&0];
    assert_eq!(
        (entry.outcome.clone(), entry.finished_at),
        (Some(Outcome::Merged), ended)
    );
}

#[test]
fn a_manual_start_on_a_clock_that_went_back_does_not_repeat_the_start_time() {
    let plan = "[tracks.night]\nsteps = [\"a\"]\nstart = \"0 3 * * *\"\n[defaults]\nskip_unchanged = false\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    scenario.tick();
    scenario.hours(4);
    scenario.tick();
    scenario.minutes(20);
    scenario.opens_pull();
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 1);
    scenario.hours(-2);
    scenario.ask = RunRequest::Track("night".into());
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 2);
    scenario.ask = RunRequest::Due;
    scenario.opens_pull();
    for _ in 0..4 {
        scenario.hours(1);
        scenario.tick();
    }
    assert_eq!(scenario.sessions.len(), 2, "03:00 was answered already");
}

#[test]
fn a_ledger_that_was_created_between_two_reads_is_read_again_before_a_notice_is_opened() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    let born = std::mem::replace(&mut scenario.ledger, Ledger::Missing { head: None });
    // Another process was faster: its session is in the listing, its commit came after our read.
    scenario.tick();
    assert_eq!(scenario.all_reasons(), [Reason::LedgerCatchingUp]);
    assert_eq!((scenario.notices.len(), scenario.sessions.len()), (0, 1));
    scenario.ledger = born;
    scenario.tick();
    assert_eq!(scenario.reasons("default"), [Reason::SessionRunning]);
}

#[test]
fn a_turn_between_two_attempts_still_searches_the_session_of_the_first() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.answering = Answering::Lost;
    scenario.tick();
    let hidden = scenario.sessions.pop().unwrap();
    scenario.answering = Answering::LostBefore;
    scenario.minutes(16);
    scenario.tick();
    scenario.minutes(16);
    scenario.tick();
    assert_eq!(scenario.reasons("default"), [Reason::RetryPause]);
    scenario.sessions.push(hidden);
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a"]);
    assert_eq!(scenario.turn("default").late_finds, 1);
}

#[test]
fn the_order_of_a_listing_does_not_matter() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    for copy in ["2000", "3000"] {
        let mut double = scenario.sessions[0].clone();
        double.id = copy.into();
        scenario.sessions.push(double);
    }
    let snapshot = scenario.full_snapshot();
    let mut reversed = snapshot.clone();
    if let Listing::Taken(listing) = &mut reversed.sessions {
        listing.sessions.reverse();
    }
    let decision = decide(&snapshot, &[]);
    assert_eq!(decision, decide(&reversed, &[]));
    assert_eq!(decision.effects.len(), 2);
}
