//! Which of Jules' sessions belong to this ledger, and which must be read to tell.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::engine::input::session::{Session, Sessions};
use crate::engine::input::snapshot::Snapshot;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{CLOCK_TOLERANCE, SESSIONS_READ};
use crate::model::{Marker, PromptLine, SessionId};
use crate::state::{State, Turn};

/// When the turn's session was created, by the history.
pub(crate) fn session_created_at(builder: &DecisionBuilder<'_>, turn: &Turn) -> Timestamp {
    let entry = turn
        .history_key
        .and_then(|key| builder.state.history.get(&key));
    entry
        .and_then(|entry| entry.created_at)
        .unwrap_or_else(|| builder.now())
}

/// Whether this ledger made the marker of a line. Any other marker is a forgery or another ledger's, and proves
/// nothing. A ledger without a nonce made none, so every marker of this repository counts as forgotten.
pub(crate) fn is_of_ledger(state: &State, line: &PromptLine) -> bool {
    let genesis = state.genesis.as_ref();
    genesis.is_none_or(|genesis| line.is_made_by(&genesis.nonce))
}

/// The marker line of a session's prompt, if it names this repository.
pub(crate) fn own_prompt_line(snapshot: &Snapshot, session: &Session) -> Option<PromptLine> {
    let line = Marker::from_prompt(session.prompt.as_deref()?)?;
    (line.repository == snapshot.repository.id).then_some(line)
}

/// The start of a listing that shows the session of an intent of this time.
pub(crate) fn listing_start(created_at: Timestamp) -> Timestamp {
    created_at
        .checked_sub(CLOCK_TOLERANCE)
        .unwrap_or(Timestamp::MIN)
}

/// The marker of a session of this repository.
pub(crate) fn session_marker(snapshot: &Snapshot, session: &Session) -> Option<Marker> {
    if session.prompt.is_some() {
        return own_prompt_line(snapshot, session).map(|line| line.marker);
    }
    Marker::from_title(&session.title).filter(|_| session.source.is_some())
}

/// The marker of a session that may be this repository's. Comparing it with the ledger's turns is proof enough, because
/// a turn's id derives from the repository's id and the ledger's nonce. After a rename a session still names the
/// repository's earlier name.
pub(crate) fn claimed_marker(snapshot: &Snapshot, session: &Session) -> Option<Marker> {
    let in_title = || Marker::from_title(&session.title).filter(|_| session.prompt.is_none());
    session_marker(snapshot, session).or_else(in_title)
}

/// Returns the sessions of a listing that the ledger does not know. The newest entries are read first, because they
/// know most.
pub(crate) fn unknown_sessions<'a>(
    state: &State,
    listing: &'a Sessions,
) -> BTreeSet<&'a SessionId> {
    let mut left: BTreeSet<_> = listing.sessions.iter().map(|one| &one.id).collect();
    let turns = state.tracks.values().flat_map(|track| track.turns.values());
    let live = turns.filter_map(|turn| turn.session_id.as_ref());
    let entries = state.history.values().rev();
    let history = entries.flat_map(|entry| entry.session_id.iter().chain(&entry.duplicates));
    let mut known = live.chain(history);
    while !left.is_empty()
        && let Some(id) = known.next()
    {
        left.remove(id);
    }
    left
}

/// The sessions that a listing does not identify.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unidentified {
    /// There are none.
    None,
    /// Some are being read.
    Requested,
    /// Only unreadable ones remain, newest first, or so many of these that no more are requested.
    Unreadable(Vec<SessionId>),
}

/// Requests every session of this repository since an instant that the listing does not identify, and those under
/// another name until an instant. While one is left, no absence is proven.
pub(crate) fn request_unidentified(
    builder: &mut DecisionBuilder<'_>,
    since: Timestamp,
    elsewhere_until: Option<Timestamp>,
) -> Unidentified {
    let snapshot = builder.snapshot;
    let Some(listing) = snapshot.listing() else {
        return Unidentified::None;
    };
    let unknown = unknown_sessions(&builder.state, listing);
    let left = listing
        .sessions
        .iter()
        .rev()
        .filter(|session| session.prompt.is_none() && Marker::from_title(&session.title).is_none())
        .filter(|session| {
            !session.elsewhere || elsewhere_until.is_some_and(|until| session.created_at <= until)
        })
        .filter(|session| session.created_at >= since && unknown.contains(&session.id))
        .map(|session| &session.id);
    let is_refused = |id: &&SessionId| snapshot.unread.contains_key(*id);
    let (refused, asked): (Vec<_>, Vec<_>) = left.partition(is_refused);
    // Limit the requests while Jules shows none of them.
    let room = SESSIONS_READ.saturating_sub(refused.len());
    if room == 0 || asked.is_empty() {
        return match refused.is_empty() {
            true => Unidentified::None,
            false => Unidentified::Unreadable(refused.into_iter().cloned().collect()),
        };
    }
    builder
        .reads
        .sessions
        .extend(asked.into_iter().take(room).cloned());
    Unidentified::Requested
}
