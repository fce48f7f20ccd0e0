//! The repository that doctor checks.

use phileas_domain::model::RepositoryName;

/// Whose health it is, and where people meet GitHub.
pub(crate) struct Place<'p> {
    pub(crate) repository: &'p RepositoryName,
    pub(crate) github: &'p str,
}
