//! Which work items are in progress, and which pull requests an integrator may take.

use super::slot::SlotRole;
use crate::engine::input::pull::PullState;
use crate::engine::output::builder::DecisionBuilder;
use crate::model::TrackName;
use crate::state::HistoryEntry;

/// Whether a work item has a live turn or an open pull request.
pub(crate) fn is_in_progress(builder: &DecisionBuilder<'_>, slot_role: &SlotRole) -> bool {
    has_turn_or_pull(builder, slot_role, None)
}

/// Like [`is_in_progress`], but turns of this track do not count.
pub(crate) fn is_in_progress_elsewhere(
    builder: &DecisionBuilder<'_>,
    slot_role: &SlotRole,
    own: &TrackName,
) -> bool {
    has_turn_or_pull(builder, slot_role, Some(own))
}

fn has_turn_or_pull(
    builder: &DecisionBuilder<'_>,
    slot_role: &SlotRole,
    own: Option<&TrackName>,
) -> bool {
    let slot = slot_role.to_slot();
    let live = builder
        .state
        .tracks
        .iter()
        .any(|(name, track)| Some(name) != own && track.turns.contains_key(&slot));
    let open = || {
        let mut entries = builder
            .state
            .history
            .open_entries()
            .chain(reopened(builder));
        entries.any(|(_, entry)| entry.slot.as_ref() == Some(&slot))
    };
    live || open()
}

/// Entries whose pull request was closed, and is open again.
pub(crate) fn reopened<'b>(
    builder: &'b DecisionBuilder<'_>,
) -> impl Iterator<Item = (&'b u64, &'b HistoryEntry)> {
    let pulls = builder.snapshot.pulls.values();
    let open = pulls.filter(|pull| pull.state == PullState::Open);
    open.flat_map(|pull| builder.state.history.rejected_entries(pull.number))
}

/// The open pull requests of implementers, by number.
pub(crate) fn open_implementer_pulls(
    builder: &DecisionBuilder<'_>,
) -> Vec<crate::model::PullNumber> {
    let entries = builder
        .state
        .history
        .open_entries()
        .chain(reopened(builder));
    let open = entries.filter(|(_, entry)| {
        let slot_role = entry.slot.as_ref().and_then(SlotRole::from_slot);
        matches!(slot_role, Some(SlotRole::Implementer { .. }))
    });
    let mut numbers: Vec<_> = open.filter_map(|(_, entry)| entry.pr_number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
