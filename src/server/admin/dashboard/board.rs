//! Keeps the latest state of each repository in memory, after each of its ticks.
//!
//! Every repository has a brief summary. Only those that were ticked or viewed last also have the
//! full one, so that ten thousand repositories do not fill the memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use phileas_domain::engine::{Line, Reason, Snapshot, Verdict, place_text, plain_text};
use phileas_domain::model::RepositoryId;
use tokio::sync::broadcast;

use super::summary::{Summary, short_line};
use crate::runtime::TickReport;
use crate::runtime::inbox::Fault;
use crate::server::repositories::Member;
use crate::server::worker::tick_observer::TickObserver;

/// The most repositories with a brief summary.
pub const MAX_KNOWN: usize = 20_000;
/// The most repositories with a full summary.
pub const MAX_WHOLE: usize = 300;
/// The most repositories whose facts are kept for a forecast.
pub const MAX_FACTS: usize = 24;
/// How many changes wait for a slow listener before it must read everything again.
pub const QUEUE: usize = 16;

/// The status of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RepositoryStatus {
    /// A person must do something.
    Attention,
    /// A session is running.
    Working,
    /// It waits for a time, or for a review.
    Waiting,
    /// It has not been ticked since the service was started.
    Unseen,
}

/// A few words about a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BriefSummary {
    /// Its status.
    pub status: RepositoryStatus,
    /// What it waits for or does, in a sentence.
    pub sentence: String,
    /// The reason's code; empty without a reason.
    pub code: &'static str,
    /// Live sessions, and their limit.
    pub live: (u32, Option<u32>),
    /// Pull requests that wait for a review, and their limit.
    pub backlog: (u32, Option<u32>),
    /// The numbers of sessions, and of merged pull requests.
    pub merged: (u32, u32),
    /// When it was last checked, by GitHub's time.
    pub at: Option<Timestamp>,
    /// Why its last tick failed.
    pub problem: Option<String>,
    /// Whether Jules refused its key at the last check.
    pub key_refused: bool,
}

/// The summary of a repository for its own page.
#[derive(Debug, Clone)]
pub struct FullSummary {
    /// The values of the page.
    pub summary: Arc<Summary>,
    /// The facts, for a forecast.
    pub facts: Option<Arc<Snapshot>>,
}

/// The summaries of all repositories.
#[derive(Debug)]
pub struct Board {
    cache: Mutex<BoardCache>,
    news: broadcast::Sender<RepositoryId>,
}

#[derive(Debug, Default)]
struct BoardCache {
    summaries: BTreeMap<RepositoryId, Arc<BriefSummary>>,
    whole: BTreeMap<RepositoryId, (u64, FullSummary)>,
    /// Counts uses, so that the least recently used are dropped first.
    uses: u64,
}

impl Default for Board {
    fn default() -> Self {
        Self {
            cache: Mutex::default(),
            news: broadcast::Sender::new(QUEUE),
        }
    }
}

impl Board {
    /// Subscribes to changes from now on.
    #[must_use]
    pub fn subscribe_changes(&self) -> broadcast::Receiver<RepositoryId> {
        self.news.subscribe()
    }

    /// Returns the brief summary of a repository.
    #[must_use]
    pub fn brief_summary(&self, id: RepositoryId) -> Option<Arc<BriefSummary>> {
        self.lock_cache().summaries.get(&id).cloned()
    }

    /// The repositories whose Jules key was refused at the last check, by their numbers.
    #[must_use]
    pub fn with_refused_keys(&self) -> Vec<RepositoryId> {
        let cache = self.lock_cache();
        let refused = cache
            .summaries
            .iter()
            .filter(|(_, words)| words.key_refused);
        refused.map(|(id, _)| *id).collect()
    }

    /// Returns the full summary. `None`: the repository was not ticked yet, or its summary was
    /// evicted.
    #[must_use]
    pub fn full_summary(&self, id: RepositoryId) -> Option<FullSummary> {
        let mut cache = self.lock_cache();
        cache.uses += 1;
        let now = cache.uses;
        let (used, whole) = cache.whole.get_mut(&id)?;
        *used = now;
        Some(whole.clone())
    }

    /// Notifies listeners that a repository has changed.
    pub fn publish_change(&self, id: RepositoryId) {
        // A send without a listener fails, which is harmless.
        let _listeners = self.news.send(id);
    }

    /// Stores the result of a tick.
    pub fn store_summary(&self, mut summary: Summary, facts: Snapshot) {
        let id = summary.id;
        if let Some((_, before)) = self.lock_cache().whole.get(&id) {
            summary.carry_over(&before.summary);
        }
        let words = Arc::new(words_of(&summary));
        let whole = FullSummary {
            summary: Arc::new(summary),
            facts: Some(Arc::new(facts)),
        };
        let mut cache = self.lock_cache();
        cache.uses += 1;
        let now = cache.uses;
        cache.store_brief(id, words);
        cache.whole.insert(id, (now, whole));
        cache.evict_unused();
        drop(cache);
        self.publish_change(id);
    }

    /// Stores why a tick failed, beside the result of the last good one.
    pub fn store_failure(&self, id: RepositoryId, because: &str) {
        let mut cache = self.lock_cache();
        let known = cache.summaries.get(&id);
        let mut words = known.map_or_else(BriefSummary::not_checked, |words| (**words).clone());
        words.status = RepositoryStatus::Attention;
        words.problem = Some(short_line(because));
        cache.store_brief(id, Arc::new(words));
        drop(cache);
        self.publish_change(id);
    }

    fn lock_cache(&self) -> MutexGuard<'_, BoardCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BoardCache {
    fn store_brief(&mut self, id: RepositoryId, words: Arc<BriefSummary>) {
        if self.summaries.len() >= MAX_KNOWN && !self.summaries.contains_key(&id) {
            let oldest = self.summaries.iter().min_by_key(|(_, words)| words.at);
            let oldest = oldest.map(|(id, _)| *id);
            if let Some(oldest) = oldest {
                self.summaries.remove(&oldest);
            }
        }
        self.summaries.insert(id, words);
    }

    /// Drops the least recently used entries, facts before pages.
    fn evict_unused(&mut self) {
        while self.whole.len() > MAX_WHOLE {
            let Some(id) = self.longest_unused(|_| true) else {
                break;
            };
            self.whole.remove(&id);
        }
        let mut with = self.with_facts();
        while with > MAX_FACTS {
            let Some(id) = self.longest_unused(|whole| whole.facts.is_some()) else {
                break;
            };
            if let Some((_, whole)) = self.whole.get_mut(&id) {
                whole.facts = None;
            }
            with -= 1;
        }
    }

    fn with_facts(&self) -> usize {
        let has = |(_, whole): &&(u64, FullSummary)| whole.facts.is_some();
        self.whole.values().filter(has).count()
    }

    fn longest_unused(&self, which: impl Fn(&FullSummary) -> bool) -> Option<RepositoryId> {
        let some = self.whole.iter().filter(|(_, (_, whole))| which(whole));
        some.min_by_key(|(_, (used, _))| *used).map(|(id, _)| *id)
    }
}

impl BriefSummary {
    /// Why its last tick failed, else what it waits for or does.
    #[must_use]
    pub fn text(&self) -> &str {
        self.problem.as_ref().unwrap_or(&self.sentence)
    }

    /// Of a repository that has not been ticked.
    #[must_use]
    pub fn not_checked() -> Self {
        Self {
            status: RepositoryStatus::Unseen,
            sentence: "not checked yet since the service started".to_owned(),
            code: "",
            live: (0, None),
            backlog: (0, None),
            merged: (0, 0),
            at: None,
            problem: None,
            key_refused: false,
        }
    }
}

fn words_of(summary: &Summary) -> BriefSummary {
    let first = |standing| {
        summary
            .all_lines()
            .find(|line| line_status(line) == standing)
    };
    let live = summary.view.budget.live > 0;
    let (standing, line) = if let Some(line) = first(RepositoryStatus::Attention) {
        (RepositoryStatus::Attention, Some(line))
    } else if live {
        let line = first(RepositoryStatus::Working).or_else(|| summary.all_lines().next());
        (RepositoryStatus::Working, line)
    } else {
        (RepositoryStatus::Waiting, summary.all_lines().next())
    };
    let standing = if summary.findings.is_empty() || standing == RepositoryStatus::Working {
        standing
    } else {
        RepositoryStatus::Attention
    };
    let budget = &summary.view.budget;
    BriefSummary {
        status: standing,
        sentence: line.map_or_else(
            || "nothing is planned here".to_owned(),
            |line| plain_text(&brief_sentence(summary, line)),
        ),
        code: line.map_or("", |line| line.reason.code()),
        live: (budget.live, budget.limits.map(|limits| limits.live)),
        backlog: (budget.backlog, budget.limits.map(|limits| limits.backlog)),
        merged: (summary.view.total.sessions, summary.view.total.merged),
        at: Some(summary.view.at),
        problem: None,
        key_refused: summary
            .all_lines()
            .any(|line| line.reason == Reason::JulesCredential),
    }
}

/// What a line says, with who and where.
fn brief_sentence(summary: &Summary, line: &Line) -> String {
    let mut tracks = summary.view.tracks.iter();
    let turns = tracks.find(|track| Some(&track.name) == line.track.as_ref());
    let mut turns = turns.into_iter().flat_map(|track| &track.turns);
    let said = match turns.find(|turn| turn.is_described_by(line)) {
        Some(turn) => turn.sentence(false),
        None => line.reason.clause(),
    };
    match &line.track {
        Some(track) => format!("{}: {said}", place_text(line.persona.as_ref(), track)),
        None => said,
    }
}

/// How a line makes its repository look.
#[must_use]
pub fn line_status(line: &Line) -> RepositoryStatus {
    match (line.verdict, line.reason) {
        _ if line.needs_person() => RepositoryStatus::Attention,
        (_, Reason::JulesUnavailable | Reason::NotSent) => RepositoryStatus::Attention,
        (Verdict::Dispatched | Verdict::Adopted, _)
        | (_, Reason::SessionRunning | Reason::SessionAsked | Reason::SessionReminded) => {
            RepositoryStatus::Working
        }
        _ => RepositoryStatus::Waiting,
    }
}

impl TickObserver for Board {
    fn tick_finished(&self, _: &Member, report: &TickReport, _: Duration) {
        if report.stopped {
            return;
        }
        if let (Some(summary), Some(facts)) = (Summary::new(report), &report.seen) {
            self.store_summary(summary, (**facts).clone());
        }
    }

    fn tick_failed(&self, member: &Member, fault: &Fault, _: Duration) {
        let (Fault::Own { because } | Fault::Outage { because, .. }) = fault;
        self.store_failure(member.id, because);
    }
}
