//! Tests the ledger's health, and people's pauses.

use phileas_domain::Diagnostic;
use phileas_domain::engine::{Ledger, Reason, RunRequest};
use phileas_domain::model::Oid;
use phileas_domain::state::Pause;

use crate::support::scenario::{Answering, Scenario};

const ONE: &str = "cycle = [\"a\", \"b\"]\n";

#[test]
fn a_corrupt_ledger_is_never_overwritten_and_opens_one_notice() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.ledger = Ledger::Corrupt {
        head: Oid::from("x"),
        diagnostics: vec![
            Diagnostic::error(".jules/cycle_state.json", "conflict markers").at(4, 1),
        ],
    };
    for _ in 0..11 {
        scenario.tick();
        scenario.minutes(10);
        assert_eq!(scenario.all_reasons(), [Reason::LedgerCorrupt]);
    }
    assert_eq!(
        (
            scenario.notices.len(),
            scenario.headlines.len(),
            scenario.sessions.len()
        ),
        (1, 0, 0)
    );
    scenario.ledger = Ledger::Missing { head: None };
    scenario.tick();
    assert_eq!(
        scenario.notices.len(),
        0,
        "once it is fixed, the issue is closed"
    );
    assert_eq!(scenario.sessions.len(), 1);
}

#[test]
fn a_missing_ledger_is_not_born_where_jules_knows_us() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    scenario.ledger = Ledger::Missing { head: None };
    scenario.hours(1);
    scenario.tick();
    assert_eq!(scenario.all_reasons(), [Reason::LedgerRolledBack]);
    assert_eq!((scenario.sessions.len(), scenario.notices.len()), (1, 1));
}

#[test]
fn a_ledger_behind_jules_pauses_the_repository() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    let old = scenario.ledger.clone();
    scenario.minutes(20);
    scenario.opens_pull();
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 2);
    scenario.ledger = old;
    scenario.tick();
    assert_eq!(
        scenario.all_reasons(),
        [Reason::LedgerCatchingUp],
        "a fresh contradiction may be a lagging read"
    );
    scenario.minutes(30);
    scenario.tick();
    assert_eq!(scenario.all_reasons(), [Reason::LedgerRolledBack]);
    assert_eq!(scenario.sessions.len(), 2);
}

#[test]
fn while_jules_is_away_a_missing_ledger_is_not_born() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.listing_works = false;
    scenario.tick();
    assert_eq!(scenario.all_reasons(), [Reason::JulesUnavailable]);
    assert_eq!(scenario.headlines.len(), 0);
}

#[test]
fn each_pause_is_enough_by_itself_and_what_runs_is_followed() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.tick();
    scenario.minutes(20);
    scenario.opens_pull();
    scenario.paused_by_variable = Some("1".to_owned());
    scenario.tick();
    assert!(scenario.all_reasons().contains(&Reason::PausedVariable));
    assert!(
        scenario.all_reasons().contains(&Reason::Finished),
        "the turn is settled all the same"
    );
    assert_eq!(scenario.sessions.len(), 1);
    scenario.paused_by_variable = None;
    let mut state = scenario.state().clone();
    state.paused = Some(Pause {
        by: Some("octocat".to_owned()),
        ..Pause::default()
    });
    scenario.set_state(state.clone());
    assert!(scenario.tick().all_reasons().contains(&Reason::PausedState));
    state.paused = None;
    state.tracks.get_mut("default").unwrap().paused = Some(Pause::default());
    scenario.set_state(state);
    assert_eq!(scenario.tick().reasons("default"), [Reason::PausedTrack]);
    assert_eq!(scenario.sessions.len(), 1);
}

#[test]
fn observing_decides_and_touches_nothing() {
    let mut scenario = Scenario::new(
        &format!("{ONE}[defaults]\nmode = \"observe\"\n"),
        &["a", "b"],
    );
    scenario.tick();
    assert!(scenario.all_reasons().contains(&Reason::ObserveMode));
    assert_eq!((scenario.sessions.len(), scenario.headlines.len()), (0, 0));
}

#[test]
fn a_persons_request_runs_once_under_the_budget() {
    let mut scenario = Scenario::new(ONE, &["a", "b", "extra"]);
    scenario.ask = RunRequest::Persona("extra".into());
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["extra"]);
    assert_eq!(scenario.sessions.len(), 1);
    scenario.ask = RunRequest::Persona("absent".into());
    assert!(scenario.tick().all_reasons().contains(&Reason::Unknown));
    scenario.ask = RunRequest::All;
    scenario.tick();
    // Two at once is the budget; the rest is remembered.
    assert_eq!(scenario.sessions.len(), 2);
    scenario.ask = RunRequest::Due;
    for index in 0..3 {
        scenario.minutes(20);
        scenario.opens_pull_of(index);
        scenario.tick();
    }
    let extra = scenario
        .personas_run()
        .iter()
        .filter(|persona| *persona == "extra")
        .count();
    assert_eq!(extra, 2, "{:?}", scenario.personas_run());
}

#[test]
fn a_dead_commit_leaves_no_notice_behind() {
    let mut scenario = Scenario::new(ONE, &["a", "b"]);
    scenario.answering = Answering::Dies;
    scenario.tick();
    assert_eq!(scenario.notices.len(), 0);
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
        "[default]\nmode = \"observe\"\n",
        "mode = \"observe\"\n",
        "mode = observe\n",
        "mode observe\n",
        "[budgets]\ndaily_sessions = 1\n",
        "[Budget]\ndaily_sessions = 1\n",
        "[[budget]]\ndaily_sessions = 1\n",
        "[gates]\ndriver = \"server\"\n",
        "[schedules]\nmode = \"observe\"\n",
        "[tracks]\ndaily_sessions = 1\n",
        "[novelty]\ndaily_sessions = 1\n",
        "<<<<<<< a\n[budget]\nmax_active = 1\n=======\n>>>>>>> b\n",
    ] {
        let mut scenario = Scenario::new(&format!("{ONE}{broken}"), &["a", "b"]);
        scenario.tick();
        assert_eq!(
            scenario.reasons("default"),
            [Reason::PlanInvalid],
            "{broken}"
        );
        assert_eq!(scenario.sessions.len(), 0, "{broken}");
    }
    // What is wrong with one persona or one track is its own affair.
    let mut scenario = Scenario::new("cycle = [\"absent\", \"a\"]\n[tracks]\nb = 1\n", &["a"]);
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 1);
}

#[test]
fn an_unknown_persona_is_named_while_everything_is_paused_too() {
    for plan in [ONE.to_owned(), format!("{ONE}[budgets]\n")] {
        let mut scenario = Scenario::new(&plan, &["a", "b"]);
        scenario.ask = RunRequest::Persona("absent".into());
        scenario.tick();
        let refused = scenario.lines.iter().find(|line| line.is_requested);
        let refused = refused.map(|line| (line.reason, line.detail.as_str()));
        assert_eq!(
            refused,
            Some((Reason::Unknown, "there is no persona `absent`")),
            "{plan}"
        );
    }
}

#[test]
fn the_first_of_several_mistakes_about_everything_is_named() {
    let plan = format!("{ONE}[budgets]\n[gates]\n[default]\n");
    let mut scenario = Scenario::new(&plan, &["a", "b"]);
    scenario.tick();
    let told = &scenario.lines[0].detail;
    assert!(
        told.starts_with("the plan has a mistake that may concern everything: .jules/")
            && told.contains("unknown key `budgets`")
            && told.ends_with("; and 2 more"),
        "{told}"
    );
}

/// A track with the usual settings in place of the misspelt ones would start at another time, or without approval.
#[test]
fn a_mistake_in_a_track_or_a_schedule_stops_it_alone() {
    for setting in [
        "mode = \"obsrve\"",
        "plan_approval = \"writer\"",
        "strt = \"0 2 * * *\"",
        "retry = 99",
        "timezone = \"Mars\"",
        "daily_sessions = 1",
    ] {
        for stopped in [
            format!("[tracks.wrong]\nsteps = [\"a\"]\n{setting}\n"),
            format!("[schedules.a]\ncron = \"* * * * *\"\n{setting}\n"),
            format!("[tracks]\nwrong = [{{ persona = \"a\", {setting} }}]\n"),
        ] {
            let plan = format!("{stopped}[tracks.right]\nsteps = [\"b\"]\n");
            let mut scenario = Scenario::new(&plan, &["a", "b"]);
            scenario.tick();
            scenario.minutes(2);
            scenario.tick();
            assert_eq!(scenario.personas_run(), ["b"], "{plan}");
        }
    }
}
