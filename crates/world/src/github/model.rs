//! The model of GitHub: its whole state, and typed access to it for tests and judges.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::account::{Account, AccountKind, App, Identity, Installation, Role};
use super::graphql::Documents;
use super::hook::Delivery;
use super::limits::Limits;
use super::new_app::{AppKey, ConfirmedManifest};
use super::object::Oid;
use super::objects::Objects;
use super::repo_id::RepoId;
use super::repository::{Comment, Issue, Pull, Repository};
use super::smart_http::BareRepositories;
use super::snapshots::Snapshots;
use crate::books::Write;
use crate::chance::Stream;
use crate::knobs::Knobs;

/// The first number that the model gives to an object.
const FIRST_ID: u64 = 3_000_000_000;

/// All of GitHub.
#[derive(Debug)]
pub struct Model {
    pub(crate) accounts: BTreeMap<u64, Account>,
    logins: BTreeMap<String, u64>,
    pub(crate) repositories: BTreeMap<RepoId, Arc<Repository>>,
    pub(crate) objects: BTreeMap<RepoId, Objects>,
    pub(crate) verified: BTreeSet<Oid>,
    pub(crate) former_names: BTreeMap<String, RepoId>,
    pub(crate) tokens: BTreeMap<String, Identity>,
    /// Prefixes of tokens that are refused.
    pub(crate) refused: BTreeSet<String>,
    pub(crate) apps: BTreeMap<u64, App>,
    pub(crate) installations: BTreeMap<u64, Installation>,
    pub(crate) deliveries: BTreeMap<u64, Delivery>,
    pub(crate) unplanned: Vec<u64>,
    pub(crate) touched: Vec<u64>,
    pub(crate) pending: BTreeSet<(Timestamp, u64)>,
    pub(crate) chance: Stream,
    pub(crate) written: Vec<Write>,
    pub(crate) limits: Limits,
    pub(crate) snapshots: Snapshots,
    pub(crate) documents: Documents,
    pub(crate) bare_repositories: BareRepositories,
    pub(crate) manifests: BTreeMap<String, ConfirmedManifest>,
    /// Keys for Apps that will be made from manifests; the last one is used first.
    pub app_keys: Vec<AppKey>,
    /// The base address of links in answers; `https://api.github.com` unless served elsewhere.
    pub api_url: String,
    next: u64,
}

impl Model {
    /// A GitHub without repositories; the well-known bots exist under their real numbers.
    #[must_use]
    pub fn new(chance: Stream) -> Self {
        let mut model = Self {
            accounts: BTreeMap::new(),
            logins: BTreeMap::new(),
            repositories: BTreeMap::new(),
            objects: BTreeMap::new(),
            verified: BTreeSet::new(),
            former_names: BTreeMap::new(),
            tokens: BTreeMap::new(),
            refused: BTreeSet::new(),
            apps: BTreeMap::new(),
            installations: BTreeMap::new(),
            deliveries: BTreeMap::new(),
            unplanned: Vec::new(),
            touched: Vec::new(),
            pending: BTreeSet::new(),
            chance,
            written: Vec::new(),
            limits: Limits::default(),
            snapshots: Snapshots::default(),
            documents: Documents::default(),
            bare_repositories: BareRepositories::default(),
            manifests: BTreeMap::new(),
            app_keys: Vec::new(),
            api_url: "https://api.github.com".to_owned(),
            next: FIRST_ID,
        };
        for (id, login) in [
            (41_898_282, "github-actions[bot]"),
            (161_369_871, "google-labs-jules[bot]"),
            (49_699_333, "dependabot[bot]"),
            (19_864_447, "web-flow"),
        ] {
            model.add_account(id, login);
        }
        model
    }

    /// A number that is not in use.
    pub(crate) fn next_id(&mut self) -> u64 {
        self.next += 7;
        self.next
    }

    /// The account of a login, in any case; it is created if missing. A login that ends in `[bot]` is a bot's.
    pub fn account(&mut self, login: &str) -> u64 {
        if let Some(id) = self.find_account(login) {
            return id;
        }
        let id = self.next_id() % 1_000_000_007;
        self.add_account(id, login);
        id
    }

    /// The account of a login, in any case, when it exists.
    #[must_use]
    pub fn find_account(&self, login: &str) -> Option<u64> {
        self.logins.get(&login.to_lowercase()).copied()
    }

    /// Creates an account with this number, for example a look-alike of a known login.
    pub fn add_account(&mut self, id: u64, login: &str) {
        let kind = if login.ends_with("[bot]") {
            AccountKind::Bot
        } else {
            AccountKind::User
        };
        self.accounts.insert(
            id,
            Account {
                id,
                login: login.to_owned(),
                kind,
            },
        );
        self.logins.insert(login.to_lowercase(), id);
    }

    /// The login of an account; `ghost` when it is gone.
    #[must_use]
    pub fn login(&self, id: u64) -> &str {
        self.accounts
            .get(&id)
            .map_or("ghost", |account| &account.login)
    }

    /// The repository of this owner and name, in any case; former names do not count.
    #[must_use]
    pub fn repository_by_name(&self, owner: &str, name: &str) -> Option<RepoId> {
        let owner = self.find_account(owner)?;
        self.repositories
            .values()
            .find(|repository| {
                repository.owner == owner && repository.name.eq_ignore_ascii_case(name)
            })
            .map(|repository| repository.id)
    }

    /// The repository that once had this name.
    #[must_use]
    pub(crate) fn repository_by_former_name(&self, owner: &str, name: &str) -> Option<RepoId> {
        self.former_names
            .get(&format!("{owner}/{name}").to_lowercase())
            .copied()
    }

    /// A repository.
    #[must_use]
    pub fn repository(&self, repo: RepoId) -> Option<&Repository> {
        self.repositories.get(&repo).map(Arc::as_ref)
    }

    /// All repositories by their numbers.
    pub fn repositories(&self) -> impl Iterator<Item = &Repository> {
        self.repositories.values().map(Arc::as_ref)
    }

    /// `owner/name` of a repository.
    #[must_use]
    pub fn full_name(&self, repo: RepoId) -> String {
        self.repository(repo)
            .map_or_else(String::new, |repository| {
                format!("{}/{}", self.login(repository.owner), repository.name)
            })
    }

    /// The objects of a repository.
    #[must_use]
    pub fn objects(&self, repo: RepoId) -> Option<&Objects> {
        self.objects.get(&repo)
    }

    pub(crate) fn repository_mut(&mut self, repo: RepoId) -> Option<&mut Repository> {
        self.repositories.get_mut(&repo).map(Arc::make_mut)
    }

    pub(crate) fn objects_mut(&mut self, repo: RepoId) -> &mut Objects {
        self.objects.entry(repo).or_default()
    }

    /// The commit at a branch's head.
    #[must_use]
    pub fn branch_head(&self, repo: RepoId, branch: &str) -> Option<Oid> {
        self.repository(repo)?.branch(branch)
    }

    /// The content of a file at a commit.
    #[must_use]
    pub fn read_file(&self, repo: RepoId, at: Oid, path: &str) -> Option<Bytes> {
        let objects = self.objects(repo)?;
        let (_, oid) = objects.at_path(at, path)?;
        objects.blob(oid).cloned()
    }

    /// The paths of all files at a commit.
    #[must_use]
    pub fn list_files(&self, repo: RepoId, at: Oid) -> Vec<String> {
        let Some(objects) = self.objects(repo) else {
            return Vec::new();
        };
        let tree = objects.tree_of(at);
        tree.map(|tree| {
            objects
                .list_files(tree)
                .into_iter()
                .map(|(path, ..)| path)
                .collect()
        })
        .unwrap_or_default()
    }

    /// The change between two commits as `git diff` writes it.
    #[must_use]
    pub fn diff(&self, repo: RepoId, from: Oid, to: Oid) -> String {
        self.objects(repo)
            .map(|objects| objects.unified_diff(Some(from), Some(to)))
            .unwrap_or_default()
    }

    /// The newest common ancestor of two commits.
    #[must_use]
    pub fn merge_base(&self, repo: RepoId, one: Oid, other: Oid) -> Option<Oid> {
        self.objects(repo)?.merge_base(one, other)
    }

    /// A pull request.
    #[must_use]
    pub fn pull(&self, repo: RepoId, number: u64) -> Option<&Pull> {
        self.repository(repo)?.pulls.get(&number).map(Arc::as_ref)
    }

    /// All pull requests of a repository by their numbers.
    pub fn pulls(&self, repo: RepoId) -> impl Iterator<Item = &Pull> {
        self.repository(repo)
            .into_iter()
            .flat_map(|repository| repository.pulls.values().map(Arc::as_ref))
    }

    /// An issue.
    #[must_use]
    pub fn issue(&self, repo: RepoId, number: u64) -> Option<&Issue> {
        self.repository(repo)?.issues.get(&number).map(Arc::as_ref)
    }

    /// All issues of a repository by their numbers.
    pub fn issues(&self, repo: RepoId) -> impl Iterator<Item = &Issue> {
        self.repository(repo)
            .into_iter()
            .flat_map(|repository| repository.issues.values().map(Arc::as_ref))
    }

    /// The comments of an issue or pull request, oldest first.
    pub fn comments(&self, repo: RepoId, number: u64) -> impl Iterator<Item = &Comment> {
        self.repository(repo)
            .into_iter()
            .flat_map(move |repository| {
                let ids = repository
                    .thread(number)
                    .map(|thread| thread.comments.as_slice())
                    .unwrap_or_default();
                ids.iter()
                    .filter_map(|id| repository.comments.get(id).map(Arc::as_ref))
            })
    }

    /// All deliveries that were made, by number.
    pub fn deliveries(&self) -> impl Iterator<Item = &Delivery> {
        self.deliveries.values()
    }

    /// What an account may do in a repository.
    #[must_use]
    pub fn role(&self, repo: RepoId, account: u64) -> Role {
        let Some(repository) = self.repository(repo) else {
            return Role::None;
        };
        if repository.owner == account {
            return Role::Admin;
        }
        let given = repository
            .collaborators
            .get(&account)
            .copied()
            .unwrap_or(Role::None);
        if repository.private {
            given
        } else {
            given.max(Role::Read)
        }
    }

    pub(crate) fn installation_reaches(&self, installation: &Installation, repo: RepoId) -> bool {
        match &installation.repositories {
            Some(chosen) => chosen.contains(&repo),
            None => self
                .repository(repo)
                .is_some_and(|repository| repository.owner == installation.account),
        }
    }

    /// The earliest instant at which a delivery is due.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        self.pending.first().map(|(due, _)| *due)
    }

    pub(crate) fn note_write(
        &mut self,
        repo: RepoId,
        actor: u64,
        what: &str,
        detail: Value,
        now: Timestamp,
    ) {
        let write = Write {
            at: now,
            repository: self.full_name(repo),
            actor: self.login(actor).to_owned(),
            what: what.to_owned(),
            detail: if detail.is_null() { json!({}) } else { detail },
        };
        self.written.push(write);
    }

    pub(crate) fn pull_mut(&mut self, repo: RepoId, number: u64) -> Option<&mut Pull> {
        self.repository_mut(repo)?
            .pulls
            .get_mut(&number)
            .map(Arc::make_mut)
    }

    /// Keeps the present state of every repository that changed, when reads may lag.
    pub(crate) fn remember_states(&mut self, knobs: &Knobs, now: Timestamp) {
        self.snapshots.record_states(&self.repositories, knobs, now);
    }

    /// The state of a repository that a read sees now.
    pub(crate) fn visible_repository(
        &self,
        repo: RepoId,
        knobs: &Knobs,
        now: Timestamp,
    ) -> Option<&Repository> {
        let present = self.repository(repo)?;
        Some(self.snapshots.visible_state(present, knobs, now))
    }
}
