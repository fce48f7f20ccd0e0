//! Tests missed slots of schedules.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{Reason, Verdict};
use phileas_domain::state::Pause;

use crate::support::scenario::Scenario;

fn at(time: &str) -> Timestamp {
    format!("2026-01-{time}Z").parse().unwrap()
}

fn plan(catch_up: &str) -> String {
    format!(
        "[schedules]\na = \"0 9 * * *\"\n[defaults]\nskip_unchanged = false\ncatch_up = \"{catch_up}\"\n[budget]\nmax_open_pulls = 50\n"
    )
}

fn fired(scenario: &Scenario) -> Option<Timestamp> {
    scenario.state().schedules["a"].last_fired
}

#[test]
fn where_missed_slots_are_forgotten_one_is_answered_for_ninety_minutes() {
    let missed = SignedDuration::from_secs(90 * 60 + 1);
    for (late, starts) in [
        (SignedDuration::ZERO, true),
        (SignedDuration::from_mins(90), true),
        (missed, false),
    ] {
        let mut scenario = Scenario::new(&plan("none"), &["a"]);
        scenario.tick();
        scenario.now = at("05T09:00:00") + late;
        scenario.tick();
        assert_eq!(scenario.sessions.len(), usize::from(starts), "{late} late");
        assert_eq!(fired(&scenario), Some(at("05T09:00:00")));
        if starts {
            continue;
        }
        let said: Vec<_> = scenario
            .lines
            .iter()
            .map(|line| (line.verdict, line.reason))
            .collect();
        assert_eq!(said, [(Verdict::Skipped, Reason::SlotsMissed)]);
        assert!(
            scenario.lines[0].detail.contains("2026-01-05T09:00:00Z"),
            "{:?}",
            scenario.lines
        );
        assert_eq!(scenario.headlines.last().unwrap(), "missed schedule:a");
        scenario.now = at("06T09:00:00");
        scenario.tick();
        assert_eq!(fired(&scenario), Some(at("06T09:00:00")));
        assert_eq!(
            scenario.sessions.len(),
            1,
            "the next slot is none that was missed"
        );
    }
}

#[test]
fn a_schedule_that_waits_says_for_what_and_until_when() {
    let mut scenario = Scenario::new(&plan("one"), &["a"]);
    for now in ["05T00:00:00", "05T08:59:59"] {
        scenario.now = at(now);
        scenario.tick();
        assert_eq!(scenario.lines.len(), 1);
        let line = &scenario.lines[0];
        assert_eq!(
            (line.verdict, line.reason),
            (Verdict::Waiting, Reason::NotDue)
        );
        assert_eq!(line.track, Some("schedule:a".into()));
        assert_eq!(line.persona, Some("a".into()));
        assert_eq!(line.detail, "runs at `0 9 * * *`");
        assert_eq!(line.until, Some(at("05T09:00:00")));
    }
    assert_eq!(scenario.wake_at, Some(at("05T09:00:00")));
    scenario.now = at("05T09:00:00");
    scenario.tick();
    assert_eq!(
        scenario.reasons("schedule:a"),
        [Reason::DueSchedule, Reason::SessionRunning]
    );
    // While its turn lives the schedule has no line of its own, though a slot comes.
    scenario.hours(24);
    scenario.becomes(phileas_domain::engine::SessionState::InProgress);
    scenario.tick();
    assert_eq!(scenario.reasons("schedule:a"), [Reason::SessionRunning]);
    assert_eq!(fired(&scenario), Some(at("05T09:00:00")));
}

#[test]
fn every_missed_slot_is_worked_off_in_order() {
    let mut scenario = Scenario::new(&plan("all"), &["a"]);
    scenario.tick();
    scenario.now = at("08T10:00:00");
    for day in 5..=8 {
        scenario.tick();
        assert_eq!(fired(&scenario), Some(at(&format!("0{day}T09:00:00"))));
        scenario.minutes(5);
        scenario.opens_pull();
    }
    scenario.tick();
    assert_eq!(scenario.reasons("schedule:a").last(), Some(&Reason::NotDue));
    assert_eq!(scenario.sessions.len(), 4);
}

#[test]
fn a_paused_schedule_leaves_its_slots_unanswered_and_says_why() {
    let mut scenario = Scenario::new(&plan("one"), &["a"]);
    scenario.tick();
    let mut state = scenario.state().clone();
    let track = state.tracks.entry("schedule:a".into()).or_default();
    track.paused = Some(Pause {
        reason: Some("too many at once".to_owned()),
        ..Pause::default()
    });
    scenario.set_state(state);
    scenario.now = at("05T09:00:00");
    scenario.tick();
    assert_eq!(scenario.reasons("schedule:a"), [Reason::PausedTrack]);
    assert_eq!(
        scenario.lines[0].detail,
        "the schedule is paused: too many at once; `phileas track resume schedule:a` resumes it"
    );
    assert_eq!(fired(&scenario), Some(at("05T00:00:00")));
    assert_eq!(scenario.sessions.len(), 0);
}

/// A track that begins at 09:00, ticked from before until then.
fn track(catch_up: &str, late: SignedDuration) -> Scenario {
    let plan = format!(
        "[tracks.t]\nsteps = [\"a\"]\nstart = \"0 9 * * *\"\ncatch_up = \"{catch_up}\"\n[defaults]\nskip_unchanged = false\n"
    );
    let mut scenario = Scenario::new(&plan, &["a"]);
    scenario.tick();
    scenario.now = at("05T09:00:00") + late;
    scenario.tick();
    scenario
}

#[test]
fn a_pass_that_could_not_begin_in_time_is_left_out_where_missed_slots_are_forgotten() {
    let minutes = SignedDuration::from_mins;
    for (catch_up, late, starts) in [
        ("none", 90, true),
        ("none", 91, false),
        ("one", 91, true),
        ("all", 91, true),
    ] {
        let mut scenario = track(catch_up, minutes(late));
        assert_eq!(
            scenario.sessions.len(),
            usize::from(starts),
            "{catch_up}, {late} minutes late"
        );
        if !starts {
            assert_eq!(scenario.reasons("t"), [Reason::SlotsMissed, Reason::NotDue]);
            assert_eq!(scenario.headlines.last().unwrap(), "missed t");
            scenario.minutes(1);
            scenario.tick();
            assert_eq!(scenario.reasons("t"), [Reason::NotDue]);
            scenario.now = at("06T09:00:00");
            scenario.tick();
            assert_eq!(scenario.sessions.len(), 1);
        }
    }
}

#[test]
fn each_missed_slot_has_its_pass_where_the_plan_says_all() {
    for (catch_up, passes) in [("all", 3), ("one", 1)] {
        let mut scenario = track(catch_up, SignedDuration::from_hours(50));
        for _ in 0..4 {
            scenario.minutes(5);
            scenario.opens_pull_of(scenario.sessions.len() - 1);
            scenario.tick();
        }
        assert_eq!(scenario.sessions.len(), passes, "{catch_up}");
    }
}
