//! Whole days of phileas with everything going wrong, by a seed.
//!
//! Three replicas of the service share an inbox, and a workflow runs beside them on one of three repositories. They are
//! the real ones: fleet, driver, leases, ticks, adapters and engine; only the models of GitHub and Jules are not, and
//! time is virtual. All tasks are on one thread, one at a time goes on, and the seed draws which. At each request, and at
//! each call of the inbox, others may come in between, and the process may die, before the effect or after it.
//!
//! What goes wrong is turned by knobs; each ten seeds see every pair of knobs in every setting, see [`case`]. The
//! verdict is recounted from the world's books, see [`verdict`].
//!
//! A few short seeds are played by `cargo test`, and a long one by `scripts/test one-seed`. `scripts/test simulation` plays
//! many and long ones:
//!
//! | variable | what it says |
//! |---|---|
//! | `SIMULATION_SEEDS` | how many seeds |
//! | `SIMULATION_FIRST` | the first of them |
//! | `SIMULATION_HOURS` | how many hours each has with troubles; some without follow |
//! | `SIMULATION_WORKERS` | how many cases are played at once |
//! | `SIMULATION_KNOWN` | 0 leaves out the cases that have failed before |
//! | `SIMULATION_FAULT_SEEDS` | within how many seeds each fault of our own must be found |
//!
//! A case that fails is shrunk, printed, and kept in `known.txt` beside this file with everything that it turns; those are
//! always played first, the long ones where long ones are played. What was turned must have done something, see [`tally`].

mod case;
mod course;
mod credentials;
mod disturbances;
mod faults;
mod model_transport;
mod outages;
mod play;
mod replica_inbox;
mod sabotage;
mod shrink;
mod stage;
mod swept;
mod tally;
mod verdict;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use case::Case;
use play::{Played, play};
use sabotage::Sabotage;
use shrink::shrink;
use tally::Tally;

use crate::support::{held, print_line};

/// Seeds and hours of a usual test run. They see every pair of knobs.
const FEW_SEEDS: u64 = case::BLOCK;
const FEW_HOURS: u64 = 2;
/// Within how many seeds each fault of our own must be found.
const FAULT_SEEDS: u64 = 1_000;
/// What the faults are looked for in.
const FAULT_HOURS: i64 = 4;
/// The cases that have failed before.
const KNOWN: &str = "tests/it/simulation/known.txt";
/// How many cases are played at once.
const WORKERS: u64 = 2;

fn variable(name: &str, usual: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|error| panic!("{name}={text}: {error}")),
        Err(_) => usual,
    }
}

fn fails(played: &Played) -> bool {
    !played.verdict.findings.is_empty()
}

/// Cases of so many hours at most that have failed before, one a line; `#` begins a remark. No usual test run has the time
/// for two days.
fn known(hours: i64) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(KNOWN);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            line.parse()
                .unwrap_or_else(|error| panic!("{KNOWN}: {error}"))
        })
        .filter(|case: &Case| !case.is_long() || case.hours <= hours)
        .collect()
}

/// Adds a case to those that are always played first.
fn keep(case: &Case) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(KNOWN);
    let mut text = std::fs::read_to_string(&path).unwrap();
    let line = case.to_string();
    if !text.lines().any(|known| known == line) {
        text.push_str(&line);
        text.push('\n');
        std::fs::write(&path, text).unwrap();
    }
}

/// Plays cases, some at a time, and counts.
fn play_all(cases: &[Case]) -> (Tally, Vec<(Case, Vec<String>)>) {
    let next = AtomicU64::new(0);
    let tally = Mutex::new(Tally::default());
    let failed = Mutex::new(Vec::new());
    let workers = variable("SIMULATION_WORKERS", WORKERS);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = usize::try_from(at).ok().and_then(|at| cases.get(at)) else {
                        return;
                    };
                    let played = play(case, None);
                    held(&tally).add(case, &played);
                    if fails(&played) {
                        held(&failed).push((case.clone(), played.verdict.findings));
                    }
                }
            });
        }
    });
    let tally = tally.into_inner().unwrap();
    let mut failed: Vec<(Case, Vec<String>)> = failed.into_inner().unwrap();
    failed.sort_by_key(|(case, _)| case.seed);
    (tally, failed)
}

#[test]
fn nothing_is_lost_and_nothing_is_doubled_whatever_goes_wrong() {
    let seeds = variable("SIMULATION_SEEDS", FEW_SEEDS);
    let first = variable("SIMULATION_FIRST", 0);
    let hours = variable("SIMULATION_HOURS", FEW_HOURS) as i64;
    let mut cases = match variable("SIMULATION_KNOWN", 1) {
        0 => Vec::new(),
        _ => known(hours),
    };
    let again = cases.len();
    cases.extend((first..first + seeds).map(|seed| Case::of(seed, hours)));
    let (tally, failed) = play_all(&cases);
    print_line(&format!(
        "simulation: {tally}; {again} of them known from before"
    ));
    // All are told before any is shrunk, which takes long.
    for (case, findings) in &failed {
        let findings = findings.join("\n  ");
        print_line(&format!(
            "simulation: this case failed: {case}\n  {findings}"
        ));
    }
    // The first few tell enough; the others often have the same cause.
    for (case, _) in failed.iter().take(3) {
        let smallest = shrink(case, |smaller| fails(&play(smaller, None)));
        keep(&smallest);
        print_line(&format!("shrunk and kept in {KNOWN}: {smallest}"));
    }
    let seeds: Vec<u64> = failed.iter().map(|(case, _)| case.seed).collect();
    assert!(seeds.is_empty(), "these seeds failed: {seeds:?}");
    // Last: it would hide what was found.
    tally.assert_telling();
}

/// A seed is worth nothing that cannot be repeated.
#[test]
fn the_same_case_is_the_same_run() {
    let case = Case::of(4, 4);
    let (one, other) = (play(&case, None), play(&case, None));
    assert_eq!(one.digest, other.digest, "{case}");
    let another = play(&Case::of(5, 4), None);
    assert_ne!(one.digest, another.digest);
}

/// The judge must find what is wrong with a program that is wrong.
#[test]
fn faults_of_our_own_are_found() {
    let most = variable("SIMULATION_FAULT_SEEDS", FAULT_SEEDS);
    for sabotage in Sabotage::ALL {
        let found = (0..most).find_map(|seed| {
            let case = Case::of(seed, FAULT_HOURS);
            let played = play(&case, Some(sabotage));
            let finding = sabotage.evidence(&played.verdict.findings)?.to_owned();
            Some((case, finding))
        });
        let words = sabotage.description();
        let Some((case, finding)) = found else {
            panic!("{words}: not found within {most} seeds");
        };
        print_line(&format!(
            "simulation: {words}: found after {} seeds: {finding}",
            case.seed + 1
        ));
    }
}
