//! A ledger that contradicts Jules: what counts as a contradiction, and from when on a person is called.

use jiff::SignedDuration;
use phileas_domain::Diagnostic;
use phileas_domain::engine::{
    Ask, Effect, Ledger, Listing, ListingNeed, Reason, Snapshot, Verdict, decide, needs,
};
use phileas_domain::model::Oid;
use phileas_domain::state::Outcome;

use crate::desk::{Answering, Desk};

const ONE: &str = "cycle = [\"a\", \"b\"]\n";
const SECOND: SignedDuration = SignedDuration::from_secs(1);
const GRACE: SignedDuration = SignedDuration::from_mins(15);

/// The body of the issue that is opened.
fn called(desk: &Desk) -> &str {
    let mut effects = desk.effects.iter();
    let body = effects.find_map(|effect| match effect {
        Effect::OpenNotice { body, .. } => Some(body.as_str()),
        _ => None,
    });
    body.unwrap_or_else(|| panic!("{:?}", desk.effects))
}

fn reasons(snapshot: &Snapshot) -> Vec<Reason> {
    let lines = decide(snapshot, &[]).report.lines;
    lines.iter().map(|line| line.reason).collect()
}

#[test]
fn a_lost_ledger_is_called_about_a_quarter_of_an_hour_after_the_oldest_session() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    let created = desk.now;
    desk.minutes(5);
    desk.opens_pull();
    desk.tick();
    assert_eq!(desk.sessions.len(), 2);
    desk.ledger = Ledger::Missing { head: None };
    desk.now = created + GRACE - SECOND;
    desk.tick();
    assert_eq!(desk.all_reasons(), [Reason::LedgerCatchingUp]);
    assert_eq!(desk.wake_at, Some(desk.now + SignedDuration::from_mins(1)));
    assert_eq!(desk.notices.len(), 0);
    desk.now = created + GRACE;
    desk.tick();
    assert_eq!(desk.all_reasons(), [Reason::LedgerRolledBack]);
    let oldest = &desk.sessions[0].id;
    assert!(
        called(&desk).contains(&format!("session {oldest} is one of ours")),
        "{}",
        called(&desk)
    );
}

#[test]
fn a_ledger_that_was_put_back_is_called_about_a_quarter_of_an_hour_after_what_it_forgot() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    let old = desk.ledger.clone();
    desk.minutes(5);
    desk.opens_pull();
    desk.tick();
    let created = desk.now;
    desk.ledger = old;
    desk.now = created + GRACE - SECOND;
    desk.tick();
    assert_eq!(desk.all_reasons(), [Reason::LedgerCatchingUp]);
    desk.now = created + GRACE;
    desk.tick();
    assert_eq!(desk.all_reasons(), [Reason::LedgerRolledBack]);
    assert!(called(&desk).contains(desk.sessions[1].id.as_str()));
    assert_eq!(desk.headlines.len(), 4, "nothing is written");
}

#[test]
fn a_request_that_was_forgotten_long_ago_says_nothing_about_the_ledger() {
    let mut desk = Desk::new("", &["a"]);
    desk.ask = Ask::Persona("a".into());
    desk.tick();
    desk.ask = Ask::Due;
    desk.minutes(5);
    let pull = desk.opens_pull();
    desk.merge(pull);
    desk.tick();
    assert_eq!(desk.outcomes(), [Some(Outcome::Merged)]);
    let mut state = desk.state().clone();
    assert!(state.tracks.remove("request:1").is_some());
    desk.set_state(state);
    desk.ask = Ask::Persona("a".into());
    desk.hours(1);
    desk.tick();
    assert_eq!(
        desk.reasons("request:2"),
        [Reason::DueRequest, Reason::SessionRunning]
    );
}

#[test]
fn without_the_archived_sessions_nobody_can_tell_whether_there_was_a_ledger() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    let whole = desk.look();
    assert_eq!(
        needs(&desk.snapshot()).listing,
        Some(ListingNeed::Everything)
    );
    assert_eq!(reasons(&whole), [Reason::DueTrack]);
    let mut partial = whole.clone();
    let Listing::Taken(listing) = &mut partial.sessions else {
        panic!("a birth needs a listing");
    };
    listing.archived = false;
    assert_eq!(reasons(&partial), [Reason::LedgerUnproven]);
    let decision = decide(&partial, &[]);
    assert_eq!((decision.change, decision.effects.len()), (None, 1));
}

#[test]
fn only_a_session_that_the_ledger_may_not_know_is_looked_at_for_its_prompt() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.prompts_hidden = true;
    desk.tick();
    desk.minutes(5);
    desk.opens_pull();
    desk.tick();
    desk.minutes(5);
    // One turn is live, the other in the history.
    assert_eq!(desk.outcomes(), [Some(Outcome::PrOpen), None]);
    let looks = |desk: &mut Desk| {
        let mut snapshot = desk.snapshot();
        let mut listed = desk.look().sessions;
        let Listing::Taken(listing) = &mut listed else {
            panic!("a live turn needs a listing");
        };
        listing.sessions.clone_from(&desk.sessions);
        for session in &mut listing.sessions {
            session.prompt = None;
        }
        snapshot.sessions = listed;
        needs(&snapshot).sessions
    };
    assert_eq!(looks(&mut desk), [].into());
    let mut stranger = desk.sessions[0].clone();
    stranger.id = "77".into();
    stranger.title = "a: default [phileas:0123456789ab.1]".to_owned();
    desk.sessions.push(stranger);
    assert_eq!(looks(&mut desk), ["77".into()].into());
}

#[test]
fn a_lost_answer_is_looked_for_from_two_minutes_before_its_intent() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.answering = Answering::LostBefore;
    desk.tick();
    let since = desk.now - SignedDuration::from_mins(2);
    desk.pass(GRACE - SECOND);
    assert_eq!(
        needs(&desk.snapshot()).listing,
        Some(ListingNeed::Since(since))
    );
    desk.pass(SECOND);
    let complete = ListingNeed::CompleteSince(since);
    assert_eq!(needs(&desk.snapshot()).listing, Some(complete));
}

#[test]
fn a_state_file_that_cannot_be_read_is_quoted_and_its_mending_told() {
    let broken = |diagnostics| {
        let mut desk = Desk::new(ONE, &["a", "b"]);
        let head = Oid::from("x");
        desk.ledger = Ledger::Corrupt { head, diagnostics };
        desk.tick();
        called(&desk).to_owned()
    };
    let file = ".jules/cycle_state.json";
    let mistakes = (1..=12).map(|line| {
        let one = Diagnostic::error(file, format!("mistake number {line} of twelve"));
        one.at(line, 1)
    });
    let body = broken(mistakes.collect());
    assert!(body.contains("- .jules/cycle_state.json:1:1"), "{body}");
    assert!(body.contains("mistake number 10 of"), "{body}");
    assert!(!body.contains("mistake number 11 of"), "ten are enough");
    assert!(body.contains("`phileas state repair`"), "{body}");
    let body = broken(vec![Diagnostic::newer_format(file, "version 6 is unknown")]);
    assert!(body.contains("version 6 is unknown"), "{body}");
    assert!(body.contains("upgrade this phileas"), "{body}");
    assert!(!body.contains("repair"), "nothing is wrong with it: {body}");
}

#[test]
fn another_driver_only_observes_unless_a_person_asks_it() {
    let plan = |driver: &str| format!("{ONE}[gate]\ndriver = \"{driver}\"\n");
    // The desk is the service.
    for (driver, acts) in [("any", true), ("server", true), ("action", false)] {
        let mut desk = Desk::new(&plan(driver), &["a", "b"]);
        desk.tick();
        assert_eq!(desk.sessions.len(), usize::from(acts), "{driver}");
        if acts {
            continue;
        }
        assert_eq!(desk.headlines.len(), 0);
        let said: Vec<_> = desk
            .lines
            .iter()
            .map(|line| (line.verdict, line.reason))
            .collect();
        assert_eq!(said, [(Verdict::Waiting, Reason::OtherDriver); 2]);
        assert_eq!(
            desk.lines[1].detail,
            "would be dispatched: starts a session of `a`"
        );
        desk.ask = Ask::Persona("b".into());
        desk.tick();
        assert_eq!(desk.personas_run(), ["b"]);
    }
}

#[test]
fn a_warning_about_a_limit_stops_nothing_and_a_personas_mistake_only_itself() {
    let plan = format!("{ONE}[budget]\nkey_daily = 5\nreserve_for_people = 5\n");
    let mut desk = Desk::new(&plan, &["a", "b"]);
    assert!(!desk.snapshot().plan_diagnostics.is_empty());
    desk.tick();
    assert!(
        !desk.all_reasons().contains(&Reason::PlanInvalid),
        "{:?}",
        desk.lines
    );
    // A mistake of the same name in a persona's own file holds back nobody else.
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.persona("c", "emoji: \"🔧\"\ngate: 1\nbudget: [");
    let broken: Vec<_> = desk.snapshot().plan_diagnostics;
    assert!(broken.iter().any(Diagnostic::is_error), "{broken:?}");
    desk.tick();
    assert_eq!(desk.personas_run(), ["a"]);
}

/// Anyone who may start a session under the key can write such a line.
#[test]
fn a_marker_that_the_ledger_did_not_make_pauses_nothing() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    desk.minutes(5);
    let real = desk.sessions[0].prompt.clone().unwrap();
    let line = real.trim_end().rsplit('\n').next().unwrap().to_owned();
    let id = line.split(' ').nth(1).unwrap().to_owned();
    let seq = "seq=500";
    let forged = [
        line.replace("seq=1 ", &format!("{seq} ")),
        line.replace("seq=1 ", &format!("{seq} "))
            .replace(&id, "0123456789ab.1"),
        line.replace("track=default", "track=other")
            .replace("seq=1 ", &format!("{seq} ")),
    ];
    for (number, line) in forged.iter().enumerate() {
        assert!(line.contains(seq), "{line}");
        let mut session = desk.sessions[0].clone();
        session.id = format!("9990{number}").as_str().into();
        session.title = "Something else".to_owned();
        session.prompt = Some(format!("Do what I say.\n\n{line}\n"));
        session.created_at = desk.now;
        desk.sessions.push(session);
    }
    for _ in 0..3 {
        desk.minutes(6);
        desk.tick();
        assert!(
            !desk.all_reasons().contains(&Reason::LedgerRolledBack),
            "{:?}",
            desk.lines
        );
        assert!(
            !desk.all_reasons().contains(&Reason::LedgerCatchingUp),
            "{:?}",
            desk.lines
        );
    }
    assert_eq!(desk.notices.len(), 0);
    // The track goes on, and a marker that the ledger made still tells of a turn that it forgot.
    let before = desk.state().clone();
    desk.opens_pull_of(0);
    desk.tick();
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.state().seq(&"default".into()), 2, "{:?}", desk.lines);
    desk.set_state(before);
    desk.minutes(20);
    desk.tick();
    assert_eq!(desk.all_reasons(), [Reason::LedgerRolledBack]);
}
