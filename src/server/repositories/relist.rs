//! Keeps the list of repositories up to date.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError};

use jiff::{SignedDuration, Timestamp};
use phileas_domain::model::RepositoryId;

use super::member::Member;
use super::registry::{RegistryState, Repositories};
use super::source::{FoundRepository, Listing};
use crate::runtime::driver::next_reconcile;
use crate::runtime::inbox::{Inbox, InboxError};
use crate::runtime::ports::{Clock, Failure};

/// How often the list is read if nothing reports a change.
pub const RELIST: SignedDuration = SignedDuration::from_hours(1);
/// The least time between two listings: a burst of events is one change.
pub const SHORTEST_GAP: SignedDuration = SignedDuration::from_secs(5);
/// A pause lasts at least this many times as long as the listing before it: a large fleet must not
/// spend its limits on listings.
const GAP_FOR_WORK: i32 = 20;
/// The first pause after a failed listing; it doubles.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_secs(5);
/// The longest such pause.
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_mins(5);

/// Why the list could not be updated.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RefreshError {
    /// GitHub failed.
    #[error(transparent)]
    Outside(#[from] Failure),
    /// The inbox failed.
    #[error(transparent)]
    Inbox(#[from] InboxError),
}

impl Repositories {
    /// Updates the list until it is dropped.
    pub async fn keep_listed(&self, inbox: &impl Inbox, clock: &impl Clock) {
        let mut failures = 0_u32;
        let mut woken_at = clock.now();
        loop {
            let begun = clock.now();
            let whole = match self.refresh_list(inbox, begun).await {
                Ok(whole) => whole,
                Err(error) => {
                    tracing::error!("the list of repositories cannot be read: {error}");
                    let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
                    known.problem = Some(error.to_string());
                    drop(known);
                    false
                }
            };
            failures = if whole { 0 } else { failures + 1 };
            let wait = match failures {
                0 => RELIST,
                n => (FIRST_PAUSE * (1 << n.min(10).saturating_sub(1))).min(LONGEST_PAUSE),
            };
            self.refresh_sender.send_replace(true);
            let read_at = clock.now();
            let later = |length| read_at.checked_add(length).unwrap_or(Timestamp::MAX);
            let gap = SHORTEST_GAP
                .max(read_at.duration_since(begun) * GAP_FOR_WORK)
                // If GitHub does not reply, a listing takes long for another reason.
                .min(wait);
            // Not after each listing, because it reads one repository after another.
            if failures == 0 && read_at.duration_since(woken_at).abs() >= RELIST {
                woken_at = read_at;
                if let Err(error) = self.wake_the_forgotten(inbox, read_at).await {
                    tracing::error!("the wakes of repositories cannot be read: {error}");
                }
            }
            tokio::select! {
                biased;
                () = self.changed.notified() => clock.sleep_until(later(gap)).await,
                () = clock.sleep_until(later(wait)) => {}
            }
        }
    }

    /// Reads the list once, and reports new and removed repositories to the inbox. Each
    /// installation of an App is added when GitHub replies for it, so that none waits for all
    /// others. Returns whether the whole list could be read; for the rest, the earlier list counts.
    ///
    /// # Errors
    ///
    /// When GitHub or the inbox fails. Then the earlier list counts.
    pub async fn refresh_list(
        &self,
        inbox: &impl Inbox,
        now: Timestamp,
    ) -> Result<bool, RefreshError> {
        let number = self.begin_listing();
        let mut reading = self.source.begin_listing(&self.external).await?;
        let mut come_first = 0;
        while let Some(found) = reading.next().await {
            let come = self.add_found(found);
            come_first += come.len();
            self.notify_inbox(inbox, &come, &BTreeSet::new(), now)
                .await?;
        }
        let listing = reading.into_listing();
        let whole = listing.is_whole();
        let (come, gone) = self.apply_listing(listing, number);
        self.notify_inbox(inbox, &come, &gone, now).await?;
        self.end_pauses(inbox).await?;
        let come = come.len() + come_first;
        if come > 0 || !gone.is_empty() {
            tracing::info!(come, gone = gone.len(), "repositories were listed");
        }
        Ok(whole)
    }

    /// Reads the list once without reporting to the inbox. Returns whether the whole list could be
    /// read.
    ///
    /// # Errors
    ///
    /// When GitHub fails.
    pub async fn read_once(&self) -> Result<bool, Failure> {
        let number = self.begin_listing();
        let mut reading = self.source.begin_listing(&self.external).await?;
        while reading.next().await.is_some() {}
        let listing = reading.into_listing();
        let whole = listing.is_whole();
        self.apply_listing(listing, number);
        Ok(whole)
    }

    fn begin_listing(&self) -> u64 {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.unverified.begin_listing()
    }

    /// Wakes known repositories that have no wake: a process with another list, as during a change
    /// of `phileas.toml` on several machines, may have ended their wakes.
    async fn wake_the_forgotten(
        &self,
        inbox: &impl Inbox,
        now: Timestamp,
    ) -> Result<(), InboxError> {
        for member in self.list_members() {
            let known = inbox.read_wake(member.id).await?;
            if known.is_none_or(|wake| wake.next_at().is_none()) {
                inbox.wake_repository(member.id, now).await?;
            }
        }
        Ok(())
    }

    /// Adds the repositories of one installation, and returns the new ones. Removes none.
    fn add_found(&self, found: &[FoundRepository]) -> BTreeSet<RepositoryId> {
        let members: Vec<Member> = found
            .iter()
            .cloned()
            .map(|one| self.build_member(one))
            .collect();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let mut come = BTreeSet::new();
        for member in members {
            let id = member.id;
            if known.members.insert(id, Arc::new(member)).is_none() {
                come.insert(id);
            }
        }
        come
    }

    /// Reports new and removed repositories to the inbox.
    async fn notify_inbox(
        &self,
        inbox: &impl Inbox,
        come: &BTreeSet<RepositoryId>,
        gone: &BTreeSet<RepositoryId>,
        now: Timestamp,
    ) -> Result<(), InboxError> {
        let told = notify_inbox(inbox, come, gone, now).await;
        if told.is_err() {
            // Not all new repositories were reported: the next listing finds them again.
            self.forget_members(come);
        }
        told
    }

    /// Ends the pause of repositories that were deferred until the list was read. A repository that
    /// is being deferred now continues after the next listing, which its tick has requested.
    async fn end_pauses(&self, inbox: &impl Inbox) -> Result<(), InboxError> {
        let ready: Vec<RepositoryId> = {
            let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
            let is_known = |id: &&RepositoryId| {
                known.members.contains_key(*id) || known.listed && known.unverified.is_settled(**id)
            };
            known.put_off.iter().filter(is_known).copied().collect()
        };
        if ready.is_empty() {
            return Ok(());
        }
        let held = inbox.end_pauses(&ready).await?;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        for id in ready.iter().filter(|id| !held.contains(id)) {
            known.put_off.remove(id);
        }
        Ok(())
    }

    /// Applies the listing with this number, and returns the new and the removed repositories.
    fn apply_listing(
        &self,
        listing: Listing,
        number: u64,
    ) -> (BTreeSet<RepositoryId>, BTreeSet<RepositoryId>) {
        let before = self.list_members();
        let whole = listing.is_whole();
        let mut members: BTreeMap<RepositoryId, Arc<Member>> = listing
            .repositories
            .into_iter()
            .map(|found| (found.id, Arc::new(self.build_member(found))))
            .collect();
        for old in &before {
            let unread = listing.unread.contains(&old.installation)
                || listing
                    .unasked
                    .iter()
                    .any(|one| one.is_about(old.id, &old.name));
            if unread {
                members.entry(old.id).or_insert_with(|| Arc::clone(old));
            }
        }
        let in_use = members
            .values()
            .filter_map(|member| member.jules.as_ref().ok());
        self.keys
            .retain_clients(&in_use.map(|key| key.number).collect());
        let ids = |all: &[Arc<Member>]| -> BTreeSet<RepositoryId> {
            all.iter().map(|member| member.id).collect()
        };
        let (old, new) = (ids(&before), members.keys().copied().collect());
        let come = &new - &old;
        let gone = &old - &new;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.members = members;
        known.unasked = listing
            .unasked
            .into_iter()
            .map(|one| (one.name, one.failure))
            .collect();
        known.unreached = listing.unreached;
        known.problem = None;
        // An incomplete listing may lack any repository, so none counts as unlisted yet.
        known.listed |= whole;
        if whole {
            known.unverified.end_listing(number);
        }
        let RegistryState {
            unverified: doubts,
            members,
            ..
        } = &mut *known;
        doubts.retain_unlisted(|id| !members.contains_key(&id), self.external.now());
        (come, gone)
    }

    fn forget_members(&self, ids: &BTreeSet<RepositoryId>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.members.retain(|id, _| !ids.contains(id));
        known.listed = false;
    }

    fn build_member(&self, found: FoundRepository) -> Member {
        let jules = self.keys.key_client(&found.name, &self.external);
        Member {
            id: found.id,
            name: found.name,
            account: found.account,
            installation: found.installation,
            jules,
        }
    }
}

/// Reports new and removed repositories to the inbox.
async fn notify_inbox(
    inbox: &impl Inbox,
    come: &BTreeSet<RepositoryId>,
    gone: &BTreeSet<RepositoryId>,
    now: Timestamp,
) -> Result<(), InboxError> {
    for id in come {
        // A repository that the inbox knew before this process keeps its time. A running tick may
        // take it for an unlisted repository, and must not end its wakes.
        let known = inbox.read_wake(*id).await?;
        if known.as_ref().is_some_and(|wake| wake.held.is_some()) {
            inbox.wake_repository(*id, now).await?;
            continue;
        }
        match known.as_ref().and_then(|wake| wake.next_at()) {
            Some(_) => {}
            // A repository that was forgotten, or never seen, is ticked now.
            None if known.is_none_or(|wake| wake.generation == wake.done_generation) => {
                inbox.wake_repository(*id, now).await?;
            }
            None => inbox.wake_repository(*id, next_reconcile(*id, now)).await?,
        }
    }
    for id in gone {
        inbox.forget_repository(*id).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use phileas_domain::model::Holder;

    use super::*;
    use crate::adapters::inbox::sqlite::{DEFAULT_ROOM, DataDirectory, SqliteInbox};
    use crate::runtime::inbox::Settled;

    /// The event came before the listing: the tick that takes the repository for an unlisted one
    /// runs while it becomes a member.
    #[tokio::test]
    async fn a_repository_that_is_listed_during_its_verification_is_ticked() {
        let folder = tempfile::tempdir().unwrap();
        let directory = DataDirectory::lock_directory(folder.path()).unwrap();
        let id = RepositoryId(7);
        let now = Timestamp::UNIX_EPOCH;
        let inbox = SqliteInbox::open(directory, DEFAULT_ROOM, now).unwrap();
        let later = now + SignedDuration::from_secs(1);
        let minute = SignedDuration::from_secs(60);
        inbox.wake_repository(id, now).await.unwrap();
        let holder = Holder::new("test");
        let leases = inbox
            .claim_leases(&holder, now, minute, &[id])
            .await
            .unwrap();
        notify_inbox(&inbox, &BTreeSet::from([id]), &BTreeSet::new(), later)
            .await
            .unwrap();
        let settled = inbox.abandon_lease(&leases[0]).await.unwrap();
        assert_eq!(settled, Settled::Until(Some(later)));
    }
}
