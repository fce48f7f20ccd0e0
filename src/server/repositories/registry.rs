//! Which repositories the service looks after, and by which account and key.
//!
//! An App looks after what it is installed on, as far as `phileas.toml` does not name fewer; a plain token after what
//! `phileas.toml` names. The truth is GitHub's listing. It is read at the start, once in [`super::RELIST`], and whenever
//! something was heard or seen that may have changed it: an event of an installation or of a repository, a tick that
//! was not let in. New repositories are ticked at once, those that went away are forgotten.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use phileas_domain::model::{RepositoryId, RepositoryName};
use tokio::sync::{Notify, watch};

use super::member::Member;
use super::source::{Source, UnreachableEntry};
use super::verify::{UnverifiedRepositories, Verification};
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
    /// Whether the truth was asked for since the process began, with whatever result.
    pub(super) refresh_sender: watch::Sender<bool>,
}

#[derive(Debug, Default)]
pub(super) struct RegistryState {
    pub(super) members: BTreeMap<RepositoryId, Arc<Member>>,
    /// Whether they were listed since the process began.
    pub(super) listed: bool,
    /// What `phileas.toml` names and the credential does not reach.
    pub(super) unreached: Vec<UnreachableEntry>,
    /// What it names and GitHub could not be asked about.
    pub(super) unasked: Vec<(RepositoryName, Failure)>,
    /// Why the truth could not be read the last time, if it could not.
    pub(super) problem: Option<String>,
    /// Repositories whose ticks were deferred because no listing has shown yet whether the service looks after them.
    pub(super) put_off: BTreeSet<RepositoryId>,
    /// Repositories that are due and not listed, perhaps only because this process has not read the list again yet.
    pub(super) unverified: UnverifiedRepositories,
}

/// What is known of a repository.
#[derive(Debug, Clone)]
pub enum Membership {
    /// The service looks after it.
    Member(Arc<Member>),
    /// It does not.
    Unlisted,
    /// Not known yet: GitHub has not answered since the process began.
    Unknown,
}

impl Repositories {
    /// Repositories of which nothing is known yet. `changed` is notified when the list may have changed.
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

    /// Waits until the truth was asked for once, with whatever result.
    pub async fn wait_for_listing(&self) {
        // The sender is our own.
        let mut asked = self.refresh_sender.subscribe();
        let _gone = asked.wait_for(|asked| *asked).await;
    }

    /// What is known of a repository.
    #[must_use]
    pub fn find_membership(&self, id: RepositoryId) -> Membership {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        match known.members.get(&id) {
            Some(member) => Membership::Member(Arc::clone(member)),
            None if known.listed => Membership::Unlisted,
            None => Membership::Unknown,
        }
    }

    /// A member with the Jules key that its files say now: a key that was put there or rotated counts from its
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
        // It may have gone meanwhile, and stays so.
        if let Some(known) = known.members.get_mut(&present.id) {
            *known = Arc::clone(&present);
        }
        present
    }

    /// All that the service looks after, by their numbers.
    #[must_use]
    pub fn list_members(&self) -> Vec<Arc<Member>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.members.values().cloned().collect()
    }

    /// What `phileas.toml` names and the credential does not reach, as of the last listing.
    #[must_use]
    pub fn unreachable_entries(&self) -> Vec<UnreachableEntry> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.unreached.clone()
    }

    /// What `phileas.toml` names and GitHub could not be asked about at the last listing, and why.
    #[must_use]
    pub fn skipped_entries(&self) -> Vec<(RepositoryName, Failure)> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.unasked.clone()
    }

    /// Why GitHub did not tell the last time which repositories there are, or not of all.
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

    /// Where the list comes from.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// How the service reaches what is outside.
    #[must_use]
    pub fn external_services(&self) -> &ExternalServices {
        &self.external
    }

    /// The truth may have changed; it is read again soon.
    pub fn request_listing(&self) {
        self.changed.notify_one();
    }

    /// Notes that a tick is deferred because it is not known yet whether the service looks after the repository. The list is read
    /// soon, and the repository then waits no longer, however long its pause has become.
    pub fn put_off(&self, id: RepositoryId) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.put_off.insert(id);
        drop(known);
        self.request_listing();
    }

    /// How sure it is that a repository is not listed, when a wake of this generation is claimed. Another process that shares the
    /// inbox may have heard of it, and woken it, before this one has read the list again; so only a listing that began
    /// later settles it.
    #[must_use]
    pub fn verify_unlisted(&self, unlisted: RepositoryId, generation: u64) -> Verification {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known
            .unverified
            .verify_unlisted(unlisted, generation, self.external.now())
    }

    /// The Jules key of a repository, as its files say now.
    ///
    /// # Errors
    ///
    /// [`NoKey`], in words that name the file.
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

    /// The file that a repository's Jules key is read from. `None`: it is that of all, or there is none.
    #[must_use]
    pub fn key_file(&self, repository: &RepositoryName) -> Option<PathBuf> {
        self.keys.key_file(repository)
    }

    /// The Jules keys that files hold, with these files' names.
    #[must_use]
    pub fn key_files(&self, most: usize) -> Vec<(String, JulesKey)> {
        let files = self.keys.list_key_files(most).into_iter();
        files
            .map(|(path, key)| (path.display().to_string(), key))
            .collect()
    }

    /// Tells a repository's Jules key from others. `None`: it has none.
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

/// How long a repository without a Jules key is left alone. A key that is put there counts at the next tick.
pub const KEYLESS_REST: Duration = Duration::from_secs(15 * 60);
