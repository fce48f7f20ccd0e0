//! The ends of turns whose sessions the brake has archived.

use std::cell::RefCell;
use std::collections::BTreeSet;

use phileas_domain::engine::end_cancelled;
use phileas_domain::model::{SessionId, TrackName};
use phileas_domain::state::Turn;

use crate::cli::context::run_identity;
use crate::runtime::ports::WriteGitHub;
use crate::runtime::{Edit, EditError, edit};

/// Writes down that the turns of these sessions are cancelled, so that they count as live no more although Jules does
/// not list them. Answers with those that were. A turn that somebody else has ended meanwhile stays as it is.
pub(super) async fn end_turns(
    github: &impl WriteGitHub,
    archived: &BTreeSet<SessionId>,
) -> Result<Vec<(TrackName, Turn)>, EditError> {
    let holder = run_identity::this_run().map_err(|stopped| EditError::Refused(stopped.message))?;
    let wish = Edit {
        headline: "stop: cancelled what was live",
        holder: &holder,
        moves_pointer_of: None,
    };
    let ended = RefCell::new(Vec::new());
    edit(github, &wish, |state, observation| {
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
