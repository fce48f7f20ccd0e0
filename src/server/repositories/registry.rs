//! Knows which repositories the service manages, each with its account and key.
//!
//! An App manages the repositories on which it is installed, unless `phileas.toml` names fewer. A
//! plain token manages those that `phileas.toml` names. GitHub's listing decides. It is read at the
//! start, once in [`super::RELIST`], and after anything that may have changed it: an event of an
//! installation or of a repository, or a tick whose credential was refused. New repositories are
//! ticked at once, and removed ones are forgotten.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use phileas_domain::model::{RepositoryId, RepositoryName};
use tokio::sync::{Notify, watch};

use super::member::Member;
use super::source::{Source, UnreachableEntry};
use super::verify::{UnverifiedRepositories, Verification};
use crate::adapters::github::Client;
use crate::adapters::jules::JulesKey;
use crate::runtime::ports::Failure;
use crate::server::accounts::external_services::ExternalServices;
use crate::server::accounts::keys::{KeyClient, Keys, NoKey};

/// The repositories of a service.
#[derive(Debug)]
pub struct Repositories {
    pub(super) source: Source,
    pub(super) keys: Keys,
    pub(super) external: ExternalServices,
    pub(super) known: RwLock<RegistryState>,
    pub(super) changed: Arc<Notify>,
    /// Whether a listing was read since the process began, with any result.
    pub(super) refresh_sender: watch::Sender<bool>,
}

#[derive(Debug, Default)]
pub(super) struct RegistryState {
    pub(super) members: BTreeMap<RepositoryId, Arc<Member>>,
    /// Whether a listing succeeded since the process began.
    pub(super) listed: bool,
    /// Entries of `phileas.toml` that the credential does not reach.
    pub(super) unreached: Vec<UnreachableEntry>,
    /// Entries that could not be checked at GitHub.
    pub(super) unasked: Vec<(RepositoryName, Failure)>,
    /// Why the last listing failed, if it did.
    pub(super) problem: Option<String>,
    /// Repositories whose ticks were deferred because no listing has shown yet whether the service
    /// manages them.
    pub(super) put_off: BTreeSet<RepositoryId>,
    /// Due repositories that are not listed, perhaps because this process has not read the list
    /// again yet.
    pub(super) unverified: UnverifiedRepositories,
}

/// Whether the service manages a repository.
#[derive(Debug, Clone)]
pub enum Membership {
    /// The service manages it.
    Member(Arc<Member>),
    /// The service does not manage it.
    Unlisted,
    /// Unknown, because GitHub has not replied since the process began.
    Unknown,
}

impl Repositories {
    /// Creates the registry before the first listing. `changed` is notified when the list may have
    /// changed.
    #[must_use]
    pub fn new(
        source: Source,
        keys: Keys,
        external: ExternalServices,
        changed: Arc<Notify>,
    ) -> Self {
        Self {
            source,
            keys,
            external,
            known: RwLock::default(),
            changed,
            refresh_sender: watch::Sender::new(false),
        }
    }

    /// Waits until a listing was read once, with any result.
    pub async fn wait_for_listing(&self) {
        // The registry owns the sender, so the wait cannot fail.
        let mut asked = self.refresh_sender.subscribe();
        let _gone = asked.wait_for(|asked| *asked).await;
    }

    /// Returns whether the service manages a repository.
    #[must_use]
    pub fn find_membership(&self, id: RepositoryId) -> Membership {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        match known.members.get(&id) {
            Some(member) => Membership::Member(Arc::clone(member)),
            None if known.listed => Membership::Unlisted,
            None => Membership::Unknown,
        }
    }

    /// Returns a member with the Jules key that is in its files now: a new key counts from its
    /// repository's next tick on.
    #[must_use]
    pub fn with_present_key(&self, member: Arc<Member>) -> Arc<Member> {
        let jules = self.keys.key_client(&member.name, &self.external);
        let number = |jules: &Result<KeyClient, NoKey>| jules.as_ref().ok().map(|key| key.number);
        if number(&jules) == number(&member.jules) {
            return member;
        }
        let present = Arc::new(Member {
            jules,
            ..(*member).clone()
        });
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        // It may have been removed meanwhile, and stays removed.
        if let Some(known) = known.members.get_mut(&present.id) {
            *known = Arc::clone(&present);
        }
        present
    }

    /// All repositories that the service manages, by their numbers.
    #[must_use]
    pub fn list_members(&self) -> Vec<Arc<Member>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.members.values().cloned().collect()
    }

    /// Entries of `phileas.toml` that the credential did not reach at the last listing.
    #[must_use]
    pub fn unreachable_entries(&self) -> Vec<UnreachableEntry> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.unreached.clone()
    }

    /// Entries of `phileas.toml` that could not be checked at GitHub at the last listing, and why.
    #[must_use]
    pub fn skipped_entries(&self) -> Vec<(RepositoryName, Failure)> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.unasked.clone()
    }

    /// Why the last listing failed, completely or in part.
    #[must_use]
    pub fn problem_text(&self) -> Option<String> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let unasked = || {
            known
                .unasked
                .first()
                .map(|(_, failure)| failure.to_string())
        };
        known.problem.clone().or_else(unasked)
    }

    /// The source of the list.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The access to external services.
    #[must_use]
    pub fn external_services(&self) -> &ExternalServices {
        &self.external
    }

    /// Creates a client of a member, and of no other repository that has its name by now. Must be
    /// called within a Tokio runtime.
    #[must_use]
    pub fn client_of(&self, member: &Member) -> Client {
        let client = self
            .external
            .github_client(member.name.clone(), &member.account);
        client.with_id(member.id)
    }

    /// Requests a listing soon, because the list may have changed.
    pub fn request_listing(&self) {
        self.changed.notify_one();
    }

    /// Records that a tick is deferred because the list is not known yet. The list is read soon,
    /// and then the repository is due, however long its pause has become.
    pub fn put_off(&self, id: RepositoryId) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.put_off.insert(id);
        drop(known);
        self.request_listing();
    }

    /// Verifies that a repository is not listed, when a wake of this generation is claimed. Another
    /// process with the same inbox may have woken it before this one has read the list again. So
    /// only a listing that began later settles it.
    #[must_use]
    pub fn verify_unlisted(&self, unlisted: RepositoryId, generation: u64) -> Verification {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known
            .unverified
            .verify_unlisted(unlisted, generation, self.external.now())
    }

    /// The Jules key of a repository in its files now.
    ///
    /// # Errors
    ///
    /// [`NoKey`], which names the file.
    pub fn key_of(&self, repository: &RepositoryName) -> Result<KeyClient, NoKey> {
        self.keys.key_client(repository, &self.external)
    }

    /// Every Jules key that a repository of the service uses, each once, by its number.
    #[must_use]
    pub fn jules_keys(&self) -> BTreeMap<u64, KeyClient> {
        let members = self.list_members();
        let keys = members
            .iter()
            .filter_map(|member| self.key_of(&member.name).ok());
        keys.map(|key| (key.number, key)).collect()
    }

    /// The file that has a repository's Jules key. `None`: it is the key for all, or there is none.
    #[must_use]
    pub fn key_file(&self, repository: &RepositoryName) -> Option<PathBuf> {
        self.keys.key_file(repository)
    }

    /// The Jules keys in files, with the files' names.
    #[must_use]
    pub fn key_files(&self, most: usize) -> Vec<(String, JulesKey)> {
        let files = self.keys.list_key_files(most).into_iter();
        files
            .map(|(path, key)| (path.display().to_string(), key))
            .collect()
    }

    /// Identifies a repository's Jules key. `None`: it has none.
    #[must_use]
    pub fn key_digest(&self, repository: &RepositoryName) -> Option<[u8; 32]> {
        self.keys.key_digest(repository)
    }

    /// How many Jules keys are in use.
    #[must_use]
    pub fn keys_in_use(&self) -> usize {
        self.keys.client_count()
    }
}

/// How long a repository without a Jules key waits. A new key counts at the next tick.
pub const KEYLESS_REST: Duration = Duration::from_secs(15 * 60);
