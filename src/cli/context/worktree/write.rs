//! Files of a work tree: looked at, changed and staged.

use super::WorkTree;
use crate::adapters::files::{self, Wanted};
use crate::cli::exit::Stopped;
use crate::cli::exit::paths::no_folder;

impl WorkTree {
    /// Sees that nothing would be written through a link.
    pub(crate) fn check(&self, path: &str) -> Result<(), Stopped> {
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

    /// Sees that no folder stands in a file's place, and where it is to be new, nothing at all.
    pub(crate) fn check_file(&self, path: &str, new: bool) -> Result<(), Stopped> {
        let whole = self.root.join(path);
        let Ok(meta) = whole.symlink_metadata() else {
            return Ok(());
        };
        if !meta.is_dir() && !new {
            return Ok(());
        }
        let what = if meta.is_dir() {
            "is a folder, and a file belongs there"
        } else {
            "is there, and cannot be read as a file"
        };
        Err(Stopped::usage(format!(
            "{} {what}; move it out of the way",
            whole.display()
        )))
    }

    /// Writes files, or removes them: all of it, or none.
    pub(crate) fn change(&self, wanted: &[(&str, Wanted<'_>)]) -> Result<(), Stopped> {
        for (path, _) in wanted {
            self.check(path)?;
        }
        Ok(files::change_together(&self.root, wanted)?)
    }

    /// Puts what was written or removed into the index, so that a commit takes it.
    pub(crate) fn stage(&self, written: &[&str], removed: &[&str]) -> Result<(), Stopped> {
        let add = ["add", "--"];
        let remove = ["rm", "--cached", "--quiet", "--ignore-unmatch", "--"];
        for (command, paths) in [(&add[..], written), (&remove[..], removed)] {
            if !paths.is_empty() && self.git(&[command, paths].concat())?.is_none() {
                return Err(Stopped::fault(format!(
                    "the files are as they should be, and git could not stage them; `git {} {}` says why",
                    command.join(" "),
                    paths.join(" ")
                )));
            }
        }
        Ok(())
    }
}
