//! The command `cancel`.

use super::command_result::Refusal;
use super::request::Request;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::Reason;
use crate::engine::record::request;
use crate::model::{Slot, TrackName};
use crate::state::RequestState;

/// Cancels live turns and withdraws pending requests. Later requests stay.
pub(crate) fn cancel_turns(
    builder: &mut DecisionBuilder<'_>,
    request: &Request<'_>,
    live: &[(TrackName, Slot)],
) -> Result<String, Refusal> {
    let now = builder.now();
    let is_newer = |known: &RequestState| {
        let at = known.requested_at.or(known.created_at);
        at.is_some_and(|at| at > request.at)
    };
    let requests = builder.state.requests.values();
    let newer: Vec<_> = requests
        .filter(|known| is_newer(known))
        .filter_map(|known| known.turn.clone())
        .collect();
    let mut live = live.to_vec();
    live.retain(|(track, slot)| {
        let turn = builder.find_turn(track, slot);
        turn.is_some_and(|turn| !newer.contains(&turn.turn))
    });
    for (track, slot) in &live {
        if let Some(turn) = builder.find_turn_mut(track, slot) {
            turn.cancel = true;
        }
    }
    let requests = builder.state.requests.values();
    let pending: Vec<u64> = requests
        .filter(|known| known.subject.as_deref() == Some(request.subject.id.as_str()))
        .filter(|known| known.is_pending() && !is_newer(known))
        .filter_map(|known| known.number)
        .collect();
    for number in &pending {
        request::withdraw_request(&mut builder.state, *number, now);
    }
    match live.len() + pending.len() {
        0 => {
            let text = "nothing of phileas is at work or waits here".to_owned();
            Err((Reason::NothingToDo, text))
        }
        count => Ok(format!("cancelled: {count}")),
    }
}
