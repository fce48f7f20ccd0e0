//! Which work items are in progress, and which pull requests an integrator may take.

use super::slot::Seat;
use crate::engine::output::builder::Draft;
use crate::model::TrackName;

/// Whether somebody is at work on an item, or its pull request is open.
pub(crate) fn in_hand(draft: &Draft<'_>, seat: &Seat) -> bool {
    is_held(draft, seat, None)
}

/// The same, where a turn of this track does not count.
pub(crate) fn in_hand_elsewhere(draft: &Draft<'_>, seat: &Seat, own: &TrackName) -> bool {
    is_held(draft, seat, Some(own))
}

fn is_held(draft: &Draft<'_>, seat: &Seat, own: Option<&TrackName>) -> bool {
    let slot = seat.slot();
    let live = draft
        .state
        .tracks
        .iter()
        .any(|(name, track)| Some(name) != own && track.turns.contains_key(&slot));
    let open = || {
        let mut entries = draft.state.history.open();
        entries.any(|(_, entry)| entry.slot.as_ref() == Some(&slot))
    };
    live || open()
}

/// The open pull requests of implementers, by number.
pub(crate) fn candidates(draft: &Draft<'_>) -> Vec<crate::model::PullNumber> {
    let open = draft.state.history.open().filter(|(_, entry)| {
        let seat = entry.slot.as_ref().and_then(Seat::of);
        matches!(seat, Some(Seat::Implementer { .. }))
    });
    let mut numbers: Vec<_> = open.filter_map(|(_, entry)| entry.pr_number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
