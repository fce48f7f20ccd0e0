//! What the system says of a path, told with its mend.

use std::io;
use std::path::Path;

use super::Stopped;
use crate::adapters::files::{ReadError, Unchanged};

/// A file stands where a folder is needed.
pub(crate) fn no_folder(path: &Path) -> Stopped {
    let mut above = path.ancestors();
    let file = above.find(|path| path.is_file()).unwrap_or(path);
    Stopped::usage(format!(
        "{} is no folder; move what is there out of the way",
        file.display()
    ))
}

/// What the system says of a path, and how that is mended.
pub(crate) fn unusable(path: &Path, error: &io::Error) -> Stopped {
    // What this program says itself has its mend with it.
    if error.get_ref().is_some() {
        return Stopped::usage(format!("{}: {error}", path.display()));
    }
    let mend = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "let whoever runs phileas read and write there (chmod, chown)"
        }
        io::ErrorKind::ReadOnlyFilesystem => "nothing can be written there; work in another clone",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "make room for it"
        }
        io::ErrorKind::NotADirectory => "a part of that path is a file; move it out of the way",
        io::ErrorKind::AlreadyExists => "something has just come there; look at it",
        _ => "mend that",
    };
    Stopped::usage(format!(
        "{}: {error}; {mend}, and run this again",
        path.display()
    ))
}

impl From<ReadError> for Stopped {
    fn from(error: ReadError) -> Self {
        unusable(&error.path, &error.source)
    }
}

impl From<Unchanged> for Stopped {
    fn from(unchanged: Unchanged) -> Self {
        let Unchanged {
            error,
            left,
            kept_in,
        } = unchanged;
        let mut stopped = unusable(&error.path, &error.source);
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
