//! A git work tree on this machine: its repository, its branches and its files.

mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use phileas_domain::model::RepositoryName;

use super::remote;
use super::subprocess::{failure_words, other_program};
use crate::adapters::files;
use crate::cli::exit::CliError;
use crate::cli::exit::paths::{not_a_folder, path_error};
use crate::cli::terminal::plural::pluralize;
use crate::starter::{RepositoryFiles, WORKFLOWS_FOLDER};

/// The largest workflow that is read, in bytes. GitHub accepts no larger one.
const WORKFLOW_LIMIT_BYTES: u64 = 512 * 1024;
/// The most workflows that are read.
const WORKFLOWS_LIMIT: usize = 200;

/// How git says that a folder is in no work tree.
const NO_WORK_TREE: [&str; 2] = ["not a git repository", "must be run in a work tree"];

/// The names that default branches usually have.
const DEFAULT_BRANCHES: [&str; 2] = ["main", "master"];

/// A work tree.
#[derive(Debug)]
pub(crate) struct WorkTree {
    root: PathBuf,
}

impl WorkTree {
    /// Opens the work tree that contains a folder.
    pub(crate) fn open_worktree(dir: &Path) -> Result<Self, CliError> {
        Self::find_worktree(dir)?.ok_or_else(|| {
            CliError::usage(format!(
                "{} is not a git work tree; go into a clone of your repository, or let a pull request be opened: --repo OWNER/NAME --pull-request",
                dir.display()
            ))
        })
    }

    /// The work tree that contains a folder, if there is one. A refusal of git, such as a folder of another user, is an
    /// error in git's own words.
    fn find_worktree(dir: &Path) -> Result<Option<Self>, CliError> {
        if !dir.is_dir() {
            return Ok(None);
        }
        match run_git(dir, &["rev-parse", "--show-toplevel"])? {
            Ok(root) if root.is_empty() => Ok(None),
            Ok(root) => Ok(Some(Self { root: root.into() })),
            Err(words) if NO_WORK_TREE.iter().any(|known| words.contains(known)) => Ok(None),
            Err(words) => Err(CliError::usage(format!(
                "git refuses the folder {}: {words}",
                dir.display()
            ))),
        }
    }

    /// The repository of the remote `origin`. An `origin` at a host that is not GitHub's is an error.
    pub(crate) fn origin_repository(&self) -> Result<Option<RepositoryName>, CliError> {
        match self.git(&["remote", "get-url", "origin"])? {
            Some(address) => remote::repository_of(&address),
            None => Ok(None),
        }
    }

    /// The repository of `origin`, for a command that was given no other name.
    pub(crate) fn require_origin(&self) -> Result<RepositoryName, CliError> {
        let Some(address) = self.git(&["remote", "get-url", "origin"])? else {
            return Err(CliError::usage(
                "no remote `origin` tells the repository's name; name it with --repo OWNER/NAME",
            ));
        };
        remote::repository_of(&address)?.ok_or_else(|| {
            CliError::usage(format!(
                "the address of `origin` ({}) names no OWNER/NAME; name the repository with --repo OWNER/NAME",
                remote::public_address(&address)
            ))
        })
    }

    /// The repository that a folder was cloned from. `None`: no work tree, or no `origin` that names a repository.
    pub(crate) fn cloned_repository(dir: &Path) -> Result<Option<RepositoryName>, CliError> {
        if !has_git() {
            return Ok(None);
        }
        let tree = Self::find_worktree(dir)?;
        tree.map_or(Ok(None), |tree| tree.origin_repository())
    }

    /// The default branch: as `origin` last reported it; else the branch that is checked out, unless there are others
    /// and another one has a default branch's name. `None`: it cannot be known from here.
    pub(crate) fn default_branch(&self) -> Result<Option<String>, CliError> {
        let head = ["symbolic-ref", "--quiet", "--short"];
        let remote = self.git(&[&head[..], &["refs/remotes/origin/HEAD"]].concat())?;
        if let Some(name) = remote.and_then(|name| name.strip_prefix("origin/").map(str::to_owned))
        {
            return Ok(Some(name));
        }
        Ok(likely_default(
            self.checked_out_branch()?,
            &self.branches()?,
        ))
    }

    /// The branches here and of `origin`.
    fn branches(&self) -> Result<BTreeSet<String>, CliError> {
        let list = [
            "for-each-ref",
            "--format=%(refname)",
            "refs/heads",
            "refs/remotes/origin",
        ];
        let names = self.git(&list)?.unwrap_or_default();
        let short = |name: &str| {
            let local = name.strip_prefix("refs/heads/");
            local
                .or_else(|| name.strip_prefix("refs/remotes/origin/"))
                .map(str::to_owned)
        };
        Ok(names.lines().filter_map(short).collect())
    }

    /// The files that `init` checks.
    pub(crate) fn found_files(
        &self,
        repository: RepositoryName,
        default_branch: String,
    ) -> Result<RepositoryFiles, CliError> {
        let tree = files::read_tree(&self.root)?;
        Ok(RepositoryFiles {
            repository,
            default_branch,
            tree,
            workflows: self.read_workflows()?,
            untracked: self.untracked_files()?,
        })
    }

    fn read_workflows(&self) -> Result<BTreeMap<String, String>, CliError> {
        let folder = self.root.join(WORKFLOWS_FOLDER);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(not_a_folder(&folder));
            }
            Err(error) => return Err(path_error(&folder, &error)),
        };
        let mut found = BTreeMap::new();
        for entry in entries.take(WORKFLOWS_LIMIT) {
            let path = entry.map_err(|error| path_error(&folder, &error))?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
                continue;
            };
            if !name.ends_with(".yml") && !name.ends_with(".yaml") {
                continue;
            }
            // Something that is not a text file exists all the same.
            let small = fs::metadata(&path).is_ok_and(|meta| meta.len() <= WORKFLOW_LIMIT_BYTES);
            let text = small.then(|| fs::read_to_string(&path).ok()).flatten();
            found.insert(
                format!("{WORKFLOWS_FOLDER}/{name}"),
                text.unwrap_or_default(),
            );
        }
        Ok(found)
    }

    /// Checks that a push of the current branch to another one takes nothing but the coming commit there. If the branch
    /// itself is checked out, its own commits are meant for it.
    pub(crate) fn check_branch(&self, branch: &str) -> Result<(), CliError> {
        let checked_out = self.checked_out_branch()?;
        if checked_out.as_deref() == Some(branch) {
            return Ok(());
        }
        let ahead = self.commits_beside(branch)?;
        if ahead == 0 {
            return Ok(());
        }
        let place = match checked_out {
            Some(name) => format!("`{name}` is checked out, which has"),
            None => "no branch is checked out, and what is has".to_owned(),
        };
        let put = if ahead == 1 { "it" } else { "them" };
        Err(CliError::usage(format!(
            "{place} {} that {branch} does not have, and the push to {branch} would put {put} there; `git switch {branch}` \
             first, let a pull request be opened (--pull-request), or name another default branch with --default-branch",
            pluralize(ahead, "commit")
        )))
    }

    /// Counts the commits of the current branch that another branch lacks: as `origin` last reported it, else as it is
    /// here. A push creates a branch that does not exist yet, so nothing unexpected can reach it.
    fn commits_beside(&self, branch: &str) -> Result<usize, CliError> {
        for place in ["refs/remotes/origin", "refs/heads"] {
            let range = format!("{place}/{branch}..HEAD");
            let count = self.git(&["rev-list", "--count", &range, "--"])?;
            if let Some(count) = count.and_then(|count| count.parse().ok()) {
                return Ok(count);
            }
        }
        Ok(0)
    }

    /// Untracked files in the folders of `init` that git does not ignore.
    fn untracked_files(&self) -> Result<BTreeSet<String>, CliError> {
        let list = ["ls-files", "-z", "--others", "--exclude-standard", "--"];
        let said = self.git(&[&list[..], &[WORKFLOWS_FOLDER, ".jules", ".jlo"]].concat())?;
        let said = said.unwrap_or_default();
        let paths = said.split('\0').filter(|path| !path.is_empty());
        Ok(paths.map(str::to_owned).collect())
    }

    /// Whether the next commit would leave out something in a folder: an untracked file, or a change that is not staged.
    pub(crate) fn has_unstaged(&self, folder: &str) -> Result<bool, CliError> {
        let list = [
            "ls-files",
            "--others",
            "--modified",
            "--exclude-standard",
            "--",
        ];
        let paths = self.git(&[&list[..], &[folder]].concat())?;
        Ok(paths.is_some_and(|paths| !paths.is_empty()))
    }

    /// Whether the next commit would include one of these files.
    pub(crate) fn is_staged(&self, paths: &[&str]) -> Result<bool, CliError> {
        let list = ["diff", "--cached", "--name-only", "--"];
        let staged = self.git(&[&list[..], paths].concat())?;
        Ok(staged.is_some_and(|names| !names.is_empty()))
    }

    /// Counts the staged files outside of these paths. A plain commit would include them.
    pub(crate) fn count_other_staged(&self, paths: &[&str]) -> Result<usize, CliError> {
        let excluded: Vec<String> = paths
            .iter()
            .map(|path| format!(":(top,exclude){path}"))
            .collect();
        let mut list = vec!["diff", "--cached", "--name-only", "-z", "--", ":/"];
        list.extend(excluded.iter().map(String::as_str));
        let staged = self.git(&list)?.unwrap_or_default();
        Ok(staged.split_terminator('\0').count())
    }

    /// The branch that is checked out; `None` where none is.
    pub(crate) fn checked_out_branch(&self) -> Result<Option<String>, CliError> {
        self.git(&["symbolic-ref", "--quiet", "--short", "HEAD"])
    }

    fn git(&self, arguments: &[&str]) -> Result<Option<String>, CliError> {
        git(&self.root, arguments)
    }
}

/// The default branch of a repository with these branches, where it can be guessed.
fn likely_default(checked_out: Option<String>, branches: &BTreeSet<String>) -> Option<String> {
    let is_usual = |name: &&str| DEFAULT_BRANCHES.contains(name);
    let usual: Vec<&str> = branches
        .iter()
        .map(String::as_str)
        .filter(is_usual)
        .collect();
    match (checked_out, usual.as_slice()) {
        (Some(name), _) if DEFAULT_BRANCHES.contains(&name.as_str()) => Some(name),
        (_, [only]) => Some((*only).to_owned()),
        (Some(name), []) if branches.iter().all(|other| *other == name) => Some(name),
        _ => None,
    }
}

/// The relative path from a folder up to the root of its work tree; `None` at the root, and without a work tree or git.
pub(crate) fn path_to_root(dir: &Path) -> Option<PathBuf> {
    let up = git(dir, &["rev-parse", "--show-cdup"]).ok().flatten()?;
    let up = up.trim_end_matches('/');
    (!up.is_empty()).then(|| up.into())
}

/// The output of git without its last line break; `None` if it fails.
fn git(dir: &Path, arguments: &[&str]) -> Result<Option<String>, CliError> {
    Ok(run_git(dir, arguments)?.ok())
}

/// The output of git without its last line break, or git's words about its failure.
fn run_git(dir: &Path, arguments: &[&str]) -> Result<Result<String, String>, CliError> {
    let output = other_program("git")
        .arg("-C")
        .arg(dir)
        .args(arguments)
        // `NO_WORK_TREE` has git's English words.
        .env("LC_ALL", "C")
        .output()
        .map_err(|error| CliError::usage(format!("git cannot be run: {error}; install it")))?;
    if !output.status.success() {
        return Ok(Err(failure_words(&output)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(Ok(text.trim_end_matches(['\r', '\n']).to_owned()))
}

/// Whether git is on this machine.
fn has_git() -> bool {
    other_program("git").arg("--version").output().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_branch_than_the_default_one_is_not_taken_for_it() {
        let of = |checked_out: &str, branches: &[&str]| {
            let branches = branches.iter().map(|name| (*name).to_owned()).collect();
            let checked_out = Some(checked_out.to_owned()).filter(|name| !name.is_empty());
            likely_default(checked_out, &branches)
        };
        for (checked_out, branches, expected) in [
            ("main", &["main", "feat", "master"][..], Some("main")),
            ("feat", &["feat", "main"], Some("main")),
            ("feat", &["feat", "master"], Some("master")),
            ("trunk", &["trunk"], Some("trunk")),
            // Nothing is committed yet.
            ("trunk", &[], Some("trunk")),
            ("feat", &["feat", "trunk"], None),
            ("feat", &["feat", "main", "master"], None),
            ("", &["main", "feat"], Some("main")),
            ("", &["feat"], None),
        ] {
            assert_eq!(
                of(checked_out, branches).as_deref(),
                expected,
                "{branches:?}"
            );
        }
    }
}
