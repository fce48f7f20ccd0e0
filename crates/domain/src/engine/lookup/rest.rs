//! Whether a persona rests because its recent work was not wanted.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::engine::input::pull::PullState;
use crate::engine::input::snapshot::Snapshot;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{IGNORED_AFTER, REST_DAYS_PER_CYCLE, REST_DAYS_PER_SLOT};
use crate::engine::text::markdown::quote_as_code;
use crate::model::{PersonaId, TrackName};
use crate::plan::{NoveltyMode, Policy};
use crate::state::{HistoryEntry, Outcome};

/// The rest of a persona.
pub(crate) struct Rest<'b> {
    /// Its latest end.
    pub(crate) until: Timestamp,
    /// Files of which a change ends it, those of the newest work first. Without any, it ends with time.
    pub(crate) paths: &'b [String],
}

/// Returns a persona's rest, if it rests.
pub(crate) fn rest_of<'b>(
    builder: &'b DecisionBuilder<'_>,
    track: &TrackName,
    passes: u64,
    persona: &PersonaId,
    policy: &Policy,
) -> Option<Rest<'b>> {
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
    let mut rest = SignedDuration::from_hours(24 * days * cycles);
    let paths = rest_paths(builder, persona);
    let mut is_passed = known
        .rests_until_pass
        .is_some_and(|until_pass| has_passes(track) && passes >= until_pass);
    if !paths.is_empty() {
        // What it did is remembered no longer than that.
        rest = rest.max(builder.snapshot.plan.novelty.remember());
        is_passed = false;
    }
    let until = rested_at.checked_add(rest).ok()?;
    let is_over = builder.now() >= until || is_passed;
    (!is_over).then_some(Rest { until, paths })
}

/// Files of which a change ends a persona's rest.
pub(crate) fn rest_paths<'b>(
    builder: &'b DecisionBuilder<'_>,
    persona: &PersonaId,
) -> &'b [String] {
    match builder.state.personas.get(persona) {
        Some(known) if builder.snapshot.plan.novelty.mode != NoveltyMode::Off => &known.rests_for,
        _ => &[],
    }
}

/// Which change ends a rest. `None`: none does.
pub(crate) fn change_text(paths: &[String]) -> Option<String> {
    let (first, others) = paths.split_first()?;
    let first = quote_as_code(first);
    Some(match others.len() {
        0 => format!("{first} changes"),
        1 => format!("{first} or another file of its work changes"),
        more => format!("{first} or one of {more} other files of its work changes"),
    })
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
