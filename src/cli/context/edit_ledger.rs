//! Edits the ledger as this run.

use phileas_domain::state::State;

use super::run_identity;
use crate::runtime::ports::{GitHubObservation, WriteGitHub};
use crate::runtime::{Edit, EditError, edit_state};

/// Changes the state, commits it under this headline, and returns what `change` returned.
pub(crate) async fn edit_ledger<T>(
    github: &impl WriteGitHub,
    headline: &str,
    change: impl Fn(&mut State, &GitHubObservation) -> Result<T, String>,
) -> Result<T, EditError> {
    let holder =
        run_identity::run_holder().map_err(|stopped| EditError::Refused(stopped.message))?;
    let edit = Edit {
        headline,
        holder: &holder,
        moves_pointer_of: None,
    };
    edit_state(github, &edit, change).await
}
