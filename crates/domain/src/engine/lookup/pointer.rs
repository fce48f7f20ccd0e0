//! Finds a track's pointer in the current plan.

use super::policy;
use crate::plan::Track;
use crate::state::TrackState;

/// Returns the index of the step that ran last. The plan may have been edited since: the index counts while it names
/// the same persona, else the persona's only step, else the old index as far as the track reaches.
pub(crate) fn last_step_index(plan: &Track, state: &TrackState) -> Option<usize> {
    let count = plan.steps.len();
    let Some(persona) = &state.persona_id else {
        return state
            .index
            .map(|index| usize::try_from(index).unwrap_or(usize::MAX).min(count - 1));
    };
    let index = state.index.and_then(|index| usize::try_from(index).ok());
    if let Some(index) = index.filter(|index| {
        plan.steps
            .get(*index)
            .is_some_and(|step| policy::is_step_of(step, persona))
    }) {
        return Some(index);
    }
    let places: Vec<_> = plan
        .steps
        .iter()
        .enumerate()
        .filter(|(_, step)| policy::is_step_of(step, persona))
        .collect();
    match (places.as_slice(), index) {
        ([(only, _)], _) => Some(*only),
        // The persona was removed: the step at its index is the next one.
        ([], Some(index)) => index.min(count).checked_sub(1),
        ([], None) => None,
        ([(first, _), ..], _) => Some(*first),
    }
}
