//! Writes the files of a set-up, all or none, and only where something changes.

use std::path::Path;
use std::{fs, io};

use phileas_domain::setup::{Mode, Output};

use crate::adapters::files::{FileWrite, change_files};
use crate::cli::exit::CliError;

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeKind {
    /// It is new.
    Written,
    /// Its text changes.
    Rewritten,
    /// Its text stays, and its permissions change.
    Guarded,
    /// It stays.
    Unchanged,
}

impl ChangeKind {
    pub(super) fn change_text(self) -> &'static str {
        match self {
            Self::Written => "write",
            Self::Rewritten => "rewrite",
            Self::Guarded => "guard",
            Self::Unchanged => "unchanged",
        }
    }
}

/// Writes the files that differ: all or none. Returns the change of each file, in order.
pub(super) fn write_files(
    root: &Path,
    files: &[Output],
    dry_run: bool,
) -> Result<Vec<ChangeKind>, CliError> {
    for file in files {
        check_file(root, &file.path)?;
    }
    let fate = |file: &Output| {
        let path = root.join(&file.path);
        change_kind(&path, file)
            .map_err(|error| CliError::usage(format!("{}: {error}", path.display())))
    };
    let fates: Vec<ChangeKind> = files.iter().map(fate).collect::<Result<_, _>>()?;
    if !dry_run {
        let due = files.iter().zip(&fates);
        let due = due.filter(|(_, fate)| **fate != ChangeKind::Unchanged);
        let wanted = due.map(|(file, _)| {
            let mode = unix_mode(&root.join(&file.path), file.mode);
            (file.path.as_str(), FileWrite::WithMode(&file.text, mode))
        });
        change_files(root, &wanted.collect::<Vec<_>>())?;
    }
    Ok(fates)
}

/// Checks that nothing is written through a link, which may lead out of the repository, and that nothing else is in the
/// way.
fn check_file(root: &Path, path: &str) -> Result<(), CliError> {
    let mut here = root.to_owned();
    for part in path.split('/') {
        here.push(part);
        if here.is_symlink() {
            return Err(CliError::usage(format!(
                "{} is a symbolic link, and nothing is written through links; put the file or folder itself there",
                here.display()
            )));
        }
        // The last part is the file itself.
        let is_file = here == root.join(path);
        if here.exists() && here.is_dir() == is_file {
            let wanted = if is_file { "a file" } else { "a folder" };
            return Err(CliError::usage(format!(
                "{} is not {wanted}; move what is there out of the way",
                here.display()
            )));
        }
    }
    Ok(())
}

fn change_kind(path: &Path, file: &Output) -> io::Result<ChangeKind> {
    let before = match fs::read(path) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let same = before.as_deref() == Some(file.text.as_bytes());
    if same && has_private_mode(path, file.mode)? {
        return Ok(ChangeKind::Unchanged);
    }
    Ok(match before {
        None => ChangeKind::Written,
        Some(_) if same => ChangeKind::Guarded,
        Some(_) => ChangeKind::Rewritten,
    })
}

#[cfg(unix)]
fn has_private_mode(path: &Path, mode: Mode) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    let now = fs::metadata(path)?.permissions().mode() & 0o777;
    Ok(match mode {
        Mode::Open => true,
        Mode::Private => now == 0o600,
        Mode::Executable => now & 0o100 != 0,
    })
}

/// The Unix mode of a file.
fn unix_mode(path: &Path, mode: Mode) -> u32 {
    match mode {
        Mode::Private => 0o600,
        Mode::Executable => 0o755,
        // Permissions that a user restricted stay so.
        Mode::Open => present_mode(path).unwrap_or(0o644),
    }
}

#[cfg(unix)]
fn present_mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let meta = fs::metadata(path).ok()?;
    Some(meta.permissions().mode() & 0o777)
}

#[cfg(not(unix))]
fn present_mode(_: &Path) -> Option<u32> {
    None
}

#[cfg(not(unix))]
fn has_private_mode(_: &Path, _: Mode) -> io::Result<bool> {
    Ok(true)
}
