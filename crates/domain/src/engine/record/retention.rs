//! Requests, sessions and turns that the state no longer needs.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{REFUSAL_KEPT, REQUEST_KEPT};
use crate::model::TrackName;
use crate::state::RequestState;

/// Drops what is older than its time: spent budget, finished requests and their tracks.
pub(crate) fn forget_old(draft: &mut Draft<'_>) {
    let now = draft.now();
    let old = |at: &Timestamp| now.duration_since(*at) >= REQUEST_KEPT;
    // The newest number stays, so that it is not given twice: with it its turns' names would come back.
    for track in draft.state.tracks.values_mut() {
        track
            .refused
            .retain(|_, refusal| now.duration_since(refusal.until) < REFUSAL_KEPT);
    }
    let newest = draft
        .state
        .requests
        .values()
        .filter_map(|request| request.number)
        .max();
    let is_over = |request: &RequestState| {
        request.finished_at.as_ref().is_some_and(old)
            && (request.number.is_none() || request.number != newest)
    };
    let finished: BTreeSet<TrackName> = draft
        .state
        .requests
        .values()
        .filter(|request| is_over(request))
        .filter_map(|request| request.number.map(TrackName::of_request))
        .collect();
    draft.state.requests.retain(|_, request| !is_over(request));
    draft
        .state
        .tracks
        .retain(|name, track| !(finished.contains(name) && track.turns.is_empty()));
}
