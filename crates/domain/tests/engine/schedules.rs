//! Schedules: personas by the clock.

use phileas_domain::engine::Reason;

use crate::desk::Desk;

#[test]
fn a_slot_fires_once_and_missed_ones_collapse() {
    let mut desk = Desk::new(
        "[schedules]\na = \"0 9 * * *\"\n[defaults]\nskip_unchanged = false\n",
        &["a"],
    );
    desk.tick();
    desk.hours(10);
    desk.tick();
    desk.minutes(20);
    desk.opens_pull();
    for _ in 0..20 {
        desk.minutes(10);
        desk.tick();
    }
    assert_eq!(desk.sessions.len(), 1);
    desk.hours(24 * 5);
    desk.tick();
    assert_eq!(desk.sessions.len(), 2, "five missed days are one turn");
    assert_eq!(desk.state().tracks["schedule:a"].seq, 2);
}

#[test]
fn a_tick_late_by_minutes_or_hours_still_fires() {
    let mut desk = Desk::new("[schedules]\na = \"0 9 * * *\"\n", &["a"]);
    desk.tick();
    desk.hours(9);
    desk.minutes(47);
    desk.tick();
    assert_eq!(desk.sessions.len(), 1);
    assert_eq!(
        desk.state().schedules["a"].last_fired,
        Some("2026-01-05T09:00:00Z".parse().unwrap())
    );
}

#[test]
fn missed_slots_are_forgotten_or_worked_off_as_the_plan_says() {
    let plan = "[schedules.a]\ncron = \"0 * * * *\"\ncatch_up = \"none\"\n[schedules.b]\ncron = \"0 * * * *\"\ncatch_up = \"all\"\n[defaults]\nskip_unchanged = false\n[budget]\ndaily_sessions = 50\nkey_daily = 90\nmax_open_pulls = 50\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.tick();
    desk.hours(4);
    desk.minutes(59);
    // `a` answers the slot of 04:00, an hour late; `b` begins with the oldest.
    desk.tick();
    assert_eq!(
        desk.state().schedules["b"].last_fired,
        Some("2026-01-05T01:00:00Z".parse().unwrap())
    );
    assert_eq!(
        desk.state().schedules["a"].last_fired,
        Some("2026-01-05T04:00:00Z".parse().unwrap())
    );
}

#[test]
fn a_cycle_and_a_clock_run_side_by_side_but_never_the_same_persona_twice() {
    let plan = "cycle = [\"a\", \"b\"]\n[schedules]\na = \"0 * * * *\"\n";
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.tick();
    desk.hours(1);
    desk.becomes(phileas_domain::engine::SessionState::InProgress);
    desk.tick();
    assert_eq!(
        desk.reasons("schedule:a"),
        [Reason::PersonaBusy],
        "that `a` ran on this very commit in the cycle does not matter to its schedule"
    );
    desk.push();
    desk.tick();
    assert_eq!(desk.reasons("schedule:a"), [Reason::PersonaBusy]);
    assert_eq!(desk.sessions.len(), 1);
}

#[test]
fn manual_ones_wait_to_be_asked() {
    let mut desk = Desk::new("[schedules]\na = \"manual\"\n", &["a"]);
    assert_eq!(desk.tick().reasons("schedule:a"), [Reason::Manual]);
}
