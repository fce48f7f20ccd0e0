//! Tests edited cron times: they count from the change on, and slots missed before it are caught up.

use jiff::Timestamp;
use phileas_domain::engine::Reason;

use crate::support::scenario::Scenario;

const SCHEDULES: &str = ".jules/schedules.toml";
const DAILY: &str = "[schedules]\na = \"0 9 * * *\"\n";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// A scenario that ticked hourly until an instant, under this plan.
fn until(plan: &str, instant: &str) -> Scenario {
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    hourly(&mut scenario, instant);
    scenario
}

/// Ticks once an hour and at last at the instant; a session ends at once.
fn hourly(scenario: &mut Scenario, instant: &str) {
    let end = at(instant);
    while scenario.now < end {
        tick_afresh(scenario);
        scenario.hours(1);
    }
    scenario.now = end;
    tick_afresh(scenario);
}

fn tick_afresh(scenario: &mut Scenario) {
    scenario.previous_tick = None;
    scenario.tick();
    if scenario
        .sessions
        .last()
        .is_some_and(|one| one.pulls.is_empty())
    {
        let pull = scenario.opens_pull();
        scenario.tick();
        scenario.close(pull);
        scenario.push();
    }
    scenario.tick();
}

/// The plan is edited, and its commit dated.
fn edit(scenario: &mut Scenario, plan: &str, committed: &str) {
    scenario.files.insert(SCHEDULES.to_owned(), plan.to_owned());
    scenario.push();
    scenario.plan_commit = Some(at(committed));
}

fn started(scenario: &Scenario) -> Vec<String> {
    let made = scenario.sessions.iter();
    made.map(|one| one.created_at.to_string()).collect()
}

/// The service is there all the time, and the edit is seen half an hour later at the latest.
#[test]
fn no_edited_time_fires_for_the_past() {
    let tokyo = "[schedules]\na = { cron = \"0 9 * * *\", timezone = \"Asia/Tokyo\" }\n";
    let track = |start: &str| format!("[tracks.t]\nsteps = [\"a\"]\nstart = \"{start}\"\n");
    let cases = [
        (
            DAILY.to_owned(),
            "[schedules]\na = \"0 8 * * *\"\n".to_owned(),
        ),
        // 09:00 in Tokyo was midnight.
        (DAILY.to_owned(), tokyo.to_owned()),
        (track("0 9 * * *"), track("0 8 * * *")),
        (
            "[schedules]\na = \"0 9 * * *\"\n".to_owned(),
            "[defaults]\ntimezone = \"Europe/Berlin\"\n[schedules]\na = \"0 9 * * *\"\n".to_owned(),
        ),
    ];
    for (before, after) in cases {
        let mut scenario = until(&before, "2026-01-06T08:20:00Z");
        let known = scenario.sessions.len();
        assert_eq!(known, 1, "{before}: yesterday's");
        scenario.now = at("2026-01-06T08:30:00Z");
        edit(&mut scenario, &after, "2026-01-06T08:29:00Z");
        tick_afresh(&mut scenario);
        assert_eq!(started(&scenario).len(), 1, "{after}");
        assert_eq!(scenario.plan_commits_read, 1, "{after}");
        // It is read once, and an idle tick writes nothing.
        let written = scenario.headlines.len();
        tick_afresh(&mut scenario);
        assert_eq!(
            (scenario.plan_commits_read, scenario.headlines.len()),
            (1, written)
        );
        hourly(&mut scenario, "2026-01-07T08:30:00Z");
        assert_eq!(started(&scenario).len(), 2, "{after}: the next one is due");
    }
}

#[test]
fn a_schedule_that_comes_back_after_a_month_fires_for_no_slot_of_that_month() {
    let track = "[tracks.t]\nsteps = [\"a\"]\nstart = \"0 9 * * *\"\n";
    for (with, without) in [
        (DAILY, "[schedules]\nb = \"manual\"\n"),
        (DAILY, "[schedules]\na = \"manual\"\n"),
        (
            track,
            "[tracks.u]\nsteps = [\"b\"]\nstart = \"0 0 1 1 *\"\n",
        ),
    ] {
        let mut scenario = until(with, "2026-01-06T08:30:00Z");
        assert_eq!(started(&scenario).len(), 1, "{with}");
        edit(&mut scenario, without, "2026-01-06T08:30:00Z");
        tick_afresh(&mut scenario);
        let empty = started(&scenario).len();
        hourly(&mut scenario, "2026-02-06T12:30:00Z");
        assert_eq!(started(&scenario).len(), empty, "{without}");
        edit(&mut scenario, with, "2026-02-06T12:29:00Z");
        tick_afresh(&mut scenario);
        assert_eq!(started(&scenario).len(), empty, "{without}");
        hourly(&mut scenario, "2026-02-07T09:30:00Z");
        assert_eq!(started(&scenario).len(), empty + 1, "{without}");
    }
}

/// 09:00 passed while nothing ticked, and at 10:00 the plan was edited.
#[test]
fn a_slot_that_was_missed_before_the_edit_is_caught_up() {
    let track = |start: &str| format!("[tracks.t]\nsteps = [\"a\"]\nstart = \"{start}\"\n");
    for (before, after) in [
        (
            DAILY.to_owned(),
            "[schedules]\na = \"0 8 * * *\"\n".to_owned(),
        ),
        (track("0 9 * * *"), track("0 8 * * *")),
    ] {
        let mut scenario = until(&before, "2026-01-06T08:30:00Z");
        scenario.now = at("2026-01-06T12:00:00Z");
        edit(&mut scenario, &after, "2026-01-06T10:00:00Z");
        tick_afresh(&mut scenario);
        assert_eq!(started(&scenario)[1..], ["2026-01-06T12:00:00Z"], "{after}");
        tick_afresh(&mut scenario);
        assert_eq!(started(&scenario).len(), 2, "once");
        hourly(&mut scenario, "2026-01-07T08:30:00Z");
        assert_eq!(started(&scenario).len(), 3);
    }
}

/// It waits for its turn, while the plan is paused, and is not forgotten.
#[test]
fn a_missed_slot_waits_until_it_can_be_answered() {
    let mut scenario = until(DAILY, "2026-01-06T08:30:00Z");
    scenario.now = at("2026-01-06T12:00:00Z");
    edit(
        &mut scenario,
        "[schedules]\na = \"0 8 * * *\"\n",
        "2026-01-06T10:00:00Z",
    );
    scenario.paused_by_variable = Some("yes".to_owned());
    tick_afresh(&mut scenario);
    assert_eq!(started(&scenario).len(), 1);
    let known = &scenario.state().schedules["a"].timing;
    assert_eq!(known.missed, [at("2026-01-06T09:00:00Z")]);
    assert_eq!(known.since, Some(at("2026-01-06T10:00:00Z")));
    scenario.paused_by_variable = None;
    scenario.hours(1);
    tick_afresh(&mut scenario);
    assert_eq!(started(&scenario).len(), 2);
    assert!(scenario.state().schedules["a"].timing.missed.is_empty());
}

/// New times are due from their commit on, also when it is seen hours later.
#[test]
fn a_slot_between_the_edit_and_the_next_tick_is_due() {
    let mut scenario = until(DAILY, "2026-01-06T09:30:00Z");
    assert_eq!(started(&scenario).len(), 2);
    scenario.now = at("2026-01-06T15:00:00Z");
    edit(
        &mut scenario,
        "[schedules]\na = \"0 14 * * *\"\n",
        "2026-01-06T13:00:00Z",
    );
    tick_afresh(&mut scenario);
    assert_eq!(started(&scenario).len(), 3);
}

/// A commit may be older than its push; the previous tick has seen the old times, here or in the ledger.
#[test]
fn a_commit_from_before_the_previous_tick_changes_nothing_before_it() {
    let mut scenario = until(DAILY, "2026-01-06T07:00:00Z");
    edit(
        &mut scenario,
        "[schedules]\na = \"0 8 * * *\"\n",
        "2026-01-05T20:00:00Z",
    );
    scenario.now = at("2026-01-06T08:30:00Z");
    scenario.previous_tick = Some(at("2026-01-06T08:20:00Z"));
    scenario.tick();
    assert_eq!(started(&scenario).len(), 1);
    let since = scenario.state().schedules["a"].timing.since;
    assert_eq!(since, Some(at("2026-01-06T08:20:00Z")));
    // A clock that runs ahead puts nothing off.
    edit(&mut scenario, DAILY, "2027-01-06T07:10:00Z");
    scenario.tick();
    let since = scenario.state().schedules["a"].timing.since;
    assert_eq!(since, Some(at("2026-01-06T08:30:00Z")));
}

#[test]
fn where_the_commit_cannot_be_read_new_times_count_from_now_on() {
    let mut scenario = until(DAILY, "2026-01-06T07:00:00Z");
    edit(
        &mut scenario,
        "[schedules]\na = \"0 8 * * *\"\n",
        "2026-01-06T07:10:00Z",
    );
    scenario.plan_commit = None;
    scenario.now = at("2026-01-06T08:30:00Z");
    tick_afresh(&mut scenario);
    assert_eq!(started(&scenario).len(), 1);
    assert_eq!(scenario.reasons("schedule:a"), [Reason::NotDue]);
}

/// What an observing tick reads is read again by the next one, and nothing that it decides is written down.
#[test]
fn a_tick_that_only_observes_reads_no_commit_and_waits_for_the_new_times() {
    let track = |start: &str| format!("[tracks.t]\nsteps = [\"a\"]\nstart = \"{start}\"\n");
    let schedule = |cron: &str| format!("[schedules]\na = \"{cron}\"\n");
    for observing in [
        "[defaults]\nmode = \"observe\"\n",
        "[gate]\ndriver = \"action\"\n",
    ] {
        for (before, after, name) in [
            (schedule("0 9 * * *"), schedule("0 8 * * *"), "schedule:a"),
            (track("0 9 * * *"), track("0 8 * * *"), "t"),
        ] {
            let mut scenario = until(&before, "2026-01-06T07:20:00Z");
            let known = scenario.state().clone();
            edit(
                &mut scenario,
                &format!("{after}{observing}"),
                "2026-01-06T07:25:00Z",
            );
            scenario.now = at("2026-01-06T07:30:00Z");
            for _ in 0..2 {
                scenario.previous_tick = Some(at("2026-01-06T07:20:00Z"));
                scenario.tick();
                assert_eq!(scenario.plan_commits_read, 0, "{name} {observing}");
                assert_eq!(scenario.reasons(name), [Reason::NotDue], "{observing}");
                assert_eq!(scenario.wake_at, Some(at("2026-01-06T08:00:00Z")), "{name}");
            }
            // The tick in which it becomes due reports it.
            scenario.previous_tick = Some(at("2026-01-06T07:30:00Z"));
            scenario.now = at("2026-01-06T08:01:00Z");
            scenario.tick();
            let reasons = scenario.reasons(name);
            assert!(
                reasons == [Reason::ObserveMode] || reasons == [Reason::OtherDriver],
                "{observing}: {reasons:?}"
            );
            assert_eq!(*scenario.state(), known, "{name} {observing}");
        }
    }
}

/// A plan with a mistake lacks what cannot be read; that is no change of it.
#[test]
fn a_plan_that_cannot_be_read_leaves_the_times() {
    let mut scenario = until(DAILY, "2026-01-06T08:30:00Z");
    let known = scenario.state().schedules["a"].timing.clone();
    for broken in ["[schedules]\na = \"0 9 * *\"\n", "[schedules\n"] {
        edit(&mut scenario, broken, "2026-01-06T08:40:00Z");
        tick_afresh(&mut scenario);
        assert_eq!(scenario.state().schedules["a"].timing, known, "{broken}");
    }
    edit(&mut scenario, DAILY, "2026-01-06T11:00:00Z");
    scenario.now = at("2026-01-06T11:10:00Z");
    tick_afresh(&mut scenario);
    assert_eq!(started(&scenario).len(), 2, "09:00 was missed meanwhile");
}

/// A ledger of an older version has no cron times, so nothing counts as a change.
#[test]
fn a_ledger_without_times_takes_those_of_the_plan() {
    let mut scenario = until(DAILY, "2026-01-06T08:30:00Z");
    let mut state = scenario.state().clone();
    state.schedules.get_mut("a").unwrap().timing = Default::default();
    scenario.set_state(state);
    scenario.now = at("2026-01-06T10:00:00Z");
    tick_afresh(&mut scenario);
    assert_eq!(
        (started(&scenario).len(), scenario.plan_commits_read),
        (2, 0)
    );
    let known = &scenario.state().schedules["a"].timing;
    assert_eq!(known.expression.as_deref(), Some("0 9 * * * UTC"));
}
