//! The target of a command: a work tree, or a repository on GitHub that gets a pull request.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal as _, Write};

use phileas_domain::model::{Oid, RepositoryName, Tree};
use phileas_domain::plan;
use phileas_domain::prompt::{self, SourceFiles};

use super::repository_root::{LAYERS_FOLDER, SET_UP};
use super::worktree::WorkTree;
use super::{clients, credentials};
use crate::adapters::files::FileWrite;
use crate::adapters::github::{Client, Proposal, Proposed};
use crate::adapters::renderer;
use crate::cli::arguments::TargetArguments;
use crate::cli::deadline::note_answer_time;
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::{self, Screen};
use crate::runtime::ports::{Disposition, ReadGitHub as _};
use crate::runtime::read_prompt_sources;
use crate::starter::{FileChange, RepositoryFiles, StarterFile, WORKFLOW_PATH, WORKFLOWS_FOLDER};

/// The most workflows that are read from GitHub.
const WORKFLOWS_LIMIT: usize = 100;

/// How many rounds of files that name further files are read.
const SOURCES_ROUNDS: usize = 20;

/// A repository, and how to change it.
pub(crate) struct Target {
    pub(crate) files: RepositoryFiles,
    at: Backend,
}

enum Backend {
    Folder(WorkTree),
    GitHub { client: Box<Client>, head: Oid },
}

/// A change of files, with its title.
pub(crate) struct FileSetChange<'a> {
    pub(crate) branch: &'a str,
    pub(crate) title: &'a str,
    pub(crate) body: &'a str,
    /// `None` removes a file.
    pub(crate) files: BTreeMap<String, Option<String>>,
    /// Unchanged files that are only staged.
    pub(crate) staged: Vec<String>,
}

impl Target {
    /// Opens the target that the command line names.
    pub(crate) async fn open_target(place: &TargetArguments) -> Result<Self, CliError> {
        if place.pull_request {
            return Self::open_github(place).await;
        }
        let tree = WorkTree::open_worktree(&place.dir)?;
        let repository = match &place.repo {
            Some(repository) => repository.clone(),
            None => tree.require_origin()?,
        };
        let branch = match &place.default_branch {
            Some(branch) if !plan::is_branch_name(branch) => {
                return Err(CliError::usage(format!(
                    "--default-branch: `{branch}` cannot be a branch's name"
                )));
            }
            Some(branch) => branch.clone(),
            None => tree.default_branch()?.ok_or_else(|| {
                CliError::usage(
                    "which branch is the default one cannot be known here; name it with --default-branch, or let git ask: \
                     git remote set-head origin --auto",
                )
            })?,
        };
        Ok(Self {
            files: tree.found_files(repository, branch)?,
            at: Backend::Folder(tree),
        })
    }

    async fn open_github(place: &TargetArguments) -> Result<Self, CliError> {
        let repository = match &place.repo {
            Some(repository) => repository.clone(),
            None => WorkTree::open_worktree(&place.dir)
                .and_then(|tree| tree.origin_repository())?
                .ok_or_else(|| CliError::usage("name the repository with --repo OWNER/NAME"))?,
        };
        let client = clients::github_client(&repository)?;
        let seen = client.observe_repository().await?;
        if seen.repository.archived {
            return Err(CliError::usage(format!("{repository} is archived")));
        }
        let head = seen.repository.default_head.ok_or_else(|| {
            CliError::usage(format!(
                "{repository} has no commit yet, so nothing can be proposed; run this in a clone, without --pull-request"
            ))
        })?;
        let mut tree = seen.tree;
        for (path, entry) in client.read_folders(&head, &[LAYERS_FOLDER]).await?.iter() {
            tree.insert(path, entry.clone());
        }
        read_sources(&client, &mut tree, &head).await?;
        let names = client.list_files(&head, WORKFLOWS_FOLDER).await?;
        let paths: BTreeSet<String> = names
            .into_iter()
            .filter(|name| name.ends_with(".yml") || name.ends_with(".yaml"))
            .take(WORKFLOWS_LIMIT)
            .map(|name| format!("{WORKFLOWS_FOLDER}/{name}"))
            .collect();
        let mut workflows: BTreeMap<String, String> = paths
            .iter()
            .map(|path| (path.clone(), String::new()))
            .collect();
        if !paths.is_empty() {
            workflows.extend(client.read_texts(&head, &paths).await?);
        }
        Ok(Self {
            files: RepositoryFiles {
                repository: seen.repository.name,
                default_branch: seen.repository.default_branch.to_string(),
                tree,
                workflows,
                untracked: BTreeSet::new(),
            },
            at: Backend::GitHub {
                client: Box::new(client),
                head,
            },
        })
    }

    /// Checks, before anything is written, that all new files can be written, and that a push takes nothing else to the
    /// default branch.
    pub(crate) fn check_parts(&self, parts: &[StarterFile]) -> Result<(), CliError> {
        let Backend::Folder(tree) = &self.at else {
            return Ok(());
        };
        if parts
            .iter()
            .any(|part| !matches!(part.change, FileChange::Leave(_)))
        {
            tree.check_branch(&self.files.default_branch)?;
        }
        for part in parts {
            let new = matches!(part.change, FileChange::Write(_));
            if new {
                tree.check_path(&part.path)?;
            }
            tree.check_file(&part.path, new)?;
        }
        Ok(())
    }

    /// Applies a change: writes and stages files, or opens a pull request and returns it.
    pub(crate) async fn apply_change(
        &self,
        change: &FileSetChange<'_>,
    ) -> Result<Option<Proposed>, CliError> {
        match &self.at {
            Backend::Folder(tree) => {
                let mut wanted = Vec::new();
                let (mut written, mut removed) = (Vec::new(), Vec::new());
                for (path, text) in &change.files {
                    // `init` writes only files that do not exist.
                    match text {
                        Some(text) => {
                            wanted.push((path.as_str(), FileWrite::New(text)));
                            written.push(path.as_str());
                        }
                        None => {
                            wanted.push((path.as_str(), FileWrite::Gone));
                            removed.push(path.as_str());
                        }
                    }
                }
                tree.change_files(&wanted)?;
                written.extend(change.staged.iter().map(String::as_str));
                tree.stage_paths(&written, &removed)?;
                Ok(None)
            }
            Backend::GitHub { client, head } => {
                let proposal = Proposal {
                    branch: change.branch,
                    base: &self.files.default_branch,
                    at: head,
                    title: change.title,
                    body: change.body,
                    files: &change.files,
                };
                client.open_proposal(&proposal).await.map(Some).map_err(|failure| {
                    let denied = matches!(
                        failure.disposition,
                        Disposition::Denied | Disposition::NotFound
                    );
                    let mut stopped = CliError::from(failure);
                    if denied {
                        stopped.exit = Exit::Credential;
                        stopped.message.push_str(
                            "; it must also be allowed to write workflows and pull requests (of a classic token: the scope `workflow`)",
                        );
                    }
                    stopped
                })
            }
        }
    }

    /// A client of the repository, if there is a credential.
    pub(crate) fn github_client(&self) -> Option<Result<Client, CliError>> {
        credentials::has_github_credential().then(|| clients::github_client(&self.files.repository))
    }

    /// Whether a file that `init` wrote is not committed yet.
    pub(crate) fn waits_for_a_commit(&self, parts: &[StarterFile]) -> Result<bool, CliError> {
        let Backend::Folder(tree) = &self.at else {
            return Ok(false);
        };
        let paths: Vec<&str> = parts.iter().map(|part| part.path.as_str()).collect();
        tree.is_staged(&paths)
    }

    /// The folders of `init` with something that the next commit would leave out.
    pub(crate) fn unstaged_folders(&self) -> Result<Vec<&'static str>, CliError> {
        let mut unstaged = Vec::new();
        if let Backend::Folder(tree) = &self.at {
            for folder in [&[WORKFLOW_PATH][..], &SET_UP].concat() {
                if tree.has_unstaged(folder)? {
                    unstaged.push(folder);
                }
            }
        }
        Ok(unstaged)
    }

    /// The repository of the remote `origin`, where the target is a work tree.
    pub(crate) fn origin_repository(&self) -> Result<Option<RepositoryName>, CliError> {
        match &self.at {
            Backend::Folder(tree) => tree.origin_repository(),
            Backend::GitHub { .. } => Ok(None),
        }
    }

    /// The folders and files of `init` for a commit that must not include the other staged files; empty where there are
    /// none. `parts`: what `init` writes.
    pub(crate) fn commit_paths(
        &self,
        parts: &[StarterFile],
    ) -> Result<Vec<&'static str>, CliError> {
        let Backend::Folder(tree) = &self.at else {
            return Ok(Vec::new());
        };
        let all = [&[WORKFLOW_PATH][..], &SET_UP].concat();
        if tree.count_other_staged(&all)? == 0 {
            return Ok(Vec::new());
        }
        let is_used = |folder: &&str| parts.iter().any(|part| part.path.starts_with(*folder));
        Ok(all.into_iter().filter(is_used).collect())
    }

    /// The branch that is checked out in place of the default one. `Some(None)`: no branch is.
    pub(crate) fn other_branch(&self) -> Result<Option<Option<String>>, CliError> {
        let Backend::Folder(tree) = &self.at else {
            return Ok(None);
        };
        let checked_out = tree.checked_out_branch()?;
        let is_default = checked_out.as_ref() == Some(&self.files.default_branch);
        Ok((!is_default).then_some(checked_out))
    }

    /// Whether a commit on the current branch can be pushed to the default branch without taking anything else there.
    pub(crate) fn can_be_pushed(&self) -> bool {
        match &self.at {
            Backend::Folder(tree) => tree.check_branch(&self.files.default_branch).is_ok(),
            Backend::GitHub { .. } => false,
        }
    }

    /// Whether the target is a work tree, and not a pull request.
    pub(crate) fn is_worktree(&self) -> bool {
        matches!(self.at, Backend::Folder(_))
    }
}

/// Reads the files that the prompts of a tree include, to check its plan like that of a folder.
async fn read_sources(client: &Client, tree: &mut Tree, head: &Oid) -> Result<(), CliError> {
    let (plan, _) = plan::read(tree);
    for _ in 0..SOURCES_ROUNDS {
        let (files, renderer) = (
            SourceFiles::of_default_branch(tree),
            renderer::shared_renderer(),
        );
        let personas = plan.personas.values();
        let unread: BTreeSet<String> = personas
            .flat_map(|persona| prompt::unread_sources(persona, &files, &*renderer))
            .collect();
        if unread.is_empty() {
            break;
        }
        read_prompt_sources(client, tree, head, &unread).await?;
    }
    Ok(())
}

/// Asks a person, once. The end of the input instead of an answer is a usage error.
pub(crate) fn confirm(question: &str, screen: &mut Screen<impl Write>) -> Result<bool, CliError> {
    screen.flush()?;
    if std::io::stdin().is_terminal() {
        output::print_error(&format!("{question} [y/N]"))?;
    }
    let mut answer = String::new();
    let asked_at = std::time::Instant::now();
    std::io::stdin().read_line(&mut answer)?;
    note_answer_time(asked_at.elapsed());
    if answer.is_empty() {
        return Err(CliError::usage(
            "nothing was changed: no person is there to answer; run it with --yes",
        ));
    }
    let answer = answer.trim().to_ascii_lowercase();
    Ok(matches!(answer.as_str(), "y" | "yes"))
}
