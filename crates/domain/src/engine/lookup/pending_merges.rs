//! Requests to merge that are not finished.

use crate::engine::input::request_kind::PENDING;
use crate::engine::output::builder::Draft;
use crate::model::{PullNumber, TrackName};

/// A wish that was taken up and is not over.
pub(crate) struct Open {
    pub(crate) key: String,
    pub(crate) track: TrackName,
    pub(crate) pull: PullNumber,
}

/// The wishes that are not over, in the order in which they were made.
pub(crate) fn open_wishes(draft: &Draft<'_>) -> Vec<Open> {
    let requests = draft.state.requests.iter();
    let mut open: Vec<_> = requests
        .filter(|(_, request)| {
            request.merge.is_some() && request.outcome.as_deref() == Some(PENDING)
        })
        .filter_map(|(key, request)| Some((request.number?, key.clone(), request.thread?)))
        .collect();
    open.sort_unstable();
    open.into_iter()
        .map(|(number, key, thread)| Open {
            key,
            track: TrackName::of_request(number),
            pull: PullNumber(thread),
        })
        .collect()
}
