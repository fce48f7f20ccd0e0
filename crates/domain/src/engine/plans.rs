//! Plans that wait for a person's approval: where they wait, and how they are approved.

use super::binding;
use super::draft::Draft;
use super::limits::NUMBERS_NAMED;
use super::tell::session_link;
use crate::model::{SessionId, TrackName};
use crate::plan::PlanApproval;
use crate::state::Turn;

/// Whether there is a session whose plan could wait.
pub(super) fn may_wait(draft: &Draft<'_>) -> bool {
    let tracks = draft.state.tracks.values();
    let mut turns = tracks.flat_map(|track| track.turns.values());
    turns.any(|turn| turn.session_id.is_some())
}

/// Where the plans of live turns wait that `waits` picks by their track and their session: the issue or pull request on
/// which a comment approves it, else the session.
pub(super) fn places(
    draft: &Draft<'_>,
    waits: impl Fn(&TrackName, &SessionId) -> bool,
) -> Vec<String> {
    let mut places = Vec::new();
    for (name, track) in &draft.state.tracks {
        for turn in track.turns.values() {
            if let Some(id) = turn.session_id.as_ref().filter(|id| waits(name, id)) {
                places.push(place(draft, turn, id));
            }
        }
    }
    places
}

fn place(draft: &Draft<'_>, turn: &Turn, id: &SessionId) -> String {
    let mut requests = draft.state.requests.values();
    let asked = requests.find(|request| request.turn.as_ref() == Some(&turn.turn));
    let mut notices = draft.snapshot.notices.iter();
    let called = || {
        let is_of_turn = |key: &str| key.strip_prefix("turn:") == Some(turn.turn.as_str());
        let notice = notices.find(|notice| is_of_turn(&notice.key))?;
        Some(notice.number)
    };
    let link = session_link(id.as_str());
    match asked.and_then(|request| request.thread).or_else(called) {
        Some(thread) => format!("#{thread} ({link})"),
        None => link,
    }
}

/// The first of these places as part of a sentence; `None` without any.
pub(super) fn in_words(places: &[String]) -> Option<String> {
    let mut named: Vec<&str> = places.iter().map(String::as_str).collect();
    named.truncate(NUMBERS_NAMED);
    if named.len() < places.len() {
        named.push("…");
    }
    (!named.is_empty()).then(|| named.join(", "))
}

/// That a plan waits, and how it is approved where it was asked for.
pub(super) fn unapproved(
    draft: &Draft<'_>,
    track: &TrackName,
    turn: &Turn,
    id: &SessionId,
) -> String {
    let index = draft.state.tracks.get(track).and_then(|state| state.index);
    let policy = binding::policy_of(draft, track, index, &turn.persona_id);
    let link = session_link(id.as_str());
    match policy.plan_approval {
        PlanApproval::Never => format!("its plan waits for approval in {link} itself"),
        PlanApproval::Auto | PlanApproval::Writers => format!(
            "its plan waits for approval: read it in {link}, and say `/phileas approve` here"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_places_as_there_is_room_for_are_named_and_more_are_hinted_at() {
        let places: Vec<String> = (1..=NUMBERS_NAMED + 1).map(|n| format!("#{n}")).collect();
        let named = "#1, #2, #3, #4, #5, #6, #7, #8, #9, #10";
        let said = |count: usize| in_words(&places[..count]);
        assert_eq!(said(NUMBERS_NAMED).as_deref(), Some(named));
        assert_eq!(said(NUMBERS_NAMED + 1), Some(format!("{named}, …")));
        assert_eq!(said(1).as_deref(), Some("#1"));
        assert_eq!(said(0), None);
    }
}
