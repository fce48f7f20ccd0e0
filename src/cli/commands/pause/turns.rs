//! Ends the turns whose sessions `phileas pause --cancel-sessions` has archived.

use std::collections::BTreeSet;

use phileas_domain::engine::end_cancelled;
use phileas_domain::model::{SessionId, TrackName};
use phileas_domain::state::Turn;

use crate::cli::context::edit_ledger::edit_ledger;
use crate::runtime::EditError;
use crate::runtime::ports::WriteGitHub;

/// Records the turns of these sessions as cancelled. They no longer count as live, although Jules does not list them.
/// Returns these turns. A turn that another process has ended meanwhile stays as it is.
pub(super) async fn end_turns(
    github: &impl WriteGitHub,
    archived: &BTreeSet<SessionId>,
) -> Result<Vec<(TrackName, Turn)>, EditError> {
    let headline = "pause: cancelled what was live";
    edit_ledger(github, headline, |state, observation| {
        let all = archived.iter();
        Ok(all
            .filter_map(|session| end_cancelled(state, session, observation.now))
            .collect())
    })
    .await
}
