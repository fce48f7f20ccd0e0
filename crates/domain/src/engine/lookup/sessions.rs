//! Which of Jules' sessions belong to this ledger, and which cannot be read yet.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::engine::input::session::{Session, Sessions};
use crate::engine::input::snapshot::Snapshot;
use crate::engine::output::builder::Draft;
use crate::engine::output::limits::{CLOCK_TOLERANCE, SESSIONS_READ};
use crate::model::{Marker, PromptLine, SessionId};
use crate::state::{State, Turn};

/// When the turn's session was created, as the history knows.
pub(crate) fn created_at(draft: &Draft<'_>, turn: &Turn) -> Timestamp {
    let entry = turn
        .history_key
        .and_then(|key| draft.state.history.get(&key));
    entry
        .and_then(|entry| entry.created_at)
        .unwrap_or_else(|| draft.now())
}

/// Whether the ledger made the marker of a line. Another one is a forgery or another ledger's, and proves nothing. A ledger
/// without a nonce made none, so that every marker of this repository is one that it forgot.
pub(crate) fn is_of_ledger(state: &State, line: &PromptLine) -> bool {
    let genesis = state.genesis.as_ref();
    genesis.is_none_or(|genesis| line.is_made_by(&genesis.nonce))
}

/// What a session's prompt says, if it is one of this repository's.
pub(crate) fn our_line(snapshot: &Snapshot, session: &Session) -> Option<PromptLine> {
    let line = Marker::in_prompt(session.prompt.as_deref()?)?;
    (line.repository == snapshot.repository.id).then_some(line)
}

/// The instant from which a listing must reach to show the session of an intent.
pub(crate) fn horizon(created_at: Timestamp) -> Timestamp {
    created_at
        .checked_sub(CLOCK_TOLERANCE)
        .unwrap_or(Timestamp::MIN)
}

/// The marker of a session of this repository.
pub(crate) fn marker_of(snapshot: &Snapshot, session: &Session) -> Option<Marker> {
    if session.prompt.is_some() {
        return our_line(snapshot, session).map(|line| line.marker);
    }
    Marker::in_title(&session.title).filter(|_| session.source.is_some())
}

/// The marker of a session that may be this repository's. Who compares it with the turns of the ledger needs no more: the
/// id of a turn is made of the repository's id and the ledger's nonce. After a rename a session still names the
/// repository as it was called when it was created.
pub(crate) fn claim_of(snapshot: &Snapshot, session: &Session) -> Option<Marker> {
    let in_title = || Marker::in_title(&session.title).filter(|_| session.prompt.is_none());
    marker_of(snapshot, session).or_else(in_title)
}

/// Which sessions of a listing the ledger does not know. The newest entries are looked at first: they know most.
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

/// What is left of the sessions of which a listing does not say whose they are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// None is.
    None,
    /// Some are to be looked at yet.
    Asked,
    /// Only those that Jules did not show when they were looked at, the newest first, or so many of these that no more are
    /// asked for.
    Refused(Vec<SessionId>),
}

/// Sessions of this repository, created since an instant, of which the listing does not say whose they are, and those
/// under another name until an instant. Asks for a look at each; while one is left, nobody can say that a session does not
/// exist.
pub(crate) fn unread(
    draft: &mut Draft<'_>,
    since: Timestamp,
    elsewhere_until: Option<Timestamp>,
) -> Unread {
    let snapshot = draft.snapshot;
    let Some(listing) = snapshot.listing() else {
        return Unread::None;
    };
    let unknown = unknown_sessions(&draft.state, listing);
    let left = listing
        .sessions
        .iter()
        .rev()
        .filter(|session| session.prompt.is_none() && Marker::in_title(&session.title).is_none())
        .filter(|session| {
            !session.elsewhere || elsewhere_until.is_some_and(|until| session.created_at <= until)
        })
        .filter(|session| session.created_at >= since && unknown.contains(&session.id))
        .map(|session| &session.id);
    let is_refused = |id: &&SessionId| snapshot.unread.contains_key(*id);
    let (refused, asked): (Vec<_>, Vec<_>) = left.partition(is_refused);
    // Jules is not asked for one after another without end while it shows none.
    let room = SESSIONS_READ.saturating_sub(refused.len());
    if room == 0 || asked.is_empty() {
        return match refused.is_empty() {
            true => Unread::None,
            false => Unread::Refused(refused.into_iter().cloned().collect()),
        };
    }
    draft
        .needs
        .sessions
        .extend(asked.into_iter().take(room).cloned());
    Unread::Asked
}
