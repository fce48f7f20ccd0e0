//! A refused request to send reviews to a session, in the state.

use crate::engine::input::request_kind::REFUSED;
use crate::engine::lookup::pending_reviews::Open;
use crate::engine::output::builder::Draft;
use crate::engine::output::report::{Line, Reason, Verdict};

pub(crate) fn refuse(draft: &mut Draft<'_>, open: &Open, reason: Reason, text: &str) {
    let now = draft.now();
    draft.headline(format!("refused {}", open.track), None);
    let line = format!(
        "the session of pull request #{} is not told: {text}",
        open.pull
    );
    draft.say(Line::track(&open.track, Verdict::Refused, reason, line));
    if let Some(request) = draft.state.requests.get_mut(&open.key) {
        request.outcome = Some(REFUSED.to_owned());
        request.reason = Some(reason.code().to_owned());
        request.answer = Some(text.to_owned());
        request.finished_at = Some(now);
    }
}
