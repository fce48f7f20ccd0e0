//! Tests the yields of personas.

use jiff::SignedDuration;
use phileas_domain::engine::budget_figures;
use phileas_domain::model::PullNumber;
use phileas_domain::state::Outcome;

use crate::support::scenario::Scenario;
use crate::support::{persona_yields, total_yield};

#[test]
fn merged_rejected_ignored_and_waiting_are_distinguished() {
    let mut scenario = Scenario::new(
        "cycle = [\"a\", \"b\"]\n[defaults]\nskip_unchanged = false\n[budget]\nmax_open_pulls = 50\n",
        &["a", "b"],
    );
    let mut numbers = Vec::new();
    for _ in 0..4 {
        scenario.tick();
        scenario.minutes(20);
        numbers.push(scenario.opens_pull());
        scenario.tick();
    }
    // `a` ran first and third.
    scenario.minutes(10);
    scenario.merge(numbers[0]);
    scenario.close(numbers[1]);
    scenario.tick();
    let before = persona_yields(&scenario.snapshot());
    let (a, b) = (&before["a"], &before["b"]);
    assert_eq!((a.pulls, a.merged, a.rejected, a.open), (2, 1, 0, 1));
    assert_eq!((b.pulls, b.merged, b.rejected, b.open), (2, 0, 1, 1));
    let took = a.median_to_merge.unwrap();
    assert!(took >= SignedDuration::from_mins(20), "{took:?}");
    assert_eq!(b.median_to_merge, None);
    assert_eq!((a.ignored, b.ignored), (0, 0));

    scenario.hours(15 * 24);
    let after = total_yield(&scenario.snapshot());
    assert_eq!((after.open, after.ignored), (2, 2));
    assert_eq!(after.sessions, a.sessions + b.sessions);
}

#[test]
fn each_outcome_is_counted_under_its_name() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.tick();
    let mut state = scenario.state().clone();
    let entry = state.history[&0].clone();
    let outcomes = [
        Outcome::Merged,
        Outcome::PrOpen,
        Outcome::Completed,
        Outcome::Imported,
        Outcome::NoOutput,
        Outcome::Rejected,
        Outcome::Failed,
        Outcome::Stuck,
        Outcome::Cancelled,
        Outcome::Duplicate,
    ];
    for (key, outcome) in (1..).zip(outcomes) {
        let mut entry = entry.clone();
        entry.pr_number = (key < 3).then_some(PullNumber(key));
        entry.session_id = Some(format!("s{key}").into());
        entry.duplicates = vec![format!("d{key}").into()];
        entry.outcome = Some(outcome);
        state.history.insert(key, entry);
    }
    scenario.set_state(state);
    let all = total_yield(&scenario.snapshot());
    assert_eq!((all.sessions, all.pulls), (21, 2));
    assert_eq!((all.merged, all.open, all.completed), (1, 1, 2));
    assert_eq!((all.no_output, all.rejected), (1, 1));
    assert_eq!((all.failed, all.stuck, all.cancelled), (1, 1, 1));
    assert_eq!(all.at_work, 1);
    // Ten duplicates, and one entry that is one.
    assert_eq!(all.other, 11);
    let ended = all.at_work + all.merged + all.rejected + all.open + all.completed + all.no_output;
    let ended = ended + all.failed + all.stuck + all.cancelled + all.other;
    assert_eq!(ended, all.sessions, "the outcomes add up to the sessions");
}

#[test]
fn a_turn_without_a_session_is_no_session() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.tick();
    let mut state = scenario.state().clone();
    let mut entry = state.history[&0].clone();
    entry.session_id = None;
    entry.outcome = Some(Outcome::Cancelled);
    state.history.insert(1, entry);
    scenario.set_state(state);
    let all = total_yield(&scenario.snapshot());
    assert_eq!((all.sessions, all.cancelled, all.at_work), (1, 0, 1));
    assert_eq!(all.other, 0);
    // A session without a live turn and without an outcome.
    let mut state = scenario.state().clone();
    for track in state.tracks.values_mut() {
        track.turns.clear();
    }
    scenario.set_state(state);
    let all = total_yield(&scenario.snapshot());
    assert_eq!((all.sessions, all.at_work, all.other), (1, 0, 1));
}

#[test]
fn a_resting_persona_says_until_when() {
    let mut scenario = Scenario::new(
        "cycle = [\"a\"]\n[defaults]\nskip_unchanged = false\nrest_after = 1\n",
        &["a"],
    );
    scenario.tick();
    scenario.minutes(20);
    let number = scenario.opens_pull();
    scenario.tick();
    assert_eq!(
        persona_yields(&scenario.snapshot())["a"].resting_until,
        None
    );
    scenario.close(number);
    scenario.tick();
    let until = persona_yields(&scenario.snapshot())["a"]
        .resting_until
        .unwrap();
    assert!(until > scenario.now);
}

#[test]
fn the_figures_of_the_budget_are_those_that_decide() {
    let plan = "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\n[defaults]\nskip_unchanged = false\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    let at_rest = budget_figures(&scenario.snapshot());
    assert_eq!((at_rest.day, at_rest.day_limit), (0, 5));
    assert_eq!((at_rest.live, at_rest.live_limit), (0, 2));
    assert_eq!(at_rest.key_day, None, "Jules was not asked");
    scenario.tick();
    scenario.tick();
    let busy = budget_figures(&scenario.full_snapshot());
    assert_eq!((busy.day, busy.live, busy.backlog), (2, 2, 0));
    assert_eq!((busy.key_day, busy.key_live), (Some(2), Some(2)));
    scenario.minutes(20);
    scenario.opens_pull_of(0);
    scenario.tick();
    let figures = budget_figures(&scenario.snapshot());
    assert_eq!((figures.backlog, figures.backlog_limit), (1, 3));
}
