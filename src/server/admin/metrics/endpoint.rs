//! The endpoint `GET /metrics`: writes all figures in Prometheus' format.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse as _;
use axum::routing::get;
use jiff::Timestamp;
use phileas_domain::jobs::EventKind;
use phileas_domain::work::RefusalReason;

use super::counts::{BOUNDS, MAX_SERIES, Metrics, Target};
use super::text::{Kind, Text};
use crate::adapters::github::Api;
use crate::adapters::pause::Pause;
use crate::runtime::inbox::{Counts, Inbox};
use crate::server::admin::feed::Feed;
use crate::server::public::counters::Figures;
use crate::server::repositories::{Member, Repositories};

/// The sources of the figures.
pub struct MetricsSources<I> {
    /// The counters of ticks and requests.
    pub metrics: Arc<Metrics>,
    /// The counters of the listeners.
    pub figures: Arc<Figures>,
    /// The inbox.
    pub inbox: Arc<I>,
    /// The repositories, whose limits are reported.
    pub repositories: Option<Arc<Repositories>>,
    /// The writer of events for agents, if there is one.
    pub feed: Option<Arc<Feed>>,
    /// The service's clock.
    pub clock: Arc<dyn Pause>,
}

/// `GET /metrics`.
pub fn routes<I: Inbox + 'static>(sources: MetricsSources<I>) -> Router {
    let sources = Arc::new(sources);
    let page = move || {
        let sources = Arc::clone(&sources);
        async move {
            let now = sources.clock.now();
            let counts = sources.inbox.read_counts(now).await;
            if let Err(error) = &counts {
                tracing::error!("the inbox's figures cannot be read: {error}");
            }
            let kind = "text/plain; version=0.0.4; charset=utf-8";
            let is_writable = sources.inbox.problem_text().is_none();
            let page = render_page(&sources, counts.ok().as_ref(), is_writable, now);
            ([(header::CONTENT_TYPE, kind)], page).into_response()
        }
    };
    Router::new().route("/metrics", get(page))
}

fn render_page<I>(
    sources: &MetricsSources<I>,
    counts: Option<&Counts>,
    is_writable: bool,
    now: Timestamp,
) -> String {
    let mut text = Text::default();
    if let Some(repositories) = &sources.repositories {
        sources
            .metrics
            .lock_tallies()
            .retain_members(&repositories.list_members());
    }
    write_service(&mut text, &sources.metrics);
    let name = "phileas_deliveries_total";
    text.begin_metric(
        name,
        Kind::Counter,
        "Requests to the webhook, by result; unknown_event and unknown_action are \
        also counted as stored.",
    );
    for (outcome, count) in sources.figures.all_counts() {
        text.add_sample(name, &[("outcome", outcome)], count);
    }
    let name = "phileas_inbox_writable";
    text.begin_metric(
        name,
        Kind::Gauge,
        "1 while the inbox can store deliveries, 0 while it refuses them.",
    );
    text.add_sample(name, &[], u8::from(is_writable));
    if let Some(counts) = counts {
        write_inbox(&mut text, counts, now);
    }
    write_work(&mut text, &sources.metrics);
    if let Some(feed) = &sources.feed {
        let written = feed.written_counts();
        let name = "phileas_job_events_total";
        text.begin_metric(
            name,
            Kind::Counter,
            "Events of turns that were written for agents.",
        );
        for kind in EventKind::ALL {
            let count = written.get(&kind).copied().unwrap_or(0);
            text.add_sample(name, &[("event", kind.as_str())], count);
        }
    }
    write_limits(&mut text, sources);
    text.into_page()
}

fn write_service(text: &mut Text, metrics: &Metrics) {
    let name = "phileas_build_info";
    text.begin_metric(name, Kind::Gauge, "The version of the service.");
    text.add_sample(name, &[("version", env!("CARGO_PKG_VERSION"))], 1);
    let name = "phileas_uptime_seconds";
    text.begin_metric(
        name,
        Kind::Gauge,
        "How long the process has run, in seconds.",
    );
    text.add_sample(name, &[], metrics.begun.elapsed().as_secs());
}

fn write_inbox(text: &mut Text, counts: &Counts, now: Timestamp) {
    let mut gauge = |name: &str, help: &str, value: u64| {
        text.begin_metric(name, Kind::Gauge, help);
        text.add_sample(name, &[], value);
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
        "Repositories that are due and not being ticked.",
        counts.due,
    );
    gauge(
        "phileas_inbox_leased",
        "Repositories that are being ticked.",
        counts.leased,
    );
    gauge(
        "phileas_inbox_failing",
        "Repositories whose last tick failed and that are not suspended.",
        counts.failing,
    );
    gauge(
        "phileas_inbox_suspended",
        "Suspended repositories.",
        counts.suspended,
    );
    gauge(
        "phileas_inbox_bytes",
        "The room that the inbox takes, in bytes.",
        counts.bytes,
    );
    if let Some(limit) = counts.limit_bytes {
        gauge(
            "phileas_inbox_limit_bytes",
            "The most room that the inbox may take, in bytes.",
            limit,
        );
    }
    let age = counts.oldest_due.map_or(0, |due| {
        u64::try_from(now.duration_since(due).as_secs()).unwrap_or(0)
    });
    gauge(
        "phileas_inbox_oldest_due_seconds",
        "How long the longest overdue repository has waited, in seconds.",
        age,
    );
}

fn write_work(text: &mut Text, metrics: &Metrics) {
    let counted = metrics.lock_tallies();
    let name = "phileas_ticks_total";
    text.begin_metric(name, Kind::Counter, "Ticks, by result.");
    for result in ["done", "stopped", "outage", "failed"] {
        let count = counted.ticks.get(result).copied().unwrap_or(0);
        text.add_sample(name, &[("result", result)], count);
    }
    let name = "phileas_tick_duration_seconds";
    text.begin_metric(name, Kind::Histogram, "The duration of ticks, in seconds.");
    let mut sum = 0;
    for (count, bound) in counted.durations.iter().zip(BOUNDS) {
        sum += count;
        let bound = bound.to_string();
        text.add_sample(&format!("{name}_bucket"), &[("le", &bound)], sum);
    }
    sum += counted.durations[BOUNDS.len()];
    text.add_sample(&format!("{name}_bucket"), &[("le", "+Inf")], sum);
    text.add_sample(&format!("{name}_sum"), &[], counted.seconds);
    text.add_sample(&format!("{name}_count"), &[], sum);
    let name = "phileas_requests_total";
    text.begin_metric(
        name,
        Kind::Counter,
        "Requests to GitHub and Jules, by the class of the response's status.",
    );
    for ((target, class), count) in &counted.requests {
        let target = match target {
            Target::GitHub => "github",
            Target::Jules => "jules",
        };
        text.add_sample(name, &[("target", target), ("status", class)], count);
    }
    let name = "phileas_sessions_total";
    text.begin_metric(
        name,
        Kind::Counter,
        "Sessions that were started, adopted, or whose output was imported.",
    );
    for what in ["started", "adopted", "imported"] {
        let count = counted.sessions.get(what).copied().unwrap_or(0);
        text.add_sample(name, &[("what", what)], count);
    }
    let name = "phileas_sessions_settled_total";
    text.begin_metric(
        name,
        Kind::Counter,
        "Turns whose outcome became known; a turn counts again when its pull request is settled later.",
    );
    for (outcome, count) in &counted.settled {
        text.add_sample(name, &[("outcome", outcome)], count);
    }
    let name = "phileas_pulls_refused_total";
    text.begin_metric(
        name,
        Kind::Counter,
        "Pull requests that people refused with a reason.",
    );
    for reason in RefusalReason::ALL {
        let count = counted.refused.get(&reason).copied().unwrap_or(0);
        text.add_sample(name, &[("reason", reason.as_str())], count);
    }
    let name = "phileas_jules_key_sessions_left";
    text.begin_metric(
        name,
        Kind::Gauge,
        "Sessions left of the key's day, as far as its listing was read.",
    );
    for (key, left) in &counted.keys {
        text.add_sample(name, &[("key", &key.to_string())], left);
    }
    let name = "phileas_repositories_attention";
    text.begin_metric(
        name,
        Kind::Gauge,
        "Repositories that need a person, or whose last tick failed.",
    );
    text.add_sample(name, &[], counted.attention.len());
}

fn write_limits<I>(text: &mut Text, sources: &MetricsSources<I>) {
    let members = sources.repositories.as_ref();
    let members = members.map(|all| all.list_members()).unwrap_or_default();
    let name = "phileas_repositories";
    text.begin_metric(name, Kind::Gauge, "Repositories that the service manages.");
    text.add_sample(name, &[], members.len());
    let name = "phileas_github_rate_left";
    text.begin_metric(
        name,
        Kind::Gauge,
        "What is left of a primary limit of GitHub, as GitHub last reported it.",
    );
    let accounts: BTreeMap<u64, &Arc<Member>> = members
        .iter()
        .map(|member| (member.installation, member))
        .collect();
    for (installation, member) in accounts.iter().take(MAX_SERIES) {
        for (face, word) in [(Api::Rest, "rest"), (Api::Graph, "graphql")] {
            if let Some(quota) = member.account.quota(face) {
                let installation = installation.to_string();
                let labels = [("installation", installation.as_str()), ("api", word)];
                text.add_sample(name, &labels, quota.remaining);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use phileas_domain::model::RepositoryId;

    use super::*;

    #[test]
    fn the_buckets_of_a_histogram_add_up() {
        let metrics = Metrics::default();
        for millis in [1, 40, 60, 700_000] {
            metrics.count_tick("done", Duration::from_millis(millis));
        }
        let mut text = Text::default();
        write_work(&mut text, &metrics);
        let text = text.into_page();
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
    fn unused_series_are_forgotten() {
        let metrics = Metrics::default();
        {
            let mut counted = metrics.lock_tallies();
            counted.keys.insert(3, 7);
            counted.set_attention(RepositoryId(1), true);
            counted.set_attention(RepositoryId(1), true);
            counted.set_attention(RepositoryId(2), true);
            counted.set_attention(RepositoryId(2), false);
        }
        let shown = |line: &str| {
            let mut text = Text::default();
            write_work(&mut text, &metrics);
            text.into_page().lines().any(|known| known == line)
        };
        assert!(shown("phileas_jules_key_sessions_left{key=\"3\"} 7"));
        assert!(shown("phileas_repositories_attention 1"));
        metrics.lock_tallies().retain_members(&[]);
        assert!(!shown("phileas_jules_key_sessions_left{key=\"3\"} 7"));
        assert!(shown("phileas_repositories_attention 0"));
    }
}
