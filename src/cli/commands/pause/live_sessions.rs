//! Finds the live sessions of a repository, and those that may be about to start.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{Ledger, ListingNeed, Session};
use phileas_domain::model::{Holder, Marker, SessionId, TrackName};
use phileas_domain::state::{State, Turn};

use crate::cli::exit::CliError;
use crate::runtime::ledger_of;
use crate::runtime::ports::{ReadGitHub, ReadJules};

/// How long after an intent's deadline its call may still run: the longest time of a request, and a margin.
const CALL_LIMIT: SignedDuration = SignedDuration::from_mins(2);

/// How long after its intent a session may exist without being listed.
const LISTING_LAG: SignedDuration = SignedDuration::from_mins(15);

/// The result of one check.
pub(super) struct LiveSessions {
    /// GitHub's time.
    pub(super) now: Timestamp,
    pub(super) live: Vec<SessionId>,
    pub(super) announced: Vec<AnnouncedSession>,
    pub(super) paused_by_label: bool,
}

/// A session that was announced and cannot be seen: a process may be about to create it, or has just done so.
pub(super) struct AnnouncedSession {
    pub(super) track: TrackName,
    pub(super) turn: Turn,
    pub(super) created_at: Timestamp,
    pub(super) not_after: Timestamp,
    pub(super) holder: Holder,
}

/// Finds the live sessions of the ledger's turns and those with this repository's marker, and the announced sessions
/// that cannot be seen.
pub(super) async fn find_live_sessions(
    github: &impl ReadGitHub,
    jules: &impl ReadJules,
) -> Result<LiveSessions, CliError> {
    let observation = github.observe_repository().await?;
    let state = match ledger_of(observation.ledger) {
        Ledger::Present { state, .. } => *state,
        Ledger::Missing { .. } | Ledger::Corrupt { .. } => State::default(),
    };
    let need = ListingNeed::Since(Timestamp::MIN);
    let now = observation.now;
    let repository = &observation.repository;
    let listing = jules.list_sessions(repository, &need, now).await?;
    let known = known_sessions(&state);
    let ours = |session: &Session| {
        let line = session.prompt.as_deref().and_then(Marker::from_prompt);
        let by_marker = match (line, &session.prompt) {
            (Some(line), _) => line.repository == repository.id,
            (None, Some(_)) => false,
            // The listing omits the prompt, so use the marker in the title if the ledger knows its turn.
            (None, None) => Marker::from_title(&session.title).is_some_and(|marker| {
                state.live_turn(marker.turn.as_str()).is_some()
                    || state.entry_named(marker.turn.as_str()).is_some()
            }),
        };
        by_marker || known.contains(&session.id)
    };
    let mut live: Vec<SessionId> = listing
        .sessions
        .iter()
        .filter(|session| is_stoppable(session) && ours(session))
        .map(|session| session.id.clone())
        .collect();
    // A listing may lag behind, so read the sessions of the ledger one by one.
    let of_turns = state.tracks.values().flat_map(|track| track.turns.values());
    for id in of_turns.filter_map(|turn| turn.session_id.as_ref()) {
        if live.contains(id) || listing.get(id).is_some() {
            continue;
        }
        let session = jules.read_session(id).await?;
        if session.as_ref().is_some_and(is_stoppable) {
            live.push(id.clone());
        }
    }
    let mut announced = announced_sessions(&state);
    announced.retain(|one| one.listed_by() > now && !one.is_listed_in(&listing.sessions));
    Ok(LiveSessions {
        now,
        live,
        announced,
        paused_by_label: observation.paused_by_label.is_some(),
    })
}

impl AnnouncedSession {
    fn is_listed_in(&self, sessions: &[Session]) -> bool {
        let marker = Marker {
            turn: self.turn.turn.clone(),
            attempt: self.turn.attempt,
        };
        sessions.iter().any(|session| {
            let line = session.prompt.as_deref().and_then(Marker::from_prompt);
            let own = line.map(|line| line.marker);
            own.or_else(|| Marker::from_title(&session.title)) == Some(marker.clone())
        })
    }

    /// When the process that announced it has called Jules and has the answer, if it calls at all.
    pub(super) fn call_ends_by(&self) -> Timestamp {
        add_span(self.not_after, CALL_LIMIT)
    }

    /// When a listing shows it, if it exists.
    pub(super) fn listed_by(&self) -> Timestamp {
        add_span(self.created_at, LISTING_LAG)
    }
}

/// Whether archiving stops it.
fn is_stoppable(session: &Session) -> bool {
    !session.archived && session.state.is_live()
}

/// Turns with an intent whose session the ledger does not know.
pub(super) fn announced_sessions(state: &State) -> Vec<AnnouncedSession> {
    let turns = state
        .tracks
        .iter()
        .flat_map(|(name, track)| track.turns.values().map(move |turn| (name, turn)));
    turns
        .filter(|(_, turn)| turn.session_id.is_none())
        .filter_map(|(name, turn)| {
            let intent = turn.intent.as_ref()?;
            Some(AnnouncedSession {
                track: name.clone(),
                turn: turn.clone(),
                created_at: intent.created_at,
                not_after: intent.not_after,
                holder: intent.holder.clone(),
            })
        })
        .collect()
}

fn known_sessions(state: &State) -> BTreeSet<SessionId> {
    let history = state
        .history
        .values()
        .flat_map(|entry| entry.session_id.iter().chain(&entry.duplicates));
    let turns = state.tracks.values().flat_map(|track| track.turns.values());
    let live = turns.filter_map(|turn| turn.session_id.as_ref());
    history.chain(live).cloned().collect()
}

fn add_span(at: Timestamp, span: SignedDuration) -> Timestamp {
    at.checked_add(span).unwrap_or(Timestamp::MAX)
}
