//! Gates: the ledger's health and people's pauses.

use phileas_domain::Diagnostic;
use phileas_domain::engine::{Ask, Ledger, Reason};
use phileas_domain::model::Oid;
use phileas_domain::state::Pause;

use crate::desk::{Answering, Desk};

const ONE: &str = "cycle = [\"a\", \"b\"]\n";

#[test]
fn a_corrupt_ledger_is_never_written_over_and_called_about_once() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.ledger = Ledger::Corrupt {
        head: Oid::from("x"),
        diagnostics: vec![
            Diagnostic::error(".jules/cycle_state.json", "conflict markers").at(4, 1),
        ],
    };
    for _ in 0..11 {
        desk.tick();
        desk.minutes(10);
        assert_eq!(desk.all_reasons(), [Reason::LedgerCorrupt]);
    }
    assert_eq!(
        (
            desk.notices.len(),
            desk.headlines.len(),
            desk.sessions.len()
        ),
        (1, 0, 0)
    );
    desk.ledger = Ledger::Missing { head: None };
    desk.tick();
    assert_eq!(
        desk.notices.len(),
        0,
        "once it is mended, the issue is closed"
    );
    assert_eq!(desk.sessions.len(), 1);
}

#[test]
fn a_missing_ledger_is_not_born_where_jules_knows_us() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    desk.ledger = Ledger::Missing { head: None };
    desk.hours(1);
    desk.tick();
    assert_eq!(desk.all_reasons(), [Reason::LedgerRolledBack]);
    assert_eq!((desk.sessions.len(), desk.notices.len()), (1, 1));
}

#[test]
fn a_ledger_behind_jules_pauses_the_repository() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    let old = desk.ledger.clone();
    desk.minutes(20);
    desk.opens_pull();
    desk.tick();
    assert_eq!(desk.sessions.len(), 2);
    desk.ledger = old;
    desk.tick();
    assert_eq!(
        desk.all_reasons(),
        [Reason::LedgerCatchingUp],
        "a fresh contradiction may be a lagging read"
    );
    desk.minutes(30);
    desk.tick();
    assert_eq!(desk.all_reasons(), [Reason::LedgerRolledBack]);
    assert_eq!(desk.sessions.len(), 2);
}

#[test]
fn while_jules_is_away_a_missing_ledger_is_not_born() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.listing_works = false;
    desk.tick();
    assert_eq!(desk.all_reasons(), [Reason::JulesUnavailable]);
    assert_eq!(desk.headlines.len(), 0);
}

#[test]
fn each_pause_is_enough_by_itself_and_what_runs_is_followed() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.tick();
    desk.minutes(20);
    desk.opens_pull();
    desk.paused_by_variable = Some("1".to_owned());
    desk.tick();
    assert!(desk.all_reasons().contains(&Reason::PausedVariable));
    assert!(
        desk.all_reasons().contains(&Reason::Finished),
        "the turn is settled all the same"
    );
    assert_eq!(desk.sessions.len(), 1);
    desk.paused_by_variable = None;
    let mut state = desk.state().clone();
    state.paused = Some(Pause {
        by: Some("octocat".to_owned()),
        ..Pause::default()
    });
    desk.set_state(state.clone());
    assert!(desk.tick().all_reasons().contains(&Reason::PausedState));
    state.paused = None;
    state.tracks.get_mut("default").unwrap().paused = Some(Pause::default());
    desk.set_state(state);
    assert_eq!(desk.tick().reasons("default"), [Reason::PausedTrack]);
    assert_eq!(desk.sessions.len(), 1);
}

#[test]
fn observing_decides_and_touches_nothing() {
    let mut desk = Desk::new(
        &format!("{ONE}[defaults]\nmode = \"observe\"\n"),
        &["a", "b"],
    );
    desk.tick();
    assert!(desk.all_reasons().contains(&Reason::ObserveMode));
    assert_eq!((desk.sessions.len(), desk.headlines.len()), (0, 0));
}

#[test]
fn what_a_person_asks_for_runs_once_under_the_budget() {
    let mut desk = Desk::new(ONE, &["a", "b", "extra"]);
    desk.ask = Ask::Persona("extra".into());
    desk.tick();
    assert_eq!(desk.personas_run(), ["extra"]);
    assert_eq!(desk.sessions.len(), 1);
    desk.ask = Ask::Persona("nobody".into());
    assert!(desk.tick().all_reasons().contains(&Reason::Unknown));
    desk.ask = Ask::All;
    desk.tick();
    // Two at once is the budget; the rest is remembered.
    assert_eq!(desk.sessions.len(), 2);
    desk.ask = Ask::Due;
    for index in 0..3 {
        desk.minutes(20);
        desk.opens_pull_of(index);
        desk.tick();
    }
    let extra = desk
        .personas_run()
        .iter()
        .filter(|persona| *persona == "extra")
        .count();
    assert_eq!(extra, 2, "{:?}", desk.personas_run());
}

#[test]
fn a_dead_commit_leaves_no_notice_behind() {
    let mut desk = Desk::new(ONE, &["a", "b"]);
    desk.answering = Answering::Dies;
    desk.tick();
    assert_eq!(desk.notices.len(), 0);
}

#[test]
fn a_limit_that_cannot_be_read_stops_everything_that_would_start() {
    for broken in [
        "[budget]\ndaily_sessions = 0\n",
        "[budget]\nmax_active = = 1\n",
        "[budget]\ndaily_session = 1\n",
        "[gate]\nmain_red = \"sometimes\"\n",
        "[defaults]\nplan_approval = \"writer\"\n",
        "[defaults\nmode = \"observe\"\n",
    ] {
        let mut desk = Desk::new(&format!("{ONE}{broken}"), &["a", "b"]);
        desk.tick();
        assert_eq!(desk.reasons("default"), [Reason::PlanInvalid], "{broken}");
        assert_eq!(desk.sessions.len(), 0, "{broken}");
    }
    // What is wrong with one persona or one track is its own affair.
    let mut desk = Desk::new("cycle = [\"nobody\", \"a\"]\nCycle = 1\n", &["a"]);
    desk.tick();
    assert_eq!(desk.sessions.len(), 1);
}
