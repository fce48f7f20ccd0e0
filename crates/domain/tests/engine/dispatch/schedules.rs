//! Tests schedules.

use phileas_domain::engine::Reason;

use crate::support::scenario::Scenario;

#[test]
fn a_slot_fires_once_and_missed_ones_collapse() {
    let mut scenario = Scenario::new(
        "[schedules]\na = \"0 9 * * *\"\n[defaults]\nskip_unchanged = false\n",
        &["a"],
    );
    scenario.tick();
    scenario.hours(10);
    scenario.tick();
    scenario.minutes(20);
    scenario.opens_pull();
    for _ in 0..20 {
        scenario.minutes(10);
        scenario.tick();
    }
    assert_eq!(scenario.sessions.len(), 1);
    scenario.hours(24 * 5);
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 2, "five missed days are one turn");
    assert_eq!(scenario.state().tracks["schedule:a"].seq, 2);
}

#[test]
fn a_tick_late_by_minutes_or_hours_still_fires() {
    let mut scenario = Scenario::new("[schedules]\na = \"0 9 * * *\"\n", &["a"]);
    scenario.tick();
    scenario.hours(9);
    scenario.minutes(47);
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 1);
    assert_eq!(
        scenario.state().schedules["a"].last_fired,
        Some("2026-01-05T09:00:00Z".parse().unwrap())
    );
}

#[test]
fn missed_slots_are_forgotten_or_worked_off_as_the_plan_says() {
    let plan = "[schedules.a]\ncron = \"0 * * * *\"\ncatch_up = \"none\"\n[schedules.b]\ncron = \"0 * * * *\"\ncatch_up = \"all\"\n[defaults]\nskip_unchanged = false\n[budget]\ndaily_sessions = 50\nkey_daily = 90\nmax_open_pulls = 50\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.tick();
    scenario.hours(4);
    scenario.minutes(59);
    // `a` answers the slot of 04:00, an hour late; `b` begins with the oldest.
    scenario.tick();
    assert_eq!(
        scenario.state().schedules["b"].last_fired,
        Some("2026-01-05T01:00:00Z".parse().unwrap())
    );
    assert_eq!(
        scenario.state().schedules["a"].last_fired,
        Some("2026-01-05T04:00:00Z".parse().unwrap())
    );
}

#[test]
fn tracks_and_schedules_run_side_by_side_but_never_the_same_persona_twice() {
    let plan = "cycle = [\"a\", \"b\"]\n[schedules]\na = \"0 * * * *\"\n";
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.tick();
    scenario.hours(1);
    scenario.becomes(phileas_domain::engine::SessionState::InProgress);
    scenario.tick();
    assert_eq!(
        scenario.reasons("schedule:a"),
        [Reason::PersonaBusy],
        "that `a` ran on this very commit in the cycle does not matter to its schedule"
    );
    scenario.push();
    scenario.tick();
    assert_eq!(scenario.reasons("schedule:a"), [Reason::PersonaBusy]);
    assert_eq!(scenario.sessions.len(), 1);
}

#[test]
fn manual_schedules_run_only_on_request() {
    let mut scenario = Scenario::new("[schedules]\na = \"manual\"\n", &["a"]);
    assert_eq!(scenario.tick().reasons("schedule:a"), [Reason::Manual]);
}
