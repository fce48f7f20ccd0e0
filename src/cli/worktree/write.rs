//! Files of a work tree: looked at, written, removed and staged.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use super::super::exit::Stopped;
use super::{WorkTree, no_folder, unusable};
use crate::adapters::files;

impl WorkTree {
    /// Sees that nothing would be written through a link.
    pub(in crate::cli) fn check(&self, path: &str) -> Result<(), Stopped> {
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
    pub(in crate::cli) fn check_file(&self, path: &str, new: bool) -> Result<(), Stopped> {
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

    /// Writes files that are not there, and their folders: all of them, or none.
    pub(in crate::cli) fn write(&self, files: &[(&str, &str)]) -> Result<(), Stopped> {
        let mut made = Made::default();
        for (path, text) in files {
            let Err((place, error)) = self.write_one(path, text, &mut made) else {
                continue;
            };
            let left = made.take_back();
            let what = if left.is_empty() {
                "nothing was written".to_owned()
            } else {
                format!(
                    "take away what could not be taken back: {}",
                    left.join(", ")
                )
            };
            let mut stopped = unusable(&place, &error);
            stopped.message.push_str(&format!("; {what}"));
            return Err(stopped);
        }
        Ok(())
    }

    fn write_one(
        &self,
        path: &str,
        text: &str,
        made: &mut Made,
    ) -> Result<(), (PathBuf, io::Error)> {
        let (folders, _) = path.rsplit_once('/').unwrap_or_default();
        let mut folder = self.root.clone();
        for part in folders.split('/').filter(|part| !part.is_empty()) {
            folder.push(part);
            match fs::create_dir(&folder) {
                Ok(()) => made.folders.push(folder.clone()),
                Err(_) if folder.is_dir() => {}
                Err(error) => return Err((folder, error)),
            }
        }
        let whole = self.root.join(path);
        let failed = |error| (whole.clone(), error);
        let mut options = fs::OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .open(&whole)
            .map_err(failed)?;
        made.files.push(whole.clone());
        file.write_all(text.as_bytes()).map_err(failed)
    }

    /// Writes a file that is there anew.
    pub(in crate::cli) fn replace(&self, path: &str, text: &str) -> Result<(), Stopped> {
        files::change(&self.root, path, Some(text))
            .map_err(|error| unusable(&error.path, &error.source))
    }

    /// Removes a file, and the folders that it leaves empty.
    pub(in crate::cli) fn remove(&self, path: &str) -> Result<(), Stopped> {
        let whole = self.root.join(path);
        fs::remove_file(&whole).map_err(|error| unusable(&whole, &error))?;
        for folder in whole.ancestors().skip(1) {
            // A folder that holds something else stays.
            if folder == self.root || fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Puts what was written or removed into the index, so that a commit takes it.
    pub(in crate::cli) fn stage(&self, written: &[&str], removed: &[&str]) -> Result<(), Stopped> {
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

/// What was made on the way, in that order.
#[derive(Default)]
struct Made {
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl Made {
    /// Takes it away again, and names what stays all the same.
    fn take_back(self) -> Vec<String> {
        let mut left = Vec::new();
        for file in &self.files {
            if fs::remove_file(file).is_err() {
                left.push(file.display().to_string());
            }
        }
        for folder in self.folders.iter().rev() {
            // What somebody else has put there meanwhile keeps its folder.
            let _filled = fs::remove_dir(folder);
        }
        left
    }
}
