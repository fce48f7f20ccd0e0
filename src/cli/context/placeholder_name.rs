//! The name that stands for a repository whose name does not matter.

use phileas_domain::model::RepositoryName;

use crate::cli::exit::Stopped;

/// What stands for a repository whose name does not matter.
pub(crate) fn unnamed() -> Result<RepositoryName, Stopped> {
    "owner/name"
        .parse()
        .map_err(|_| Stopped::fault("a good name was refused"))
}
