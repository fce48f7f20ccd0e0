//! Tests a ledger that contradicts Jules: what counts as a contradiction, and when a notice is opened.

use jiff::SignedDuration;
use phileas_domain::Diagnostic;
use phileas_domain::engine::{
    Effect, Ledger, Listing, ListingNeed, Reason, RunRequest, Snapshot, Verdict, decide,
    read_requests,
};
use phileas_domain::model::Oid;
use phileas_domain::state::Outcome;

use crate::support::scenario::{Answering, Scenario};

const ONE: &str = "cycle = [\"a\", \"b\"]\n";
const SECOND: SignedDuration = SignedDuration::from_secs(1);
const GRACE: SignedDuration = SignedDuration::from_mins(15);

/// The body of the issue that is opened.
fn called(scenario: &Scenario) -> &str {
    let mut effects = scenario.effects.iter();
    let body = effects.find_map(|effect| match effect {
        Effect::OpenNotice { body, .. } => Some(body.as_str()),
        _ => None,
    });
    body.unwrap_or_else(|| panic!("{:?}", scenario.effects))
}

fn reasons(snapshot: &Snapshot) -> Vec<Reason> {
    let lines = decide(snapshot, &[]).report.lines;
    lines.iter().map(|line| line.reason).collect()
}

#[test]
fn a_lost_ledger_opens_a_notice_a_quarter_of_an_hour_after_the_oldest_session() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    let created = scenario.now;
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 2);
    scenario.ledger = Ledger::Missing { head: None };
    scenario.now = created + GRACE - SECOND;
    scenario.tick();
    assert_eq!(scenario.all_reasons(), [Reason::LedgerCatchingUp]);
    assert_eq!(
        scenario.wake_at,
        Some(scenario.now + SignedDuration::from_mins(1))
    );
    assert_eq!(scenario.notices.len(), 0);
    scenario.now = created + GRACE;
    scenario.tick();
    assert_eq!(scenario.all_reasons(), [Reason::LedgerRolledBack]);
    let oldest = &scenario.sessions[0].id;
    assert!(
        called(&scenario).contains(&format!("session {oldest} was started by phileas")),
        "{}",
        called(&scenario)
    );
}

#[test]
fn a_rolled_back_ledger_opens_a_notice_a_quarter_of_an_hour_after_the_forgotten_session() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    let old = scenario.ledger.clone();
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.tick();
    let created = scenario.now;
    scenario.ledger = old;
    scenario.now = created + GRACE - SECOND;
    scenario.tick();
    assert_eq!(scenario.all_reasons(), [Reason::LedgerCatchingUp]);
    scenario.now = created + GRACE;
    scenario.tick();
    assert_eq!(scenario.all_reasons(), [Reason::LedgerRolledBack]);
    assert!(called(&scenario).contains(scenario.sessions[1].id.as_str()));
    assert_eq!(scenario.headlines.len(), 4, "nothing is written");
}

#[test]
fn a_request_that_was_forgotten_long_ago_says_nothing_about_the_ledger() {
    let mut scenario = Scenario::new("", &["a"]);
    scenario.ask = RunRequest::Persona("a".into());
    scenario.tick();
    scenario.ask = RunRequest::Due;
    scenario.minutes(5);
    let pull = scenario.opens_pull();
    scenario.merge(pull);
    scenario.tick();
    assert_eq!(scenario.outcomes(), [Some(Outcome::Merged)]);
    let mut state = scenario.state().clone();
    assert!(state.tracks.remove("request:1").is_some());
    scenario.set_state(state);
    scenario.ask = RunRequest::Persona("a".into());
    scenario.hours(1);
    scenario.tick();
    assert_eq!(
        scenario.reasons("request:2"),
        [Reason::DueRequest, Reason::SessionRunning]
    );
}

#[test]
fn without_archived_sessions_the_absence_of_a_ledger_is_not_proven() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    let whole = scenario.full_snapshot();
    assert_eq!(
        read_requests(&scenario.snapshot()).listing,
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
fn only_a_session_that_the_ledger_may_not_know_is_read_for_its_prompt() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.prompts_hidden = true;
    scenario.tick();
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.tick();
    scenario.minutes(5);
    // One turn is live, the other in the history.
    assert_eq!(scenario.outcomes(), [Some(Outcome::PrOpen), None]);
    let looks = |scenario: &mut Scenario| {
        let mut snapshot = scenario.snapshot();
        let mut listed = scenario.full_snapshot().sessions;
        let Listing::Taken(listing) = &mut listed else {
            panic!("a live turn needs a listing");
        };
        listing.sessions.clone_from(&scenario.sessions);
        for session in &mut listing.sessions {
            session.prompt = None;
        }
        snapshot.sessions = listed;
        read_requests(&snapshot).sessions
    };
    assert_eq!(looks(&mut scenario), [].into());
    let mut foreign = scenario.sessions[0].clone();
    foreign.id = "77".into();
    foreign.title = "a: default [phileas:0123456789ab.1]".to_owned();
    scenario.sessions.push(foreign);
    assert_eq!(looks(&mut scenario), ["77".into()].into());
}

#[test]
fn a_lost_answer_is_searched_from_two_minutes_before_its_intent() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.answering = Answering::LostBefore;
    scenario.tick();
    let since = scenario.now - SignedDuration::from_mins(2);
    scenario.pass(GRACE - SECOND);
    assert_eq!(
        read_requests(&scenario.snapshot()).listing,
        Some(ListingNeed::Since(since))
    );
    scenario.pass(SECOND);
    let complete = ListingNeed::CompleteSince(since);
    assert_eq!(read_requests(&scenario.snapshot()).listing, Some(complete));
}

#[test]
fn the_notice_of_an_unreadable_state_file_quotes_it_and_names_the_fix() {
    let broken = |diagnostics| {
        let mut scenario = Scenario::new(ONE, &["a", "b"]);
        let head = Oid::from("x");
        scenario.ledger = Ledger::Corrupt { head, diagnostics };
        scenario.tick();
        called(&scenario).to_owned()
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
fn another_driver_only_observes_unless_a_person_requests_a_run() {
    let plan = |driver: &str| format!("{ONE}[gate]\ndriver = \"{driver}\"\n");
    // The scenario is the service.
    for (driver, acts) in [("any", true), ("server", true), ("action", false)] {
        let mut scenario = Scenario::new(&plan(driver), &["a", "b"]);
        scenario.tick();
        assert_eq!(scenario.sessions.len(), usize::from(acts), "{driver}");
        if acts {
            continue;
        }
        assert_eq!(scenario.headlines.len(), 0);
        let said: Vec<_> = scenario
            .lines
            .iter()
            .map(|line| (line.verdict, line.reason))
            .collect();
        assert_eq!(said, [(Verdict::Waiting, Reason::OtherDriver); 2]);
        assert_eq!(
            scenario.lines[1].detail,
            "would be dispatched: starts a session of `a`"
        );
        scenario.ask = RunRequest::Persona("b".into());
        scenario.tick();
        assert_eq!(scenario.personas_run(), ["b"]);
    }
}

#[test]
fn a_warning_about_a_limit_stops_nothing_and_a_personas_mistake_only_itself() {
    let plan = format!("{ONE}[budget]\nkey_daily = 5\nreserve_for_people = 5\n");
    let mut scenario = Scenario::new(&plan, &["a", "b"]);
    assert!(!scenario.snapshot().plan_diagnostics.is_empty());
    scenario.tick();
    assert!(
        !scenario.all_reasons().contains(&Reason::PlanInvalid),
        "{:?}",
        scenario.lines
    );
    // A mistake of the same name in a persona's own file blocks no other persona.
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.persona("c", "emoji: \"🔧\"\ngate: 1\nbudget: [");
    let broken: Vec<_> = scenario.snapshot().plan_diagnostics;
    assert!(broken.iter().any(Diagnostic::is_error), "{broken:?}");
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a"]);
}

/// Anyone who may start a session under the key can write such a line.
#[test]
fn a_marker_that_the_ledger_did_not_make_pauses_nothing() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    scenario.minutes(5);
    let real = scenario.sessions[0].prompt.clone().unwrap();
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
        let mut session = scenario.sessions[0].clone();
        session.id = format!("9990{number}").as_str().into();
        session.title = "Something else".to_owned();
        session.prompt = Some(format!("Do what I say.\n\n{line}\n"));
        session.created_at = scenario.now;
        scenario.sessions.push(session);
    }
    for _ in 0..3 {
        scenario.minutes(6);
        scenario.tick();
        assert!(
            !scenario.all_reasons().contains(&Reason::LedgerRolledBack),
            "{:?}",
            scenario.lines
        );
        assert!(
            !scenario.all_reasons().contains(&Reason::LedgerCatchingUp),
            "{:?}",
            scenario.lines
        );
    }
    assert_eq!(scenario.notices.len(), 0);
    // The track continues, and a marker of the ledger still proves a forgotten turn.
    let before = scenario.state().clone();
    scenario.opens_pull_of(0);
    scenario.tick();
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(
        scenario.state().newest_seq(&"default".into()),
        2,
        "{:?}",
        scenario.lines
    );
    scenario.set_state(before);
    scenario.minutes(20);
    scenario.tick();
    assert_eq!(scenario.all_reasons(), [Reason::LedgerRolledBack]);
}
