//! Leases that may have been given without anybody hearing of it: the answer to the commit was lost.

use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::{Holder, RepositoryId};

use super::locked::Locked;
use crate::runtime::inbox::{Claimed, Lease};

/// Leases of this process that nobody uses. Whether they were given is known once their rows are read again.
#[derive(Debug, Default)]
pub(super) struct Unanswered(Mutex<Vec<Lease>>);

impl Unanswered {
    /// Takes all, for whoever claims next.
    pub(super) fn take(&self) -> Vec<Lease> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps those of a claim that came to nothing.
    pub(super) fn keep(&self, leases: Vec<Lease>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(leases);
    }
}

/// Leases those of these repositories that are due. Leases that nobody has heard of are given back before, so that they
/// are not counted as attempts; the new ones are among them until their commit is answered.
pub(super) fn grant(
    rows: &mut Locked,
    unanswered: &mut Vec<Lease>,
    holder: &Holder,
    now: Timestamp,
    length: SignedDuration,
    repositories: &[RepositoryId],
    is_alone: bool,
) -> Vec<Lease> {
    for lease in unanswered.iter() {
        if let Some(wake) = rows.get_mut(lease.repository) {
            // One that was not given, or was taken over since, does not count.
            let _settled = wake.release(lease, now);
        }
    }
    let mut leases = Vec::new();
    for id in repositories {
        let wake = rows.get_mut(*id).filter(|wake| wake.is_due(now));
        let claimed = wake.map(|wake| wake.claim(holder, now, length, is_alone));
        if let Some(Claimed::Leased(lease)) = claimed {
            leases.push(lease);
        }
    }
    unanswered.extend_from_slice(&leases);
    leases
}
