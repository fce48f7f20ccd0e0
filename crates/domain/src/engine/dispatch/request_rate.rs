//! Limits the sessions that one person may request within an hour. Further requests wait; they are not refused.

use jiff::{SignedDuration, Timestamp};

use super::candidate::{Candidate, Cause, waiting_line};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::{Line, Reason};
use crate::state::{Outcome, RequestOutcome, RequestState};

/// The span in which one person's requests are counted.
const ACTOR_SPAN: SignedDuration = SignedDuration::from_hours(1);

/// Blocks a request whose actor has reached the limit of an hour.
pub(crate) fn rate_limit_line(
    builder: &DecisionBuilder<'_>,
    candidate: &Candidate,
) -> Option<Line> {
    let Cause::Request { key } = &candidate.cause else {
        return None;
    };
    let request = builder.state.requests.get(key)?;
    if !counts_as_session(request) {
        return None;
    }
    let limit = builder.snapshot.plan.budget.requests_per_actor_hour;
    let same = builder.state.requests.values();
    let same = same.filter(|one| counts_as_session(one) && is_same_actor(one, request));
    let mut asked: Vec<_> = same
        .filter_map(|one| Some((requested_at(one)?, one.number?)))
        .collect();
    asked.sort_unstable();
    let own = (requested_at(request)?, request.number?);
    let place = asked.iter().position(|one| *one == own)?;
    let times: Vec<Timestamp> = asked.into_iter().map(|(at, _)| at).collect();
    let room = room_at(&times, place, limit as usize)?;
    if room <= builder.now() {
        return None;
    }
    let text = format!("the same person requests more than {limit} sessions an hour");
    Some(waiting_line(candidate, Reason::ActorHour, text).with_until(room))
}

/// When the request at `place` may start, given the times of all requests, oldest first: at once where fewer than
/// `limit` started within the hour before, else an hour after the one whose place it takes.
fn room_at(times: &[Timestamp], place: usize, limit: usize) -> Option<Timestamp> {
    let mut rooms: Vec<Timestamp> = Vec::new();
    for (index, at) in times.iter().enumerate().take(place + 1) {
        let before = index.checked_sub(limit).and_then(|index| rooms.get(index));
        let freed = before.and_then(|before| before.checked_add(ACTOR_SPAN).ok());
        rooms.push(freed.map_or(*at, |freed| freed.max(*at)));
    }
    rooms.pop()
}

/// Whether a request counts: it asked for a session by a label or comment, and was neither refused nor withdrawn.
fn counts_as_session(request: &RequestState) -> bool {
    let cancelled = RequestOutcome::Turn(Outcome::Cancelled);
    let is_withdrawn = request.turn.is_none() && request.has_outcome(&cancelled);
    request.is_on_thread() && request.persona.is_some() && !request.is_refused() && !is_withdrawn
}

fn requested_at(request: &RequestState) -> Option<Timestamp> {
    request.requested_at.or(request.created_at)
}

fn is_same_actor(one: &RequestState, other: &RequestState) -> bool {
    match (one.actor_id, other.actor_id) {
        // A login may change, a number never.
        (Some(one), Some(other)) => one == other,
        _ => {
            let login = |request: &RequestState| request.actor.as_deref().map(str::to_lowercase);
            login(one) == login(other)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actors_are_compared_by_number_and_else_by_login() {
        let of = |actor: &str, actor_id: Option<u64>| RequestState {
            actor: Some(actor.to_owned()),
            actor_id,
            ..RequestState::default()
        };
        assert!(is_same_actor(&of("ada", Some(1)), &of("lovelace", Some(1))));
        assert!(!is_same_actor(&of("ada", Some(1)), &of("ada", Some(2))));
        assert!(is_same_actor(&of("Ada", None), &of("ada", Some(1))));
        assert!(!is_same_actor(&of("ada", None), &of("eve", None)));
    }

    #[test]
    fn each_hour_has_room_for_the_limit() {
        let minute = |minute: i64| Timestamp::from_second(minute * 60).expect("in range");
        let times: Vec<_> = [0, 0, 10, 10, 10, 100].map(minute).into();
        let rooms: Vec<_> = (0..times.len())
            .map(|place| room_at(&times, place, 2))
            .collect();
        let expected = [0, 0, 60, 60, 120, 120].map(|at| Some(minute(at)));
        assert_eq!(rooms, expected);
    }
}
