//! Tests the yields of personas.

use jiff::SignedDuration;
use phileas_domain::engine::{RepositoryView, budget_figures};
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
fn refusals_are_counted_by_reason_and_merges_by_session() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    assert_eq!(total_yield(&scenario.snapshot()).merge_rate_text(), "");
    scenario.tick();
    let mut state = scenario.state().clone();
    let entry = state.history[&0].clone();
    for (key, outcome, refused) in [
        (1, Outcome::Merged, None),
        (2, Outcome::Rejected, Some("wrong")),
        (3, Outcome::Rejected, Some("out-of-scope")),
        (4, Outcome::Rejected, Some("out-of-scope")),
        (5, Outcome::Rejected, Some("of another version")),
        // It was reopened after the refusal.
        (6, Outcome::Merged, Some("wrong")),
        (7, Outcome::Rejected, None),
    ] {
        let mut entry = entry.clone();
        entry.session_id = Some(format!("s{key}").into());
        entry.outcome = Some(outcome);
        entry.refused = refused.map(str::to_owned);
        state.history.insert(key, entry);
    }
    scenario.set_state(state);
    let all = total_yield(&scenario.snapshot());
    assert_eq!(all.refused_text(), "out-of-scope 2, wrong 1");
    assert_eq!((all.sessions, all.merged), (8, 2));
    assert_eq!(all.merged_per_session(), Some(0.25));
    assert_eq!(all.merge_rate_text(), "0.25");
}

#[test]
fn a_persona_whose_prompt_has_changed_has_figures_for_each_version() {
    let plan = "cycle = [\"a\", \"b\"]\n[defaults]\nskip_unchanged = false\n[budget]\nmax_open_pulls = 9\ndaily_sessions = 9\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    let runs = |scenario: &mut Scenario| {
        for _ in 0..2 {
            scenario.tick();
            scenario.minutes(20);
            let number = scenario.opens_pull();
            scenario.tick();
            scenario.merge(number);
            scenario.tick();
            scenario.minutes(20);
        }
    };
    runs(&mut scenario);
    let view = RepositoryView::new(&scenario.snapshot(), []);
    assert_eq!(view.prompt_yields, [], "each has one version");
    scenario.persona("a", "emoji: \"🎭\"");
    let path = ".jules/personas/a/prompt.md".to_owned();
    scenario
        .files
        .get_mut(&path)
        .unwrap()
        .push_str("Read the tests first.\n");
    runs(&mut scenario);
    let view = RepositoryView::new(&scenario.snapshot(), []);
    let shown = view.prompt_yields.iter();
    let shown: Vec<_> = shown
        .map(|one| {
            (
                one.persona.as_str(),
                one.figures.sessions,
                one.figures.merged,
            )
        })
        .collect();
    // Its second session had started before the change.
    assert_eq!(shown, [("a", 2, 2), ("a", 1, 0)]);
    let history = scenario.state().history.values();
    let known: Vec<_> = history
        .map(|entry| entry.prompt.as_deref().unwrap())
        .collect();
    let (first, second) = (&view.prompt_yields[0].prompt, &view.prompt_yields[1].prompt);
    assert_eq!([known[0], known[2], known[4]], [first, first, second]);
    assert_eq!((first.len(), second.len()), (12, 12));
    assert_ne!(first, second);
    assert_eq!(known[1], known[3], "the other one stayed as it was");
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
    let limits = at_rest.limits.unwrap();
    assert_eq!((at_rest.day, limits.day), (0, 5));
    assert_eq!((at_rest.live, limits.live), (0, 2));
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
    assert_eq!((figures.backlog, limits.backlog), (1, 3));
    let sentence = figures.sentence(true);
    let named = format!(
        "1 of 3 pull requests wait for a review: #{} (`a`)",
        figures.unreviewed[0].number
    );
    assert!(sentence.ends_with(&named), "{sentence}");
}

#[test]
fn sessions_on_request_are_told_apart_because_they_may_exceed_the_limit() {
    let plan =
        "cycle = [\"a\"]\n[budget]\ndaily_sessions = 1\nreserve_for_people = 2\nmax_active = 5\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.writer("ada").issue(7, "t", "b");
    scenario.tick();
    scenario.label(7, "b", "ada");
    scenario.tick();
    let figures = budget_figures(&scenario.snapshot());
    assert_eq!((figures.day, figures.day_requested), (2, 1));
    let sentence = figures.sentence(true);
    let expected = "2 of 1 sessions within a day, 1 of them on request, 2 of 5 at work;";
    assert!(sentence.starts_with(expected), "{sentence}");
    // A week later both are forgotten.
    scenario.hours(7 * 24);
    assert_eq!(budget_figures(&scenario.snapshot()).day_requested, 0);
}

/// Limits that cannot be read are not replaced by the defaults.
#[test]
fn limits_that_cannot_be_read_are_not_shown() {
    let plan = "cycle = [\"a\"]\n[budget]\ndaily_sessions = \"many\"\n";
    let scenario = Scenario::new(plan, &["a"]);
    let figures = budget_figures(&scenario.snapshot());
    assert_eq!(figures.limits, None);
    let expected = "0 sessions within a day, 0 at work; 0 pull requests wait for a review; the plan has a mistake \
                    that may concern everything, so nothing starts";
    assert_eq!(figures.sentence(true), expected);
    let key = figures.key_sentence(false);
    assert_eq!(key, "? sessions within a day, ? at work");
}
