//! Sprints: each pass of one track is one.
//!
//! The number is written by the very commit that announces the first turn of a pass, so it goes on exactly once a pass,
//! whoever dies in between.

use super::candidate::{Candidate, Cause};
use crate::board;
use crate::engine::output::builder::Draft;

/// The number of the first one.
const FIRST: u64 = 1;

/// The sprint that a candidate's turn belongs to: of a plan without sprints, the one that people or agents wrote down in
/// `.jules/sprints/current.txt`; `None` where there is none.
pub(crate) fn of(draft: &Draft<'_>, candidate: &Candidate) -> Option<u64> {
    let Some(sprints) = draft.snapshot.plan.sprints.as_ref() else {
        return board::current_sprint(&draft.snapshot.tree);
    };
    // Sprints that are turned on in the middle of a pass begin with it.
    let Some(now) = draft.state.sprint else {
        return Some(FIRST);
    };
    let passes = match &candidate.cause {
        Cause::Track { passes, .. } if candidate.track == sprints.track => *passes,
        _ => return Some(now),
    };
    let known = draft.state.tracks.get(&candidate.track);
    let wraps = passes > known.map_or(0, |track| track.passes);
    Some(now.saturating_add(u64::from(wraps)))
}

/// Writes down the sprint that a turn begins in.
pub(crate) fn go_on(draft: &mut Draft<'_>, sprint: Option<u64>) {
    let is_counted = draft.snapshot.plan.sprints.is_some();
    if is_counted && sprint.is_some() && draft.state.sprint != sprint {
        draft.state.sprint = sprint;
        draft.headline(format!("sprint {}", sprint.unwrap_or(FIRST)), None);
    }
}
