//! What went wrong half-way is found and finished: listings that are too short or too early, archives that failed,
//! clocks that were put back.

use phileas_domain::engine::{
    Ask, Effect, Ledger, Listing, PullState, Reason, SessionState, decide,
};
use phileas_domain::state::Outcome;

use crate::desk::{Answering, Desk};

const ONE: &str = "cycle = [\"a\", \"b\"]\n";

#[test]
fn a_deeper_listing_still_answers_what_the_short_one_did() {
    let mut desk = Desk::new(
        "[tracks]\none = [\"a\"]\n[schedules]\nb = \"10 * * * *\"\n",
        &["a", "b"],
    );
    desk.tick();
    desk.minutes(11);
    desk.tick();
    assert_eq!(desk.personas_run(), ["a", "b"]);
    // Only the younger one needs the archived sessions; the older one needs the listing to reach further back.
    let session = &mut desk.sessions[1];
    session.archived = true;
    session.state = SessionState::Paused;
    desk.minutes(19);
    desk.listings = 0;
    desk.tick();
    assert_eq!(desk.listings, 2);
    assert_eq!(desk.outcomes(), [None, Some(Outcome::Cancelled)]);
}

#[test]
fn a_listing_that_was_taken_too_early_does_not_end_a_turn_however_late_it_is_looked_at() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    desk.minutes(1);
    let mut snapshot = desk.look();
    let Listing::Taken(listing) = &mut snapshot.sessions else {
        panic!("a live turn needs a listing");
    };
    // The listing lags behind the create, and the process is stopped between looking and deciding.
    listing.sessions.clear();
    listing.archived = true;
    desk.minutes(20);
    snapshot.now = desk.now;
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
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.answering = Answering::Lost;
    desk.tick();
    let hidden = desk.sessions.pop().unwrap();
    desk.answering = Answering::Session;
    desk.minutes(16);
    desk.tick();
    desk.sessions.push(hidden.clone());
    desk.answering = Answering::Dies;
    desk.tick();
    assert_eq!(
        desk.state().history[&0].duplicates,
        std::slice::from_ref(&hidden.id)
    );
    assert!(!desk.sessions.last().unwrap().archived);
    desk.answering = Answering::Session;
    desk.tick();
    assert!(desk.sessions.last().unwrap().archived);
    let commits = desk.headlines.len();
    desk.tick();
    assert!(
        !desk
            .effects
            .contains(&Effect::ArchiveSession { session: hidden.id })
    );
    assert_eq!(desk.headlines.len(), commits);
}

#[test]
fn a_clock_that_was_put_back_does_not_take_an_ending_back() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    desk.minutes(20);
    let number = desk.opens_pull();
    desk.tick();
    desk.close(number);
    desk.tick();
    let ended = desk.state().history[&0].finished_at;
    desk.hours(-2);
    desk.pulls.get_mut(&number).unwrap().state = PullState::Merged;
    desk.tick();
    let entry = &desk.state().history[&0];
    assert_eq!(
        (entry.outcome.clone(), entry.finished_at),
        (Some(Outcome::Merged), ended)
    );
}

#[test]
fn a_start_by_hand_on_a_clock_that_was_put_back_does_not_bring_the_start_time_back() {
    let plan = "[tracks.night]\nsteps = [\"a\"]\nstart = \"0 3 * * *\"\n[defaults]\nskip_unchanged = false\n";
    let mut desk = Desk::new(plan, &["a"]);
    desk.tick();
    desk.hours(4);
    desk.tick();
    desk.minutes(20);
    desk.opens_pull();
    desk.tick();
    assert_eq!(desk.sessions.len(), 1);
    desk.hours(-2);
    desk.ask = Ask::Track("night".into());
    desk.tick();
    assert_eq!(desk.sessions.len(), 2);
    desk.ask = Ask::Due;
    desk.opens_pull();
    for _ in 0..4 {
        desk.hours(1);
        desk.tick();
    }
    assert_eq!(desk.sessions.len(), 2, "03:00 was answered already");
}

#[test]
fn a_ledger_that_was_born_between_two_reads_is_read_again_before_anybody_is_called() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    let born = std::mem::replace(&mut desk.ledger, Ledger::Missing { head: None });
    // Another process was faster: its session is in the listing, its commit came after our read.
    desk.tick();
    assert_eq!(desk.all_reasons(), [Reason::LedgerCatchingUp]);
    assert_eq!((desk.notices.len(), desk.sessions.len()), (0, 1));
    desk.ledger = born;
    desk.tick();
    assert_eq!(desk.reasons("default"), [Reason::SessionRunning]);
}

#[test]
fn a_turn_between_two_attempts_still_looks_for_the_session_of_the_first() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.answering = Answering::Lost;
    desk.tick();
    let hidden = desk.sessions.pop().unwrap();
    desk.answering = Answering::LostBefore;
    desk.minutes(16);
    desk.tick();
    desk.minutes(16);
    desk.tick();
    assert_eq!(desk.reasons("default"), [Reason::RetryPause]);
    desk.sessions.push(hidden);
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.personas_run(), ["a"]);
    assert_eq!(desk.turn("default").late_finds, 1);
}

#[test]
fn the_order_of_a_listing_does_not_matter() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    for copy in ["2000", "3000"] {
        let mut double = desk.sessions[0].clone();
        double.id = copy.into();
        desk.sessions.push(double);
    }
    let snapshot = desk.look();
    let mut reversed = snapshot.clone();
    if let Listing::Taken(listing) = &mut reversed.sessions {
        listing.sessions.reverse();
    }
    let decision = decide(&snapshot, &[]);
    assert_eq!(decision, decide(&reversed, &[]));
    assert_eq!(decision.effects.len(), 2);
}
