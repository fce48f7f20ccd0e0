//! The command `retry` on an open pull request: sends its reviews to its session.

use super::record::record_request;
use super::request::Request;
use crate::engine::lookup::pending_reviews::{PendingReview, pending_reviews};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::MESSAGE_REPEATS;
use crate::engine::output::report::Reason;
use crate::engine::record::review_request::refuse_review_request;
use crate::model::{Oid, PullNumber};
use crate::state::RequestOutcome;

/// Records a request to send the reviews of a commit to the session of its open pull request.
pub(crate) fn record_reviews(builder: &mut DecisionBuilder<'_>, request: &Request<'_>, head: Oid) {
    let pull = PullNumber(request.subject.number);
    let is_same = |one: &PendingReview| one.pull == pull && one.head == head;
    let is_pending = pending_reviews(builder).iter().any(is_same);
    let known = builder.state.pulls.get_mut(&pull);
    let mut is_told = false;
    if let Some(known) = known {
        // A new request checks the session now.
        known.look = None;
        if let Some(told) = known.reviews.as_mut().filter(|told| told.head == head) {
            is_told = told.told;
            // A message that was given up is tried once more for each request.
            told.repeats = told.repeats.min(MESSAGE_REPEATS - 1);
        }
    }
    let track = record_request(builder, request, |stored, _| {
        stored.set_outcome(&RequestOutcome::Pending);
        stored.reviews_of = Some(head.clone());
    });
    builder.add_headline(format!("{track} reviews of pull request #{pull}"), None);
    let open = PendingReview {
        key: request.key.clone().into_owned(),
        track,
        pull,
        head,
    };
    if is_pending {
        refuse_review_request(
            builder,
            &open,
            Reason::NothingToDo,
            "it is requested already",
        );
    } else if is_told {
        let text = "it was told of the reviews of this commit before; once it has pushed another one, say \
                    `/phileas retry` again for what was said since";
        refuse_review_request(builder, &open, Reason::NothingToDo, text);
    }
}
