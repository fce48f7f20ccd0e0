//! Slots of schedules that nobody was awake for.

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{Reason, Verdict};
use phileas_domain::state::Pause;

use crate::desk::Desk;

fn at(time: &str) -> Timestamp {
    format!("2026-01-{time}Z").parse().unwrap()
}

fn plan(catch_up: &str) -> String {
    format!(
        "[schedules]\na = \"0 9 * * *\"\n[defaults]\nskip_unchanged = false\ncatch_up = \"{catch_up}\"\n[budget]\nmax_open_pulls = 50\n"
    )
}

fn fired(desk: &Desk) -> Option<Timestamp> {
    desk.state().schedules["a"].last_fired
}

#[test]
fn where_missed_slots_are_forgotten_one_is_answered_for_ninety_minutes() {
    let missed = SignedDuration::from_secs(90 * 60 + 1);
    for (late, starts) in [
        (SignedDuration::ZERO, true),
        (SignedDuration::from_mins(90), true),
        (missed, false),
    ] {
        let mut desk = Desk::new(&plan("none"), &["a"]);
        desk.tick();
        desk.now = at("05T09:00:00") + late;
        desk.tick();
        assert_eq!(desk.sessions.len(), usize::from(starts), "{late} late");
        assert_eq!(fired(&desk), Some(at("05T09:00:00")));
        if starts {
            continue;
        }
        let said: Vec<_> = desk
            .lines
            .iter()
            .map(|line| (line.verdict, line.reason))
            .collect();
        assert_eq!(said, [(Verdict::Skipped, Reason::SlotsMissed)]);
        assert!(
            desk.lines[0].detail.contains("2026-01-05T09:00:00Z"),
            "{:?}",
            desk.lines
        );
        assert_eq!(desk.headlines.last().unwrap(), "missed schedule:a");
        desk.now = at("06T09:00:00");
        desk.tick();
        assert_eq!(fired(&desk), Some(at("06T09:00:00")));
        assert_eq!(
            desk.sessions.len(),
            1,
            "the next slot is none that was missed"
        );
    }
}

#[test]
fn a_schedule_that_waits_says_for_what_and_until_when() {
    let mut desk = Desk::new(&plan("one"), &["a"]);
    for now in ["05T00:00:00", "05T08:59:59"] {
        desk.now = at(now);
        desk.tick();
        assert_eq!(desk.lines.len(), 1);
        let line = &desk.lines[0];
        assert_eq!(
            (line.verdict, line.reason),
            (Verdict::Waiting, Reason::NotDue)
        );
        assert_eq!(line.track, Some("schedule:a".into()));
        assert_eq!(line.persona, Some("a".into()));
        assert_eq!(line.detail, "runs at `0 9 * * *`");
        assert_eq!(line.until, Some(at("05T09:00:00")));
    }
    assert_eq!(desk.wake_at, Some(at("05T09:00:00")));
    desk.now = at("05T09:00:00");
    desk.tick();
    assert_eq!(
        desk.reasons("schedule:a"),
        [Reason::DueSchedule, Reason::SessionRunning]
    );
    // While its turn lives the schedule has no line of its own, though a slot comes.
    desk.hours(24);
    desk.becomes(phileas_domain::engine::SessionState::InProgress);
    desk.tick();
    assert_eq!(desk.reasons("schedule:a"), [Reason::SessionRunning]);
    assert_eq!(fired(&desk), Some(at("05T09:00:00")));
}

#[test]
fn every_missed_slot_is_worked_off_in_order() {
    let mut desk = Desk::new(&plan("all"), &["a"]);
    desk.tick();
    desk.now = at("08T10:00:00");
    for day in 5..=8 {
        desk.tick();
        assert_eq!(fired(&desk), Some(at(&format!("0{day}T09:00:00"))));
        desk.minutes(5);
        desk.opens_pull();
    }
    desk.tick();
    assert_eq!(desk.reasons("schedule:a").last(), Some(&Reason::NotDue));
    assert_eq!(desk.sessions.len(), 4);
}

#[test]
fn a_paused_schedule_leaves_its_slots_unanswered_and_says_why() {
    let mut desk = Desk::new(&plan("one"), &["a"]);
    desk.tick();
    let mut state = desk.state().clone();
    let track = state.tracks.entry("schedule:a".into()).or_default();
    track.paused = Some(Pause {
        reason: Some("too many at once".to_owned()),
        ..Pause::default()
    });
    desk.set_state(state);
    desk.now = at("05T09:00:00");
    desk.tick();
    assert_eq!(desk.reasons("schedule:a"), [Reason::PausedTrack]);
    assert_eq!(
        desk.lines[0].detail,
        "the schedule is paused: too many at once; `phileas track resume schedule:a` lets it go on"
    );
    assert_eq!(fired(&desk), Some(at("05T00:00:00")));
    assert_eq!(desk.sessions.len(), 0);
}
