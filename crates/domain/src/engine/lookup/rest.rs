//! Whether a persona rests because its recent work was not wanted.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::engine::input::pull::PullState;
use crate::engine::input::snapshot::Snapshot;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{IGNORED_AFTER, REST_DAYS_PER_CYCLE, REST_DAYS_PER_SLOT};
use crate::model::{PersonaId, TrackName};
use crate::plan::Policy;
use crate::state::{HistoryEntry, Outcome};

/// Returns the latest end of a persona's rest, if it rests.
pub(crate) fn resting_until(
    builder: &DecisionBuilder<'_>,
    track: &TrackName,
    passes: u64,
    persona: &PersonaId,
    policy: &Policy,
) -> Option<Timestamp> {
    if policy.rest_after == 0 {
        return None;
    }
    let known = builder.state.personas.get(persona)?;
    // Check the cheap condition first: few personas rest, and the next check reads the history.
    let rested_at = known.rested_at?;
    let ignored = builder
        .ignored_pulls
        .get_or_init(|| count_ignored_pulls(builder));
    let unwanted = known.no_output_streak + ignored.get(persona).copied().unwrap_or(0);
    if unwanted < policy.rest_after {
        return None;
    }
    let cycles = i64::from(unwanted - policy.rest_after + 1);
    let days = if has_passes(track) {
        REST_DAYS_PER_CYCLE
    } else {
        REST_DAYS_PER_SLOT
    };
    let until = rested_at
        .checked_add(SignedDuration::from_hours(24 * days * cycles))
        .ok()?;
    let passed = |until_pass| has_passes(track) && passes >= until_pass;
    let over = builder.now() >= until || known.rests_until_pass.is_some_and(passed);
    (!over).then_some(until)
}

/// Whether a track has passes. The tracks of schedules and requests have none.
pub(crate) fn has_passes(track: &TrackName) -> bool {
    let name = track.as_str();
    !name.starts_with("schedule:") && !name.starts_with("request:")
}

/// Counts the ignored open pull requests of each persona.
fn count_ignored_pulls(builder: &DecisionBuilder<'_>) -> BTreeMap<PersonaId, u32> {
    let mut counts = BTreeMap::new();
    let entries = builder.state.history.open_entries().map(|(_, entry)| entry);
    for entry in entries.filter(|entry| is_ignored(builder.snapshot, entry)) {
        *counts.entry(entry.persona_id.clone()).or_default() += 1;
    }
    counts
}

/// Whether an entry's pull request is open and has had no review for long.
pub(crate) fn is_ignored(snapshot: &Snapshot, entry: &HistoryEntry) -> bool {
    let pull = entry
        .pr_number
        .and_then(|number| snapshot.pulls.get(&number));
    entry.outcome == Some(Outcome::PrOpen)
        && pull.is_some_and(|pull| {
            pull.state == PullState::Open
                && !pull.reviewed
                && snapshot.now.duration_since(pull.created_at) >= IGNORED_AFTER
        })
}
