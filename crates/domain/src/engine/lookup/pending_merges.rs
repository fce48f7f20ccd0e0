//! Pending requests to merge a pull request.

use crate::engine::output::builder::DecisionBuilder;
use crate::model::{PullNumber, TrackName};

/// A pending request to merge a pull request.
pub(crate) struct PendingMerge {
    pub(crate) key: String,
    pub(crate) track: TrackName,
    pub(crate) pull: PullNumber,
}

/// Returns the pending requests in the order in which they were made.
pub(crate) fn pending_merges(builder: &DecisionBuilder<'_>) -> Vec<PendingMerge> {
    let requests = builder.state.requests.iter();
    let mut open: Vec<_> = requests
        .filter(|(_, request)| request.merge.is_some() && request.is_pending())
        .filter_map(|(key, request)| Some((request.number?, key.clone(), request.thread?)))
        .collect();
    open.sort_unstable();
    open.into_iter()
        .map(|(number, key, thread)| PendingMerge {
            key,
            track: TrackName::of_request(number),
            pull: PullNumber(thread),
        })
        .collect()
}
