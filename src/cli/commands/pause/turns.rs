//! Ends the turns whose sessions `phileas pause --cancel-sessions` has archived.

use std::cell::RefCell;
use std::collections::BTreeSet;

use phileas_domain::engine::end_cancelled;
use phileas_domain::model::{SessionId, TrackName};
use phileas_domain::state::Turn;

use crate::cli::context::run_identity;
use crate::runtime::ports::WriteGitHub;
use crate::runtime::{Edit, EditError, edit_state};

/// Records the turns of these sessions as cancelled. They no longer count as live, although Jules does not list them.
/// Returns these turns. A turn that another process has ended meanwhile stays as it is.
pub(super) async fn end_turns(
    github: &impl WriteGitHub,
    archived: &BTreeSet<SessionId>,
) -> Result<Vec<(TrackName, Turn)>, EditError> {
    let holder =
        run_identity::run_holder().map_err(|stopped| EditError::Refused(stopped.message))?;
    let request = Edit {
        headline: "pause: cancelled what was live",
        holder: &holder,
        moves_pointer_of: None,
    };
    let ended = RefCell::new(Vec::new());
    edit_state(github, &request, |state, observation| {
        let all = archived.iter();
        ended.replace(
            all.filter_map(|session| end_cancelled(state, session, observation.now))
                .collect(),
        );
        Ok(())
    })
    .await?;
    Ok(ended.into_inner())
}
