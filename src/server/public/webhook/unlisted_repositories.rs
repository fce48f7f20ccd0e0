//! Logs deliveries of repositories that the service does not manage. Behind one load balancer that
//! mostly means that the lists of two machines differ.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use phileas_domain::model::RepositoryId;

use crate::runtime::inbox::Delivery;

/// The least time between two log lines about one repository.
const GAP: Duration = Duration::from_secs(60 * 60);
/// The most repositories with counts of their own. A sender with the secret can name any number of
/// them.
const MOST: usize = 1_000;

/// Repositories whose deliveries were ignored lately, with the counts that are not logged yet.
#[derive(Debug, Default)]
pub(super) struct UnlistedRepositories(Mutex<BTreeMap<RepositoryId, IgnoredDeliveries>>);

#[derive(Debug, Clone, Copy)]
struct IgnoredDeliveries {
    reported_at: Instant,
    untold: u64,
}

impl UnlistedRepositories {
    /// Counts a delivery of a repository that is on no list, and logs it unless one was logged
    /// lately.
    pub(super) fn count_delivery(&self, delivery: &Delivery, now: Instant) {
        let Some(id) = delivery.repository else {
            return;
        };
        let Some(count) = self.take_due_count(id, now) else {
            return;
        };
        let name = delivery.repository_name.as_ref();
        let called = name.map_or_else(|| format!("number {id}"), ToString::to_string);
        tracing::warn!(
            count,
            "phileas ignores deliveries of {called}, because the `[[repository]]` entries of this machine's \
             phileas.toml do not name it; if several machines accept deliveries, their lists must be the same"
        );
    }

    /// Returns how many to report now, if a report is due.
    fn take_due_count(&self, id: RepositoryId, now: Instant) -> Option<u64> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = |reported_at: Instant| now.saturating_duration_since(reported_at) < GAP;
        if let Some(ignored) = known.get_mut(&id) {
            ignored.untold += 1;
            if is_recent(ignored.reported_at) {
                return None;
            }
            ignored.reported_at = now;
            return Some(std::mem::take(&mut ignored.untold));
        }
        if known.len() >= MOST {
            known.retain(|_, ignored| is_recent(ignored.reported_at));
        }
        if known.len() >= MOST {
            return None;
        }
        let ignored = IgnoredDeliveries {
            reported_at: now,
            untold: 0,
        };
        known.insert(id, ignored);
        Some(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_repository_is_told_at_once_and_then_once_an_hour() {
        let unlisted = UnlistedRepositories::default();
        let begun = Instant::now();
        let count = |id, minute: u64| {
            unlisted.take_due_count(RepositoryId(id), begun + Duration::from_secs(60 * minute))
        };
        assert_eq!(count(7, 0), Some(1));
        for minute in 1..60 {
            assert_eq!(count(7, minute), None);
        }
        assert_eq!(count(8, 30), Some(1), "they do not hide one another");
        assert_eq!(count(7, 60), Some(60));
    }

    #[test]
    fn deliveries_that_name_many_do_not_fill_the_memory() {
        let unlisted = UnlistedRepositories::default();
        let begun = Instant::now();
        let most = MOST as u64;
        for id in 0..most {
            assert_eq!(unlisted.take_due_count(RepositoryId(id), begun), Some(1));
        }
        assert_eq!(unlisted.take_due_count(RepositoryId(most), begun), None);
        assert_eq!(
            unlisted.take_due_count(RepositoryId(most), begun + GAP),
            Some(1)
        );
    }
}
