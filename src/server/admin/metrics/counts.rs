//! Counts what the service does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use phileas_domain::engine::{Ledger, Line, Reason, Verdict, budget_figures};
use phileas_domain::model::RepositoryId;
use phileas_domain::state::{HistoryEntry, Outcome, State};
use phileas_domain::work::RefusalReason;

use crate::runtime::TickReport;
use crate::runtime::inbox::Fault;
use crate::server::admin::dashboard::board::{RepositoryStatus, line_status};
use crate::server::repositories::Member;
use crate::server::worker::tick_observer::TickObserver;

/// The most keys and the most installations with series of their own.
pub const MAX_SERIES: usize = 100;

/// The upper bounds of a tick's duration, in seconds.
pub const BOUNDS: [f64; 10] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 600.0];

/// The receiver of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// GitHub.
    GitHub,
    /// Jules.
    Jules,
}

/// The counters of the service.
#[derive(Debug)]
pub struct Metrics {
    pub(super) begun: Instant,
    counted: Mutex<Tallies>,
}

#[derive(Debug, Default)]
pub(super) struct Tallies {
    pub(super) ticks: BTreeMap<&'static str, u64>,
    /// How many ticks took no longer than each bound, each counted once; and the longer ones.
    pub(super) durations: [u64; BOUNDS.len() + 1],
    pub(super) seconds: f64,
    pub(super) requests: BTreeMap<(Target, &'static str), u64>,
    pub(super) sessions: BTreeMap<&'static str, u64>,
    pub(super) settled: BTreeMap<&'static str, u64>,
    /// The refused pull requests, by reason.
    pub(super) refused: BTreeMap<RefusalReason, u64>,
    /// The sessions left of each key's day, by the key's number.
    pub(super) keys: BTreeMap<u64, u32>,
    /// The repositories that need a person.
    pub(super) attention: BTreeSet<RepositoryId>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            begun: Instant::now(),
            counted: Mutex::default(),
        }
    }
}

impl Metrics {
    pub(super) fn lock_tallies(&self) -> MutexGuard<'_, Tallies> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn count_request(&self, target: Target, class: &'static str) {
        *self
            .lock_tallies()
            .requests
            .entry((target, class))
            .or_default() += 1;
    }

    pub(super) fn count_tick(&self, result: &'static str, took: Duration) {
        let mut counted = self.lock_tallies();
        *counted.ticks.entry(result).or_default() += 1;
        let seconds = took.as_secs_f64();
        let place = BOUNDS.iter().position(|bound| seconds <= *bound);
        counted.durations[place.unwrap_or(BOUNDS.len())] += 1;
        counted.seconds += seconds;
    }
}

/// The newest history entry of a line's turn.
fn entry_of_line<'s>(state: &'s State, line: &Line) -> Option<&'s HistoryEntry> {
    let turn = line.turn.as_ref()?;
    let mut newest_first = state.history.values().rev();
    newest_first.find(|entry| entry.turn.as_ref() == Some(turn))
}

impl Tallies {
    /// Counts what became known of a turn. Lines about its open pull request say nothing of its outcome.
    fn count_settled(&mut self, line: (Verdict, Reason), entry: (Option<&Outcome>, Option<&str>)) {
        let (outcome, refused) = entry;
        let is_outcome = match line {
            (_, Reason::PullRefused) => {
                if let Some(reason) = refused.and_then(RefusalReason::parse) {
                    *self.refused.entry(reason).or_default() += 1;
                }
                false
            }
            (_, Reason::PullSettled | Reason::PullReverted) => true,
            (verdict, _) => verdict == Verdict::Advanced,
        };
        if let Some(outcome) = outcome.filter(|_| is_outcome) {
            let label = outcome_label(outcome.as_str());
            *self.settled.entry(label).or_default() += 1;
        }
    }

    /// Sets whether a repository needs a person.
    pub(super) fn set_attention(&mut self, id: RepositoryId, needed: bool) {
        if needed {
            self.attention.insert(id);
        } else {
            self.attention.remove(&id);
        }
    }

    /// Drops keys and repositories that are gone.
    pub(super) fn retain_members(&mut self, members: &[Arc<Member>]) {
        let keys: BTreeSet<u64> = members
            .iter()
            .filter_map(|member| member.jules.as_ref().ok())
            .map(|key| key.number)
            .collect();
        self.keys.retain(|number, _| keys.contains(number));
        let ids: BTreeSet<RepositoryId> = members.iter().map(|member| member.id).collect();
        self.attention.retain(|id| ids.contains(id));
    }
}

impl TickObserver for Metrics {
    fn tick_finished(&self, member: &Member, report: &TickReport, took: Duration) {
        self.count_tick(if report.stopped { "stopped" } else { "done" }, took);
        if !report.stopped && report.seen.is_some() {
            let grave = report
                .waiting
                .iter()
                .any(|(_, line)| line_status(line) == RepositoryStatus::Attention);
            self.lock_tallies().set_attention(member.id, grave);
        }
        let seen = report.seen.as_deref();
        let state = seen.and_then(|seen| match &seen.ledger {
            Ledger::Present { state, .. } => Some(state),
            Ledger::Missing { .. } | Ledger::Corrupt { .. } => None,
        });
        let mut counted = self.lock_tallies();
        for (_, line) in &report.done {
            let word = match line.verdict {
                Verdict::Dispatched => "started",
                Verdict::Adopted => "adopted",
                Verdict::Imported => "imported",
                Verdict::Advanced | Verdict::Settled => {
                    let entry = state.and_then(|state| entry_of_line(state, line));
                    if let Some(entry) = entry {
                        let known = (entry.outcome.as_ref(), entry.refused.as_deref());
                        counted.count_settled((line.verdict, line.reason), known);
                    }
                    continue;
                }
                _ => continue,
            };
            *counted.sessions.entry(word).or_default() += 1;
        }
        if let (Some(seen), Ok(key)) = (seen, &member.jules) {
            let figures = budget_figures(seen);
            let room = counted.keys.len() < MAX_SERIES || counted.keys.contains_key(&key.number);
            let used = figures.key_day.filter(|_| room);
            if let (Some(used), Some(limits)) = (used, figures.limits) {
                let left = limits.key_day.saturating_sub(used);
                counted.keys.insert(key.number, left);
            }
        }
    }

    fn tick_failed(&self, member: &Member, fault: &Fault, took: Duration) {
        let result = match fault {
            Fault::Own { .. } => "failed",
            Fault::Outage { .. } => "outage",
        };
        self.count_tick(result, took);
        self.lock_tallies().set_attention(member.id, true);
    }
}

/// The label of an outcome; outcomes of other programs share one series.
fn outcome_label(outcome: &str) -> &'static str {
    const WORDS: [&str; 14] = [
        "merged",
        "pr_open",
        "completed",
        "imported",
        "no_output",
        "rejected",
        "failed",
        "stuck",
        "cancelled",
        "duplicate",
        "repeated",
        "no_op",
        "superseded",
        "reverted",
    ];
    WORDS
        .into_iter()
        .find(|word| *word == outcome)
        .unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_counted_when_they_become_known_and_refusals_by_reason() {
        let mut counted = Tallies::default();
        for (verdict, reason, outcome) in [
            (Verdict::Advanced, Reason::Finished, Outcome::PrOpen),
            (Verdict::Settled, Reason::RepeatsWork, Outcome::PrOpen),
            (Verdict::Settled, Reason::Reminded, Outcome::PrOpen),
            (Verdict::Settled, Reason::PullSettled, Outcome::Merged),
            (Verdict::Settled, Reason::PullReverted, Outcome::Reverted),
        ] {
            counted.count_settled((verdict, reason), (Some(&outcome), None));
        }
        let line = (Verdict::Settled, Reason::PullRefused);
        for refused in ["wrong", "wrong", "of another version"] {
            counted.count_settled(line, (Some(&Outcome::Rejected), Some(refused)));
        }
        let settled = [("merged", 1), ("pr_open", 1), ("reverted", 1)];
        assert_eq!(counted.settled, settled.into());
        assert_eq!(counted.refused, [(RefusalReason::Wrong, 2)].into());
    }

    #[test]
    fn words_of_other_programs_are_one_series() {
        assert_eq!(outcome_label("merged"), "merged");
        assert_eq!(outcome_label("whatever\n"), "other");
    }
}
