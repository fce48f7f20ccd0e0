//! The verdict, recounted from the world's books and from the ledgers as they lie on their branches. Nothing that
//! phileas says of itself counts. The rules are those of `tests/parts/judge.py`, for several repositories at once, and
//! stricter where all faults have ended.

mod archived;
mod branch;
mod chain;
mod imports;
mod live;
mod notices;
mod order;
mod outcomes;
mod person_messages;
mod plans;
mod requests;
mod rewritten;
mod secrets;
mod sessions;
mod turns;
mod unwanted;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use phileas_world::World;
use phileas_world::books::Books;
use phileas_world::github::RepoId;
use serde_json::Value;

use super::stage::{Allowed, OURS, RESERVED_SESSIONS};
use super::swept::swept;
use sessions::{Marked, doubles, foreign_sessions, marked, messages};

pub(super) use person_messages::{PersonMessage, Reply, judge_messages};
pub(super) use secrets::secrets;

/// How long it may take at most until a session is found, or a request is taken up, where nothing goes wrong.
const PATIENCE: SignedDuration = SignedDuration::from_mins(60);
/// What is said of a turn that was doubled.
pub(super) const TWO_SESSIONS: &str = "has two sessions";
/// What is reported of a commit in the ledger's past that no writer may have made.
pub(super) const IS_UNKNOWN: &str = "of the ledger has an unknown writer";
/// What is said of a ledger that was moved by force.
const BY_FORCE: &str = "was moved by force";
/// What is said of a session whose title does not say whose turn it is.
pub(super) const NO_MARKER: &str = "bears no marker";
/// What is reported of a label that was not removed.
pub(super) const STILL_LABELLED: &str = "is still on";
/// What is said of an outcome that is not how the pull request stands.
pub(super) const IS_REJECTED: &str = "is `rejected`, and";
/// What is said of a secret that others can read.
pub(super) const IN_BOOKS: &str = "stands in the books";
/// Where the ledger's own files are.
const HOME: &str = ".jules/";

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// What must not be.
    pub(super) findings: Vec<String>,
    pub(super) turns: usize,
    pub(super) sessions: usize,
    pub(super) label_requests: usize,
    pub(super) imports: usize,
    /// Sessions that are not the first of their turn.
    pub(super) second_attempts: usize,
    /// Pull requests that phileas labelled as unwanted.
    pub(super) marked_pulls: usize,
    /// Sessions that phileas asked for another plan.
    pub(super) plans_turned_down: usize,
    /// Lost deliveries that were found by a sweep.
    pub(super) swept: usize,
}

/// Judges a world whose time is over, in which the plans of the first repository and of the others allow so much.
/// `resumed`: when a person resumed the repositories that were suspended, by their numbers.
pub(super) fn judge(
    world: &World,
    books: &Books,
    repositories: &[RepoId],
    (first, others): (Allowed, Allowed),
    resumed: &BTreeMap<u64, Timestamp>,
) -> Verdict {
    let mut verdict = Verdict::default();
    let ours: Vec<Marked<'_>> = books.sessions.iter().filter_map(marked).collect();
    for one in &ours {
        let marker = format!(" [phileas:{}.{}]", one.turn, one.attempt);
        let title = one.session.title.as_deref().unwrap_or_default();
        if !title.ends_with(&marker) {
            let text = format!("session {} {NO_MARKER}: {title}", one.session.id);
            verdict.findings.push(text);
        }
    }
    verdict.sessions = ours.len();
    verdict.second_attempts = ours.iter().filter(|one| one.attempt > 1).count();
    let turns: BTreeSet<&str> = ours.iter().map(|one| one.turn).collect();
    verdict.turns = turns.len();
    foreign_sessions(books, repositories, &mut verdict);
    doubles(&ours, &mut verdict);
    messages(&ours, books, &mut verdict);
    merges(books, &mut verdict);
    let swept = swept(books, world.now());
    verdict.swept = swept.recovered;
    verdict.findings.extend(swept.findings);
    for (index, repo) in repositories.iter().enumerate() {
        let own: Vec<&Marked<'_>> = ours.iter().filter(|one| one.repository == repo.0).collect();
        Judge {
            world,
            books,
            repo: *repo,
            allowed: if index == 0 { first } else { others },
            resumed: resumed.get(&repo.0).copied(),
            verdict: &mut verdict,
        }
        .judge(&own);
    }
    verdict
}

/// Merging is off, so phileas merges nothing.
fn merges(books: &Books, verdict: &mut Verdict) {
    for write in &books.github_writes {
        if write.what == "pull.merged" && OURS.contains(&write.actor.as_str()) {
            let text = format!("{} merged without right: {}", write.actor, write.detail);
            verdict.findings.push(text);
        }
    }
}

/// One repository.
struct Judge<'a> {
    world: &'a World,
    books: &'a Books,
    repo: RepoId,
    allowed: Allowed,
    /// When a person resumed it, if it was suspended.
    resumed: Option<Timestamp>,
    verdict: &'a mut Verdict,
}

impl Judge<'_> {
    fn find(&mut self, text: String) {
        let name = self.world.github().full_name(self.repo);
        self.verdict.findings.push(format!("{name}: {text}"));
    }

    fn judge(&mut self, ours: &[&Marked<'_>]) {
        let github = self.world.github();
        let Some(head) = github.branch_head(self.repo, "jules") else {
            return self.find("there is no ledger".to_owned());
        };
        let state = github.read_file(self.repo, head, ".jules/cycle_state.json");
        let state: Option<Value> = state.and_then(|text| serde_json::from_slice(&text).ok());
        let Some(state) = state else {
            return self.find("the ledger's state cannot be read".to_owned());
        };
        let told = self.chain(head);
        self.turns(&state, &told, ours);
        self.live(&state);
        self.outcomes(&state);
        self.imports(&state, &told.brought);
        self.history(&state);
        self.budget(ours);
        self.label_requests(&state, ours);
        self.unwanted();
        self.plans(&state, ours);
        self.notices();
        self.archived(ours);
        self.order(ours);
    }

    /// The keys of the history follow one another, and no turn and no session stands in it twice.
    fn history(&mut self, state: &Value) {
        let empty = serde_json::Map::new();
        let history = state["history"].as_object().unwrap_or(&empty);
        let keys: BTreeSet<u64> = history.keys().filter_map(|key| key.parse().ok()).collect();
        let first = keys.first().copied().unwrap_or_default();
        if !keys.iter().copied().eq(first..first + history.len() as u64) {
            self.find(format!("the history's keys are {keys:?}"));
        }
        let mut sessions = BTreeSet::new();
        let mut twice = Vec::new();
        for entry in history.values() {
            if let Some(id) = entry["session_id"].as_str()
                && !sessions.insert(id)
            {
                twice.push(format!("session {id} stands in the history twice"));
            }
        }
        for text in twice {
            self.find(text);
        }
    }

    /// A day has so many sessions on a schedule, and some more that people request.
    fn budget(&mut self, ours: &[&Marked<'_>]) {
        let scheduled = ours.iter().filter(|one| !one.is_requested);
        let scheduled = busiest_day(scheduled.map(|one| one.at).collect());
        if scheduled > self.allowed.daily_sessions {
            self.find(format!("{scheduled} sessions on a schedule within a day"));
        }
        let all = busiest_day(ours.iter().map(|one| one.at).collect());
        if all > self.allowed.daily_sessions + RESERVED_SESSIONS {
            self.find(format!("{all} sessions within a day"));
        }
    }

    /// Every name that the repository has had.
    fn names(&self) -> BTreeSet<String> {
        let now = self.world.github().full_name(self.repo);
        let mut names = BTreeSet::from([now.clone()]);
        let first = super::stage::first_names();
        if first.contains(&now.as_str()) {
            names.extend(first.iter().map(|name| (*name).to_owned()));
        }
        names
    }
}

/// The most of them within 24 hours.
fn busiest_day(mut created: Vec<Timestamp>) -> usize {
    created.sort_unstable();
    let day = SignedDuration::from_hours(24);
    let mut first = 0;
    let mut most = 0;
    for (last, at) in created.iter().enumerate() {
        while at.duration_since(created[first]) >= day {
            first += 1;
        }
        most = most.max(last + 1 - first);
    }
    most
}

/// All entries of the history.
fn entries(state: &Value) -> Vec<&Value> {
    let history = state["history"].as_object();
    history
        .into_iter()
        .flat_map(serde_json::Map::values)
        .collect()
}
