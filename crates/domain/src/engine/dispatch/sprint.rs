//! Sprints: each pass of one track is a sprint.
//!
//! The commit that announces the first turn of a pass writes the number, so the sprint advances exactly once a pass,
//! whichever process dies.

use super::candidate::{Candidate, Cause};
use crate::board;
use crate::engine::output::builder::DecisionBuilder;

/// The number of the first sprint.
const FIRST: u64 = 1;

/// The sprint of a candidate's turn. For a plan without sprints: the number in `.jules/sprints/current.txt`; `None`
/// where there is none.
pub(crate) fn sprint_of(builder: &DecisionBuilder<'_>, candidate: &Candidate) -> Option<u64> {
    let Some(sprints) = builder.snapshot.plan.sprints.as_ref() else {
        return board::current_sprint(&builder.snapshot.tree);
    };
    // Sprints that are enabled in the middle of a pass begin with it.
    let Some(now) = builder.state.sprint else {
        return Some(FIRST);
    };
    let passes = match &candidate.cause {
        Cause::Track { passes, .. } if candidate.track == sprints.track => *passes,
        _ => return Some(now),
    };
    let known = builder.state.tracks.get(&candidate.track);
    let wraps = passes > known.map_or(0, |track| track.passes);
    Some(now.saturating_add(u64::from(wraps)))
}

/// Records the sprint that a turn begins in.
pub(crate) fn record_sprint(builder: &mut DecisionBuilder<'_>, sprint: Option<u64>) {
    let is_counted = builder.snapshot.plan.sprints.is_some();
    if is_counted && sprint.is_some() && builder.state.sprint != sprint {
        builder.state.sprint = sprint;
        builder.add_headline(format!("sprint {}", sprint.unwrap_or(FIRST)), None);
    }
}
