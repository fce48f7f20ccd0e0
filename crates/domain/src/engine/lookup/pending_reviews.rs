//! Pending requests to send reviews to a session.

use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::INTENT_VALID;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::text::markers;
use crate::model::{Oid, PullNumber, TrackName};
use crate::state::RequestState;

/// A pending request to send reviews to a session.
pub(crate) struct PendingReview {
    pub(crate) key: String,
    pub(crate) track: TrackName,
    pub(crate) pull: PullNumber,
    pub(crate) head: Oid,
}

/// Returns the pending requests in the order in which they were made.
pub(crate) fn pending_reviews(builder: &DecisionBuilder<'_>) -> Vec<PendingReview> {
    let requests = builder.state.requests.iter();
    let mut open: Vec<_> = requests
        .filter(|(_, request)| request.is_pending())
        .filter_map(|(key, request)| {
            let head = request.reviews_of.clone()?;
            Some((request.number?, key.clone(), request.thread?, head))
        })
        .collect();
    open.sort_unstable();
    open.into_iter()
        .map(|(number, key, thread, head)| PendingReview {
            key,
            track: TrackName::of_request(number),
            pull: PullNumber(thread),
            head,
        })
        .collect()
}

/// Whether its message is being sent right now; the next tick sees whether it was delivered.
pub(crate) fn is_being_sent(builder: &DecisionBuilder<'_>, request: &RequestState) -> bool {
    let (Some(head), Some(thread)) = (&request.reviews_of, request.thread) else {
        return false;
    };
    let known = builder.state.pulls.get(&PullNumber(thread));
    let told = known.and_then(|known| known.reviews.as_ref());
    told.is_some_and(|told| {
        told.head == *head && !told.notified && builder.now().duration_since(told.at) < INTENT_VALID
    })
}

impl PendingReview {
    pub(crate) fn message_marker(&self) -> String {
        markers::reviews_marker(self.pull, &self.head)
    }

    pub(crate) fn waiting_line(&self, reason: Reason, text: String) -> Line {
        let mut line = Line::about_track(&self.track, Verdict::Waiting, reason, text);
        line.pr_number = Some(self.pull);
        line
    }
}
