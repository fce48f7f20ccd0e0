//! Files of a set-up, written whole or not at all, and only where something changes.

use std::path::Path;
use std::{fs, io};

use phileas_domain::setup::{Mode, Output};

use crate::adapters::files::{Wanted, change_together};
use crate::cli::exit::Stopped;

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It was not there.
    Written,
    /// It was another one.
    Rewritten,
    /// Its text stays, and who may read or run it changes.
    Guarded,
    /// It is as it should be.
    Unchanged,
}

impl Fate {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Written => "write",
            Self::Rewritten => "rewrite",
            Self::Guarded => "guard",
            Self::Unchanged => "unchanged",
        }
    }
}

/// Writes what differs: all of it, or nothing. Answers in the order of the files.
pub(super) fn write(root: &Path, files: &[Output], dry_run: bool) -> Result<Vec<Fate>, Stopped> {
    for file in files {
        check(root, &file.path)?;
    }
    let fate = |file: &Output| {
        let path = root.join(&file.path);
        fate(&path, file).map_err(|error| Stopped::usage(format!("{}: {error}", path.display())))
    };
    let fates: Vec<Fate> = files.iter().map(fate).collect::<Result<_, _>>()?;
    if !dry_run {
        let due = files.iter().zip(&fates);
        let due = due.filter(|(_, fate)| **fate != Fate::Unchanged);
        let wanted = due.map(|(file, _)| {
            let mode = mode(&root.join(&file.path), file.mode);
            (file.path.as_str(), Wanted::WithMode(&file.text, mode))
        });
        change_together(root, &wanted.collect::<Vec<_>>())?;
    }
    Ok(fates)
}

/// Sees that nothing is written through a link, which may lead out of the repository, and that nothing else stands in the
/// way.
fn check(root: &Path, path: &str) -> Result<(), Stopped> {
    let mut here = root.to_owned();
    for part in path.split('/') {
        here.push(part);
        if here.is_symlink() {
            return Err(Stopped::usage(format!(
                "{} is a symbolic link, and nothing is written through links; put the file or folder itself there",
                here.display()
            )));
        }
        // The last part is the file itself.
        let is_file = here == root.join(path);
        if here.exists() && here.is_dir() == is_file {
            let wanted = if is_file { "a file" } else { "a folder" };
            return Err(Stopped::usage(format!(
                "{} is not {wanted}; move what is there out of the way",
                here.display()
            )));
        }
    }
    Ok(())
}

fn fate(path: &Path, file: &Output) -> io::Result<Fate> {
    let before = match fs::read(path) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let same = before.as_deref() == Some(file.text.as_bytes());
    if same && is_guarded(path, file.mode)? {
        return Ok(Fate::Unchanged);
    }
    Ok(match before {
        None => Fate::Written,
        Some(_) if same => Fate::Guarded,
        Some(_) => Fate::Rewritten,
    })
}

#[cfg(unix)]
fn is_guarded(path: &Path, mode: Mode) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    let now = fs::metadata(path)?.permissions().mode() & 0o777;
    Ok(match mode {
        Mode::Open => true,
        Mode::Private => now == 0o600,
        Mode::Executable => now & 0o100 != 0,
    })
}

/// The mode of Unix that a file is to have.
fn mode(path: &Path, mode: Mode) -> u32 {
    match mode {
        Mode::Private => 0o600,
        Mode::Executable => 0o755,
        // Whoever has restricted it keeps it so.
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
fn is_guarded(_: &Path, _: Mode) -> io::Result<bool> {
    Ok(true)
}
