//! Exports a world to disk: real git repositories, the files of every branch, and the books.
//!
//! ```text
//! DIR/git/                          a bare repository; `git fsck --full` passes
//! DIR/branches/<branch>/…           the files at each branch's head
//! DIR/world.json                    the books
//! DIR/repos/<owner>/<name>/git/ …   the other repositories, if there are any
//! ```

mod checkout;
mod replace;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use crate::github::{Model, RepoId, bare_repository};
use crate::world::World;
use replace::BOOKS;

/// Writes the world to a folder, with `repo` at its top and all other repositories under `repos/`.
///
/// The export is written beside `dir` under a temporary name and renamed when it is complete. It replaces an earlier
/// export or an empty folder.
///
/// # Errors
/// `NotFound` when there is no such repository. `AlreadyExists` when `dir` holds something that is not an earlier
/// export. `InvalidData`, with the branch and path, when a name in a repository cannot be a file's name. Otherwise the
/// error of the file system, with the path.
pub fn export_world(world: &World, repo: RepoId, dir: &Path) -> io::Result<()> {
    if world.github().repository(repo).is_none() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("the world has no repository {repo}"),
        ));
    }
    replace::check_replaceable(dir)?;
    let partial = replace::temporary_sibling(dir)?;
    write_world(world, repo, partial.path())
        .and_then(|()| replace::put_in_place(partial, dir))
        .map_err(|error| match error.raw_os_error() {
            // An error of the system itself has no path.
            Some(_) => replace::error_at(dir, &error),
            None => error,
        })
}

/// Checks that [`export_world`] could write to `dir`, before a simulation spends its time.
///
/// # Errors
/// The error that [`export_world`] would return for the folder.
pub fn check_target(dir: &Path) -> io::Result<()> {
    replace::check_replaceable(dir)?;
    replace::temporary_sibling(dir).map(drop)
}

impl World {
    /// Writes the world to a folder with the repository of the lowest number at its top; see [`export_world`].
    ///
    /// # Errors
    /// `NotFound` for a world without repositories; otherwise those of [`export_world`].
    pub fn export(&self, dir: &Path) -> io::Result<()> {
        let first = self.github().repositories().next().ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, "the world has no repositories")
        })?;
        export_world(self, first.id, dir)
    }
}

fn write_world(world: &World, repo: RepoId, dir: &Path) -> io::Result<()> {
    let github = world.github();
    write_repository(github, repo, dir)?;
    for other in github.repositories().filter(|other| other.id != repo) {
        let owner = checkout::check_file_name(github.login(other.owner))?;
        let name = checkout::check_file_name(&other.name)?;
        write_repository(github, other.id, &dir.join("repos").join(owner).join(name))?;
    }
    let mut books = serde_json::to_string_pretty(&world.complete_books())?;
    books.push('\n');
    fs::write(dir.join(BOOKS), books)
}

fn write_repository(github: &Model, repo: RepoId, dir: &Path) -> io::Result<()> {
    let (Some(repository), Some(objects)) = (github.repository(repo), github.objects(repo)) else {
        return Ok(());
    };
    let git = dir.join("git");
    fs::create_dir_all(&git)?;
    bare_repository::lay_out(&git, &repository.default_branch, "")?;
    let refs = bare_repository::advertised_refs(repository, objects);
    bare_repository::write_objects(&git, objects, refs.values().copied(), &mut BTreeSet::new())?;
    bare_repository::set_refs(&git, &refs)?;
    let branches = dir.join("branches");
    fs::create_dir_all(&branches)?;
    for (branch, head) in repository.branches() {
        checkout::write_branch(objects, head, branch, &branches)?;
    }
    Ok(())
}
