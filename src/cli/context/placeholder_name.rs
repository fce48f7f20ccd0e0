//! A placeholder for the name of a repository that does not matter.

use phileas_domain::model::RepositoryName;

use crate::cli::exit::CliError;

/// A repository name where none matters.
pub(crate) fn placeholder_name() -> Result<RepositoryName, CliError> {
    "owner/name"
        .parse()
        .map_err(|_| CliError::fault("a good name was refused"))
}
