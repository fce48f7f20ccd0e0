//! Refuses a request to send reviews to a session.

use crate::engine::lookup::pending_reviews::PendingReview;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::Reason;
use crate::engine::record::request::refuse_command;

pub(crate) fn refuse_review_request(
    builder: &mut DecisionBuilder<'_>,
    open: &PendingReview,
    reason: Reason,
    text: &str,
) {
    let line = format!(
        "the session of pull request #{} gets no message: {text}",
        open.pull
    );
    refuse_command(builder, &open.key, &open.track, reason, line, text);
}
