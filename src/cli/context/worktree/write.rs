//! Checks, writes and stages files of a work tree.

use super::{WorkTree, run_git};
use crate::adapters::files::{self, FileWrite};
use crate::cli::exit::CliError;
use crate::cli::exit::paths::not_a_folder;

impl WorkTree {
    /// Checks that the path does not lead through a link.
    pub(crate) fn check_path(&self, path: &str) -> Result<(), CliError> {
        let mut folder = self.root.clone();
        let (folders, _) = path.rsplit_once('/').unwrap_or_default();
        for part in folders.split('/').filter(|part| !part.is_empty()) {
            folder.push(part);
            if folder.is_symlink() {
                return Err(CliError::usage(format!(
                    "{} is a symbolic link, and nothing is written through links; put a folder there",
                    folder.display()
                )));
            }
            if folder.exists() && !folder.is_dir() {
                return Err(not_a_folder(&folder));
            }
        }
        Ok(())
    }

    /// Checks that the path is not a folder, and for a new file, that nothing is there.
    pub(crate) fn check_file(&self, path: &str, new: bool) -> Result<(), CliError> {
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
        Err(CliError::usage(format!(
            "{} {what}; move it out of the way",
            whole.display()
        )))
    }

    /// Writes or removes files: all or none.
    pub(crate) fn change_files(&self, wanted: &[(&str, FileWrite<'_>)]) -> Result<(), CliError> {
        for (path, _) in wanted {
            self.check_path(path)?;
        }
        Ok(files::change_files(&self.root, wanted)?)
    }

    /// Stages written and removed files for the next commit.
    pub(crate) fn stage_paths(&self, written: &[&str], removed: &[&str]) -> Result<(), CliError> {
        let add = ["add", "--"];
        let remove = ["rm", "--cached", "--quiet", "--ignore-unmatch", "--"];
        for (command, paths) in [(&add[..], written), (&remove[..], removed)] {
            if paths.is_empty() {
                continue;
            }
            if let Err(words) = run_git(&self.root, &[command, paths].concat())? {
                return Err(unstaged_error(&words, command, paths));
            }
        }
        Ok(())
    }
}

/// `words`: what git says. Where it ignores a path, the same command would fail again.
fn unstaged_error(words: &str, command: &[&str], paths: &[&str]) -> CliError {
    let paths = paths.join(" ");
    let said = words.split(" hint: ").next().unwrap_or(words);
    let then = match said.split_once("ignored by one of your .gitignore files: ") {
        Some((_, ignored)) => format!(
            "take {} out of .gitignore, or add it all the same; then: git add --force -- {paths}",
            ignored.trim()
        ),
        None => format!("then: git {} {paths}", command.join(" ")),
    };
    CliError::finding(format!(
        "the files are as they should be, and git could not stage them: {said}; {then}"
    ))
}
