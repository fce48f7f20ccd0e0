//! What is due and this process cannot do now: others that share its inbox may.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::RepositoryId;

/// How long what a process cannot do is left to others before it claims it all the same: several times what another
/// process needs to see that it is due. Where there is no other, its fault is then told, and its pause begins.
pub const LEFT_TO_OTHERS: SignedDuration = SignedDuration::from_secs(10);

/// Who is left to others.
#[derive(Debug, Default)]
pub(super) struct Left(BTreeMap<RepositoryId, Seen>);

/// Since when somebody is left, and when it was last seen to be due. While there are such, a look follows upon a look.
#[derive(Debug, Clone, Copy)]
struct Seen {
    since: Timestamp,
    last: Timestamp,
}

impl Seen {
    /// Whether it is the same wait still: who was not seen for so long was taken by another meanwhile, and is due again.
    /// A clock that was set back begins anew, too.
    fn goes_on(&self, now: Timestamp) -> bool {
        self.last <= now && now.duration_since(self.last) < LEFT_TO_OTHERS
    }
}

impl Left {
    /// Those of the due ones that this process takes: whoever it can do, and whoever nobody else has taken in time.
    pub(super) fn take(
        &mut self,
        due: Vec<RepositoryId>,
        now: Timestamp,
        is_ready: impl Fn(RepositoryId) -> bool,
    ) -> Vec<RepositoryId> {
        let before = std::mem::take(&mut self.0);
        due.into_iter()
            .filter(|id| {
                if is_ready(*id) {
                    return true;
                }
                let known = before.get(id).filter(|seen| seen.goes_on(now));
                let since = known.map_or(now, |seen| seen.since);
                self.0.insert(*id, Seen { since, last: now });
                now.duration_since(since) >= LEFT_TO_OTHERS
            })
            .collect()
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

    #[test]
    fn what_cannot_be_done_is_left_to_others_for_a_while() {
        let mut left = Left::default();
        let only_b = |id| id == B;
        assert_eq!(left.take(vec![A, B], at(0), only_b), [B]);
        assert_eq!(left.take(vec![A], at(9), only_b), []);
        assert_eq!(left.take(vec![A], at(10), only_b), [A]);
    }

    #[test]
    fn whoever_was_taken_meanwhile_is_left_anew() {
        let mut left = Left::default();
        let nobody = |_| false;
        assert_eq!(left.take(vec![A], at(0), nobody), []);
        assert_eq!(left.take(Vec::new(), at(5), nobody), []);
        assert_eq!(left.take(vec![A], at(12), nobody), []);
        // Nobody looked in between, since nobody was due.
        assert_eq!(left.take(vec![A], at(72), nobody), []);
        assert_eq!(left.take(vec![A], at(81), nobody), []);
        assert_eq!(left.take(vec![A], at(82), nobody), [A]);
    }

    #[test]
    fn a_clock_that_is_set_back_leaves_nobody_for_ever() {
        let mut left = Left::default();
        let nobody = |_| false;
        assert_eq!(left.take(vec![A], at(1_000), nobody), []);
        assert_eq!(left.take(vec![A], at(0), nobody), []);
        assert_eq!(left.take(vec![A], at(9), nobody), []);
        assert_eq!(left.take(vec![A], at(10), nobody), [A]);
    }
}
