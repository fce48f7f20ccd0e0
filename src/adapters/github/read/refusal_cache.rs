//! Remembers for a while which accounts may not write to a repository.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::{Login, RepositoryName};

/// How long a missing permission is remembered. An account that gets the permission meanwhile waits this long.
const REFUSAL_KEPT: SignedDuration = SignedDuration::from_mins(15);
/// How many entries are kept for all repositories of an account; the one that expires first is dropped.
const MAX_REFUSALS: usize = 20_000;

/// Accounts that may not write, by repository, with the end of the entry. It spares a request for each of them in
/// each tick while their comments are new. Whether an account may write is always read again.
#[derive(Debug, Default)]
pub(crate) struct RefusalCache(Mutex<BTreeMap<(String, Login), Timestamp>>);

impl RefusalCache {
    pub(super) fn record_permission(
        &self,
        repository: &RepositoryName,
        login: &Login,
        writes: bool,
        now: Timestamp,
    ) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (repository.to_string(), login.clone());
        if writes {
            known.remove(&key);
            return;
        }
        if known.len() >= MAX_REFUSALS {
            known.retain(|_, until| *until > now);
        }
        if known.len() >= MAX_REFUSALS
            && let Some(first) = known.iter().min_by_key(|(_, until)| **until)
        {
            let first = first.0.clone();
            known.remove(&first);
        }
        known.insert(key, now.checked_add(REFUSAL_KEPT).unwrap_or(now));
    }

    /// The accounts that may not write to a repository.
    pub(crate) fn refused_logins(
        &self,
        repository: &RepositoryName,
        now: Timestamp,
    ) -> BTreeSet<Login> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = repository.to_string();
        let of_it = known
            .iter()
            .filter(|((of, _), until)| *of == name && **until > now);
        of_it.map(|((_, login), _)| login.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_are_remembered_and_no_more() {
        let refusals = RefusalCache::default();
        let name = "acme/widget".parse().unwrap();
        let now: Timestamp = "2026-01-05T00:00:00Z".parse().unwrap();
        for number in 0..MAX_REFUSALS + 10 {
            refusals.record_permission(&name, &format!("u{number}").as_str().into(), false, now);
        }
        assert_eq!(refusals.refused_logins(&name, now).len(), MAX_REFUSALS);
    }
}
