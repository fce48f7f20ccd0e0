//! Earlier states of repositories, for reads that lag behind writes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::{Model, RepoId, Repository};
use crate::clock::{earlier, later};
use crate::knobs::Knobs;

/// States kept for one repository; older ones are forgotten first.
const MAX_STATES: usize = 256;

/// The states of the last seconds. Nothing is kept while the knob is off.
#[derive(Debug, Default)]
pub(crate) struct Snapshots {
    kept: BTreeMap<RepoId, VecDeque<(Timestamp, Arc<Repository>)>>,
}

impl Model {
    /// Keeps the present state of every repository that changed, when reads may lag.
    pub(crate) fn remember(&mut self, knobs: &Knobs, now: Timestamp) {
        if knobs.replica_lag_seconds == 0 {
            self.snapshots.kept.clear();
            return;
        }
        let oldest = earlier(now, Duration::from_secs(knobs.replica_lag_seconds));
        for (id, repository) in &self.repositories {
            let kept = self.snapshots.kept.entry(*id).or_default();
            if kept
                .back()
                .is_none_or(|(_, last)| !Arc::ptr_eq(last, repository))
            {
                kept.push_back((now, Arc::clone(repository)));
            }
            // The newest state at or before the horizon is still needed.
            while kept.len() > 1 && (kept[1].0 <= oldest || kept.len() > MAX_STATES) {
                kept.pop_front();
            }
        }
    }

    /// The state that a read of now sees.
    pub(crate) fn seen(&self, repo: RepoId, knobs: &Knobs, now: Timestamp) -> Option<&Repository> {
        let present = self.repository(repo)?;
        if knobs.replica_lag_seconds == 0 {
            return Some(present);
        }
        let lag = Duration::from_secs(knobs.replica_lag_seconds);
        let kept = self.snapshots.kept.get(&repo);
        let old = kept.and_then(|kept| kept.iter().rev().find(|(at, _)| later(*at, lag) <= now));
        // A repository that is younger than the lag is seen in its first state.
        let seen = old
            .or_else(|| kept.and_then(VecDeque::front))
            .map_or(present, |(_, repository)| repository.as_ref());
        knobs.acts("replica-lag-seconds", !std::ptr::eq(seen, present));
        Some(seen)
    }
}
