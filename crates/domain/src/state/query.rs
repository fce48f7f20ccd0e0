//! Looking things up in the state.

use super::{HistoryEntry, Outcome, State};
use crate::model::{PersonaId, SessionId, TrackName};

impl State {
    /// The newest entry of a track and its key, as far as it is not archived.
    #[must_use]
    pub fn newest_of_track(&self, track: &TrackName) -> Option<(u64, &HistoryEntry)> {
        let mut newest_first = self.history.iter().rev();
        newest_first
            .find(|(_, entry)| entry.is_of_track(track))
            .map(|(key, entry)| (*key, entry))
    }

    /// Entries whose pull request is open, oldest first.
    pub fn open_entries(&self) -> impl Iterator<Item = (u64, &HistoryEntry)> {
        self.history
            .iter()
            .filter(|(_, entry)| entry.outcome == Some(Outcome::PrOpen))
            .map(|(key, entry)| (*key, entry))
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

    /// A persona's entries, oldest first.
    pub fn entries_of_persona<'a>(
        &'a self,
        persona: &'a PersonaId,
    ) -> impl DoubleEndedIterator<Item = (u64, &'a HistoryEntry)> {
        self.history
            .iter()
            .filter(move |(_, entry)| entry.persona_id == *persona)
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
