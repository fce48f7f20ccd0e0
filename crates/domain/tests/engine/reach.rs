//! How much is read: how far back the list of sessions goes, and which sessions, logs and pull requests are looked at
//! one by one.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{Listing, ListingNeed, Needs, Reason, SessionState, go_on, needs};
use phileas_domain::model::{PullNumber, SessionId};
use phileas_domain::state::Outcome;

use crate::desk::{Answering, Desk};

const DAY: SignedDuration = SignedDuration::from_hours(24);
const SKEW: SignedDuration = SignedDuration::from_mins(2);

/// What is to be read before anything was.
fn first_needs(desk: &Desk) -> Needs {
    needs(&desk.snapshot())
}

/// Which sessions a listing without prompts leaves to be looked at one by one.
fn looked_at(desk: &mut Desk) -> BTreeSet<SessionId> {
    let mut snapshot = desk.look();
    let Listing::Taken(listing) = &mut snapshot.sessions else {
        panic!("no listing was asked for");
    };
    for session in &mut listing.sessions {
        session.prompt = None;
    }
    needs(&snapshot).sessions
}

fn start() -> Timestamp {
    "2026-01-05T00:00:00Z".parse().unwrap()
}

/// A desk whose first attempt brought no session that anybody can see; the second one is under way.
fn once_in_the_dark() -> Desk {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.answering = Answering::LostBefore;
    desk.tick();
    desk.answering = Answering::Session;
    desk.minutes(15);
    desk.tick();
    assert_eq!(
        (desk.sessions.len(), desk.turn("default").ambiguous),
        (1, 1)
    );
    desk
}

#[test]
fn a_live_session_is_listed_from_its_start_on() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.tick();
    for hours in [1, 30] {
        desk.hours(hours);
        let since = ListingNeed::Since(start() - SKEW);
        assert_eq!(first_needs(&desk).listing, Some(since));
    }
}

#[test]
fn an_announced_session_is_sought_among_the_archived_ones_after_the_grace() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.answering = Answering::LostBefore;
    desk.tick();
    desk.seconds(15 * 60 - 1);
    let since = start() - SKEW;
    assert_eq!(first_needs(&desk).listing, Some(ListingNeed::Since(since)));
    desk.seconds(1);
    let complete = ListingNeed::CompleteSince(since);
    assert_eq!(first_needs(&desk).listing, Some(complete));
}

#[test]
fn after_an_attempt_in_the_dark_a_day_is_listed_at_least() {
    let mut desk = once_in_the_dark();
    let since = ListingNeed::Since(desk.now - DAY);
    assert_eq!(first_needs(&desk).listing, Some(since));
    let created_at = desk.now;
    desk.hours(48);
    let since = ListingNeed::Since(created_at - SKEW);
    assert_eq!(first_needs(&desk).listing, Some(since));
}

#[test]
fn between_two_attempts_a_session_of_the_first_is_looked_for_from_a_day_before_it_was_missed() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.answering = Answering::LostBefore;
    desk.tick();
    desk.minutes(15);
    desk.paused_by_variable = Some("yes".to_owned());
    desk.tick();
    let missed_at = desk.now;
    desk.hours(7);
    let since = ListingNeed::Since(missed_at - DAY);
    assert_eq!(first_needs(&desk).listing, Some(since));
    // A person has settled it: there is none.
    let mut state = desk.state().clone();
    go_on(
        state
            .tracks
            .get_mut("default")
            .unwrap()
            .turns
            .get_mut("")
            .unwrap(),
    );
    desk.set_state(state);
    assert_eq!(desk.turn("default").listed_empty_at, Some(missed_at));
    assert_eq!(first_needs(&desk), Needs::default());
}

#[test]
fn for_two_hours_a_session_that_was_given_up_is_looked_at_again() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.tick();
    desk.becomes(SessionState::InProgress);
    desk.lost = vec!["archive_session"];
    desk.minutes(5);
    desk.cancel_first();
    desk.tick();
    assert_eq!(desk.outcomes(), [Some(Outcome::Cancelled)]);
    desk.lost.clear();
    desk.seconds(2 * 3600 - 1);
    let since = ListingNeed::Since(start() - SKEW);
    assert_eq!(first_needs(&desk).listing, Some(since));
    let mut late = desk.snapshot();
    late.now += SignedDuration::from_secs(1);
    assert_eq!(needs(&late), Needs::default());
    desk.tick();
    assert!(desk.sessions[0].archived);
}

#[test]
fn sessions_of_unknown_origin_are_looked_at_only_after_an_attempt_in_the_dark() {
    for dark in [false, true] {
        let mut desk = if dark {
            once_in_the_dark()
        } else {
            Desk::new("cycle = [\"a\"]\n", &["a"])
        };
        desk.tick();
        // Jules keeps neither the prompt nor the title; our own live session is known by its id.
        desk.sessions[0].title = "Some work".to_owned();
        let day = desk.now - DAY;
        let second = SignedDuration::from_secs(1);
        for (id, at) in [("77", day - second), ("78", day), ("79", desk.now)] {
            let mut other = desk.sessions[0].clone();
            (other.id, other.created_at) = (id.into(), at);
            desk.sessions.insert(0, other);
        }
        let mut marked = desk.sessions[0].clone();
        marked.id = "80".into();
        marked.title = "Work [phileas:0123456789ab.1]".to_owned();
        desk.sessions.insert(0, marked);
        let expected: BTreeSet<SessionId> = if dark {
            ["78".into(), "79".into()].into()
        } else {
            BTreeSet::new()
        };
        let mut looked_at = looked_at(&mut desk);
        // That its turn is not in the ledger is a matter of its own.
        looked_at.remove("80");
        assert_eq!(looked_at, expected, "in the dark: {dark}");
    }
}

#[test]
fn a_session_that_shows_neither_prompt_nor_title_is_found_by_a_look_at_it() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.answering = Answering::Lost;
    desk.tick();
    desk.answering = Answering::Session;
    desk.prompts_hidden = true;
    desk.sessions[0].title = "Some work".to_owned();
    let id = desk.sessions[0].id.clone();
    let outage = phileas_domain::engine::Outage {
        detail: "503".to_owned(),
        retry_at: None,
        credential: false,
    };
    desk.unread.insert(id.clone(), outage);
    desk.minutes(30);
    desk.tick();
    assert_eq!(desk.reasons("default"), [Reason::Ambiguous]);
    assert_eq!(desk.sessions.len(), 1, "nobody knows whose it is");
    desk.unread.clear();
    desk.tick();
    assert_eq!(desk.reasons("default"), [Reason::FoundByMarker]);
    assert_eq!(desk.turn("default").session_id, Some(id));
}

#[test]
fn an_open_pull_request_is_read_and_a_closed_one_is_not_read_again() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.tick();
    desk.minutes(5);
    let number = desk.opens_pull();
    desk.tick();
    let pull = desk.pulls.remove(&number).unwrap();
    assert_eq!(first_needs(&desk).pulls, BTreeSet::from([number]));
    desk.pulls.insert(number, pull);
    desk.close(number);
    desk.tick();
    assert_eq!(desk.outcomes(), [Some(Outcome::Rejected)]);
    desk.pulls.clear();
    assert_eq!(first_needs(&desk).pulls, BTreeSet::new());
}

#[test]
fn a_pull_request_that_a_session_names_is_read_unless_it_is_known() {
    let plan = "cycle = [\"a\"]\n[defaults]\nadvance_on = \"merged\"\n";
    let mut desk = Desk::new(plan, &["a"]);
    desk.tick();
    desk.minutes(5);
    let number = desk.opens_pull();
    let mut snapshot = desk.look();
    assert_eq!(needs(&snapshot).pulls, BTreeSet::new());
    snapshot.pulls.clear();
    assert_eq!(needs(&snapshot).pulls, BTreeSet::from([number]));
    snapshot.missing_pulls.insert(PullNumber(number.0));
    assert_eq!(needs(&snapshot).pulls, BTreeSet::new());
}
