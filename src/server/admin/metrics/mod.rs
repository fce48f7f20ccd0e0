//! `GET /metrics` on the admin listener: figures of the service for Prometheus.
//!
//! Labels are words of our own only. No metric names a repository: their names may be private, and ten thousand of them
//! would be ten thousand series. Installations and keys are told apart by number, [`MAX_SERIES`] of each at most.

mod text;
mod transport;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse as _;
use axum::routing::get;
use jiff::Timestamp;
use phileas_domain::engine::{Ledger, Verdict, budget_figures};
use phileas_domain::jobs::EventKind;
use phileas_domain::model::RepositoryId;

use crate::adapters::github::Face;
use crate::adapters::pause::Pause;
use crate::runtime::TickReport;
use crate::runtime::inbox::{Counts, Fault, Inbox};
use crate::server::admin::dashboard::board::{Standing, standing_of};
use crate::server::admin::feed::Feed;
use crate::server::public::counters::Figures;
use crate::server::repositories::{Member, Repositories};
use crate::server::worker::tick_observer::Onlooker;

pub use text::{Kind, Text};
pub use transport::Counted;

/// The most keys and the most installations that have series of their own.
pub const MAX_SERIES: usize = 100;
/// The upper bounds of a tick's duration, in seconds.
pub const BOUNDS: [f64; 10] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 600.0];

/// Who requests are sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// GitHub.
    GitHub,
    /// Jules.
    Jules,
}

/// What is counted while the service runs.
#[derive(Debug)]
pub struct Metrics {
    begun: Instant,
    counted: Mutex<Tallies>,
}

#[derive(Debug, Default)]
struct Tallies {
    ticks: BTreeMap<&'static str, u64>,
    /// How many ticks took no longer than each bound, each counted once; and those beyond.
    durations: [u64; BOUNDS.len() + 1],
    seconds: f64,
    requests: BTreeMap<(Target, &'static str), u64>,
    sessions: BTreeMap<&'static str, u64>,
    settled: BTreeMap<&'static str, u64>,
    /// By the number of the key: sessions left of its day.
    keys: BTreeMap<u64, u32>,
    /// Who needs a person.
    attention: BTreeSet<RepositoryId>,
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
    fn counted(&self) -> MutexGuard<'_, Tallies> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request(&self, target: Target, class: &'static str) {
        *self.counted().requests.entry((target, class)).or_default() += 1;
    }

    fn tick(&self, result: &'static str, took: Duration) {
        let mut counted = self.counted();
        *counted.ticks.entry(result).or_default() += 1;
        let seconds = took.as_secs_f64();
        let place = BOUNDS.iter().position(|bound| seconds <= *bound);
        counted.durations[place.unwrap_or(BOUNDS.len())] += 1;
        counted.seconds += seconds;
    }
}

impl Tallies {
    /// A repository needs a person, or does so no longer.
    fn attend(&mut self, id: RepositoryId, needed: bool) {
        if needed {
            self.attention.insert(id);
        } else {
            self.attention.remove(&id);
        }
    }

    /// Forgets what nobody uses any more.
    fn keep(&mut self, members: &[Arc<Member>]) {
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

impl Onlooker for Metrics {
    fn ticked(&self, member: &Member, report: &TickReport, took: Duration) {
        self.tick(if report.stopped { "stopped" } else { "done" }, took);
        if !report.stopped && report.seen.is_some() {
            let grave = report
                .waiting
                .iter()
                .any(|(_, line)| standing_of(line.verdict, line.reason) == Standing::Attention);
            self.counted().attend(member.id, grave);
        }
        let seen = report.seen.as_deref();
        let state = seen.and_then(|seen| match &seen.ledger {
            Ledger::Present { state, .. } => Some(state),
            Ledger::Missing { .. } | Ledger::Corrupt { .. } => None,
        });
        let mut counted = self.counted();
        for (_, line) in &report.done {
            let word = match line.verdict {
                Verdict::Dispatched => "started",
                Verdict::Adopted => "adopted",
                Verdict::Imported => "imported",
                Verdict::Advanced | Verdict::Settled => {
                    let entry = state.zip(line.turn.as_ref()).and_then(|(state, turn)| {
                        let of_turn = |entry: &&phileas_domain::state::HistoryEntry| {
                            entry.turn.as_ref() == Some(turn)
                        };
                        state.history.values().rev().find(of_turn)
                    });
                    if let Some(outcome) = entry.and_then(|entry| entry.outcome.as_ref()) {
                        *counted.settled.entry(known(outcome.as_str())).or_default() += 1;
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
            if let Some(used) = figures.key_day.filter(|_| room) {
                let left = figures.key_day_limit.saturating_sub(used);
                counted.keys.insert(key.number, left);
            }
        }
    }

    fn failed(&self, member: &Member, fault: &Fault, took: Duration) {
        let result = match fault {
            Fault::Own { .. } => "failed",
            Fault::Outage { .. } => "outage",
        };
        self.tick(result, took);
        self.counted().attend(member.id, true);
    }
}

/// Outcomes that phileas itself writes; words of other programs are one series.
fn known(outcome: &str) -> &'static str {
    const WORDS: [&str; 10] = [
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
    ];
    WORDS
        .into_iter()
        .find(|word| *word == outcome)
        .unwrap_or("other")
}

/// What the figures are read from.
pub struct Sources<I> {
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// What the listeners count.
    pub figures: Arc<Figures>,
    /// How full the inbox is.
    pub inbox: Arc<I>,
    /// Whose limits are told.
    pub repositories: Option<Arc<Repositories>>,
    /// What writes events for agents, where that is wanted.
    pub feed: Option<Arc<Feed>>,
    /// The service's clock.
    pub clock: Arc<dyn Pause>,
}

/// `GET /metrics`.
pub fn routes<I: Inbox + 'static>(sources: Sources<I>) -> Router {
    let sources = Arc::new(sources);
    let page = move || {
        let sources = Arc::clone(&sources);
        async move {
            let now = sources.clock.now();
            let counts = sources.inbox.counts(now).await;
            if let Err(error) = &counts {
                tracing::error!("the inbox cannot be counted: {error}");
            }
            let kind = "text/plain; version=0.0.4; charset=utf-8";
            let is_writable = sources.inbox.trouble().is_none();
            let page = page(&sources, counts.ok().as_ref(), is_writable, now);
            ([(header::CONTENT_TYPE, kind)], page).into_response()
        }
    };
    Router::new().route("/metrics", get(page))
}

fn page<I>(
    sources: &Sources<I>,
    counts: Option<&Counts>,
    is_writable: bool,
    now: Timestamp,
) -> String {
    let mut text = Text::default();
    if let Some(repositories) = &sources.repositories {
        sources.metrics.counted().keep(&repositories.members());
    }
    service(&mut text, &sources.metrics);
    let name = "phileas_deliveries_total";
    text.head(name, Kind::Counter, "Requests to the webhook, by what came of them; unknown_event and unknown_action are counted beside stored.");
    for (outcome, count) in sources.figures.all() {
        text.sample(name, &[("outcome", outcome)], count);
    }
    let name = "phileas_inbox_writable";
    text.head(
        name,
        Kind::Gauge,
        "1 while the inbox can store deliveries, 0 while they are refused.",
    );
    text.sample(name, &[], u8::from(is_writable));
    if let Some(counts) = counts {
        inbox(&mut text, counts, now);
    }
    work(&mut text, &sources.metrics);
    if let Some(feed) = &sources.feed {
        let written = feed.written();
        let name = "phileas_job_events_total";
        text.head(
            name,
            Kind::Counter,
            "Events of turns that were written for agents.",
        );
        for kind in EventKind::ALL {
            let count = written.get(&kind).copied().unwrap_or(0);
            text.sample(name, &[("event", kind.as_str())], count);
        }
    }
    limits(&mut text, sources);
    text.finish()
}

fn service(text: &mut Text, metrics: &Metrics) {
    let name = "phileas_build_info";
    text.head(name, Kind::Gauge, "The program that answers.");
    text.sample(name, &[("version", env!("CARGO_PKG_VERSION"))], 1);
    let name = "phileas_uptime_seconds";
    text.head(name, Kind::Gauge, "How long the process has run.");
    text.sample(name, &[], metrics.begun.elapsed().as_secs());
}

fn inbox(text: &mut Text, counts: &Counts, now: Timestamp) {
    let mut gauge = |name: &str, help: &str, value: u64| {
        text.head(name, Kind::Gauge, help);
        text.sample(name, &[], value);
    };
    gauge(
        "phileas_inbox_deliveries",
        "Deliveries that are stored.",
        counts.deliveries,
    );
    gauge(
        "phileas_inbox_repositories",
        "Repositories that the inbox knows.",
        counts.repositories,
    );
    gauge(
        "phileas_inbox_due",
        "Repositories that could be looked at now and are not.",
        counts.due,
    );
    gauge(
        "phileas_inbox_leased",
        "Repositories that are being looked at.",
        counts.leased,
    );
    gauge(
        "phileas_inbox_failing",
        "Repositories whose last tick failed and that are not parked.",
        counts.failing,
    );
    gauge(
        "phileas_inbox_parked",
        "Repositories that were given up until a person resumes them.",
        counts.parked,
    );
    gauge(
        "phileas_inbox_bytes",
        "The room that the inbox takes.",
        counts.bytes,
    );
    if let Some(limit) = counts.limit_bytes {
        gauge(
            "phileas_inbox_limit_bytes",
            "The room that it may take.",
            limit,
        );
    }
    let age = counts.oldest_due.map_or(0, |due| {
        u64::try_from(now.duration_since(due).as_secs()).unwrap_or(0)
    });
    gauge(
        "phileas_inbox_oldest_due_seconds",
        "For how long the longest overdue repository has waited.",
        age,
    );
}

fn work(text: &mut Text, metrics: &Metrics) {
    let counted = metrics.counted();
    let name = "phileas_ticks_total";
    text.head(name, Kind::Counter, "Ticks, by what came of them.");
    for result in ["done", "stopped", "outage", "failed"] {
        let count = counted.ticks.get(result).copied().unwrap_or(0);
        text.sample(name, &[("result", result)], count);
    }
    let name = "phileas_tick_duration_seconds";
    text.head(name, Kind::Histogram, "How long ticks took.");
    let mut sum = 0;
    for (count, bound) in counted.durations.iter().zip(BOUNDS) {
        sum += count;
        let bound = bound.to_string();
        text.sample(&format!("{name}_bucket"), &[("le", &bound)], sum);
    }
    sum += counted.durations[BOUNDS.len()];
    text.sample(&format!("{name}_bucket"), &[("le", "+Inf")], sum);
    text.sample(&format!("{name}_sum"), &[], counted.seconds);
    text.sample(&format!("{name}_count"), &[], sum);
    let name = "phileas_requests_total";
    text.head(
        name,
        Kind::Counter,
        "Requests to GitHub and Jules, by the class of the answer's status.",
    );
    for ((target, class), count) in &counted.requests {
        let target = match target {
            Target::GitHub => "github",
            Target::Jules => "jules",
        };
        text.sample(name, &[("target", target), ("status", class)], count);
    }
    let name = "phileas_sessions_total";
    text.head(
        name,
        Kind::Counter,
        "Sessions that were started, adopted, or whose output was imported.",
    );
    for what in ["started", "adopted", "imported"] {
        let count = counted.sessions.get(what).copied().unwrap_or(0);
        text.sample(name, &[("what", what)], count);
    }
    let name = "phileas_sessions_settled_total";
    text.head(
        name,
        Kind::Counter,
        "Turns whose outcome became known; one whose pull request is settled later counts again.",
    );
    for (outcome, count) in &counted.settled {
        text.sample(name, &[("outcome", outcome)], count);
    }
    let name = "phileas_jules_key_sessions_left";
    text.head(
        name,
        Kind::Gauge,
        "Sessions that are left of the key's day, as far as its listing was read.",
    );
    for (key, left) in &counted.keys {
        text.sample(name, &[("key", &key.to_string())], left);
    }
    let name = "phileas_repositories_attention";
    text.head(
        name,
        Kind::Gauge,
        "Repositories that need a person, or whose last tick failed.",
    );
    text.sample(name, &[], counted.attention.len());
}

fn limits<I>(text: &mut Text, sources: &Sources<I>) {
    let members = sources.repositories.as_ref();
    let members = members.map(|all| all.members()).unwrap_or_default();
    let name = "phileas_repositories";
    text.head(
        name,
        Kind::Gauge,
        "Repositories that the service looks after.",
    );
    text.sample(name, &[], members.len());
    let name = "phileas_github_rate_left";
    text.head(
        name,
        Kind::Gauge,
        "What is left of a primary limit of GitHub, as it was last told.",
    );
    let accounts: BTreeMap<u64, &Arc<Member>> = members
        .iter()
        .map(|member| (member.installation, member))
        .collect();
    for (installation, member) in accounts.iter().take(MAX_SERIES) {
        for (face, word) in [(Face::Rest, "rest"), (Face::Graph, "graphql")] {
            if let Some(quota) = member.account.quota(face) {
                let installation = installation.to_string();
                let labels = [("installation", installation.as_str()), ("api", word)];
                text.sample(name, &labels, quota.remaining);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buckets_of_a_histogram_add_up() {
        let metrics = Metrics::default();
        for millis in [1, 40, 60, 700_000] {
            metrics.tick("done", Duration::from_millis(millis));
        }
        let mut text = Text::default();
        work(&mut text, &metrics);
        let text = text.finish();
        for line in [
            "phileas_tick_duration_seconds_bucket{le=\"0.05\"} 2",
            "phileas_tick_duration_seconds_bucket{le=\"0.1\"} 3",
            "phileas_tick_duration_seconds_bucket{le=\"600\"} 3",
            "phileas_tick_duration_seconds_bucket{le=\"+Inf\"} 4",
            "phileas_tick_duration_seconds_count 4",
            "phileas_ticks_total{result=\"done\"} 4",
        ] {
            assert!(text.lines().any(|known| known == line), "{line}: {text}");
        }
    }

    #[test]
    fn what_nobody_uses_any_more_is_forgotten() {
        let metrics = Metrics::default();
        {
            let mut counted = metrics.counted();
            counted.keys.insert(3, 7);
            counted.attend(RepositoryId(1), true);
            counted.attend(RepositoryId(1), true);
            counted.attend(RepositoryId(2), true);
            counted.attend(RepositoryId(2), false);
        }
        let shown = |line: &str| {
            let mut text = Text::default();
            work(&mut text, &metrics);
            text.finish().lines().any(|known| known == line)
        };
        assert!(shown("phileas_jules_key_sessions_left{key=\"3\"} 7"));
        assert!(shown("phileas_repositories_attention 1"));
        metrics.counted().keep(&[]);
        assert!(!shown("phileas_jules_key_sessions_left{key=\"3\"} 7"));
        assert!(shown("phileas_repositories_attention 0"));
    }

    #[test]
    fn words_of_other_programs_are_one_series() {
        assert_eq!(known("merged"), "merged");
        assert_eq!(known("whatever\n"), "other");
    }
}
