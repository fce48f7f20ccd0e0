//! Tests what is read: the reach of listings, and which sessions, activities and pull requests are read one by one.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{
    Listing, ListingNeed, ReadRequests, Reason, SessionState, read_requests, resume_turn,
};
use phileas_domain::model::{PullNumber, SessionId};
use phileas_domain::state::Outcome;

use crate::support::scenario::{Answering, Scenario};

const DAY: SignedDuration = SignedDuration::from_hours(24);
const SKEW: SignedDuration = SignedDuration::from_mins(2);

/// What is to be read before anything was.
fn first_needs(scenario: &Scenario) -> ReadRequests {
    read_requests(&scenario.snapshot())
}

/// Which sessions of a listing without prompts are read one by one.
fn looked_at(scenario: &mut Scenario) -> BTreeSet<SessionId> {
    let mut snapshot = scenario.full_snapshot();
    let Listing::Taken(listing) = &mut snapshot.sessions else {
        panic!("no listing was asked for");
    };
    for session in &mut listing.sessions {
        session.prompt = None;
    }
    read_requests(&snapshot).sessions
}

fn start() -> Timestamp {
    "2026-01-05T00:00:00Z".parse().unwrap()
}

/// A scenario whose first attempt has no visible session; the second one is live.
fn once_in_the_dark() -> Scenario {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.answering = Answering::LostBefore;
    scenario.tick();
    scenario.answering = Answering::Session;
    scenario.minutes(15);
    scenario.tick();
    assert_eq!(
        (scenario.sessions.len(), scenario.turn("default").ambiguous),
        (1, 1)
    );
    scenario
}

#[test]
fn a_live_session_is_listed_from_its_start_on() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.tick();
    for hours in [1, 30] {
        scenario.hours(hours);
        let since = ListingNeed::Since(start() - SKEW);
        assert_eq!(first_needs(&scenario).listing, Some(since));
    }
}

#[test]
fn an_announced_session_is_sought_among_the_archived_ones_after_the_grace() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.answering = Answering::LostBefore;
    scenario.tick();
    scenario.seconds(15 * 60 - 1);
    let since = start() - SKEW;
    assert_eq!(
        first_needs(&scenario).listing,
        Some(ListingNeed::Since(since))
    );
    scenario.seconds(1);
    let complete = ListingNeed::CompleteSince(since);
    assert_eq!(first_needs(&scenario).listing, Some(complete));
}

#[test]
fn after_an_attempt_in_the_dark_a_day_is_listed_at_least() {
    let mut scenario = once_in_the_dark();
    let since = ListingNeed::Since(scenario.now - DAY);
    assert_eq!(first_needs(&scenario).listing, Some(since));
    let created_at = scenario.now;
    scenario.hours(48);
    let since = ListingNeed::Since(created_at - SKEW);
    assert_eq!(first_needs(&scenario).listing, Some(since));
}

#[test]
fn between_two_attempts_the_listing_begins_a_day_before_the_session_was_missed() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.answering = Answering::LostBefore;
    scenario.tick();
    scenario.minutes(15);
    scenario.paused_by_variable = Some("yes".to_owned());
    scenario.tick();
    let missed_at = scenario.now;
    scenario.hours(7);
    let since = ListingNeed::Since(missed_at - DAY);
    assert_eq!(first_needs(&scenario).listing, Some(since));
    // A person has settled it: there is none.
    let mut state = scenario.state().clone();
    resume_turn(
        state
            .tracks
            .get_mut("default")
            .unwrap()
            .turns
            .get_mut("")
            .unwrap(),
    );
    scenario.set_state(state);
    assert_eq!(scenario.turn("default").listed_empty_at, Some(missed_at));
    assert_eq!(first_needs(&scenario), ReadRequests::default());
}

#[test]
fn for_two_hours_a_given_up_session_is_checked_again() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.tick();
    scenario.becomes(SessionState::InProgress);
    scenario.lost = vec!["archive_session"];
    scenario.minutes(5);
    scenario.cancel_first();
    scenario.tick();
    assert_eq!(scenario.outcomes(), [Some(Outcome::Cancelled)]);
    scenario.lost.clear();
    scenario.seconds(2 * 3600 - 1);
    let since = ListingNeed::Since(start() - SKEW);
    assert_eq!(first_needs(&scenario).listing, Some(since));
    let mut late = scenario.snapshot();
    late.now += SignedDuration::from_secs(1);
    assert_eq!(read_requests(&late), ReadRequests::default());
    scenario.tick();
    assert!(scenario.sessions[0].archived);
}

#[test]
fn sessions_of_unknown_origin_are_read_only_after_an_ambiguous_attempt() {
    for dark in [false, true] {
        let mut scenario = if dark {
            once_in_the_dark()
        } else {
            Scenario::new("cycle = [\"a\"]\n", &["a"])
        };
        scenario.tick();
        // Jules keeps neither the prompt nor the title; our own live session is known by its id.
        scenario.sessions[0].title = "Some work".to_owned();
        let day = scenario.now - DAY;
        let second = SignedDuration::from_secs(1);
        for (id, at) in [("77", day - second), ("78", day), ("79", scenario.now)] {
            let mut other = scenario.sessions[0].clone();
            (other.id, other.created_at) = (id.into(), at);
            scenario.sessions.insert(0, other);
        }
        let mut marked = scenario.sessions[0].clone();
        marked.id = "80".into();
        marked.title = "Work [phileas:0123456789ab.1]".to_owned();
        scenario.sessions.insert(0, marked);
        let expected: BTreeSet<SessionId> = if dark {
            ["78".into(), "79".into()].into()
        } else {
            BTreeSet::new()
        };
        let mut looked_at = looked_at(&mut scenario);
        // That its turn is not in the ledger is a matter of its own.
        looked_at.remove("80");
        assert_eq!(looked_at, expected, "in the dark: {dark}");
    }
}

#[test]
fn a_session_that_shows_neither_prompt_nor_title_is_found_by_a_look_at_it() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.answering = Answering::Lost;
    scenario.tick();
    scenario.answering = Answering::Session;
    scenario.prompts_hidden = true;
    scenario.sessions[0].title = "Some work".to_owned();
    let id = scenario.sessions[0].id.clone();
    let outage = phileas_domain::engine::Outage {
        detail: "503".to_owned(),
        retry_at: None,
        credential: false,
    };
    scenario.unread.insert(id.clone(), outage);
    scenario.minutes(30);
    scenario.tick();
    assert_eq!(scenario.reasons("default"), [Reason::Ambiguous]);
    assert_eq!(scenario.sessions.len(), 1, "its turn is not known");
    scenario.unread.clear();
    scenario.tick();
    assert_eq!(scenario.reasons("default"), [Reason::FoundByMarker]);
    assert_eq!(scenario.turn("default").session_id, Some(id));
}

#[test]
fn an_open_pull_request_is_read_and_a_closed_one_is_not_read_again() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.tick();
    scenario.minutes(5);
    let number = scenario.opens_pull();
    scenario.tick();
    let pull = scenario.pulls.remove(&number).unwrap();
    assert_eq!(first_needs(&scenario).pulls, BTreeSet::from([number]));
    scenario.pulls.insert(number, pull);
    scenario.close(number);
    scenario.tick();
    assert_eq!(scenario.outcomes(), [Some(Outcome::Rejected)]);
    scenario.pulls.clear();
    assert_eq!(first_needs(&scenario).pulls, BTreeSet::new());
}

#[test]
fn a_pull_request_that_a_session_names_is_read_unless_it_is_known() {
    let plan = "cycle = [\"a\"]\n[defaults]\nadvance_on = \"merged\"\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    scenario.tick();
    scenario.minutes(5);
    let number = scenario.opens_pull();
    let mut snapshot = scenario.full_snapshot();
    assert_eq!(read_requests(&snapshot).pulls, BTreeSet::new());
    snapshot.pulls.clear();
    assert_eq!(read_requests(&snapshot).pulls, BTreeSet::from([number]));
    snapshot.missing_pulls.insert(PullNumber(number.0));
    assert_eq!(read_requests(&snapshot).pulls, BTreeSet::new());
}
