//! The live turns of the issue or pull request of a request.

use super::request::Request;
use crate::engine::output::builder::DecisionBuilder;
use crate::model::{PullNumber, Slot, TrackName};

/// Returns the live turns of an issue or pull request: requested on it, with it as their pull request, or with it as
/// their notice; requests in the order of their numbers.
pub(crate) fn live_turns(
    builder: &DecisionBuilder<'_>,
    request: &Request<'_>,
) -> Vec<(TrackName, Slot)> {
    let number = request.subject.number;
    let notices = &builder.snapshot.notices;
    let notice = notices.iter().find(|notice| notice.number == number);
    let called = notice.and_then(|notice| notice.key.strip_prefix("turn:"));
    let asked: Vec<_> = builder
        .state
        .requests
        .values()
        .filter(|known| known.subject.as_deref() == Some(request.subject.id.as_str()))
        .filter_map(|known| known.turn.clone())
        .collect();
    let is_pull = request.subject.pull.is_some();
    let mut found = Vec::new();
    for (name, track) in &builder.state.tracks {
        for (slot, turn) in &track.turns {
            if asked.contains(&turn.turn)
                || called == Some(turn.turn.as_str())
                || (is_pull && turn.pr_number == Some(PullNumber(number)))
            {
                found.push((name.clone(), slot.clone()));
            }
        }
    }
    found.sort_by_key(|(name, _)| name.request_number());
    found
}
