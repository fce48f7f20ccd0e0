//! Verifies that a due repository is not listed: the service may not manage it, or may not have
//! listed it yet.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::RepositoryId;

/// An unlisted repository that was dismissed within this time is not verified again at once.
const LATELY: SignedDuration = SignedDuration::from_mins(10);
/// After this many listings an unverified repository is forgotten: another process has handled it.
const OLD: u64 = 16;

/// Whether it is verified that the service does not manage a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verification {
    /// A listing that began after the wake does not contain it.
    Settled,
    /// The list must be read.
    Open,
    /// It was dismissed lately, and is woken again.
    Again,
}

/// Counts listings, and remembers which of them verify which repository.
#[derive(Debug, Default)]
pub(super) struct UnverifiedRepositories {
    /// How many listings have begun.
    begun: u64,
    /// The newest complete listing.
    read: u64,
    open: BTreeMap<RepositoryId, UnverifiedRepository>,
    dismissed: BTreeMap<RepositoryId, Timestamp>,
}

#[derive(Debug)]
struct UnverifiedRepository {
    /// The wake of the verification. A newer wake may be of a managed repository.
    generation: u64,
    /// The first listing that settles it.
    settled_by: u64,
}

impl UnverifiedRepositories {
    /// Records that a listing begins. Returns its number.
    pub(super) fn begin_listing(&mut self) -> u64 {
        self.begun += 1;
        self.begun
    }

    /// Records that a listing is complete.
    pub(super) fn end_listing(&mut self, number: u64) {
        self.read = self.read.max(number);
    }

    /// Returns whether it is verified that a repository is not listed. A listing that runs at the
    /// beginning does not settle it, because it may have read that part already. A settled
    /// repository is dismissed.
    pub(super) fn verify_unlisted(
        &mut self,
        unlisted: RepositoryId,
        generation: u64,
        now: Timestamp,
    ) -> Verification {
        let known = self.open.get(&unlisted);
        match known.filter(|doubt| doubt.generation == generation) {
            Some(doubt) if self.read >= doubt.settled_by => {
                self.open.remove(&unlisted);
                self.dismissed.insert(unlisted, now);
                Verification::Settled
            }
            Some(_) => Verification::Open,
            None => {
                let settled_by = self.begun + 1;
                let doubt = UnverifiedRepository {
                    generation,
                    settled_by,
                };
                self.open.insert(unlisted, doubt);
                let dismissed = self.dismissed.get(&unlisted);
                let lately = |at: &&Timestamp| now.duration_since(**at).abs() < LATELY;
                match dismissed.filter(lately) {
                    Some(_) => Verification::Again,
                    None => Verification::Open,
                }
            }
        }
    }

    /// Whether a repository needs no verification, or a listing has settled it.
    pub(super) fn is_settled(&self, id: RepositoryId) -> bool {
        let doubt = self.open.get(&id);
        doubt.is_none_or(|doubt| self.read >= doubt.settled_by)
    }

    /// Forgets repositories that are managed, and old entries.
    pub(super) fn retain_unlisted(
        &mut self,
        is_unlisted: impl Fn(RepositoryId) -> bool,
        now: Timestamp,
    ) {
        let begun = self.begun;
        self.open
            .retain(|id, doubt| is_unlisted(*id) && doubt.settled_by + OLD > begun);
        self.dismissed
            .retain(|_, at| now.duration_since(*at).abs() < LATELY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: RepositoryId = RepositoryId(7);

    fn at(minutes: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minutes)
    }

    fn list(doubts: &mut UnverifiedRepositories) {
        let number = doubts.begin_listing();
        doubts.end_listing(number);
    }

    #[test]
    fn only_a_listing_that_began_later_settles_a_doubt() {
        let mut doubts = UnverifiedRepositories::default();
        let before = doubts.begin_listing();
        assert!(doubts.is_settled(ID));
        assert_eq!(doubts.verify_unlisted(ID, 1, at(0)), Verification::Open);
        doubts.end_listing(before);
        assert!(!doubts.is_settled(ID));
        assert_eq!(doubts.verify_unlisted(ID, 1, at(0)), Verification::Open);
        let after = doubts.begin_listing();
        assert_eq!(
            doubts.verify_unlisted(ID, 1, at(1)),
            Verification::Open,
            "it is not read yet"
        );
        doubts.end_listing(after);
        assert!(doubts.is_settled(ID));
        assert_eq!(doubts.verify_unlisted(ID, 1, at(2)), Verification::Settled);
    }

    #[test]
    fn a_newer_wake_is_a_new_doubt() {
        let mut doubts = UnverifiedRepositories::default();
        let _open = doubts.verify_unlisted(ID, 1, at(0));
        list(&mut doubts);
        assert_eq!(doubts.verify_unlisted(ID, 2, at(1)), Verification::Open);
        list(&mut doubts);
        assert_eq!(doubts.verify_unlisted(ID, 2, at(2)), Verification::Settled);
    }

    #[test]
    fn who_keeps_talking_is_not_listed_for_each_time() {
        let mut doubts = UnverifiedRepositories::default();
        let _open = doubts.verify_unlisted(ID, 1, at(0));
        list(&mut doubts);
        assert_eq!(doubts.verify_unlisted(ID, 1, at(1)), Verification::Settled);
        assert_eq!(doubts.verify_unlisted(ID, 2, at(10)), Verification::Again);
        assert_eq!(
            doubts.verify_unlisted(ID, 2, at(20)),
            Verification::Open,
            "no listing has ended since"
        );
        list(&mut doubts);
        assert_eq!(doubts.verify_unlisted(ID, 2, at(21)), Verification::Settled);
        assert_eq!(
            doubts.verify_unlisted(ID, 3, at(31)),
            Verification::Open,
            "long enough after"
        );
    }

    #[test]
    fn what_is_over_is_forgotten() {
        let mut doubts = UnverifiedRepositories::default();
        let _open = doubts.verify_unlisted(ID, 1, at(0));
        for _ in 0..OLD {
            list(&mut doubts);
            doubts.retain_unlisted(|_| true, at(1));
        }
        assert_eq!(doubts.open.len(), 1);
        list(&mut doubts);
        doubts.retain_unlisted(|_| true, at(1));
        assert_eq!(doubts.open.len(), 0);
        let _open = doubts.verify_unlisted(ID, 1, at(1));
        doubts.retain_unlisted(|_| false, at(1));
        assert_eq!(doubts.open.len(), 0, "it is looked after");
    }
}
