//! Keeps earlier states of repositories, for reads that lag behind writes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::repo_id::RepoId;
use super::repository::Repository;
use crate::clock::{earlier_by, later_by};
use crate::knobs::Knobs;

/// States kept for one repository; older ones are forgotten first.
const MAX_STATES: usize = 256;

/// The states of the last seconds. Nothing is kept while the knob is off.
#[derive(Debug, Default)]
pub(crate) struct Snapshots {
    kept: BTreeMap<RepoId, VecDeque<(Timestamp, Arc<Repository>)>>,
}

impl Snapshots {
    /// Keeps the present state of every repository that changed, when reads may lag.
    pub(super) fn record_states(
        &mut self,
        repositories: &BTreeMap<RepoId, Arc<Repository>>,
        knobs: &Knobs,
        now: Timestamp,
    ) {
        if knobs.replica_lag_seconds == 0 {
            self.kept.clear();
            return;
        }
        let oldest = earlier_by(now, Duration::from_secs(knobs.replica_lag_seconds));
        for (id, repository) in repositories {
            let kept = self.kept.entry(*id).or_default();
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

    /// The state of a repository that a read sees now.
    pub(super) fn visible_state<'a>(
        &'a self,
        present: &'a Repository,
        knobs: &Knobs,
        now: Timestamp,
    ) -> &'a Repository {
        if knobs.replica_lag_seconds == 0 {
            return present;
        }
        let lag = Duration::from_secs(knobs.replica_lag_seconds);
        let kept = self.kept.get(&present.id);
        let old = kept.and_then(|kept| kept.iter().rev().find(|(at, _)| later_by(*at, lag) <= now));
        // A repository that is younger than the lag is seen in its first state.
        let seen = old
            .or_else(|| kept.and_then(VecDeque::front))
            .map_or(present, |(_, repository)| repository.as_ref());
        knobs.count_use("replica-lag-seconds", !std::ptr::eq(seen, present));
        seen
    }
}
