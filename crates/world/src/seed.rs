//! Fills a world for a test: repositories, people, tokens, Apps, webhooks.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;

use crate::github::account::{App, Permissions};
use crate::github::hook::{Hook, Target};

use crate::github::repository::{Variable, Workflow};
use crate::github::{Identity, Model, NewApp, RepoId, Repository, Role, TokenKind};
use crate::world::World;

/// The most files that are read from one directory.
const MAX_FILES: usize = 100_000;

/// A tree of files by their paths.
pub type Files = BTreeMap<String, Bytes>;

/// The content of a new repository.
#[derive(Debug, Clone, Default)]
pub struct Seed {
    /// The owner's login.
    pub owner: String,
    /// The name.
    pub name: String,
    /// GitHub's id; drawn when `None`.
    pub id: Option<u64>,
    /// The highest number that an issue or a pull request had before.
    pub last_number: u64,
    /// Whether it is private.
    pub private: bool,
    /// The default branch; `main` when empty.
    pub default_branch: String,
    /// The files of the first commit on the default branch; the repository stays empty without any.
    pub files: Files,
    /// The files of an orphan branch `jules`, if it is to exist.
    pub ledger: Option<Files>,
    /// Labels to make.
    pub labels: Vec<String>,
    /// People and their roles.
    pub people: Vec<(String, Role)>,
}

impl Seed {
    /// A public repository with these files.
    #[must_use]
    pub fn new(owner: &str, name: &str, files: Files) -> Self {
        Self {
            owner: owner.to_owned(),
            name: name.to_owned(),
            files,
            ..Self::default()
        }
    }
}

/// Files from pairs of path and text.
#[must_use]
pub fn files(pairs: &[(&str, &str)]) -> Files {
    pairs
        .iter()
        .map(|(path, text)| ((*path).to_owned(), Bytes::copy_from_slice(text.as_bytes())))
        .collect()
}

/// The files of a directory; `.git` and links are left out.
///
/// # Errors
/// Names the path that could not be read, or says that there are too many files.
pub fn files_of(directory: &Path) -> Result<Files, String> {
    let mut found = Files::new();
    let mut waiting = vec![directory.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        let entries =
            std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries {
            let entry = entry.map_err(|error| format!("{}: {error}", folder.display()))?;
            let path = entry.path();
            let kind = entry
                .file_type()
                .map_err(|error| format!("{}: {error}", path.display()))?;
            if kind.is_dir() {
                if entry.file_name() != ".git" {
                    waiting.push(path);
                }
            } else if kind.is_file() {
                let content =
                    std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                let name = path
                    .strip_prefix(directory)
                    .unwrap_or(&path)
                    .to_string_lossy()
                    .replace('\\', "/");
                found.insert(name, content.into());
                if found.len() > MAX_FILES {
                    return Err(format!(
                        "{}: more than {MAX_FILES} files",
                        directory.display()
                    ));
                }
            }
        }
    }
    Ok(found)
}

impl World {
    /// Makes a repository; see [`Model::seed`].
    pub fn seed(&mut self, seed: &Seed) -> RepoId {
        let now = self.now();
        self.github_mut().seed(seed, now)
    }
}

impl Model {
    /// Creates a repository from a seed.
    pub fn seed(&mut self, seed: &Seed, now: Timestamp) -> RepoId {
        let owner = self.account(&seed.owner);
        let drawn = self.next_id() % 1_000_000_007;
        let id = RepoId(seed.id.unwrap_or(drawn));
        let branch = if seed.default_branch.is_empty() {
            "main"
        } else {
            &seed.default_branch
        };
        let repository = Repository {
            id,
            owner,
            name: seed.name.clone(),
            description: None,
            private: seed.private,
            archived: false,
            default_branch: branch.to_owned(),
            created_at: now,
            updated_at: now,
            pushed_at: now,
            pushes: std::collections::VecDeque::new(),
            refs: BTreeMap::new(),
            labels: BTreeMap::new(),
            issues: BTreeMap::new(),
            pulls: BTreeMap::new(),
            comments: BTreeMap::new(),
            collaborators: BTreeMap::new(),
            variables: BTreeMap::new(),
            hooks: BTreeMap::new(),
            releases: Vec::new(),
            checks: Vec::new(),
            statuses: Vec::new(),
            workflows: Vec::new(),
            runs: Vec::new(),
            rules: BTreeMap::new(),
            has_issues: true,
            pulls_by_collaborators: false,
            protections: BTreeMap::new(),
            next_number: seed.last_number.saturating_add(1),
        };
        self.repositories.insert(id, Arc::new(repository));
        self.objects.entry(id).or_default();
        if !seed.files.is_empty() {
            self.create_root_branch(id, branch, &seed.files, "Initial commit", &seed.owner, now);
        }
        if let Some(ledger) = &seed.ledger {
            self.create_root_branch(id, "jules", ledger, "Ledger", &seed.owner, now);
        }
        for label in &seed.labels {
            self.create_label(id, label, "ededed", None, now);
        }
        for (login, role) in &seed.people {
            self.set_role(id, login, *role);
        }
        let workflows: Vec<String> = seed
            .files
            .keys()
            .filter(|path| path.starts_with(".github/workflows/"))
            .cloned()
            .collect();
        for path in workflows {
            let workflow = Workflow {
                id: self.next_id(),
                name: path.trim_start_matches(".github/workflows/").to_owned(),
                path,
                state: "active".to_owned(),
                created_at: now,
            };
            if let Some(repository) = self.repository_mut(id) {
                repository.workflows.push(workflow);
            }
        }
        id
    }

    /// Makes a branch whose first commit holds these files, without parents.
    pub fn create_root_branch(
        &mut self,
        repo: RepoId,
        branch: &str,
        files: &Files,
        message: &str,
        author: &str,
        now: Timestamp,
    ) {
        let files: Vec<(String, Option<Bytes>)> = files
            .iter()
            .map(|(path, content)| (path.clone(), Some(content.clone())))
            .collect();
        let commit = self.commit_files(repo, None, &files, author, message, now);
        self.create_branch(repo, branch, commit, author, now);
    }

    /// A personal access token of a person.
    pub fn add_person_token(&mut self, token: &str, login: &str) {
        self.add_token_of(token, login, TokenKind::Person { scopes: None });
    }

    /// A classic personal access token with these scopes.
    pub fn add_classic_token(&mut self, token: &str, login: &str, scopes: &[&str]) {
        let scopes = Some(scopes.iter().map(|&scope| scope.to_owned()).collect());
        self.add_token_of(token, login, TokenKind::Person { scopes });
    }

    /// A fine-grained personal access token with these permissions.
    pub fn add_fine_grained_token(&mut self, token: &str, login: &str, permissions: Permissions) {
        self.add_token_of(token, login, TokenKind::FineGrained { permissions });
    }

    fn add_token_of(&mut self, token: &str, login: &str, kind: TokenKind) {
        let account = self.account(login);
        let identity = Identity {
            account,
            kind,
            expires_at: None,
            name: format!("user:{login}"),
        };
        self.tokens.insert(token.to_owned(), identity);
    }

    /// The `GITHUB_TOKEN` of a workflow run: acts as `github-actions[bot]` in one repository.
    pub fn add_actions_token(&mut self, token: &str, repo: RepoId, permissions: Permissions) {
        let account = self.account("github-actions[bot]");
        let name = format!("actions:{}", self.full_name(repo));
        let kind = TokenKind::Actions {
            repository: repo,
            permissions,
        };
        self.tokens.insert(
            token.to_owned(),
            Identity {
                account,
                kind,
                expires_at: None,
                name,
            },
        );
    }

    /// Registers a GitHub App, and makes its bot account `<slug>[bot]`.
    pub fn add_app(&mut self, new: NewApp, now: Timestamp) {
        let account = self.account(&format!("{}[bot]", new.slug));
        let owner = self.account(&new.owner);
        let app = App {
            id: new.id,
            client_id: format!("Iv23li{:014}", new.id),
            slug: new.slug,
            account,
            owner,
            permissions: new.permissions,
            events: new.events,
            hook: new.hook,
            public_key: new.public_key,
            created_at: now,
        };
        self.apps.insert(app.id, app);
    }

    /// A webhook of a repository; gives its id.
    pub fn add_hook(
        &mut self,
        repo: RepoId,
        url: &str,
        secret: Option<&str>,
        events: &[&str],
        now: Timestamp,
    ) -> Option<u64> {
        let id = self.next_id() % 1_000_000_007;
        let hook = Hook {
            id,
            target: Target {
                url: url.to_owned(),
                secret: secret.map(str::to_owned),
                content_type: "json".to_owned(),
            },
            events: events.iter().map(|event| (*event).to_owned()).collect(),
            active: true,
            created_at: now,
            updated_at: now,
        };
        self.repository_mut(repo)?.hooks.insert(id, hook);
        Some(id)
    }

    /// Removes all webhooks of a repository.
    pub fn remove_hooks(&mut self, repo: RepoId) {
        if let Some(repository) = self.repository_mut(repo) {
            repository.hooks.clear();
        }
    }

    /// Sets a variable of Actions.
    pub fn set_variable(&mut self, repo: RepoId, name: &str, value: &str, now: Timestamp) {
        let Some(repository) = self.repository_mut(repo) else {
            return;
        };
        repository
            .variables
            .entry(name.to_uppercase())
            .and_modify(|variable| {
                variable.value = value.to_owned();
                variable.updated_at = now;
            })
            .or_insert_with(|| Variable {
                value: value.to_owned(),
                created_at: now,
                updated_at: now,
            });
    }
}
