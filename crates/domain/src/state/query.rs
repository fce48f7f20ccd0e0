//! Looking things up in the state.

use super::{HistoryEntry, State, Turn};
use crate::model::{SessionId, Slot, TrackName, TurnId};

impl State {
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
        let number = |name: &TrackName| name.as_str().strip_prefix("request:")?.parse::<u64>().ok();
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
