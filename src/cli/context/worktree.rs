//! A git work tree on this machine: what it says of its repository, and files in it.

mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use phileas_domain::model::RepositoryName;

use super::remote;
use super::subprocess::other_program;
use crate::adapters::files;
use crate::cli::exit::Stopped;
use crate::cli::exit::paths::{no_folder, unusable};
use crate::cli::terminal::plural::several;
use crate::starter::{Found, WORKFLOWS_FOLDER};

/// No workflow larger than this is read, in bytes; GitHub takes none that is.
const WORKFLOW_LIMIT_BYTES: u64 = 512 * 1024;
/// No more workflows than this are read.
const WORKFLOWS_LIMIT: usize = 200;

/// A work tree.
#[derive(Debug)]
pub(crate) struct WorkTree {
    root: PathBuf,
}

impl WorkTree {
    /// The work tree that a folder belongs to.
    pub(crate) fn open(dir: &Path) -> Result<Self, Stopped> {
        let inside = git(dir, &["rev-parse", "--show-toplevel"])?;
        let root = inside.filter(|root| !root.is_empty()).ok_or_else(|| {
            Stopped::usage(format!(
                "{} is no git work tree; go into one, make one (git init), or let a pull request be opened: --repo OWNER/NAME --pull-request",
                dir.display()
            ))
        })?;
        Ok(Self { root: root.into() })
    }

    /// The repository that `origin` leads to. An `origin` that leads to no host of GitHub is a mistake.
    pub(crate) fn origin(&self) -> Result<Option<RepositoryName>, Stopped> {
        match self.git(&["remote", "get-url", "origin"])? {
            Some(address) => remote::repository_of(&address),
            None => Ok(None),
        }
    }

    /// The default branch: as `origin` last told it, else the one that is checked out.
    pub(crate) fn default_branch(&self) -> Result<Option<String>, Stopped> {
        let head = ["symbolic-ref", "--quiet", "--short"];
        let remote = self.git(&[&head[..], &["refs/remotes/origin/HEAD"]].concat())?;
        let remote = remote.and_then(|name| name.strip_prefix("origin/").map(str::to_owned));
        match remote {
            Some(name) => Ok(Some(name)),
            None => self.git(&[&head[..], &["HEAD"]].concat()),
        }
    }

    /// The files that matter for a beginning.
    pub(crate) fn found(
        &self,
        repository: RepositoryName,
        default_branch: String,
    ) -> Result<Found, Stopped> {
        let tree = files::read_tree(&self.root)?;
        Ok(Found {
            repository,
            default_branch,
            tree,
            workflows: self.workflows()?,
            untracked: self.untracked()?,
        })
    }

    fn workflows(&self) -> Result<BTreeMap<String, String>, Stopped> {
        let folder = self.root.join(WORKFLOWS_FOLDER);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(no_folder(&folder));
            }
            Err(error) => return Err(unusable(&folder, &error)),
        };
        let mut found = BTreeMap::new();
        for entry in entries.take(WORKFLOWS_LIMIT) {
            let path = entry.map_err(|error| unusable(&folder, &error))?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
                continue;
            };
            if !name.ends_with(".yml") && !name.ends_with(".yaml") {
                continue;
            }
            // What is no file, or no text, is there all the same.
            let small = fs::metadata(&path).is_ok_and(|meta| meta.len() <= WORKFLOW_LIMIT_BYTES);
            let text = small.then(|| fs::read_to_string(&path).ok()).flatten();
            found.insert(
                format!("{WORKFLOWS_FOLDER}/{name}"),
                text.unwrap_or_default(),
            );
        }
        Ok(found)
    }

    /// Sees that a push of what is checked out to a branch takes nothing there but what is yet to be committed. The
    /// branch itself may be checked out with commits of its own: they are meant for it.
    pub(crate) fn check_branch(&self, branch: &str) -> Result<(), Stopped> {
        let checked_out = self.git(&["symbolic-ref", "--quiet", "--short", "HEAD"])?;
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
        Err(Stopped::usage(format!(
            "{place} {} that {branch} does not have, and the push to {branch} would put {put} there; `git switch {branch}` \
             first, let a pull request be opened (--pull-request), or name another default branch with --default-branch",
            several(ahead, "commit")
        )))
    }

    /// How many commits of what is checked out a branch does not have: as `origin` last told it, else as it is here. A
    /// branch that is nowhere yet comes to be by the push, so that nothing can come to it unasked.
    fn commits_beside(&self, branch: &str) -> Result<usize, Stopped> {
        for place in ["refs/remotes/origin", "refs/heads"] {
            let range = format!("{place}/{branch}..HEAD");
            let count = self.git(&["rev-list", "--count", &range, "--"])?;
            if let Some(count) = count.and_then(|count| count.parse().ok()) {
                return Ok(count);
            }
        }
        Ok(0)
    }

    /// The files of a beginning's folders that git does not know and is not told to ignore.
    fn untracked(&self) -> Result<BTreeSet<String>, Stopped> {
        let list = ["ls-files", "-z", "--others", "--exclude-standard", "--"];
        let said = self.git(&[&list[..], &[WORKFLOWS_FOLDER, ".jules", ".jlo"]].concat())?;
        let said = said.unwrap_or_default();
        let paths = said.split('\0').filter(|path| !path.is_empty());
        Ok(paths.map(str::to_owned).collect())
    }

    /// Whether the next commit would take one of these files.
    pub(crate) fn is_staged(&self, paths: &[&str]) -> Result<bool, Stopped> {
        let list = ["diff", "--cached", "--name-only", "--"];
        let staged = self.git(&[&list[..], paths].concat())?;
        Ok(staged.is_some_and(|names| !names.is_empty()))
    }

    fn git(&self, arguments: &[&str]) -> Result<Option<String>, Stopped> {
        git(&self.root, arguments)
    }
}

/// The relative path from a folder up to the root of its work tree; `None` at the root, and where there is no work tree
/// or no git.
pub(crate) fn way_up(dir: &Path) -> Option<PathBuf> {
    let up = git(dir, &["rev-parse", "--show-cdup"]).ok().flatten()?;
    let up = up.trim_end_matches('/');
    (!up.is_empty()).then(|| up.into())
}

/// What git answers, without its last line break; `None` when it says no.
fn git(dir: &Path, arguments: &[&str]) -> Result<Option<String>, Stopped> {
    let output = other_program("git")
        .arg("-C")
        .arg(dir)
        .args(arguments)
        .output()
        .map_err(|error| Stopped::usage(format!("git cannot be run: {error}; install it")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(output
        .status
        .success()
        .then(|| text.trim_end_matches(['\r', '\n']).to_owned()))
}
