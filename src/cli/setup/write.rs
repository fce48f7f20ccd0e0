//! Files of a set-up, written whole or not at all, and only where something changes.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use phileas_domain::setup::{Mode, Output};

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

/// Writes what differs, in the order of the files.
pub(super) fn write(root: &Path, files: &[Output], dry_run: bool) -> Result<Vec<Fate>, Stopped> {
    // All of it or nothing.
    for file in files {
        check(root, &file.path)?;
    }
    let one = |file: &Output| {
        let path = root.join(&file.path);
        write_one(&path, file, dry_run)
            .map_err(|error| Stopped::usage(format!("{}: {error}", path.display())))
    };
    files.iter().map(one).collect()
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

fn write_one(path: &Path, file: &Output, dry_run: bool) -> io::Result<Fate> {
    let before = match fs::read(path) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let same = before.as_deref() == Some(file.text.as_bytes());
    if same && is_guarded(path, file.mode)? {
        return Ok(Fate::Unchanged);
    }
    let fate = match before {
        None => Fate::Written,
        Some(_) if same => Fate::Guarded,
        Some(_) => Fate::Rewritten,
    };
    if !dry_run {
        replace(path, file)?;
    }
    Ok(fate)
}

/// Puts a whole file in a path's place. It is nobody else's to read before it has its mode: a temporary file begins as 0600.
fn replace(path: &Path, file: &Output) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut new = tempfile::Builder::new()
        .prefix(".phileas-")
        .tempfile_in(folder)?;
    new.write_all(file.text.as_bytes())?;
    guard(new.as_file(), path, file.mode)?;
    new.as_file().sync_all()?;
    new.persist(path).map_err(|error| error.error)?;
    Ok(())
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

#[cfg(unix)]
fn guard(file: &fs::File, path: &Path, mode: Mode) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = match mode {
        Mode::Private => 0o600,
        Mode::Executable => 0o755,
        // Whoever has restricted it keeps it so.
        Mode::Open => fs::metadata(path).map_or(0o644, |meta| meta.permissions().mode() & 0o777),
    };
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn is_guarded(_: &Path, _: Mode) -> io::Result<bool> {
    Ok(true)
}

#[cfg(not(unix))]
fn guard(_: &fs::File, _: &Path, _: Mode) -> io::Result<()> {
    Ok(())
}
