//! Remembers due repositories that this process cannot tick now, so that other processes with the
//! same inbox can.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::RepositoryId;

/// How long a repository is left to other processes of the same inbox. Afterwards this process claims
/// it, at most one at each check. If there is no other process, the claim reports the fault and begins
/// the repository's pause.
pub const DEFER_TIME: SignedDuration = SignedDuration::from_secs(60);
/// If a repository was not due for this long, another process has ticked it; deferring starts again.
/// While one is deferred, the driver checks again within a second or two.
const FORGET_AFTER: SignedDuration = SignedDuration::from_secs(10);

/// The deferred repositories.
#[derive(Debug, Default)]
pub(super) struct Deferred(BTreeMap<RepositoryId, DeferredSince>);

/// When a repository was deferred, and when it was last due.
#[derive(Debug, Clone, Copy)]
struct DeferredSince {
    since: Timestamp,
    last: Timestamp,
}

impl DeferredSince {
    /// Whether it is still the same wait. After the clock was set back, the wait starts again.
    fn is_same_wait(&self, now: Timestamp) -> bool {
        self.last <= now && now.duration_since(self.last) < FORGET_AFTER
    }
}

impl Deferred {
    /// Returns the due repositories that this process takes: those that it is ready for, and the
    /// first that no other process took in time.
    pub(super) fn take_due(
        &mut self,
        due: Vec<RepositoryId>,
        now: Timestamp,
        is_ready: impl Fn(RepositoryId) -> bool,
    ) -> Vec<RepositoryId> {
        let before = std::mem::take(&mut self.0);
        let mut taken = Vec::new();
        let mut has_overdue = false;
        for id in due {
            if is_ready(id) {
                taken.push(id);
                continue;
            }
            let known = before.get(&id).filter(|seen| seen.is_same_wait(now));
            let since = known.map_or(now, |seen| seen.since);
            self.0.insert(id, DeferredSince { since, last: now });
            if !has_overdue && now.duration_since(since) >= DEFER_TIME {
                has_overdue = true;
                taken.push(id);
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: RepositoryId = RepositoryId(1);
    const B: RepositoryId = RepositoryId(2);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    /// Checks once a second from one instant to another, and returns when a repository was taken.
    fn taken(left: &mut Deferred, due: &[RepositoryId], from: i64, to: i64) -> Vec<i64> {
        let none_ready = |_| false;
        (from..=to)
            .filter(|second| {
                !left
                    .take_due(due.to_vec(), at(*second), none_ready)
                    .is_empty()
            })
            .collect()
    }

    #[test]
    fn what_cannot_be_done_is_left_to_others_for_a_while() {
        let mut left = Deferred::default();
        let only_b = |id| id == B;
        assert_eq!(left.take_due(vec![A, B], at(0), only_b), [B]);
        assert_eq!(taken(&mut left, &[A], 1, 61), [60, 61]);
    }

    #[test]
    fn each_check_takes_one_repository_that_no_process_takes() {
        let mut left = Deferred::default();
        assert!(taken(&mut left, &[A, B], 0, 59).is_empty());
        assert_eq!(left.take_due(vec![A, B], at(60), |_| false), [A]);
        assert_eq!(left.take_due(vec![B], at(61), |_| false), [B]);
    }

    #[test]
    fn a_repository_that_was_taken_meanwhile_is_deferred_again() {
        let mut left = Deferred::default();
        assert!(taken(&mut left, &[A], 0, 30).is_empty());
        assert_eq!(left.take_due(Vec::new(), at(31), |_| false), []);
        assert!(taken(&mut left, &[A], 32, 62).is_empty());
        // Since no repository was due, the driver did not check in between.
        assert_eq!(taken(&mut left, &[A], 90, 150), [150]);
    }

    #[test]
    fn a_clock_that_is_set_back_defers_no_repository_for_ever() {
        let mut left = Deferred::default();
        assert!(taken(&mut left, &[A], 1_000, 1_030).is_empty());
        assert_eq!(taken(&mut left, &[A], 0, 60), [60]);
    }
}
