//! Views of deliveries by their facts, never their payloads, and of suspended repositories.

use std::collections::BTreeMap;

use jiff::Timestamp;
use phileas_domain::engine::span_text;
use phileas_domain::model::{RepositoryId, RepositoryName};

use crate::runtime::inbox::{Counts, Outcome, Record, Wake};
use crate::server::admin::dashboard::format::{self, Moment};
use crate::server::admin::dashboard::summary::short_line;

/// One delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryView {
    /// GitHub's id of it.
    pub id: String,
    /// The event, with its action.
    pub event: String,
    /// The repository's name, or its number.
    pub repository: Option<String>,
    /// When the inbox received it.
    pub received: Moment,
    /// Its outcome.
    pub outcome: &'static str,
    /// How often it was stored.
    pub times: u32,
    /// Whether it makes sense to run it again.
    pub replayable: bool,
}

/// A suspended repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuspendedView {
    /// GitHub's number of it.
    pub id: u64,
    /// Its name, or its number.
    pub name: String,
    /// When it was suspended.
    pub since: Moment,
    /// The reason.
    pub because: String,
    /// When the service tries it next.
    pub probe: Moment,
    /// How many times it was tried.
    pub attempts: u32,
}

/// The inbox in a few figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxView {
    /// Deliveries that are stored.
    pub deliveries: u64,
    /// Due repositories.
    pub due: u64,
    /// Repositories with a running tick.
    pub leased: u64,
    /// Repositories whose last tick failed.
    pub failing: u64,
    /// Suspended repositories.
    pub suspended: u64,
    /// How long the longest overdue repository has waited.
    pub oldest: Option<String>,
    /// The used share of its room, in percent.
    pub full: Option<u64>,
}

/// Builds the view of a delivery. `names` are the known repositories.
#[must_use]
pub fn delivery_view(
    record: &Record,
    names: &BTreeMap<RepositoryId, RepositoryName>,
    now: Timestamp,
) -> DeliveryView {
    let facts = &record.delivery;
    let name = |id: RepositoryId| {
        let known = names.get(&id).or(facts.repository_name.as_ref());
        known.map_or_else(|| format!("repository {id}"), ToString::to_string)
    };
    DeliveryView {
        id: facts.id.to_string(),
        event: short_line(&match &facts.action {
            Some(action) => format!("{}.{action}", facts.event),
            None => facts.event.clone(),
        }),
        repository: facts.repository.map(name),
        received: format::format_moment(facts.received_at, now),
        outcome: record.outcome.as_str(),
        times: record.times,
        replayable: record.outcome != Outcome::Noted,
    }
}

/// Builds the view of a suspended repository. `None`: it is not suspended.
#[must_use]
pub fn suspended_view(
    wake: &Wake,
    names: &BTreeMap<RepositoryId, RepositoryName>,
    now: Timestamp,
) -> Option<SuspendedView> {
    let suspended = wake.suspended.as_ref()?;
    let name = names.get(&wake.repository).or(wake.name.as_ref());
    Some(SuspendedView {
        id: wake.repository.0,
        name: name.map_or_else(
            || format!("repository {}", wake.repository),
            ToString::to_string,
        ),
        since: format::format_moment(suspended.at, now),
        because: short_line(&suspended.because),
        probe: format::format_moment(suspended.probe_at, now),
        attempts: wake.attempts,
    })
}

/// Builds the view of the inbox.
#[must_use]
pub fn inbox_view(counts: &Counts, now: Timestamp) -> InboxView {
    InboxView {
        deliveries: counts.deliveries,
        due: counts.due,
        leased: counts.leased,
        failing: counts.failing,
        suspended: counts.suspended,
        oldest: counts
            .oldest_due
            .map(|due| span_text(now.duration_since(due))),
        full: counts.limit_bytes.map(|limit| {
            (100 * counts.bytes)
                .checked_div(limit)
                .unwrap_or(100)
                .min(100)
        }),
    }
}
