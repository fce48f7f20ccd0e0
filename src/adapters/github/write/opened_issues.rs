//! Remembers issues that this process opened and that no listing shows yet: replicas of GitHub lag by seconds, and an
//! issue's webhook starts the next tick sooner.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::RepositoryName;

/// How long an issue is remembered. Listings are not known to lag longer.
const UNSEEN_FOR: SignedDuration = SignedDuration::from_mins(5);

/// The recently opened issues, by repository and key.
#[derive(Debug, Default)]
pub(crate) struct OpenedIssues(Mutex<BTreeMap<(String, String), (Timestamp, u64)>>);

impl OpenedIssues {
    /// Notes that an issue with this key was opened.
    pub(crate) fn record_issue(
        &self,
        repository: &RepositoryName,
        key: &str,
        number: u64,
        now: Timestamp,
    ) {
        let mut opened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        opened.retain(|_, (at, _)| is_recent(*at, now));
        opened.insert((repository.to_string(), key.to_owned()), (now, number));
    }

    /// The issue with this key that was opened last, if that was recent.
    pub(crate) fn recent_issue(
        &self,
        repository: &RepositoryName,
        key: &str,
        now: Timestamp,
    ) -> Option<u64> {
        let opened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, number) = opened.get(&(repository.to_string(), key.to_owned()))?;
        is_recent(*at, now).then_some(*number)
    }
}

/// A negative age counts as recent, because the clock was set back.
fn is_recent(at: Timestamp, now: Timestamp) -> bool {
    now.duration_since(at) < UNSEEN_FOR
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_opened_is_remembered_for_a_while() {
        let opened = OpenedIssues::default();
        let name = |name: &str| -> RepositoryName { name.parse().unwrap() };
        let at = |minutes| Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minutes);
        opened.record_issue(&name("a/b"), "jules_credential", 7, at(0));
        let seen =
            |repository, key, minutes| opened.recent_issue(&name(repository), key, at(minutes));
        assert_eq!(seen("a/b", "jules_credential", 4), Some(7));
        assert_eq!(seen("a/b", "jules_credential", 5), None);
        assert_eq!(seen("a/b", "ledger_corrupt", 1), None);
        assert_eq!(seen("a/c", "jules_credential", 1), None);
        opened.record_issue(&name("a/b"), "ledger_corrupt", 8, at(5));
        assert_eq!(opened.0.lock().unwrap().len(), 1, "the first is forgotten");
    }
}
