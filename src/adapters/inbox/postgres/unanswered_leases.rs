//! Leases that may have been granted without an answer, because the answer to the commit was lost.

use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::{Holder, RepositoryId};

use super::locked_wakes::LockedWakes;
use crate::runtime::inbox::{Claimed, Lease};

/// Unused leases of this process. Whether they were granted is known once their rows are read again.
#[derive(Debug, Default)]
pub(super) struct UnansweredLeases(Mutex<Vec<Lease>>);

impl UnansweredLeases {
    /// Takes all, for the next claim.
    pub(super) fn take_all(&self) -> Vec<Lease> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps the leases of a failed claim.
    pub(super) fn keep_leases(&self, leases: Vec<Lease>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(leases);
    }
}

/// Leases the due ones of these repositories. Unanswered leases are released first, so that they do not count as
/// attempts; new ones are unanswered until their commit is answered.
pub(super) fn grant_leases(
    rows: &mut LockedWakes,
    unanswered: &mut Vec<Lease>,
    holder: &Holder,
    now: Timestamp,
    length: SignedDuration,
    repositories: &[RepositoryId],
    is_alone: bool,
) -> Vec<Lease> {
    for lease in unanswered.iter() {
        if let Some(wake) = rows.get_mut(lease.repository) {
            // A lease that was not granted, or was taken over since, does not count.
            let _settled = wake.release_lease(lease, now);
        }
    }
    let mut leases = Vec::new();
    for id in repositories {
        let wake = rows.get_mut(*id).filter(|wake| wake.is_due(now));
        let claimed = wake.map(|wake| wake.claim_lease(holder, now, length, is_alone));
        if let Some(Claimed::Leased(lease)) = claimed {
            leases.push(lease);
        }
    }
    unanswered.extend_from_slice(&leases);
    leases
}
