//! Errors of the file system, with the path and how to fix them.

use std::io;
use std::path::Path;

use super::CliError;
use crate::adapters::files::{ChangeError, FileError, is_disk_full};

/// A file is where a folder is needed.
pub(crate) fn not_a_folder(path: &Path) -> CliError {
    let mut above = path.ancestors();
    let file = above.find(|path| path.is_file()).unwrap_or(path);
    CliError::usage(format!(
        "{} is not a folder; move what is there out of the way",
        file.display()
    ))
}

/// An error of the system for a path, with the fix.
pub(crate) fn path_error(path: &Path, error: &io::Error) -> CliError {
    // Errors that phileas makes itself include the fix.
    if error.get_ref().is_some() {
        return CliError::usage(format!("{}: {error}", path.display()));
    }
    let is_full = is_disk_full(error);
    let help = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "give the user that runs phileas the right to read and write there (chmod, chown)"
        }
        io::ErrorKind::ReadOnlyFilesystem => "nothing can be written there; work in another clone",
        _ if is_full => "make room for it",
        io::ErrorKind::NotADirectory => "a part of that path is a file; move it out of the way",
        io::ErrorKind::IsADirectory => "it is a folder, so name a file",
        io::ErrorKind::AlreadyExists => "something has just come there; look at it",
        _ => "fix that",
    };
    let message = format!("{}: {error}; {help}, and run this again", path.display());
    match is_full {
        true => CliError::fault(message),
        false => CliError::usage(message),
    }
}

/// The error for the folder of `--export`. The text of the error has the path.
pub(crate) fn export_error(error: &io::Error) -> CliError {
    let message = format!("--export: {error}");
    match error.kind() {
        _ if is_disk_full(error) => CliError::fault(format!("{message}; make room for it")),
        // These have the fix.
        io::ErrorKind::AlreadyExists | io::ErrorKind::InvalidData => CliError::usage(message),
        _ => CliError::usage(format!("{message}; name another folder")),
    }
}

impl From<FileError> for CliError {
    fn from(error: FileError) -> Self {
        path_error(&error.path, &error.source)
    }
}

impl From<ChangeError> for CliError {
    fn from(unchanged: ChangeError) -> Self {
        let ChangeError {
            error,
            left,
            kept_in,
        } = unchanged;
        let mut stopped = path_error(&error.path, &error.source);
        let left: Vec<String> = left.iter().map(|one| one.display().to_string()).collect();
        stopped.message.push_str(&match left.as_slice() {
            [] => "; nothing was changed".to_owned(),
            left => {
                let kept = kept_in.map_or_else(String::new, |kept_in| {
                    format!("; what was there before lies in {}", kept_in.display())
                });
                let left = left.join(", ");
                format!("; look at what could not be put back as it was: {left}{kept}")
            }
        });
        stopped
    }
}

#[cfg(test)]
mod tests {
    use super::super::Exit;
    use super::*;

    #[test]
    fn an_export_says_where_and_how_to_go_on() {
        for (kind, exit, help) in [
            (io::ErrorKind::StorageFull, Exit::Fault, "make room for it"),
            (
                io::ErrorKind::NotADirectory,
                Exit::Usage,
                "name another folder",
            ),
        ] {
            let error = export_error(&io::Error::new(kind, "/a/b: no"));
            assert_eq!(error.exit, exit);
            assert_eq!(error.message, format!("--export: /a/b: no; {help}"));
        }
    }
}
