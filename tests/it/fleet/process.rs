//! `phileas serve` in a process of its own: signed webhooks of the model's App come in, turns go out.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::rig::{LOOK, PATIENCE, Rig};
use super::stage::{Ground, Sessions};
use crate::support::{Phileas, print_line};

/// A number below `most` that a seed's steps give.
fn drawn(state: &mut u64, most: u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % most
}

#[test]
fn an_outcome_leads_to_the_next_dispatch() {
    const ROUNDS: usize = 3;
    let owners: Vec<String> = (0..4).map(|n| format!("owner{n}")).collect();
    let owners: Vec<(&str, usize)> = owners.iter().map(|owner| (owner.as_str(), 1)).collect();
    let rig = Rig::new(&owners);
    let process = rig.start();
    rig.wait_until("the first sessions", |sessions| sessions.len() == 4);
    let mut latencies = Vec::new();
    for round in 1..=ROUNDS {
        rig.pass(SignedDuration::from_mins(8));
        // One repository after another, so that each is measured by itself.
        let posted = Instant::now();
        assert!(
            rig.post(process.public) > 0,
            "the model has told of the outcomes"
        );
        let mut waiting: BTreeSet<String> = rig.sessions().into_keys().collect();
        while !waiting.is_empty() {
            assert!(posted.elapsed() < PATIENCE, "{waiting:?} in round {round}");
            let sessions = rig.sessions();
            waiting.retain(|source| {
                let next = sessions[source] > round;
                if next {
                    latencies.push(posted.elapsed());
                }
                !next
            });
            std::thread::sleep(LOOK);
        }
    }
    latencies.sort();
    let at = |share: usize| latencies[(latencies.len() * share / 100).min(latencies.len() - 1)];
    print_line(&format!(
        "outcome posted to next session, {} samples, four at a time: median {:?}, p95 {:?}",
        latencies.len(),
        at(50),
        at(95)
    ));
    rig.assert_right();
    let (took, code) = process.terminate();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(25), "{took:?}");
    // Every start and every end is recorded, with each message, its session and its status.
    let audit = std::fs::read_to_string(rig.data.path().join("audit.jsonl")).unwrap();
    let lines: Vec<Value> = audit
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let started: Vec<_> = lines
        .iter()
        .filter(|line| line["what"] == "dispatched")
        .collect();
    assert_eq!(started.len(), rig.sessions().values().sum::<usize>());
    for line in started {
        assert_eq!(line["reason"], "due.track", "{line}");
        for (key, length) in [("commit", 40), ("prompt_sha256", 64), ("turn", 12)] {
            assert_eq!(line[key].as_str().unwrap().len(), length, "{key}: {line}");
        }
        assert!(line["session"].is_string(), "{line}");
        assert!(line["about"].as_str().unwrap().ends_with("/r0"), "{line}");
    }
    assert!(
        lines.iter().any(|line| line["what"] == "advanced"),
        "{audit}"
    );
}

/// Ten times; `KILLS` is another number, as in `scripts/test kills`.
#[test]
fn ending_at_any_moment_loses_nothing_and_doubles_nothing() {
    /// A repository whose ticks die with the process time and again would be suspended, as it should be: so each gets a
    /// tick to its end after so many kills.
    const KILLS_IN_A_ROW: usize = 2;
    let wanted: usize = std::env::var("KILLS").map_or(10, |kills| kills.parse().unwrap());
    let mut chance = 7;
    let sessions = Sessions {
        shortest: 4.0,
        longest: 6.0,
    };
    let owners = [("acme", 1), ("umbrella", 1), ("initech", 1), ("hooli", 1)];
    let rig = Rig::of(Ground::tended(Timestamp::now(), &owners, &sessions));
    let mut slowest = Duration::ZERO;
    let (mut kills, mut answered) = (0, BTreeSet::new());
    while kills < wanted {
        for _ in 0..KILLS_IN_A_ROW.min(wanted - kills) {
            let process = rig.start();
            rig.stir();
            rig.pass(SignedDuration::from_mins(4));
            answered.extend(rig.post_to_either(process.public, process.public).1);
            std::thread::sleep(Duration::from_millis(drawn(&mut chance, 600)));
            process.kill();
            kills += 1;
        }
        // Each repository is ticked again, and goes on to its next session.
        let process = rig.start();
        rig.pass_until(&process, 1);
        rig.stir();
        rig.pass(SignedDuration::from_mins(1));
        rig.post(process.public);
        let (took, code) = process.terminate();
        assert_eq!(code, Some(0));
        slowest = slowest.max(took);
        rig.assert_right();
    }
    assert!(slowest < Duration::from_secs(25), "{slowest:?}");
    // Left alone, every repository goes on. What was announced when the process died is settled after its grace.
    let process = rig.start();
    rig.pass_until(&process, 2);
    rig.assert_right();
    print_line(&format!(
        "{kills} times SIGKILL at random moments, and SIGTERM after every {KILLS_IN_A_ROW}: each repository went on \
         every time; {} sessions, none doubled, no turn lost; {} deliveries answered, all kept; slowest SIGTERM \
         {slowest:?}",
        rig.sessions().values().sum::<usize>(),
        answered.len()
    ));
    drop(process);
    let facts = facts(rig.data.path());
    let kept: BTreeSet<String> = facts
        .iter()
        .map(|fact| fact["guid"].as_str().unwrap().to_owned())
        .collect();
    let lost: Vec<_> = answered.difference(&kept).collect();
    assert!(!answered.is_empty() && lost.is_empty(), "{lost:?}");
}

/// The deliveries that a data directory holds.
pub(super) fn facts(data: &Path) -> Vec<Value> {
    let arguments = [
        "service",
        "deliveries",
        "--data-dir",
        data.to_str().unwrap(),
        "--json",
    ];
    Phileas::new(&arguments).run().expect(0).lines()
}
