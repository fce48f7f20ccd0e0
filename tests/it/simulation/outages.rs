//! Whole services that are away for a while: windows in which every request to one of them fails.

use jiff::{SignedDuration, Timestamp};
use phileas_world::chance::Chance;
use phileas_world::{Face, Fault, FaultRule};

use super::case::Case;
use super::disturbances;
use super::stage::drawn;

/// How long a window is, in seconds.
const SHORTEST: u64 = 2 * 60;
const LONGEST: u64 = 40 * 60;
/// There is one window of each kind, and one more for so many hours.
const HOURS: i64 = 12;

/// The windows of a case that begins at `start`.
pub(super) fn outages(case: &Case, start: Timestamp) -> Vec<FaultRule> {
    if !case.is_turned(disturbances::OUTAGES) {
        return Vec::new();
    }
    let mut draws = Chance::new(case.seed).stream("outages");
    let mut rules = Vec::new();
    for face in [Face::Github, Face::Jules] {
        for _ in 0..=case.hours / HOURS {
            let from = start + drawn(&mut draws, 0, case.hours.unsigned_abs() * 3_600);
            let until = from + drawn(&mut draws, SHORTEST, LONGEST);
            rules.push(window(face, from, until));
        }
    }
    rules
}

fn window(face: Face, from: Timestamp, until: Timestamp) -> FaultRule {
    FaultRule {
        face: Some(face),
        method: None,
        path: None,
        body: None,
        nth: None,
        probability: None,
        from: Some(from),
        until: Some(until),
        fault: Fault::Status {
            status: 503,
            retry_after: None,
            html: false,
            done: false,
        },
    }
}

#[test]
fn each_service_is_away_for_minutes_within_the_case() {
    let case = Case {
        turned: [disturbances::OUTAGES.to_owned()].into(),
        ..Case::of(3, 24)
    };
    let start: Timestamp = "2026-01-05T05:40:00Z".parse().unwrap();
    let rules = outages(&case, start);
    assert_eq!(rules.len(), 6);
    for rule in &rules {
        let (from, until) = (rule.from.unwrap(), rule.until.unwrap());
        let length = until.duration_since(from);
        assert!((SignedDuration::from_mins(2)..=SignedDuration::from_mins(40)).contains(&length));
        assert!(from >= start && from <= start + SignedDuration::from_hours(24));
    }
    let nothing = Case {
        turned: std::collections::BTreeSet::new(),
        ..case
    };
    assert_eq!(outages(&nothing, start), []);
}
