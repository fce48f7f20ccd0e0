//! Who is due and on no list: a stranger, or somebody of whom this process has not heard yet.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::RepositoryId;

/// A doubt that nobody has had for so long is a new one: the repository was somebody else's in between.
const FORGOTTEN_AFTER: SignedDuration = SignedDuration::from_hours(1);

/// Listings by their number, and the first one that settles each doubt.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    /// How many listings have begun.
    begun: u64,
    /// The newest that was read to its end.
    read: u64,
    open: BTreeMap<RepositoryId, Doubt>,
}

#[derive(Debug)]
struct Doubt {
    /// The first listing that settles it.
    settled_by: u64,
    asked_at: Timestamp,
}

impl Doubts {
    /// A listing begins. Answers with its number.
    pub(super) fn begin(&mut self) -> u64 {
        self.begun += 1;
        self.begun
    }

    /// A listing was read to its end, and nothing of it is missing.
    pub(super) fn end_listing(&mut self, number: u64) {
        self.read = self.read.max(number);
    }

    /// Whether a stranger is one for sure, and whether the doubt is new. One that began during a listing is not settled
    /// by it: it may have been asked about what was read already.
    pub(super) fn ask(&mut self, stranger: RepositoryId, now: Timestamp) -> (bool, bool) {
        let is_old = |doubt: &Doubt| now.duration_since(doubt.asked_at).abs() >= FORGOTTEN_AFTER;
        let known = self.open.remove(&stranger).filter(|doubt| !is_old(doubt));
        let is_new = known.is_none();
        let settled_by = known.map_or(self.begun + 1, |doubt| doubt.settled_by);
        let asked_at = now;
        let doubt = Doubt {
            settled_by,
            asked_at,
        };
        self.open.insert(stranger, doubt);
        (self.read >= settled_by, is_new)
    }

    /// The doubt is over.
    pub(super) fn end(&mut self, stranger: RepositoryId) {
        self.open.remove(&stranger);
    }

    /// Who is looked after is no stranger.
    pub(super) fn keep(&mut self, is_stranger: impl Fn(RepositoryId) -> bool) {
        self.open.retain(|id, _| is_stranger(*id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: RepositoryId = RepositoryId(7);

    fn at(minutes: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minutes)
    }

    #[test]
    fn only_a_listing_that_began_later_settles_a_doubt() {
        let mut doubts = Doubts::default();
        let before = doubts.begin();
        assert_eq!(doubts.ask(ID, at(0)), (false, true));
        doubts.end_listing(before);
        assert_eq!(doubts.ask(ID, at(0)), (false, false));
        let after = doubts.begin();
        assert_eq!(doubts.ask(ID, at(1)), (false, false), "it is not read yet");
        doubts.end_listing(after);
        assert_eq!(doubts.ask(ID, at(2)), (true, false));
    }

    #[test]
    fn who_is_woken_again_is_doubted_again() {
        let mut doubts = Doubts::default();
        doubts.ask(ID, at(0));
        let number = doubts.begin();
        doubts.end_listing(number);
        assert_eq!(doubts.ask(ID, at(59)), (true, false));
        doubts.end(ID);
        assert_eq!(doubts.ask(ID, at(60)), (false, true));
        doubts.keep(|_| false);
        assert_eq!(doubts.ask(ID, at(61)), (false, true));
    }

    #[test]
    fn a_doubt_of_long_ago_settles_nothing() {
        let mut doubts = Doubts::default();
        doubts.ask(ID, at(0));
        let number = doubts.begin();
        doubts.end_listing(number);
        assert_eq!(doubts.ask(ID, at(60)), (false, true));
    }
}
