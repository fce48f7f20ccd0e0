//! Where commands work: in the folder of a repository; `init` and `deinit` in a work tree, or on GitHub by a pull request.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal as _, Write};

use phileas_domain::model::{Oid, Tree};
use phileas_domain::plan;
use phileas_domain::prompt::{self, SourceFiles};

use super::repository_root::LAYERS_FOLDER;
use super::worktree::WorkTree;
use super::{clients, credentials};
use crate::adapters::files::Wanted;
use crate::adapters::github::{Client, Proposal, Proposed};
use crate::adapters::renderer;
use crate::cli::arguments::Where;
use crate::cli::deadline::note_answer_time;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::{self, Screen};
use crate::runtime::ports::{Disposition, ReadGitHub as _};
use crate::runtime::sources;
use crate::starter::{Fate, Found, Part, WORKFLOWS_FOLDER};

/// No more workflows than this are read from GitHub.
const WORKFLOWS_LIMIT: usize = 100;

/// How often files are read that were found to name others.
const SOURCES_ROUNDS: usize = 20;

/// A repository, and how to change it.
pub(crate) struct Place {
    pub(crate) found: Found,
    at: At,
}

enum At {
    Folder(WorkTree),
    GitHub { client: Box<Client>, head: Oid },
}

/// A change of files, and how it is called.
pub(crate) struct Change<'a> {
    pub(crate) branch: &'a str,
    pub(crate) title: &'a str,
    pub(crate) body: &'a str,
    /// `None` removes a file.
    pub(crate) files: BTreeMap<String, Option<String>>,
    /// What is there as it should be, and is only staged.
    pub(crate) staged: Vec<String>,
}

impl Place {
    /// Looks at the place that the command line names.
    pub(crate) async fn open(place: &Where) -> Result<Self, Stopped> {
        if place.pull_request {
            return Self::on_github(place).await;
        }
        let tree = WorkTree::open(&place.dir)?;
        let repository = match &place.repo {
            Some(repository) => repository.clone(),
            None => tree.origin()?.ok_or_else(|| {
                Stopped::usage(
                    "no remote `origin` tells the repository's name; name it with --repo OWNER/NAME",
                )
            })?,
        };
        let branch = match &place.default_branch {
            Some(branch) => branch.clone(),
            None => tree.default_branch()?.ok_or_else(|| {
                Stopped::usage(
                    "no branch is checked out; name the default branch with --default-branch",
                )
            })?,
        };
        Ok(Self {
            found: tree.found(repository, branch)?,
            at: At::Folder(tree),
        })
    }

    async fn on_github(place: &Where) -> Result<Self, Stopped> {
        let repository = match &place.repo {
            Some(repository) => repository.clone(),
            None => WorkTree::open(&place.dir)
                .and_then(|tree| tree.origin())?
                .ok_or_else(|| Stopped::usage("name the repository with --repo OWNER/NAME"))?,
        };
        let client = clients::github(&repository)?;
        let seen = client.observe().await?;
        if seen.repository.archived {
            return Err(Stopped::usage(format!("{repository} is archived")));
        }
        let head = seen.repository.default_head.ok_or_else(|| {
            Stopped::usage(format!(
                "{repository} has no commit yet, so nothing can be proposed; run this in a clone, without --pull-request"
            ))
        })?;
        let mut tree = seen.tree;
        for (path, entry) in client.read_folders(&head, &[LAYERS_FOLDER]).await?.iter() {
            tree.insert(path, entry.clone());
        }
        read_sources(&client, &mut tree, &head).await?;
        let names = client.folder(&head, WORKFLOWS_FOLDER).await?;
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
            found: Found {
                repository: seen.repository.name,
                default_branch: seen.repository.default_branch.to_string(),
                tree,
                workflows,
                untracked: BTreeSet::new(),
            },
            at: At::GitHub {
                client: Box::new(client),
                head,
            },
        })
    }

    /// Sees, before anything is written, that the files of a beginning can come to where they belong, and with them
    /// nothing else to the default branch.
    pub(crate) fn check(&self, parts: &[Part]) -> Result<(), Stopped> {
        let At::Folder(tree) = &self.at else {
            return Ok(());
        };
        if parts
            .iter()
            .any(|part| !matches!(part.fate, Fate::Leave(_)))
        {
            tree.check_branch(&self.found.default_branch)?;
        }
        for part in parts {
            let new = matches!(part.fate, Fate::Write(_));
            if new {
                tree.check(&part.path)?;
            }
            tree.check_file(&part.path, new)?;
        }
        Ok(())
    }

    /// Carries a change out: writes and stages files, or opens a pull request, which is the answer.
    pub(crate) async fn apply(&self, change: &Change<'_>) -> Result<Option<Proposed>, Stopped> {
        match &self.at {
            At::Folder(tree) => {
                let mut wanted = Vec::new();
                let (mut written, mut removed) = (Vec::new(), Vec::new());
                for (path, text) in &change.files {
                    // A beginning writes what is not there.
                    match text {
                        Some(text) => {
                            wanted.push((path.as_str(), Wanted::New(text)));
                            written.push(path.as_str());
                        }
                        None => {
                            wanted.push((path.as_str(), Wanted::Gone));
                            removed.push(path.as_str());
                        }
                    }
                }
                tree.change(&wanted)?;
                written.extend(change.staged.iter().map(String::as_str));
                tree.stage(&written, &removed)?;
                Ok(None)
            }
            At::GitHub { client, head } => {
                let proposal = Proposal {
                    branch: change.branch,
                    base: &self.found.default_branch,
                    at: head,
                    title: change.title,
                    body: change.body,
                    files: &change.files,
                };
                client.propose(&proposal).await.map(Some).map_err(|failure| {
                    let denied = matches!(
                        failure.disposition,
                        Disposition::Denied | Disposition::NotFound
                    );
                    let mut stopped = Stopped::from(failure);
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

    /// A client of the repository, where there is a credential.
    pub(crate) fn github(&self) -> Option<Result<Client, Stopped>> {
        credentials::has_github_credential().then(|| clients::github(&self.found.repository))
    }

    /// Whether a file of a beginning waits in the work tree for a commit.
    pub(crate) fn waits_for_a_commit(&self, parts: &[Part]) -> Result<bool, Stopped> {
        let At::Folder(tree) = &self.at else {
            return Ok(false);
        };
        let paths: Vec<&str> = parts.iter().map(|part| part.path.as_str()).collect();
        tree.is_staged(&paths)
    }

    /// Whether a commit of what is checked out can be pushed to the default branch and takes nothing else there.
    pub(crate) fn can_be_pushed(&self) -> bool {
        match &self.at {
            At::Folder(tree) => tree.check_branch(&self.found.default_branch).is_ok(),
            At::GitHub { .. } => false,
        }
    }

    /// Whether files of a work tree are changed, and not a pull request opened.
    pub(crate) fn is_folder(&self) -> bool {
        matches!(self.at, At::Folder(_))
    }
}

/// Reads the files that the prompts of a tree are made from, so that its plan can be checked as that of a folder is.
async fn read_sources(client: &Client, tree: &mut Tree, head: &Oid) -> Result<(), Stopped> {
    let (plan, _) = plan::read(tree);
    for _ in 0..SOURCES_ROUNDS {
        let (files, renderer) = (SourceFiles::of_default_branch(tree), renderer::shared());
        let personas = plan.personas.values();
        let unread: BTreeSet<String> = personas
            .flat_map(|persona| prompt::unread_sources(persona, &files, &*renderer))
            .collect();
        if unread.is_empty() {
            break;
        }
        sources(client, tree, head, &unread).await?;
    }
    Ok(())
}

/// Asks a person, once. An end of the input instead of an answer is a mistake of whoever started this.
pub(crate) fn agreed(question: &str, screen: &mut Screen<impl Write>) -> Result<bool, Stopped> {
    screen.flush()?;
    if std::io::stdin().is_terminal() {
        output::beside(&format!("{question} [y/N]"))?;
    }
    let mut answer = String::new();
    let asked_at = std::time::Instant::now();
    std::io::stdin().read_line(&mut answer)?;
    note_answer_time(asked_at.elapsed());
    if answer.is_empty() {
        return Err(Stopped::usage(
            "nothing was changed: nobody is there to answer; run it with --yes, or with --dry-run to look",
        ));
    }
    let answer = answer.trim().to_ascii_lowercase();
    Ok(matches!(answer.as_str(), "y" | "yes"))
}
