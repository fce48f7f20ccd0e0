//! Drops requests and refusals that the state no longer needs.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{REFUSAL_KEPT, REQUEST_KEPT};
use crate::model::TrackName;
use crate::state::RequestState;

/// Drops expired refusals, finished requests and their tracks.
pub(crate) fn forget_old(builder: &mut DecisionBuilder<'_>) {
    let now = builder.now();
    let old = |at: &Timestamp| now.duration_since(*at) >= REQUEST_KEPT;
    // Keep the newest number, because reusing it would repeat the ids of its turns.
    for track in builder.state.tracks.values_mut() {
        track
            .refused
            .retain(|_, refusal| now.duration_since(refusal.until) < REFUSAL_KEPT);
    }
    let newest = builder
        .state
        .requests
        .values()
        .filter_map(|request| request.number)
        .max();
    let is_over = |request: &RequestState| {
        request.finished_at.as_ref().is_some_and(old)
            && (request.number.is_none() || request.number != newest)
    };
    let finished: BTreeSet<TrackName> = builder
        .state
        .requests
        .values()
        .filter(|request| is_over(request))
        .filter_map(|request| request.number.map(TrackName::of_request))
        .collect();
    builder
        .state
        .requests
        .retain(|_, request| !is_over(request));
    builder
        .state
        .tracks
        .retain(|name, track| !(finished.contains(name) && track.turns.is_empty()));
}
