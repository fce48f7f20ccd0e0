//! Tests that schedules leave a share of the day to tracks with work.

use std::collections::BTreeMap;

use phileas_domain::engine::{Assumptions, Reason, simulate};
use phileas_domain::plan::{Budget, Share};
use phileas_domain::prompt::InProcess;

use crate::support::scenario::Scenario;

const ALL: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// A cycle of two beside four schedules that all run each hour: more than any day has room for.
fn plan(budget: &str) -> String {
    let schedules: String = ["c", "d", "e", "f"]
        .map(|id| format!("{id} = \"0 * * * *\"\n"))
        .concat();
    format!(
        "cycle = [\"a\", \"b\"]\n[schedules]\n{schedules}[defaults]\nskip_unchanged = false\nrest_after = 0\n[budget]\n\
         max_open_pulls = 100\n{budget}"
    )
}

/// How many sessions tracks and schedules have in twenty days.
fn shared(plan: &str) -> (usize, usize) {
    let mut scenario = Scenario::new(plan, &ALL);
    let snapshot = scenario.full_snapshot();
    let until = scenario.now + jiff::SignedDuration::from_hours(24 * 20);
    let assumptions = Assumptions {
        session: jiff::SignedDuration::from_mins(20),
        review: jiff::SignedDuration::from_mins(30),
    };
    let forecast = simulate(&snapshot, until, assumptions, &InProcess);
    assert!(!forecast.cut);
    let mut counts: BTreeMap<bool, usize> = BTreeMap::new();
    for turn in &forecast.turns {
        let is_schedule = turn.track.schedule_persona().is_some();
        *counts.entry(is_schedule).or_default() += 1;
    }
    (counts[&false], counts.get(&true).copied().unwrap_or(0))
}

#[test]
fn schedules_leave_their_part_of_the_day_to_a_track() {
    for (budget, least, most) in [
        ("", 40, 43),
        ("track_share = 0.2\n", 20, 23),
        ("track_share = 0.8\n", 79, 83),
        ("daily_sessions = 2\ntrack_share = 0.1\n", 19, 22),
    ] {
        let (tracks, schedules) = shared(&plan(budget));
        let all = tracks + schedules;
        assert!(
            (least..=most).contains(&tracks),
            "{budget}: {tracks} of {all}"
        );
    }
    let (tracks, schedules) = shared(&plan("track_share = 1\n"));
    assert_eq!(schedules, 0, "beside {tracks} of the track");
}

/// Nothing is kept for a track that has no work.
#[test]
fn without_work_for_a_track_schedules_have_the_whole_day() {
    let cycle = "cycle = [\"a\", \"b\"]\n";
    let none = plan("").replace(cycle, "");
    let later = format!(
        "{}[tracks.t]\nsteps = [\"a\"]\nstart = \"0 0 1 1 *\"\n",
        plan("").replace(cycle, "")
    );
    for plan in [none, later] {
        let mut scenario = Scenario::new(&plan, &ALL);
        scenario.tick();
        for _ in 0..12 {
            scenario.hours(1);
            scenario.tick();
            while let Some(place) = scenario
                .sessions
                .iter()
                .position(|one| one.pulls.is_empty())
            {
                let pull = scenario.opens_pull_of(place);
                scenario.tick();
                scenario.close(pull);
            }
            scenario.tick();
        }
        assert_eq!(scenario.sessions.len(), 5, "{plan}");
    }
}

#[test]
fn a_schedule_that_waits_says_why_and_until_when() {
    let mut scenario = Scenario::new(&plan("max_active = 50\nkey_active = 50\n"), &ALL);
    scenario.tick();
    scenario.minutes(61);
    scenario.tick();
    scenario.tick();
    let held: Vec<_> = scenario
        .lines
        .iter()
        .filter(|line| line.reason == Reason::BudgetShare)
        .collect();
    assert_eq!(held.len(), 1, "{:?}", scenario.lines);
    let text = "schedules have started 3 of the 5 sessions of a day; 2 are left to tracks (`budget.track_share`)";
    assert_eq!(held[0].detail, text);
    let freed = scenario.now + jiff::SignedDuration::from_mins(24 * 60 + 2);
    assert_eq!(held[0].until, Some(freed));
}

#[test]
fn what_is_kept_for_tracks_is_rounded_down_and_at_least_one_session() {
    let kept = |daily_sessions, share: &str| {
        let budget = Budget {
            daily_sessions,
            track_share: Share::parse(share).unwrap(),
            ..Budget::default()
        };
        budget.reserved_for_tracks()
    };
    let cases = [
        (5, "0.5", 2),
        (5, "0", 0),
        (5, "1", 5),
        (1, "0.5", 0),
        (1, "1", 1),
        (2, "0.1", 1),
        (2, "0.000001", 1),
        (100, "0.29", 29),
        (10_000, "1.0", 10_000),
    ];
    for (daily, share, expected) in cases {
        assert_eq!(kept(daily, share), expected, "{share} of {daily}");
    }
    assert_eq!(Budget::default().reserved_for_tracks(), 2);
    for wrong in ["-0.1", "1.1", "nan", "inf", "half", ""] {
        assert_eq!(Share::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn a_share_that_is_none_is_named() {
    for (written, message) in [
        ("1.5", "1.5 is out of range"),
        ("-1", "-1 is out of range"),
        ("nan", "nan is out of range"),
        ("\"half\"", "a number from 0 to 1"),
    ] {
        let scenario = Scenario::new(&plan(&format!("track_share = {written}\n")), &ALL);
        let found = scenario.snapshot().plan_diagnostics;
        let one = found.iter().find(|one| one.key == "budget.track_share");
        let one = one.unwrap_or_else(|| panic!("{written}: {found:?}"));
        assert!(one.is_error() && one.line.is_some(), "{one}");
        assert!(one.to_string().contains(message), "{one}");
    }
}
