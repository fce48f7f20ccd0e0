//! Refuses a request to send reviews to a session.

use crate::engine::lookup::pending_reviews::PendingReview;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::state::RequestOutcome;

pub(crate) fn refuse_review_request(
    builder: &mut DecisionBuilder<'_>,
    open: &PendingReview,
    reason: Reason,
    text: &str,
) {
    let now = builder.now();
    builder.add_headline(format!("refused {}", open.track), None);
    let line = format!(
        "the session of pull request #{} gets no message: {text}",
        open.pull
    );
    builder.report_line(Line::about_track(
        &open.track,
        Verdict::Refused,
        reason,
        line,
    ));
    if let Some(request) = builder.state.requests.get_mut(&open.key) {
        request.set_outcome(&RequestOutcome::Refused);
        request.reason = Some(reason.code().to_owned());
        request.answer = Some(text.to_owned());
        request.finished_at = Some(now);
    }
}
