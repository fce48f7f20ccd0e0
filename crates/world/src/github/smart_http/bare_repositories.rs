//! The bare repositories on disk from which git serves.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::github::bare_repository;
use crate::github::object::Oid;
use crate::github::objects::Objects;
use crate::github::repo_id::RepoId;
use crate::github::repository::Repository;

/// How the served repositories are configured.
///
/// GitHub allows filters and fetching by any object name. Pushed objects are checked, and stay loose so that the model
/// can read them one by one. The heads of pull requests cannot be pushed to.
const CONFIG: &str = "[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n\
    [receive]\n\tautogc = false\n\tfsckObjects = true\n\tunpackLimit = 100000000\n\thideRefs = refs/pull\n\
    \tadvertisePushOptions = false\n";

/// One repository on disk, which is deleted with the world.
#[derive(Debug)]
struct BareRepository {
    dir: TempDir,
    written: BTreeSet<Oid>,
}

/// The repositories that git clients have requested.
#[derive(Debug, Default)]
pub(crate) struct BareRepositories {
    all: BTreeMap<RepoId, BareRepository>,
}

impl BareRepositories {
    /// Updates and returns the folder of a repository: it holds all current objects and exactly the current references.
    pub(super) fn refresh_repository(
        &mut self,
        repository: &Repository,
        objects: &Objects,
    ) -> io::Result<PathBuf> {
        let refs = bare_repository::advertised_refs(repository, objects);
        let folder = match self.all.entry(repository.id) {
            std::collections::btree_map::Entry::Occupied(found) => found.into_mut(),
            std::collections::btree_map::Entry::Vacant(place) => {
                let dir = tempfile::Builder::new().prefix("world-git-").tempdir()?;
                bare_repository::lay_out(dir.path(), &repository.default_branch, CONFIG)?;
                place.insert(BareRepository {
                    dir,
                    written: BTreeSet::new(),
                })
            }
        };
        let dir = folder.dir.path().to_path_buf();
        bare_repository::write_objects(&dir, objects, refs.values().copied(), &mut folder.written)?;
        bare_repository::set_refs(&dir, &refs)?;
        bare_repository::point_head(&dir, &repository.default_branch)?;
        Ok(dir)
    }
}
