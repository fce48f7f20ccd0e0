//! Times that are edited in the plan: what is due counts from the change on, and what was missed before it is caught up.

use jiff::Timestamp;
use phileas_domain::engine::Reason;

use crate::desk::Desk;

const SCHEDULES: &str = ".jules/schedules.toml";
const DAILY: &str = "[schedules]\na = \"0 9 * * *\"\n";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// A desk that has looked hourly until an instant, under this plan.
fn until(plan: &str, instant: &str) -> Desk {
    let mut desk = Desk::new(plan, &["a", "b"]);
    hourly(&mut desk, instant);
    desk
}

/// Ticks once an hour and at last at the instant; a session ends at once.
fn hourly(desk: &mut Desk, instant: &str) {
    let end = at(instant);
    while desk.now < end {
        look(desk);
        desk.hours(1);
    }
    desk.now = end;
    look(desk);
}

fn look(desk: &mut Desk) {
    desk.previous_tick = None;
    desk.tick();
    if desk.sessions.last().is_some_and(|one| one.pulls.is_empty()) {
        let pull = desk.opens_pull();
        desk.tick();
        desk.close(pull);
        desk.push();
    }
    desk.tick();
}

/// The plan is edited, and its commit dated.
fn edit(desk: &mut Desk, plan: &str, committed: &str) {
    desk.files.insert(SCHEDULES.to_owned(), plan.to_owned());
    desk.push();
    desk.plan_commit = Some(at(committed));
}

fn started(desk: &Desk) -> Vec<String> {
    let made = desk.sessions.iter();
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
        let mut desk = until(&before, "2026-01-06T08:20:00Z");
        let known = desk.sessions.len();
        assert_eq!(known, 1, "{before}: yesterday's");
        desk.now = at("2026-01-06T08:30:00Z");
        edit(&mut desk, &after, "2026-01-06T08:29:00Z");
        look(&mut desk);
        assert_eq!(started(&desk).len(), 1, "{after}");
        assert_eq!(desk.plan_commits_read, 1, "{after}");
        // It is looked up once, and an idle tick writes nothing.
        let written = desk.headlines.len();
        look(&mut desk);
        assert_eq!((desk.plan_commits_read, desk.headlines.len()), (1, written));
        hourly(&mut desk, "2026-01-07T08:30:00Z");
        assert_eq!(started(&desk).len(), 2, "{after}: the next one is due");
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
        let mut desk = until(with, "2026-01-06T08:30:00Z");
        assert_eq!(started(&desk).len(), 1, "{with}");
        edit(&mut desk, without, "2026-01-06T08:30:00Z");
        look(&mut desk);
        let empty = started(&desk).len();
        hourly(&mut desk, "2026-02-06T12:30:00Z");
        assert_eq!(started(&desk).len(), empty, "{without}");
        edit(&mut desk, with, "2026-02-06T12:29:00Z");
        look(&mut desk);
        assert_eq!(started(&desk).len(), empty, "{without}");
        hourly(&mut desk, "2026-02-07T09:30:00Z");
        assert_eq!(started(&desk).len(), empty + 1, "{without}");
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
        let mut desk = until(&before, "2026-01-06T08:30:00Z");
        desk.now = at("2026-01-06T12:00:00Z");
        edit(&mut desk, &after, "2026-01-06T10:00:00Z");
        look(&mut desk);
        assert_eq!(started(&desk)[1..], ["2026-01-06T12:00:00Z"], "{after}");
        look(&mut desk);
        assert_eq!(started(&desk).len(), 2, "once");
        hourly(&mut desk, "2026-01-07T08:30:00Z");
        assert_eq!(started(&desk).len(), 3);
    }
}

/// It waits for its turn, while the plan is paused, and is not forgotten.
#[test]
fn a_missed_slot_waits_until_it_can_be_answered() {
    let mut desk = until(DAILY, "2026-01-06T08:30:00Z");
    desk.now = at("2026-01-06T12:00:00Z");
    edit(
        &mut desk,
        "[schedules]\na = \"0 8 * * *\"\n",
        "2026-01-06T10:00:00Z",
    );
    desk.paused_by_variable = Some("yes".to_owned());
    look(&mut desk);
    assert_eq!(started(&desk).len(), 1);
    let known = &desk.state().schedules["a"].timing;
    assert_eq!(known.missed, [at("2026-01-06T09:00:00Z")]);
    assert_eq!(known.since, Some(at("2026-01-06T10:00:00Z")));
    desk.paused_by_variable = None;
    desk.hours(1);
    look(&mut desk);
    assert_eq!(started(&desk).len(), 2);
    assert!(desk.state().schedules["a"].timing.missed.is_empty());
}

/// New times are due from their commit on, also when it is seen hours later.
#[test]
fn a_slot_between_the_edit_and_the_next_tick_is_due() {
    let mut desk = until(DAILY, "2026-01-06T09:30:00Z");
    assert_eq!(started(&desk).len(), 2);
    desk.now = at("2026-01-06T15:00:00Z");
    edit(
        &mut desk,
        "[schedules]\na = \"0 14 * * *\"\n",
        "2026-01-06T13:00:00Z",
    );
    look(&mut desk);
    assert_eq!(started(&desk).len(), 3);
}

/// A commit may be older than its push; the previous tick has seen the old times, here or in the ledger.
#[test]
fn a_commit_from_before_the_previous_tick_changes_nothing_before_it() {
    let mut desk = until(DAILY, "2026-01-06T07:00:00Z");
    edit(
        &mut desk,
        "[schedules]\na = \"0 8 * * *\"\n",
        "2026-01-05T20:00:00Z",
    );
    desk.now = at("2026-01-06T08:30:00Z");
    desk.previous_tick = Some(at("2026-01-06T08:20:00Z"));
    desk.tick();
    assert_eq!(started(&desk).len(), 1);
    let since = desk.state().schedules["a"].timing.since;
    assert_eq!(since, Some(at("2026-01-06T08:20:00Z")));
    // A clock that runs ahead puts nothing off.
    edit(&mut desk, DAILY, "2027-01-06T07:10:00Z");
    desk.tick();
    let since = desk.state().schedules["a"].timing.since;
    assert_eq!(since, Some(at("2026-01-06T08:30:00Z")));
}

#[test]
fn where_the_commit_cannot_be_read_new_times_count_from_now_on() {
    let mut desk = until(DAILY, "2026-01-06T07:00:00Z");
    edit(
        &mut desk,
        "[schedules]\na = \"0 8 * * *\"\n",
        "2026-01-06T07:10:00Z",
    );
    desk.plan_commit = None;
    desk.now = at("2026-01-06T08:30:00Z");
    look(&mut desk);
    assert_eq!(started(&desk).len(), 1);
    assert_eq!(desk.reasons("schedule:a"), [Reason::NotDue]);
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
            let mut desk = until(&before, "2026-01-06T07:20:00Z");
            let known = desk.state().clone();
            edit(
                &mut desk,
                &format!("{after}{observing}"),
                "2026-01-06T07:25:00Z",
            );
            desk.now = at("2026-01-06T07:30:00Z");
            for _ in 0..2 {
                desk.previous_tick = Some(at("2026-01-06T07:20:00Z"));
                desk.tick();
                assert_eq!(desk.plan_commits_read, 0, "{name} {observing}");
                assert_eq!(desk.reasons(name), [Reason::NotDue], "{observing}");
                assert_eq!(desk.wake_at, Some(at("2026-01-06T08:00:00Z")), "{name}");
            }
            // The tick in which it comes due says so.
            desk.previous_tick = Some(at("2026-01-06T07:30:00Z"));
            desk.now = at("2026-01-06T08:01:00Z");
            desk.tick();
            let reasons = desk.reasons(name);
            assert!(
                reasons == [Reason::ObserveMode] || reasons == [Reason::OtherDriver],
                "{observing}: {reasons:?}"
            );
            assert_eq!(*desk.state(), known, "{name} {observing}");
        }
    }
}

/// A plan with a mistake lacks what cannot be read; that is no change of it.
#[test]
fn a_plan_that_cannot_be_read_leaves_the_times() {
    let mut desk = until(DAILY, "2026-01-06T08:30:00Z");
    let known = desk.state().schedules["a"].timing.clone();
    for broken in ["[schedules]\na = \"0 9 * *\"\n", "[schedules\n"] {
        edit(&mut desk, broken, "2026-01-06T08:40:00Z");
        look(&mut desk);
        assert_eq!(desk.state().schedules["a"].timing, known, "{broken}");
    }
    edit(&mut desk, DAILY, "2026-01-06T11:00:00Z");
    desk.now = at("2026-01-06T11:10:00Z");
    look(&mut desk);
    assert_eq!(started(&desk).len(), 2, "09:00 was missed meanwhile");
}

/// A ledger of an older version does not say which times it knows; nothing is taken for a change.
#[test]
fn a_ledger_without_times_takes_those_of_the_plan() {
    let mut desk = until(DAILY, "2026-01-06T08:30:00Z");
    let mut state = desk.state().clone();
    state.schedules.get_mut("a").unwrap().timing = Default::default();
    desk.set_state(state);
    desk.now = at("2026-01-06T10:00:00Z");
    look(&mut desk);
    assert_eq!((started(&desk).len(), desk.plan_commits_read), (2, 0));
    let known = &desk.state().schedules["a"].timing;
    assert_eq!(known.expression.as_deref(), Some("0 9 * * * UTC"));
}
