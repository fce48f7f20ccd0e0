//! How many sessions one person may ask for within an hour. What is more is deferred, not refused.

use jiff::{SignedDuration, Timestamp};

use super::candidate::{Candidate, Cause, wait};
use crate::engine::input::request_kind::{BY_COMMENT, BY_LABEL, REFUSED};
use crate::engine::output::builder::Draft;
use crate::engine::output::report::{Line, Reason};
use crate::state::{Outcome, RequestState};

/// The span in which one person's wishes are counted.
const ACTOR_SPAN: SignedDuration = SignedDuration::from_hours(1);

/// Whether a wish has to wait because its actor has asked for more than an hour has room for.
pub(crate) fn spent(draft: &Draft<'_>, candidate: &Candidate) -> Option<Line> {
    let Cause::Request { key } = &candidate.cause else {
        return None;
    };
    let request = draft.state.requests.get(key)?;
    if !counts(request) {
        return None;
    }
    let limit = draft.snapshot.plan.budget.requests_per_actor_hour;
    let same = draft.state.requests.values();
    let same = same.filter(|one| counts(one) && is_same_actor(one, request));
    let mut asked: Vec<_> = same
        .filter_map(|one| Some((at(one)?, one.number?)))
        .collect();
    asked.sort_unstable();
    let own = (at(request)?, request.number?);
    let place = asked.iter().position(|one| *one == own)?;
    let times: Vec<Timestamp> = asked.into_iter().map(|(at, _)| at).collect();
    let room = room_at(&times, place, limit as usize)?;
    if room <= draft.now() {
        return None;
    }
    let text = format!("the same person asks for more than {limit} sessions an hour");
    Some(wait(candidate, Reason::ActorHour, text).until(room))
}

/// When there is room for the wish at `place` among the times of all wishes, oldest first: at once where fewer than
/// `limit` have their room within the hour before, else an hour after the one whose place it takes.
fn room_at(times: &[Timestamp], place: usize, limit: usize) -> Option<Timestamp> {
    let mut rooms: Vec<Timestamp> = Vec::new();
    for (index, at) in times.iter().enumerate().take(place + 1) {
        let before = index.checked_sub(limit).and_then(|index| rooms.get(index));
        let freed = before.and_then(|before| before.checked_add(ACTOR_SPAN).ok());
        rooms.push(freed.map_or(*at, |freed| freed.max(*at)));
    }
    rooms.pop()
}

/// Whether a request asks for a session, by a label or comment that was let through and not taken back.
fn counts(request: &RequestState) -> bool {
    let outcome = request.outcome.as_deref();
    let is_taken_back = request.turn.is_none() && outcome == Some(Outcome::Cancelled.as_str());
    [BY_LABEL, BY_COMMENT].contains(&request.kind.as_str())
        && request.persona.is_some()
        && outcome != Some(REFUSED)
        && !is_taken_back
}

fn at(request: &RequestState) -> Option<Timestamp> {
    request.asked_at.or(request.created_at)
}

fn is_same_actor(one: &RequestState, other: &RequestState) -> bool {
    match (one.actor_id, other.actor_id) {
        // A login may be changed, a number never.
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
    fn a_person_is_known_by_a_number_and_else_by_a_login() {
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
    fn each_hour_has_room_for_so_many() {
        let minute = |minute: i64| Timestamp::from_second(minute * 60).expect("in range");
        let times: Vec<_> = [0, 0, 10, 10, 10, 100].map(minute).into();
        let rooms: Vec<_> = (0..times.len())
            .map(|place| room_at(&times, place, 2))
            .collect();
        let expected = [0, 0, 60, 60, 120, 120].map(|at| Some(minute(at)));
        assert_eq!(rooms, expected);
    }
}
