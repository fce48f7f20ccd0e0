//! The repository that doctor checks.

use phileas_domain::model::RepositoryName;

/// The repository, and the address of GitHub's pages.
pub(crate) struct CheckedRepository<'p> {
    pub(crate) repository: &'p RepositoryName,
    pub(crate) github: &'p str,
}
