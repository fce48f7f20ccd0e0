//! Records how a turn's outcome affects its persona's rest: a persona whose work is not wanted rests, longer each time.

use crate::engine::lookup::policy;
use crate::engine::lookup::rest::has_passes;
use crate::engine::output::builder::DecisionBuilder;
use crate::model::{PersonaId, TrackName};
use crate::state::{Outcome, PersonaState};

/// Records a turn's outcome. `was`: the outcome that was recorded before, if any.
pub(crate) fn record_rest(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    persona: &PersonaId,
    was: Option<&Outcome>,
    outcome: &Outcome,
) {
    let now = builder.now();
    let rest_after = policy::policy_of_persona(&builder.snapshot.plan, track, persona).rest_after;
    let passes = has_passes(track).then(|| {
        builder
            .state
            .tracks
            .get(track)
            .map_or(0, |state| state.passes)
    });
    let known = builder.state.personas.entry(persona.clone()).or_default();
    match outcome {
        Outcome::Merged | Outcome::Imported | Outcome::Completed => {
            known.no_output_streak = 0;
            end_rest(known);
        }
        wanted if wanted.is_unwanted() && !was.is_some_and(Outcome::is_unwanted) => {
            known.no_output_streak += 1;
            if rest_after > 0 && known.no_output_streak >= rest_after {
                let cycles = u64::from(known.no_output_streak - rest_after + 1);
                // Two tracks count their passes separately: keep the later one, so that neither ends the other's rest.
                let until = passes.map(|passes| passes + cycles + 1);
                known.rests_until_pass = known.rests_until_pass.max(until);
                known.rested_at = Some(now);
            }
        }
        Outcome::Superseded if was.is_some_and(Outcome::is_unwanted) => {
            known.no_output_streak = known.no_output_streak.saturating_sub(1);
        }
        // Failures are Jules', and an open pull request has no verdict yet.
        _ => {}
    }
}

/// Ends a rest. What was unwanted stays counted, so that the next unwanted turn begins another one.
pub(crate) fn end_rest(known: &mut PersonaState) {
    known.rests_until_pass = None;
    known.rested_at = None;
    known.rests_for.clear();
    known.rests_since = None;
}

/// Lets a persona that rests do so until one of these files has changed on the default branch.
pub(crate) fn rest_for_paths(
    builder: &mut DecisionBuilder<'_>,
    persona: &PersonaId,
    paths: Vec<String>,
) {
    let head = &builder.snapshot.repository.default_head;
    let Some(known) = builder.state.personas.get_mut(persona) else {
        return;
    };
    if known.rested_at.is_some() && !paths.is_empty() {
        known.rests_for = paths;
        known.rests_since.clone_from(head);
    }
}
