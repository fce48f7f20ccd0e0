//! Writes the files of a branch as plain files.

use std::fs;
use std::io;
use std::path::Path;

use crate::github::object::{Mode, Oid};
use crate::github::objects::Objects;

/// Writes the files at a commit into the branch's folder below `branches`; the slashes of its name make folders.
///
/// A symbolic link becomes a file that holds its target, so that nothing in an export leads out of it. Submodules are
/// left out.
pub(super) fn write_branch(
    objects: &Objects,
    head: Oid,
    branch: &str,
    branches: &Path,
) -> io::Result<()> {
    let root = path_below(branches, branch)?;
    fs::create_dir_all(&root)?;
    let Some(tree) = objects.tree_of(head) else {
        return Ok(());
    };
    for (path, mode, oid) in objects.list_files(tree) {
        let Some(content) = objects.blob(oid) else {
            continue;
        };
        let file = path_below(&root, &path).map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("branch {branch}, file {path}: {error}"),
            )
        })?;
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&file, content)?;
        if mode == Mode::Executable {
            make_executable(&file)?;
        }
    }
    Ok(())
}

/// The name, if it is one plain part of a path.
pub(super) fn check_file_name(name: &str) -> io::Result<&str> {
    let unusable =
        name.is_empty() || name == "." || name == ".." || name.contains(['/', '\\', '\0']);
    if unusable {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{name:?} cannot be the name of a file"),
        ));
    }
    Ok(name)
}

fn path_below(folder: &Path, path: &str) -> io::Result<std::path::PathBuf> {
    let mut full = folder.to_path_buf();
    for part in path.split('/') {
        full.push(check_file_name(part)?);
    }
    Ok(full)
}

#[cfg(unix)]
fn make_executable(file: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_file: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_out_of_the_folder_are_refused() {
        let folder = Path::new("branches");
        assert_eq!(
            path_below(folder, "feature/x").unwrap(),
            folder.join("feature").join("x")
        );
        for path in ["../x", "a/../b", "/etc/passwd", "", "a//b", "a\\..\\b"] {
            let error = path_below(folder, path).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{path}");
        }
    }
}
