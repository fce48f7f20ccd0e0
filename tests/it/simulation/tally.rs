//! What many cases come to.

use std::collections::BTreeSet;
use std::fmt;

use super::case::{BLOCK, Case, Pairs};
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
    wishes: usize,
    imports: usize,
    swept: usize,
    workflow_runs: u64,
    races: usize,
    requests: usize,
    violations: usize,
    long: Option<Least>,
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
        self.wishes += played.verdict.wishes;
        self.imports += played.verdict.imports;
        self.swept += played.verdict.swept;
        self.workflow_runs += played.workflow_runs;
        self.races += played.lost_races;
        self.requests += played.requests;
        self.violations += played.verdict.findings.len();
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
            self.wishes >= cases,
            "{} wishes in {cases} cases",
            self.wishes
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
        if self.seeds.len() as u64 >= 2 * BLOCK - 1 {
            assert_eq!(self.pairs.seen(), Pairs::all(), "pairs of knobs");
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} seeds, {} h with troubles, {} kills, {} repositories parked by them and resumed, {} turns of {} sessions, {} wishes, {} imports, {} lost deliveries \
             found, {} workflow runs, {} races lost by these, {} requests, {} of {} settings of knob pairs, \
             {} violations",
            self.seeds.len(),
            self.hours,
            self.kills,
            self.resumed,
            self.turns,
            self.sessions,
            self.wishes,
            self.imports,
            self.swept,
            self.workflow_runs,
            self.races,
            self.requests,
            self.pairs.seen(),
            Pairs::all(),
            self.violations
        )?;
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
