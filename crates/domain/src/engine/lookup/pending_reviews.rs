//! Requests to send reviews to a session that are not finished.

use crate::engine::input::request_kind::PENDING;
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::INTENT_VALID;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::text::markers;
use crate::model::{Oid, PullNumber, TrackName};
use crate::state::RequestState;

/// A wish that was taken up and is not over.
pub(crate) struct Open {
    pub(crate) key: String,
    pub(crate) track: TrackName,
    pub(crate) pull: PullNumber,
    pub(crate) head: Oid,
}

/// The wishes that are not over, in the order in which they were made.
pub(crate) fn open_wishes(draft: &Draft<'_>) -> Vec<Open> {
    let requests = draft.state.requests.iter();
    let mut open: Vec<_> = requests
        .filter(|(_, request)| request.outcome.as_deref() == Some(PENDING))
        .filter_map(|(key, request)| {
            let head = request.reviews_of.clone()?;
            Some((request.number?, key.clone(), request.thread?, head))
        })
        .collect();
    open.sort_unstable();
    open.into_iter()
        .map(|(number, key, thread, head)| Open {
            key,
            track: TrackName::of_request(number),
            pull: PullNumber(thread),
            head,
        })
        .collect()
}

/// Whether its session is being told at this moment; the next one tells whether it heard.
pub(crate) fn is_being_told(draft: &Draft<'_>, request: &RequestState) -> bool {
    let (Some(head), Some(thread)) = (&request.reviews_of, request.thread) else {
        return false;
    };
    let known = draft.state.pulls.get(&PullNumber(thread));
    let told = known.and_then(|known| known.reviews.as_ref());
    told.is_some_and(|told| {
        told.head == *head && !told.told && draft.now().duration_since(told.at) < INTENT_VALID
    })
}

impl Open {
    pub(crate) fn marker(&self) -> String {
        markers::reviews_marker(self.pull, &self.head)
    }

    pub(crate) fn line(&self, reason: Reason, text: String) -> Line {
        let mut line = Line::track(&self.track, Verdict::Waiting, reason, text);
        line.pr_number = Some(self.pull);
        line
    }
}
