//! Imports a session that was started outside phileas, to be followed like any other.

use jiff::Timestamp;

use crate::engine::input::session::Session;
use crate::engine::lookup::sessions::is_of_ledger;
use crate::model::{Holder, Marker, PersonaId, RepositoryId, Slot, TrackName, TurnId};
use crate::prompt;
use crate::state::{
    Extra, Genesis, HistoryEntry, Intent, RequestKind, RequestOutcome, RequestState, State,
    TrackState, Turn,
};

/// A session to import, with the actor and the time.
#[derive(Debug, Clone)]
pub struct Import<'a> {
    /// The repository.
    pub repository: RepositoryId,
    /// GitHub's time.
    pub now: Timestamp,
    /// Who imports.
    pub holder: &'a Holder,
    /// Login of the person who asked for it, where it is known.
    pub actor: Option<&'a str>,
    /// The persona that it counts for.
    pub persona: &'a PersonaId,
    /// The session as Jules showed it.
    pub session: &'a Session,
    /// A fresh random value, used only where the ledger does not exist yet.
    pub nonce: &'a str,
}

/// Why a session cannot be imported. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The ledger knows it.
    #[error("session {session} is in the ledger already: {place}")]
    Known {
        /// The session.
        session: String,
        /// Where it stands.
        place: String,
    },
    /// It belongs to a turn of this repository, which the ledger will find itself or has lost.
    #[error(
        "session {session} has the marker {marker} of this repository, so phileas started it: the next tick \
         adopts it if its turn is known; if not, the ledger is behind, and `phileas state rebuild` proposes a whole one"
    )]
    Ours {
        /// The session.
        session: String,
        /// Its marker.
        marker: String,
    },
}

impl Import<'_> {
    /// Records the session as the only turn of a new track `request:<number>`, and returns the track and the turn. It
    /// does not count against the repository's daily sessions, because phileas did not start it.
    ///
    /// # Errors
    ///
    /// [`ImportError`], when the ledger knows it or must find it itself.
    pub fn into_state(&self, state: &mut State) -> Result<(TrackName, TurnId), ImportError> {
        self.check_unknown(state)?;
        let genesis = state
            .genesis
            .get_or_insert_with(|| Genesis {
                repository_id: self.repository,
                born_at: self.now,
                nonce: self.nonce.to_owned(),
                extra: Extra::new(),
            })
            .clone();
        let number = state.next_request_number();
        let (track, slot, seq) = (TrackName::of_request(number), Slot::from(""), 1);
        let id = TurnId::derive(&genesis.nonce, genesis.repository_id, &track, seq, &slot);
        let key = state.next_history_key();
        state
            .history
            .insert(key, self.history_entry(&track, &id, seq, &slot));
        let turn = Turn {
            history_key: Some(key),
            session_id: Some(self.session.id.clone()),
            // A session without an intent gets a holder from now on.
            intent: Some(Intent {
                created_at: self.session.created_at,
                not_after: self.session.created_at,
                holder: self.holder.clone(),
                prompt_sha256: self
                    .session
                    .prompt
                    .as_deref()
                    .map(prompt::prompt_sha256)
                    .unwrap_or_default(),
                extra: Extra::new(),
            }),
            ..Turn::new(id.clone(), self.persona.clone())
        };
        let live = TrackState {
            persona_id: Some(self.persona.clone()),
            session_id: Some(self.session.id.clone()),
            updated_at: Some(self.now),
            index: Some(0),
            seq,
            turns: [(slot, turn)].into(),
            ..TrackState::default()
        };
        state.tracks.insert(track.clone(), live);
        let request = RequestState {
            kind: RequestKind::Import.as_str().to_owned(),
            subject: Some(format!("session:{}", self.session.id)),
            actor: self.actor.map(str::to_owned),
            outcome: Some(RequestOutcome::Dispatched.as_str().to_owned()),
            turn: Some(id.clone()),
            number: Some(number),
            created_at: Some(self.now),
            ..RequestState::default()
        };
        state
            .requests
            .insert(format!("import:{}", self.session.id), request);
        Ok((track, id))
    }

    fn check_unknown(&self, state: &State) -> Result<(), ImportError> {
        let session = self.session.id.to_string();
        if let Some((track, _, turn)) = state.live_turn(&session) {
            let place = format!("turn {} of track `{track}`, under way", turn.turn);
            return Err(ImportError::Known { session, place });
        }
        if let Some((key, entry)) = state.entry_of_session(&self.session.id) {
            let place = format!("entry {key}, {}", entry.persona_id);
            return Err(ImportError::Known { session, place });
        }
        let by_prompt = self.session.prompt.as_deref().and_then(Marker::from_prompt);
        let ours = match by_prompt {
            Some(line) => {
                let is_ours = line.repository == self.repository && is_of_ledger(state, &line);
                is_ours.then_some(line.marker)
            }
            None => Marker::from_title(&self.session.title),
        };
        match ours {
            Some(marker) => Err(ImportError::Ours {
                session,
                marker: marker.to_string(),
            }),
            None => Ok(()),
        }
    }

    fn history_entry(
        &self,
        track: &TrackName,
        turn: &TurnId,
        seq: u64,
        slot: &Slot,
    ) -> HistoryEntry {
        HistoryEntry {
            persona_id: self.persona.clone(),
            session_id: Some(self.session.id.clone()),
            pr_number: None,
            created_at: Some(self.session.created_at),
            track: Some(track.clone()),
            turn: Some(turn.clone()),
            seq: Some(seq),
            slot: Some(slot.clone()),
            attempt: Some(1),
            base_sha: None,
            outcome: None,
            finished_at: None,
            duplicates: Vec::new(),
            zero_touch: None,
            review_secs: None,
            refused: None,
            prompt: None,
            note: Some("imported: started outside phileas".to_owned()),
            extra: Extra::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::input::session::SessionState;
    use crate::state::invariant::{check_state, check_step};

    fn session(title: &str) -> Session {
        Session {
            id: "15481661885092594092".into(),
            state: SessionState::InProgress,
            title: title.to_owned(),
            prompt: Some("Tidy up.".to_owned()),
            source: "acme/widget".parse().ok(),
            elsewhere: false,
            created_at: "2026-01-05T09:00:00Z".parse().unwrap(),
            updated_at: None,
            archived: false,
            pulls: Vec::new(),
            has_changes: false,
        }
    }

    fn import(state: &mut State, session: &Session) -> Result<(TrackName, TurnId), ImportError> {
        Import {
            repository: RepositoryId(7),
            now: "2026-01-05T10:00:00Z".parse().unwrap(),
            holder: &Holder::from("cli:1"),
            actor: Some("olivia"),
            persona: &PersonaId::from("curator"),
            session,
            nonce: "9f3c5a0e77b1",
        }
        .into_state(state)
    }

    #[test]
    fn an_external_session_becomes_a_turn_of_its_own_track() {
        for born in [true, false] {
            let mut state = State::default();
            if born {
                let at = "2026-01-01T00:00:00Z".parse().unwrap();
                state = State::new_ledger(RepositoryId(7), at, "0a0a0a0a0a0a".to_owned());
            }
            let before = state.clone();
            let (track, turn) = import(&mut state, &session("Tidy")).unwrap();
            assert_eq!(track.as_str(), "request:1");
            assert_eq!(check_state(&state), []);
            assert_eq!(check_step(&before, &state), []);
            assert_eq!(state.tracks[&track].turns[""].turn, turn);
            assert_eq!(state.history[&0].turn, Some(turn));
            assert_eq!(state.budget.created, []);

            let again = state.clone();
            let error = import(&mut state, &session("Tidy")).unwrap_err();
            assert!(error.to_string().contains("under way"), "{error}");
            assert_eq!(state, again);
            state.tracks.clear();
            let error = import(&mut state, &session("Tidy")).unwrap_err();
            assert!(error.to_string().contains("entry 0"), "{error}");
        }
    }

    #[test]
    fn an_import_records_everything_known_of_the_session() {
        let mut state = State::default();
        let session = session("Tidy");
        let (track, id) = import(&mut state, &session).unwrap();
        let (now, created_at) = ("2026-01-05T10:00:00Z", session.created_at);
        let now = now.parse().unwrap();
        let expected = RequestState {
            kind: "import".to_owned(),
            subject: Some("session:15481661885092594092".to_owned()),
            actor: Some("olivia".to_owned()),
            outcome: Some("dispatched".to_owned()),
            turn: Some(id.clone()),
            number: Some(1),
            created_at: Some(now),
            ..RequestState::default()
        };
        assert_eq!(
            state.requests["import:15481661885092594092"], expected,
            "who asked for it"
        );
        let intent = Intent {
            created_at,
            not_after: created_at,
            holder: Holder::from("cli:1"),
            prompt_sha256: prompt::prompt_sha256("Tidy up."),
            extra: Extra::new(),
        };
        let turn = Turn {
            history_key: Some(0),
            session_id: Some(session.id.clone()),
            intent: Some(intent),
            ..Turn::new(id.clone(), "curator".into())
        };
        let expected = TrackState {
            persona_id: Some("curator".into()),
            session_id: Some(session.id.clone()),
            updated_at: Some(now),
            index: Some(0),
            seq: 1,
            turns: [("".into(), turn)].into(),
            ..TrackState::default()
        };
        assert_eq!(state.tracks[&track], expected);
        let entry = &state.history[&0];
        assert_eq!(entry.session_id, Some(session.id.clone()));
        assert_eq!(entry.created_at, Some(created_at));
        assert_eq!(entry.persona_id, "curator".into());
        assert_eq!(entry.outcome, None, "it is followed from now on");
        let genesis = state.genesis.unwrap();
        assert_eq!(genesis.repository_id, RepositoryId(7));
        assert_eq!(
            (genesis.born_at, genesis.nonce.as_str()),
            (now, "9f3c5a0e77b1")
        );
    }

    #[test]
    fn the_marker_in_the_prompt_precedes_the_title() {
        let line = |repository| crate::model::PromptLine {
            marker: "0123456789ab.1".parse().unwrap(),
            repository: RepositoryId(repository),
            track: "default".into(),
            seq: 3,
            slot: "".into(),
            persona: "curator".into(),
        };
        let marked = |repository| {
            let mut one = session("curator: default [phileas:0123456789ab.1]");
            one.prompt = Some(prompt::with_marker("Tidy up.", &line(repository)));
            one
        };
        let mut state = State::default();
        let error = import(&mut state, &marked(7)).unwrap_err();
        assert!(error.to_string().contains("0123456789ab.1"), "{error}");
        assert_eq!(state, State::default());
        import(&mut state, &marked(8)).unwrap();
        assert_eq!(
            state.history.len(),
            1,
            "a session of another repository is not imported"
        );
    }

    #[test]
    fn a_session_of_this_ledger_is_not_imported() {
        let mut ours = session("curator: default [phileas:0123456789ab.1]");
        ours.prompt = None;
        let mut state = State::default();
        let error = import(&mut state, &ours).unwrap_err();
        assert!(matches!(error, ImportError::Ours { .. }), "{error}");
        assert_eq!(state, State::default());
    }
}
