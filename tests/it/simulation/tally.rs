//! What many cases come to.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::case::{BLOCK, Case, Pairs};
use super::disturbances;
use super::play::Played;

/// The sums.
#[derive(Debug, Default)]
pub(super) struct Tally {
    seeds: BTreeSet<u64>,
    pairs: Pairs,
    cases: usize,
    hours: i64,
    kills: u64,
    resumed: u64,
    turns: usize,
    sessions: usize,
    label_requests: usize,
    imports: usize,
    swept: usize,
    workflow_runs: u64,
    races: usize,
    requests: usize,
    messages: usize,
    queued_messages: usize,
    violations: usize,
    long: Option<Least>,
    /// How often each knob has acted where it was turned.
    acted: BTreeMap<String, u64>,
    strokes: BTreeMap<String, u64>,
}

/// The least that a long case came to.
#[derive(Debug, Clone, Copy)]
struct Least {
    kills: u64,
    turns: usize,
}

/// How often processes die at least in a long case.
const KILLS_OF_LONG: u64 = 10;
/// How many turns a long case has at least.
const TURNS_OF_LONG: usize = 30;
/// Of so many knobs one may do nothing in a few short cases: hardly anything goes wrong within hours that happens to one
/// session in twenty.
const IDLE_OF_SHORT: usize = 6;

impl Tally {
    pub(super) fn add(&mut self, case: &Case, played: &Played) {
        self.seeds.insert(case.seed);
        self.pairs.add(case);
        self.cases += 1;
        self.hours += case.hours;
        self.kills += played.kills;
        self.resumed += played.resumed;
        self.turns += played.verdict.turns;
        self.sessions += played.verdict.sessions;
        self.label_requests += played.verdict.label_requests;
        self.imports += played.verdict.imports;
        self.swept += played.verdict.swept;
        self.workflow_runs += played.workflow_runs;
        self.races += played.lost_races;
        self.requests += played.requests;
        self.messages += played.messages.0;
        self.queued_messages += played.messages.1;
        self.violations += played.verdict.findings.len();
        for name in disturbances::knob_names().filter(|name| case.is_turned(name)) {
            let count = played.acted.get(name.as_str()).copied().unwrap_or_default();
            *self.acted.entry(name).or_default() += count;
        }
        for (trouble, count) in &played.strokes {
            *self.strokes.entry(trouble.clone()).or_default() += count;
        }
        if case.is_long() {
            let (kills, turns) = (played.kills, played.verdict.turns);
            let least = self.long.get_or_insert(Least { kills, turns });
            least.kills = least.kills.min(kills);
            least.turns = least.turns.min(turns);
        }
    }

    /// A simulation in which nothing happens would find nothing.
    pub(super) fn assert_telling(&self) {
        let cases = self.cases;
        let kills = usize::try_from(self.kills).unwrap();
        assert!(kills >= cases, "{kills} kills in {cases} cases");
        let turns = self.turns;
        assert!(turns >= 6 * cases, "{turns} turns in {cases} cases");
        assert!(
            self.label_requests >= cases,
            "{} requests by label in {cases} cases",
            self.label_requests
        );
        assert!(
            self.imports >= cases,
            "{} imports in {cases} cases",
            self.imports
        );
        let swept = self.swept;
        assert!(2 * swept >= cases, "{swept} swept in {cases} cases");
        if let Some(Least { kills, turns }) = self.long {
            assert!(kills >= KILLS_OF_LONG, "a long case has {kills} kills");
            assert!(turns >= TURNS_OF_LONG, "a long case has {turns} turns");
        }
        if self.has_block() {
            assert_eq!(self.pairs.seen(), Pairs::all(), "pairs of knobs");
            let idle: Vec<&str> = disturbances::own()
                .filter(|name| self.occurrences(name) == 0)
                .collect();
            assert!(idle.is_empty(), "troubles that never struck: {idle:?}");
            let (idle, all) = (self.idle(), self.acted.len());
            let most = if self.long.is_some() {
                0
            } else {
                all / IDLE_OF_SHORT
            };
            assert!(idle.len() <= most, "knobs that never acted: {idle:?}");
        }
    }

    /// Whether a whole block of seeds is among them, which sees everything turned.
    fn has_block(&self) -> bool {
        let whole = |block: u64| {
            let mut seeds = block * BLOCK..(block + 1) * BLOCK;
            seeds.all(|seed| self.seeds.contains(&seed))
        };
        self.seeds.iter().any(|seed| whole(seed / BLOCK))
    }

    /// How often a trouble struck, in whichever way.
    fn occurrences(&self, trouble: &str) -> u64 {
        let of_it = self.strokes.iter().filter(|(name, _)| {
            let way = name.strip_prefix(trouble);
            way.is_some_and(|way| way.is_empty() || way.starts_with(": "))
        });
        of_it.map(|(_, count)| count).sum()
    }

    /// Knobs that were turned and never acted, and ways of troubles in which none struck.
    fn idle(&self) -> Vec<&str> {
        let counts = self.acted.iter().chain(&self.strokes);
        let idle = counts.filter(|(_, count)| **count == 0);
        idle.map(|(name, _)| name.as_str()).collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} seeds, {} h with troubles, {} kills, {} repositories suspended by them and resumed, {} turns of {} sessions, \
             {} requests by label, {} imports, {} lost deliveries found, {} workflow runs, {} races lost by these, \
             {} requests, {} messages of people, {} of them to queued sessions, {} of {} settings of knob pairs, \
             {} violations",
            self.seeds.len(),
            self.hours,
            self.kills,
            self.resumed,
            self.turns,
            self.sessions,
            self.label_requests,
            self.imports,
            self.swept,
            self.workflow_runs,
            self.races,
            self.requests,
            self.messages,
            self.queued_messages,
            self.pairs.seen(),
            Pairs::all(),
            self.violations
        )?;
        let strokes: Vec<String> = disturbances::own()
            .map(|name| format!("{name} {}", self.occurrences(name)))
            .collect();
        write!(f, "; strokes: {}", strokes.join(", "))?;
        let idle = self.idle();
        if !idle.is_empty() {
            write!(f, "; idle: {}", idle.join(", "))?;
        }
        match self.long {
            Some(Least { kills, turns }) => {
                write!(
                    f,
                    "; a long case has at least {kills} kills and {turns} turns"
                )
            }
            None => Ok(()),
        }
    }
}

#[test]
fn a_block_is_telling_where_all_that_is_turned_does_something() {
    let mut tally = Tally::default();
    for seed in 3..3 + BLOCK {
        tally.seeds.insert(seed);
    }
    assert!(!tally.has_block(), "parts of two");
    tally.seeds.extend(0..3);
    assert!(tally.has_block());
    let ways = [("stalls", 2), ("refusals: 409", 0), ("refusals: 422", 3)];
    tally.strokes = ways.map(|(name, count)| (name.to_owned(), count)).into();
    tally.acted = [("title".to_owned(), 0), ("webhook-lost".to_owned(), 1)].into();
    assert_eq!(
        (tally.occurrences("stalls"), tally.occurrences("refusals")),
        (2, 3)
    );
    assert_eq!(tally.occurrences("stall"), 0, "another name");
    assert_eq!(tally.idle(), ["title", "refusals: 409"]);
}
