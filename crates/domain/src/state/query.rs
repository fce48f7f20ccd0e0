//! Lookups in the state.

use super::{HistoryEntry, State, Turn};
use crate::model::{SessionId, Slot, TrackName, TurnId};

impl State {
    /// The number of a track's newest turn; 0 if it had none.
    #[must_use]
    pub fn newest_seq(&self, track: &TrackName) -> u64 {
        self.tracks.get(track).map_or(0, |known| known.seq)
    }

    /// The entry that a session belongs to, as its own session or as a duplicate, as far as it is not archived.
    #[must_use]
    pub fn entry_of_session(&self, session: &SessionId) -> Option<(u64, &HistoryEntry)> {
        let mut newest_first = self.history.iter().rev();
        newest_first
            .find(|(_, entry)| {
                entry.session_id.as_ref() == Some(session) || entry.duplicates.contains(session)
            })
            .map(|(key, entry)| (*key, entry))
    }

    /// The next request's number: above every one that the state still knows, live or in the history.
    #[must_use]
    pub fn next_request_number(&self) -> u64 {
        let number = TrackName::request_number;
        let tracks = self.tracks.keys().filter_map(number);
        let history = self
            .history
            .values()
            .filter_map(|entry| number(entry.track.as_ref()?));
        let requests = self.requests.values().filter_map(|request| request.number);
        tracks
            .chain(history)
            .chain(requests)
            .max()
            .map_or(1, |highest| highest.saturating_add(1))
    }

    /// The live turn that a session or turn id names, with its track and slot.
    #[must_use]
    pub fn live_turn(&self, id: &str) -> Option<(&TrackName, &Slot, &Turn)> {
        self.tracks.iter().find_map(|(name, track)| {
            track.turns.iter().find_map(|(slot, turn)| {
                let session = turn.session_id.as_ref().map(SessionId::as_str);
                let named = turn.turn.as_str() == id || session == Some(id);
                named.then_some((name, slot, turn))
            })
        })
    }

    /// The newest entry that a session or turn id names, as far as it is not archived.
    #[must_use]
    pub fn entry_named(&self, id: &str) -> Option<(u64, &HistoryEntry)> {
        let mut newest_first = self.history.iter().rev();
        newest_first
            .find(|(_, entry)| {
                let own = entry.session_id.iter().chain(&entry.duplicates);
                let turn = entry.turn.as_ref().map(TurnId::as_str);
                turn == Some(id) || own.into_iter().any(|session| session.as_str() == id)
            })
            .map(|(key, entry)| (*key, entry))
    }
}

impl HistoryEntry {
    /// Whether it belongs to a track; entries that name none belong to `default`.
    #[must_use]
    pub fn is_of_track(&self, track: &TrackName) -> bool {
        self.track
            .as_ref()
            .map_or("default", TrackName::as_str)
            .eq(track.as_str())
    }
}

#[cfg(test)]
mod tests {
    use crate::model::SessionId;
    use crate::state::fixtures::{sound_state, turn_id};
    use crate::state::{RequestState, State, TrackState};

    /// [`sound`], with a duplicate beside its second session, and with a second track without live turns.
    fn ledger() -> State {
        let mut state = sound_state();
        let second = state.history.get_mut(&1).unwrap();
        second.duplicates = vec!["1009".into()];
        let idle = TrackState {
            session_id: Some("1002".into()),
            ..TrackState::default()
        };
        state.tracks.insert("a-quiet-one".into(), idle);
        state
    }

    #[test]
    fn an_entry_is_found_by_its_own_session_and_by_a_duplicate() {
        let state = ledger();
        for (session, key) in [
            ("1001", Some(0)),
            ("1002", Some(1)),
            ("1009", Some(1)),
            ("1003", Some(2)),
            ("", None),
        ] {
            let found = state.entry_of_session(&SessionId::from(session));
            assert_eq!(found, key.map(|key| (key, &state.history[&key])));
        }
        // A second entry of the same session hides the first.
        let mut doubled = state.clone();
        doubled.history.insert(3, state.history[&0].clone());
        let found = doubled.entry_of_session(&"1001".into());
        assert_eq!(found.map(|(key, _)| key), Some(3));
    }

    #[test]
    fn an_entry_can_be_named_by_turn_session_or_duplicate() {
        let mut state = ledger();
        // The attempt before the newest one of the third turn.
        let mut first = state.history[&2].clone();
        let mut second = first.clone();
        first.attempt = Some(1);
        second.attempt = Some(2);
        second.session_id = Some("1004".into());
        state.history.insert(2, first);
        state.history.insert(3, second);
        let key = |id: &str| {
            let (key, entry) = state.entry_named(id)?;
            assert_eq!(entry, &state.history[&key]);
            Some(key)
        };
        assert_eq!(key(turn_id(1).as_str()), Some(0));
        assert_eq!(key(turn_id(3).as_str()), Some(3), "its newest attempt");
        assert_eq!(key("1003"), Some(2));
        assert_eq!(key("1009"), Some(1));
        assert_eq!(key("1010"), None);
    }

    #[test]
    fn a_live_turn_can_be_named_by_turn_or_session() {
        let state = ledger();
        let track = &state.tracks["default"];
        let live = Some((&"default".into(), &"".into(), &track.turns[""]));
        assert_eq!(state.live_turn("1003"), live);
        assert_eq!(state.live_turn(turn_id(3).as_str()), live);
        for over in ["1002", turn_id(2).as_str(), "default", ""] {
            assert_eq!(state.live_turn(over), None, "{over}");
        }
    }

    #[test]
    fn a_requests_number_was_never_given_before() {
        let mut state = ledger();
        assert_eq!(state.next_request_number(), 1);
        state
            .tracks
            .insert("request:2".into(), TrackState::default());
        state
            .tracks
            .insert("request:".into(), TrackState::default());
        state
            .tracks
            .insert("request:x".into(), TrackState::default());
        state.tracks.insert("other:9".into(), TrackState::default());
        assert_eq!(state.next_request_number(), 3);
        state.history.get_mut(&1).unwrap().track = Some("request:4".into());
        assert_eq!(state.next_request_number(), 5);
        let numbered = |number| RequestState {
            number,
            ..RequestState::default()
        };
        state.requests.insert("LE_1".to_owned(), numbered(None));
        state.requests.insert("LE_2".to_owned(), numbered(Some(6)));
        assert_eq!(state.next_request_number(), 7);
        state
            .requests
            .insert("LE_3".to_owned(), numbered(Some(u64::MAX)));
        assert_eq!(state.next_request_number(), u64::MAX);
    }

    #[test]
    fn an_entry_that_names_no_track_is_of_the_default_one() {
        let mut entry = sound_state().history[&0].clone();
        for (track, name) in [
            (None, "default"),
            (Some("default"), "default"),
            (Some("quality"), "quality"),
        ] {
            entry.track = track.map(Into::into);
            assert_eq!(entry.track_name(), name.into());
            for other in ["default", "quality", ""] {
                assert_eq!(entry.is_of_track(&other.into()), other == name);
            }
        }
    }
}
