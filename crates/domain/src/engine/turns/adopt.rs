//! Sessions are found again by their markers.
//!
//! Jules has no idempotency key. Whoever wants a session commits an intent first, and only the winner of that commit
//! calls Jules, once. When the winner dies, or the answer is lost, a successor finds the session by the marker in its
//! prompt or title. Only one complete listing, taken after the grace, may say that there is none; then the next attempt
//! starts under a marker of its own, however many came to nothing before: an outage of Jules stops no track. The pause
//! between two such attempts doubles up to [`ABSENT_PAUSE_LIMIT`]. Where a complete listing cannot be had for longer than
//! an hour although Jules answers, or leaves open only sessions that Jules does not show, a person decides. The one window
//! that stays open: a session that a complete listing does not show although it was created more than the grace ago. It
//! then shows up later, is recorded as a duplicate and archived. After [`LATE_FINDS_LIMIT`] of these in one turn a listing
//! proves nothing any more, and a person decides.

use std::cmp::Reverse;

use jiff::Timestamp;

use super::unreadable::{behind_doors, end_unseen};
use crate::engine::input::session::Session;
use crate::engine::lookup::sessions::{Unread, claim_of, horizon, unknown_sessions, unread};
use crate::engine::lookup::waiting_turns::held;
use crate::engine::output::builder::Draft;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::{
    ABSENT_PAUSE_LIMIT, CLOCK_TOLERANCE, DAY, GRACE, LATE_FINDS_LIMIT, POLL, PULL_POLL,
    UNREAD_PATIENCE,
};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::record::session::own;
use crate::engine::record::{notice, turn};
use crate::engine::text::time::doubled;
use crate::model::{Marker, Slot, TrackName};
use crate::prompt;
use crate::state::{HistoryEntry, Intent, Outcome, State, Turn};

/// A turn whose intent stands and whose session is not known.
pub(crate) fn seek(draft: &mut Draft<'_>, track: &TrackName, slot: &Slot, turn: &Turn) {
    let Some(intent) = &turn.intent else {
        return;
    };
    let now = draft.now();
    if adopt(draft, track, slot, turn) {
        return;
    }
    let settled_at = intent
        .created_at
        .checked_add(GRACE)
        .unwrap_or(Timestamp::MAX);
    // Under a name from before a rename it can only have been started while it was announced. Strangers' sessions are
    // looked at only where nothing else can settle it any more.
    let until = intent.not_after.checked_add(GRACE).ok();
    let unread = unread(
        draft,
        horizon(intent.created_at),
        until.filter(|_| now >= settled_at),
    );
    if now < intent.not_after && intent.holder != draft.snapshot.holder {
        let text = format!("{} is about to start it", intent.holder);
        draft.say(
            draft
                .line(
                    track,
                    slot,
                    turn,
                    Verdict::Waiting,
                    Reason::OtherHolder,
                    text,
                )
                .until(intent.not_after),
        );
        return;
    }
    let complete = draft.snapshot.listing().is_some_and(|listing| {
        listing.covers(horizon(intent.created_at)) && listing.taken_at >= settled_at
    });
    let like = look_alike(draft, turn);
    // What bears the marker is known; what cannot be read may be anything.
    let unread = match unread {
        Unread::Refused(sessions) if complete && like.is_none() => {
            behind_doors(draft, track, slot, turn, &sessions, settled_at);
            return;
        }
        Unread::Refused(_) => false,
        Unread::Asked => true,
        Unread::None => false,
    };
    if !complete || unread {
        unlisted(draft, track, slot, turn, intent, unread);
        return;
    }
    if let Some((other, marker)) = like {
        if turn.cancel {
            // It is written down, so that it is archived again should nobody come to do it now.
            own(draft, track, slot, &marker, other, "found");
            draft.effect(Effect::ArchiveSession {
                session: other.id.clone(),
            });
            let note =
                Some("its session bore its marker, but not its prompt or its time".to_owned());
            turn::end(draft, track, slot, Outcome::Cancelled, note);
            return;
        }
        let text = format!(
            "session {} bears its marker, but not its prompt or its time; a person decides: `phileas session retry {id}` \
             takes it for this turn's own, `phileas session cancel {id}` archives it and ends the turn",
            other.id,
            id = turn.turn
        );
        notice::call_person(draft, track, slot, turn, &text);
        draft.say(held(draft, track, slot, turn, text));
        return;
    }
    absent(draft, track, slot, turn, intent);
}

/// No complete listing from after the grace is at hand yet. Where Jules answers and none can be had for
/// [`UNREAD_PATIENCE`], a person decides; an outage of Jules ends by itself.
fn unlisted(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    intent: &Intent,
    unread: bool,
) {
    let now = draft.now();
    let settled_at = intent.created_at.checked_add(GRACE).unwrap_or(now);
    let patience = settled_at.checked_add(UNREAD_PATIENCE);
    let is_over = patience.is_ok_and(|patience| now >= patience);
    let short = draft.snapshot.listing().filter(|listing| {
        let answers = listing.covers(horizon(intent.created_at));
        is_over && !unread && !answers
    });
    let Some(listing) = short else {
        // Where a deeper listing is what is missing, it has been asked for already, with those of the other turns.
        let until = settled_at.max(draft.after(POLL));
        let text = "whether its session was created is not known yet; a complete listing after the grace shows it";
        draft.say(held(draft, track, slot, turn, text).until(until));
        return;
    };
    let why = match listing.archived {
        true => "is longer than what phileas reads of it",
        false => "does not show archived sessions",
    };
    if turn.cancel {
        let note = format!("Jules' list {why}; whether it has a session is not known");
        end_unseen(draft, track, slot, note);
        return;
    }
    let text = format!(
        "Jules' list {why}, so it does not prove that attempt {} has no session; a person decides: \
         `phileas session retry {id}` starts the next attempt, `phileas session cancel {id}` ends the turn",
        turn.attempt,
        id = turn.turn
    );
    notice::call_person(draft, track, slot, turn, &text);
    let until = draft.after(PULL_POLL);
    draft.say(held(draft, track, slot, turn, text).until(until));
}

/// A complete listing, taken after the grace, does not show the session of this attempt: the next attempt may start.
fn absent(draft: &mut Draft<'_>, track: &TrackName, slot: &Slot, turn: &Turn, intent: &Intent) {
    if turn.late_finds >= LATE_FINDS_LIMIT && !turn.cancel {
        let text = format!(
            "Jules' complete list showed {} sessions of earlier attempts only after it had left them out, so it does not \
             prove that attempt {} has none; a person decides: `phileas session retry {id}` starts the next attempt, \
             `phileas session cancel {id}` ends the turn",
            turn.late_finds,
            turn.attempt,
            id = turn.turn
        );
        notice::call_person(draft, track, slot, turn, &text);
        draft.say(held(draft, track, slot, turn, text));
        return;
    }
    let now = draft.now();
    let seq = draft.seq(track);
    let pause = doubled(GRACE, turn.ambiguous, ABSENT_PAUSE_LIMIT);
    let next_at = intent.created_at.checked_add(pause).unwrap_or(now).max(now);
    if let Some(turn) = draft.turn_mut(track, slot) {
        turn.intent = None;
        // A notice about this attempt is settled; the next attempt opens its own.
        turn.warned_at = None;
        turn.attempt += 1;
        turn.ambiguous = turn.ambiguous.saturating_add(1);
        turn.listed_empty_at = Some(now);
        turn.not_before = Some(next_at);
    }
    draft.headline(
        format!("no session of {track}#{seq} {}", turn.persona_id),
        Some(&turn.turn),
    );
    if next_at > now {
        // What waits between two attempts has a line of its own.
        return;
    }
    let text = format!(
        "a complete listing shows no session of attempt {}; the next one may start",
        turn.attempt
    );
    let (verdict, reason) = (Verdict::Waiting, Reason::RetryPause);
    let line = draft.line(track, slot, turn, verdict, reason, text);
    draft.say(line.until(next_at));
}

/// A turn between two attempts: the session of an earlier one may show up late.
pub(crate) fn late(draft: &mut Draft<'_>, track: &TrackName, slot: &Slot, turn: &Turn) {
    let _adopted = adopt(draft, track, slot, turn);
}

fn adopt(draft: &mut Draft<'_>, track: &TrackName, slot: &Slot, turn: &Turn) -> bool {
    let snapshot = draft.snapshot;
    let Some(listing) = snapshot.listing() else {
        return false;
    };
    let unknown = unknown_sessions(&draft.state, listing);
    let found = listing
        .sessions
        .iter()
        .filter(|session| unknown.contains(&session.id))
        .filter_map(|session| Some((session, claim_of(snapshot, session)?)))
        .filter(|(session, marker)| marker.turn == turn.turn && is_of_intent(session, marker, turn))
        .min_by_key(|(session, marker)| {
            // Of a later attempt, the earlier ones ended before it began.
            (
                Reverse(marker.attempt),
                session.created_at,
                session.id.clone(),
            )
        });
    let Some((session, marker)) = found else {
        return false;
    };
    if let Some(turn) = draft.turn_mut(track, slot) {
        let late = u32::from(marker.attempt < turn.attempt);
        turn.late_finds = turn.late_finds.saturating_add(late);
        turn.attempt = turn.attempt.max(marker.attempt);
    }
    own(draft, track, slot, &marker, session, "adopted");
    let turn = draft
        .turn(track, slot)
        .cloned()
        .unwrap_or_else(|| turn.clone());
    let text = format!("found session {} by its marker", session.id);
    let until = draft.after(POLL);
    draft.say(
        draft
            .line(
                track,
                slot,
                &turn,
                Verdict::Adopted,
                Reason::FoundByMarker,
                text,
            )
            .until(until),
    );
    true
}

/// A session that bears the very marker of this attempt and is not the one that was announced. To call the turn
/// unstarted beside it might start it twice.
fn look_alike<'a>(draft: &Draft<'a>, turn: &Turn) -> Option<(&'a Session, Marker)> {
    let snapshot = draft.snapshot;
    let listing = snapshot.listing()?;
    let unknown = unknown_sessions(&draft.state, listing);
    listing
        .sessions
        .iter()
        .filter(|session| unknown.contains(&session.id))
        .filter_map(|session| Some((session, claim_of(snapshot, session)?)))
        .find(|(_, marker)| marker.turn == turn.turn && marker.attempt == turn.attempt)
}

/// Whether a session with this turn's marker is the one that the intent announced, as far as the listing shows.
fn is_of_intent(session: &Session, marker: &Marker, turn: &Turn) -> bool {
    let Some(intent) = turn
        .intent
        .as_ref()
        .filter(|_| marker.attempt == turn.attempt)
    else {
        // Of another attempt there is no intent: an earlier one's is gone, and a later one's stood in a ledger that was
        // put back. Its marker is all there is.
        return true;
    };
    let earliest = intent
        .created_at
        .checked_sub(CLOCK_TOLERANCE)
        .unwrap_or(Timestamp::MIN);
    let same_prompt = session
        .prompt
        .as_deref()
        .is_none_or(|text| prompt::is_sent(text, &intent.prompt_sha256));
    session.created_at >= earliest && same_prompt
}

/// Second sessions of turns that already have one are recorded and archived.
pub(crate) fn duplicates(draft: &mut Draft<'_>) {
    let snapshot = draft.snapshot;
    let Some(listing) = snapshot.listing() else {
        return;
    };
    let unknown = unknown_sessions(&draft.state, listing);
    // Jules promises no order, and the same facts must give the same bytes.
    let mut sessions: Vec<_> = listing.sessions.iter().collect();
    sessions.sort_by_key(|session| (session.created_at, &session.id));
    for session in sessions {
        if !unknown.contains(&session.id) {
            archive_again(draft, session);
            continue;
        }
        let Some(marker) = claim_of(snapshot, session) else {
            continue;
        };
        let waits_for_it = draft
            .state
            .tracks
            .values()
            .flat_map(|track| track.turns.values())
            .filter(|turn| turn.turn == marker.turn)
            // A later attempt than the ledger knows is found by its turn once the earlier session has ended.
            .any(|turn| turn.session_id.is_none() || turn.attempt < marker.attempt);
        if waits_for_it {
            continue;
        }
        let key = draft
            .state
            .entry_named(marker.turn.as_str())
            .map(|(key, _)| key);
        let Some(entry) = key.and_then(|key| draft.state.history.get_mut(&key)) else {
            continue;
        };
        entry.duplicates.push(session.id.clone());
        let text = match &entry.session_id {
            Some(first) => format!(
                "session {} is a second one of a turn that has {first}",
                session.id
            ),
            None => format!(
                "session {} is of a turn that was ended before anybody saw it",
                session.id
            ),
        };
        let (track, persona) = (entry.track_name(), entry.persona_id.clone());
        note_late_find(&mut draft.state, &marker);
        let mut line =
            Line::track(&track, Verdict::Settled, Reason::FoundDuplicate, text).persona(&persona);
        line.turn = Some(marker.turn.clone());
        line.session_id = Some(session.id.clone());
        draft.say(line);
        draft.headline(
            format!("duplicate of {track} {persona}"),
            Some(&marker.turn),
        );
        if !session.archived {
            draft.effect(Effect::ArchiveSession {
                session: session.id.clone(),
            });
        }
    }
}

/// A live turn whose earlier attempt has a session after all, which a complete listing had not shown.
fn note_late_find(state: &mut State, marker: &Marker) {
    let tracks = state.tracks.values_mut();
    let mut turns = tracks.flat_map(|track| track.turns.values_mut());
    if let Some(turn) = turns.find(|turn| turn.turn == marker.turn)
        && marker.attempt < turn.attempt
    {
        turn.late_finds = turn.late_finds.saturating_add(1);
    }
}

/// A session that was to be archived and is still at work: whoever decided it did not come to do it. After a day
/// somebody wants it to be at work.
fn archive_again(draft: &mut Draft<'_>, session: &Session) {
    let now = draft.now();
    let young = |at: &Timestamp| now.duration_since(*at) < DAY;
    let recorded = |entry: &HistoryEntry| {
        let given_up = matches!(entry.outcome, Some(Outcome::Cancelled | Outcome::Stuck))
            && entry.session_id.as_ref() == Some(&session.id)
            && entry.finished_at.as_ref().is_some_and(young);
        given_up || entry.duplicates.contains(&session.id)
    };
    let at_work = session.state.is_live() && !session.archived;
    if at_work && draft.state.history.values().rev().any(recorded) {
        draft.effect(Effect::ArchiveSession {
            session: session.id.clone(),
        });
    }
}
