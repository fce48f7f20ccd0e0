//! A repository as `phileas init` finds it.

use std::collections::{BTreeMap, BTreeSet};

use phileas_domain::model::{RepositoryName, Tree};

/// A repository as it is found, as far as it matters for a beginning.
#[derive(Debug, Clone)]
pub struct RepositoryFiles {
    /// Its name.
    pub repository: RepositoryName,
    /// Its default branch.
    pub default_branch: String,
    /// What is below `.jules/` and `.jlo/`.
    pub tree: Tree,
    /// The files of `.github/workflows/` by path.
    pub workflows: BTreeMap<String, String>,
    /// The paths of files that are there without git knowing them.
    pub untracked: BTreeSet<String>,
}
