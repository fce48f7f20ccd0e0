//! Sessions of which a listing does not say whose they are, and those among them that Jules does not show.
//!
//! A listing may leave prompts out, and a title may have been changed. Such a session is looked at by itself. Where Jules
//! does not show it, for longer than [`UNREAD_PATIENCE`], a person decides about the turn whose session it may be.

use jiff::Timestamp;

use super::adopt::{held, unknown_sessions};
use super::draft::Draft;
use super::events::entry_of;
use super::limits::{POLL, PULL_POLL, SESSIONS_READ, UNREAD_PATIENCE};
use super::{ending, progress};
use crate::model::{Marker, SessionId, Slot, TrackName};
use crate::state::{HistoryEntry, Outcome, Turn};

/// What is left of the sessions of which a listing does not say whose they are.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unread {
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
pub(super) fn unread(
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

/// All that a complete listing leaves open is sessions that Jules does not show: each may be the turn's.
pub(super) fn behind_doors(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    sessions: &[SessionId],
    settled_at: Timestamp,
) {
    let Some(one) = sessions.first() else {
        return;
    };
    let outage = draft.snapshot.unread.get(one);
    let why = outage.map_or("it was not answered", |outage| outage.detail.as_str());
    let others = match sessions.len() - 1 {
        0 => String::new(),
        others => format!(" (and {others} more)"),
    };
    let soon = outage
        .and_then(|outage| outage.retry_at)
        .unwrap_or_else(|| draft.after(POLL));
    let patience = settled_at.checked_add(UNREAD_PATIENCE);
    if turn.warned_at.is_none() && patience.is_ok_and(|patience| draft.now() < patience) {
        let text = format!(
            "session {one}{others} may be its own, and cannot be read: {why}; it is tried again"
        );
        draft.say(held(draft, track, slot, turn, text).until(soon));
        return;
    }
    if turn.cancel {
        let note = format!(
            "whether session {one}{others} is its own nobody knows, since it cannot be read; look at it at Jules"
        );
        end_unseen(draft, track, slot, note);
        return;
    }
    let text = format!(
        "session {one}{others} may be its own, and Jules does not show it: {why}; a person decides: \
         `phileas session retry {id}` goes on without it, `phileas session cancel {id}` ends the turn",
        id = turn.turn
    );
    progress::call_person(draft, track, slot, turn, &text);
    let until = soon.max(draft.after(PULL_POLL));
    draft.say(held(draft, track, slot, turn, text).until(until));
}

/// Ends a turn as cancelled of which nobody knows whether it has a session. It is written down, so that the session is
/// archived should it show itself.
pub(super) fn end_unseen(draft: &mut Draft<'_>, track: &TrackName, slot: &Slot, note: String) {
    let key = draft.state.next_history_key();
    let seq = draft.seq(track);
    let Some(turn) = draft.turn_mut(track, slot) else {
        return;
    };
    turn.history_key = Some(key);
    let entry = HistoryEntry {
        created_at: turn.intent.as_ref().map(|intent| intent.created_at),
        ..entry_of(turn, track, slot, seq)
    };
    draft.state.history.insert(key, entry);
    ending::end(draft, track, slot, Outcome::Cancelled, Some(note));
}
