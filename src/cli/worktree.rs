//! A git work tree on this machine: what it says of its repository, and files in it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use phileas_domain::model::RepositoryName;

use super::exit::Stopped;
use super::other_program::other_program;
use crate::adapters::files;
use crate::starter::{Found, WORKFLOWS_FOLDER};

/// No workflow larger than this is read, in bytes; GitHub takes none that is.
const WORKFLOW_LIMIT_BYTES: u64 = 512 * 1024;
/// No more workflows than this are read.
const WORKFLOWS_LIMIT: usize = 200;

/// A work tree.
#[derive(Debug)]
pub(super) struct WorkTree {
    root: PathBuf,
}

impl WorkTree {
    /// The work tree that a folder belongs to.
    pub(super) fn open(dir: &Path) -> Result<Self, Stopped> {
        let inside = git(dir, &["rev-parse", "--show-toplevel"])?;
        let root = inside.filter(|root| !root.is_empty()).ok_or_else(|| {
            Stopped::usage(format!(
                "{} is no git work tree; go into one, make one (git init), or let a pull request be opened: --repo OWNER/NAME --pull-request",
                dir.display()
            ))
        })?;
        Ok(Self { root: root.into() })
    }

    /// The repository that `origin` leads to.
    pub(super) fn origin(&self) -> Result<Option<RepositoryName>, Stopped> {
        let address = self.git(&["remote", "get-url", "origin"])?;
        Ok(address.and_then(|address| name_in(&address)))
    }

    /// The default branch: as `origin` last told it, else the one that is checked out.
    pub(super) fn default_branch(&self) -> Result<Option<String>, Stopped> {
        let head = ["symbolic-ref", "--quiet", "--short"];
        let remote = self.git(&[&head[..], &["refs/remotes/origin/HEAD"]].concat())?;
        let remote = remote.and_then(|name| name.strip_prefix("origin/").map(str::to_owned));
        match remote {
            Some(name) => Ok(Some(name)),
            None => self.git(&[&head[..], &["HEAD"]].concat()),
        }
    }

    /// The files that matter for a beginning.
    pub(super) fn found(
        &self,
        repository: RepositoryName,
        default_branch: String,
    ) -> Result<Found, Stopped> {
        let tree =
            files::read_tree(&self.root).map_err(|error| Stopped::usage(error.to_string()))?;
        Ok(Found {
            repository,
            default_branch,
            tree,
            workflows: self.workflows()?,
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
            Err(error) => return Err(unreadable(&folder, &error)),
        };
        let mut found = BTreeMap::new();
        for entry in entries.take(WORKFLOWS_LIMIT) {
            let path = entry.map_err(|error| unreadable(&folder, &error))?.path();
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

    /// Sees that nothing would be written through a link.
    pub(super) fn check(&self, path: &str) -> Result<(), Stopped> {
        let mut folder = self.root.clone();
        let (folders, _) = path.rsplit_once('/').unwrap_or_default();
        for part in folders.split('/').filter(|part| !part.is_empty()) {
            folder.push(part);
            if folder.is_symlink() {
                return Err(Stopped::usage(format!(
                    "{} is a symbolic link, and nothing is written through links; put a folder there",
                    folder.display()
                )));
            }
            if folder.exists() && !folder.is_dir() {
                return Err(no_folder(&folder));
            }
        }
        Ok(())
    }

    /// Writes a file that is not there, and its folders.
    pub(super) fn write(&self, path: &str, text: &str) -> Result<(), Stopped> {
        let whole = self.root.join(path);
        let failed = |error: io::Error| Stopped::usage(format!("{}: {error}", whole.display()));
        let folder = whole.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder).map_err(failed)?;
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&whole)
            .map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)
    }

    /// Writes a file that is there anew.
    pub(super) fn replace(&self, path: &str, text: &str) -> Result<(), Stopped> {
        files::change(&self.root, path, Some(text))
            .map_err(|error| Stopped::usage(error.to_string()))
    }

    /// Removes a file, and the folders that it leaves empty.
    pub(super) fn remove(&self, path: &str) -> Result<(), Stopped> {
        let whole = self.root.join(path);
        fs::remove_file(&whole)
            .map_err(|error| Stopped::usage(format!("{}: {error}", whole.display())))?;
        for folder in whole.ancestors().skip(1) {
            // A folder that holds something else stays.
            if folder == self.root || fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Puts what was written or removed into the index, so that a commit takes it.
    pub(super) fn stage(&self, written: &[&str], removed: &[&str]) -> Result<(), Stopped> {
        let add = ["add", "--"];
        let remove = ["rm", "--cached", "--quiet", "--ignore-unmatch", "--"];
        for (command, paths) in [(&add[..], written), (&remove[..], removed)] {
            if !paths.is_empty() && self.git(&[command, paths].concat())?.is_none() {
                return Err(Stopped::fault(format!(
                    "the files are as they should be, and git could not stage them: git {} {}",
                    command.join(" "),
                    paths.join(" ")
                )));
            }
        }
        Ok(())
    }

    fn git(&self, arguments: &[&str]) -> Result<Option<String>, Stopped> {
        git(&self.root, arguments)
    }
}

/// The relative path from a folder up to the root of its work tree; `None` at the root, and where there is no work tree
/// or no git.
pub(super) fn way_up(dir: &Path) -> Option<PathBuf> {
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

/// The repository in a remote's address: `https://github.com/owner/name.git`, `git@github.com:owner/name`.
fn name_in(address: &str) -> Option<RepositoryName> {
    let path = match address.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?.1,
        None => address.split_once(':')?.1,
    };
    let path = path.trim_matches('/');
    path.strip_suffix(".git").unwrap_or(path).parse().ok()
}

/// A file stands where a folder is needed.
fn no_folder(path: &Path) -> Stopped {
    let mut above = path.ancestors();
    let file = above.find(|path| path.is_file()).unwrap_or(path);
    Stopped::usage(format!(
        "{} is no folder; move what is there out of the way",
        file.display()
    ))
}

fn unreadable(path: &Path, error: &io::Error) -> Stopped {
    Stopped::usage(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::name_in;

    #[test]
    fn remotes_name_their_repository() {
        for address in [
            "https://github.com/acme/widget",
            "https://github.com/acme/widget.git",
            "https://x@github.com/acme/widget.git/",
            "git@github.com:acme/widget.git",
            "git@work:acme/widget",
            "ssh://git@github.com:22/acme/widget.git",
        ] {
            let name = name_in(address).map(|name| name.to_string());
            assert_eq!(name.as_deref(), Some("acme/widget"), "{address}");
        }
        for address in [
            "/srv/git/widget.git",
            "../widget",
            "https://example.com/a/b/c",
            "",
        ] {
            assert_eq!(name_in(address), None, "{address}");
        }
    }
}
