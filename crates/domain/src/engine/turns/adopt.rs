//! Finds the sessions of turns by their markers.
//!
//! Jules has no idempotency key. A process that wants a session commits an intent first, and only the winner of that
//! commit calls Jules, once. When the winner dies or the answer is lost, a later tick finds the session by the marker
//! in its prompt or title. Only a complete listing after the grace period proves that no session exists. The next
//! attempt then starts under a marker of its own, however many failed before: an outage of Jules stops no track. The
//! pause between two such attempts doubles up to [`ABSENT_PAUSE_LIMIT`]. A person decides where no complete listing can
//! be had for an hour although Jules answers, or where only unreadable sessions remain.
//!
//! One window stays open: a complete listing may omit a session that was created more than the grace period ago. It
//! appears later, is recorded as a duplicate and archived. After [`LATE_FINDS_LIMIT`] of these in one turn no listing
//! is proof, and a person decides.

use std::cmp::Reverse;

use jiff::Timestamp;

use super::unreadable::{end_without_session, wait_for_unreadable};
use crate::engine::input::session::Session;
use crate::engine::lookup::sessions::{
    Unidentified, claimed_marker, listing_start, request_unidentified, unknown_sessions,
};
use crate::engine::lookup::waiting_turns::ambiguous_line;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::{
    ABSENT_PAUSE_LIMIT, CLOCK_TOLERANCE, DAY, GRACE, LATE_FINDS_LIMIT, POLL, PULL_POLL,
    UNREAD_PATIENCE,
};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::record::session::record_session;
use crate::engine::record::{notice, turn};
use crate::engine::text::time::doubled_pause;
use crate::model::{Marker, Slot, TrackName};
use crate::prompt;
use crate::state::{HistoryEntry, Intent, Outcome, State, Turn};

/// Searches the session of a turn with an intent.
pub(crate) fn find_session(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
) {
    let Some(intent) = &turn.intent else {
        return;
    };
    let now = builder.now();
    if adopt_session(builder, track, slot, turn) {
        return;
    }
    let settled_at = intent
        .created_at
        .checked_add(GRACE)
        .unwrap_or(Timestamp::MAX);
    // A session under an earlier name of the repository must be as old as the intent. Sessions of other repositories
    // are read only where nothing else can settle the turn.
    let until = intent.not_after.checked_add(GRACE).ok();
    let unread = request_unidentified(
        builder,
        listing_start(intent.created_at),
        until.filter(|_| now >= settled_at),
    );
    if now < intent.not_after && intent.holder != builder.snapshot.holder {
        let text = format!("{} is starting it", intent.holder);
        let (verdict, reason) = (Verdict::Waiting, Reason::OtherHolder);
        let line = builder.turn_line(track, slot, turn, verdict, reason, text);
        builder.report_line(line.with_until(intent.not_after));
        return;
    }
    let complete = builder.snapshot.listing().is_some_and(|listing| {
        listing.covers(listing_start(intent.created_at)) && listing.taken_at >= settled_at
    });
    let like = find_lookalike(builder, turn);
    // A session with the marker is known; an unreadable one may be any.
    let unread = match unread {
        Unidentified::Unreadable(sessions) if complete && like.is_none() => {
            wait_for_unreadable(builder, track, slot, turn, &sessions, settled_at);
            return;
        }
        Unidentified::Unreadable(_) => false,
        Unidentified::Requested => true,
        Unidentified::None => false,
    };
    if !complete || unread {
        wait_for_listing(builder, track, slot, turn, intent, unread);
        return;
    }
    match like {
        Some((other, marker)) => settle_lookalike(builder, track, slot, turn, (other, &marker)),
        None => record_absence(builder, track, slot, turn, intent),
    }
}

/// Ends a cancelled turn with its lookalike. A person decides for every other turn.
fn settle_lookalike(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    (other, marker): (&Session, &Marker),
) {
    if turn.cancel {
        // Record it, so that a later tick archives it if this one dies.
        record_session(builder, track, slot, marker, other, "found");
        builder.add_effect(Effect::ArchiveSession {
            session: other.id.clone(),
        });
        let note = Some("its session bore its marker, but not its prompt or its time".to_owned());
        turn::end_turn(builder, track, slot, Outcome::Cancelled, note);
        return;
    }
    let text = format!(
        "session {} bears its marker, but not its prompt or its time; a person decides: `phileas session retry {id}` \
         takes it for this turn's own, `phileas session cancel {id}` archives it and ends the turn",
        other.id,
        id = turn.turn
    );
    notice::open_turn_notice(builder, track, slot, turn, &text);
    builder.report_line(ambiguous_line(builder, track, slot, turn, text));
}

/// Waits for a complete listing from after the grace period. Where Jules answers and none can be had for
/// [`UNREAD_PATIENCE`], a person decides; an outage of Jules ends by itself.
fn wait_for_listing(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    intent: &Intent,
    unread: bool,
) {
    let now = builder.now();
    let settled_at = intent.created_at.checked_add(GRACE).unwrap_or(now);
    let patience = settled_at.checked_add(UNREAD_PATIENCE);
    let is_over = patience.is_ok_and(|patience| now >= patience);
    let short = builder.snapshot.listing().filter(|listing| {
        let answers = listing.covers(listing_start(intent.created_at));
        is_over && !unread && !answers
    });
    let Some(listing) = short else {
        // A longer listing has been requested already, with those of the other turns.
        let until = settled_at.max(builder.now_plus(POLL));
        let text = "whether its session was created is not known yet; a complete listing after the grace shows it";
        builder.report_line(ambiguous_line(builder, track, slot, turn, text).with_until(until));
        return;
    };
    let why = match listing.archived {
        true => "is longer than what phileas reads of it",
        false => "does not show archived sessions",
    };
    if turn.cancel {
        let note = format!("Jules' list {why}; whether it has a session is not known");
        end_without_session(builder, track, slot, note);
        return;
    }
    let text = format!(
        "Jules' list {why}, so it does not prove that attempt {} has no session; a person decides: \
         `phileas session retry {id}` starts the next attempt, `phileas session cancel {id}` ends the turn",
        turn.attempt,
        id = turn.turn
    );
    notice::open_turn_notice(builder, track, slot, turn, &text);
    let until = builder.now_plus(PULL_POLL);
    builder.report_line(ambiguous_line(builder, track, slot, turn, text).with_until(until));
}

/// A complete listing after the grace period does not show the session of this attempt: the next attempt may start.
fn record_absence(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    intent: &Intent,
) {
    if turn.late_finds >= LATE_FINDS_LIMIT && !turn.cancel {
        let text = format!(
            "Jules' complete list showed {} sessions of earlier attempts only after it had left them out, so it does not \
             prove that attempt {} has none; a person decides: `phileas session retry {id}` starts the next attempt, \
             `phileas session cancel {id}` ends the turn",
            turn.late_finds,
            turn.attempt,
            id = turn.turn
        );
        notice::open_turn_notice(builder, track, slot, turn, &text);
        builder.report_line(ambiguous_line(builder, track, slot, turn, text));
        return;
    }
    let now = builder.now();
    let seq = builder.newest_seq(track);
    let pause = doubled_pause(GRACE, turn.ambiguous, ABSENT_PAUSE_LIMIT);
    let next_at = intent.created_at.checked_add(pause).unwrap_or(now).max(now);
    if let Some(turn) = builder.find_turn_mut(track, slot) {
        turn.intent = None;
        // A notice about this attempt is settled; the next attempt opens its own.
        turn.warned_at = None;
        turn.attempt += 1;
        turn.ambiguous = turn.ambiguous.saturating_add(1);
        turn.listed_empty_at = Some(now);
        turn.not_before = Some(next_at);
    }
    builder.add_headline(
        format!("no session of {track}#{seq} {}", turn.persona_id),
        Some(&turn.turn),
    );
    if next_at > now {
        // A turn between two attempts has a line of its own.
        return;
    }
    let text = format!(
        "a complete listing shows no session of attempt {}; the next one may start",
        turn.attempt
    );
    let (verdict, reason) = (Verdict::Waiting, Reason::RetryPause);
    let line = builder.turn_line(track, slot, turn, verdict, reason, text);
    builder.report_line(line.with_until(next_at));
}

/// Adopts a session of an earlier attempt that appears late, for a turn between two attempts.
pub(crate) fn adopt_late_session(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
) {
    let _adopted = adopt_session(builder, track, slot, turn);
}

fn adopt_session(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
) -> bool {
    let snapshot = builder.snapshot;
    let Some(listing) = snapshot.listing() else {
        return false;
    };
    let unknown = unknown_sessions(&builder.state, listing);
    let found = listing
        .sessions
        .iter()
        .filter(|session| unknown.contains(&session.id))
        .filter_map(|session| Some((session, claimed_marker(snapshot, session)?)))
        .filter(|(session, marker)| {
            marker.turn == turn.turn && matches_intent(session, marker, turn)
        })
        .min_by_key(|(session, marker)| {
            // Prefer the latest attempt: the earlier ones ended before it began.
            (
                Reverse(marker.attempt),
                session.created_at,
                session.id.clone(),
            )
        });
    let Some((session, marker)) = found else {
        return false;
    };
    if let Some(turn) = builder.find_turn_mut(track, slot) {
        let late = u32::from(marker.attempt < turn.attempt);
        turn.late_finds = turn.late_finds.saturating_add(late);
        turn.attempt = turn.attempt.max(marker.attempt);
    }
    record_session(builder, track, slot, &marker, session, "adopted");
    let turn = builder
        .find_turn(track, slot)
        .cloned()
        .unwrap_or_else(|| turn.clone());
    let text = format!("found session {} by its marker", session.id);
    let until = builder.now_plus(POLL);
    builder.report_line(
        builder
            .turn_line(
                track,
                slot,
                &turn,
                Verdict::Adopted,
                Reason::FoundByMarker,
                text,
            )
            .with_until(until),
    );
    true
}

/// Returns a session with this attempt's marker that does not match the intent. Treating the turn as unstarted beside
/// it might start it twice.
fn find_lookalike<'a>(builder: &DecisionBuilder<'a>, turn: &Turn) -> Option<(&'a Session, Marker)> {
    let snapshot = builder.snapshot;
    let listing = snapshot.listing()?;
    let unknown = unknown_sessions(&builder.state, listing);
    listing
        .sessions
        .iter()
        .filter(|session| unknown.contains(&session.id))
        .filter_map(|session| Some((session, claimed_marker(snapshot, session)?)))
        .find(|(_, marker)| marker.turn == turn.turn && marker.attempt == turn.attempt)
}

/// Whether a session with this turn's marker matches the intent, as far as the listing shows.
fn matches_intent(session: &Session, marker: &Marker, turn: &Turn) -> bool {
    let Some(intent) = turn
        .intent
        .as_ref()
        .filter(|_| marker.attempt == turn.attempt)
    else {
        // Other attempts have no intent: an earlier one's is gone, and a later one's was in a ledger that was rolled
        // back. Only the marker counts.
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

/// Records and archives second sessions of turns that already have one.
pub(crate) fn archive_duplicates(builder: &mut DecisionBuilder<'_>) {
    let snapshot = builder.snapshot;
    let Some(listing) = snapshot.listing() else {
        return;
    };
    let unknown = unknown_sessions(&builder.state, listing);
    // Jules guarantees no order, and the same facts must give the same bytes.
    let mut sessions: Vec<_> = listing.sessions.iter().collect();
    sessions.sort_by_key(|session| (session.created_at, &session.id));
    for session in sessions {
        if !unknown.contains(&session.id) {
            archive_again(builder, session);
            continue;
        }
        let Some(marker) = claimed_marker(snapshot, session) else {
            continue;
        };
        let waits_for_it = builder
            .state
            .tracks
            .values()
            .flat_map(|track| track.turns.values())
            .filter(|turn| turn.turn == marker.turn)
            // A later attempt than the ledger knows is adopted by its turn once the earlier session has ended.
            .any(|turn| turn.session_id.is_none() || turn.attempt < marker.attempt);
        if !waits_for_it {
            archive_duplicate(builder, session, &marker);
        }
    }
}

/// Records and archives a session with the marker of a turn that has another one.
fn archive_duplicate(builder: &mut DecisionBuilder<'_>, session: &Session, marker: &Marker) {
    let key = builder
        .state
        .entry_named(marker.turn.as_str())
        .map(|(key, _)| key);
    let Some(entry) = key.and_then(|key| builder.state.history.get_mut(&key)) else {
        return;
    };
    entry.duplicates.push(session.id.clone());
    let text = match &entry.session_id {
        Some(first) => format!(
            "session {} is a second one of a turn that has {first}",
            session.id
        ),
        None => format!(
            "session {} is of a turn that was ended before phileas saw it",
            session.id
        ),
    };
    let (track, persona) = (entry.track_name(), entry.persona_id.clone());
    note_late_find(&mut builder.state, marker);
    let mut line = Line::about_track(&track, Verdict::Settled, Reason::FoundDuplicate, text)
        .with_persona(&persona);
    line.turn = Some(marker.turn.clone());
    line.session_id = Some(session.id.clone());
    builder.report_line(line);
    builder.add_headline(
        format!("duplicate of {track} {persona}"),
        Some(&marker.turn),
    );
    if !session.archived {
        builder.add_effect(Effect::ArchiveSession {
            session: session.id.clone(),
        });
    }
}

/// Counts a session of an earlier attempt that a complete listing had omitted.
fn note_late_find(state: &mut State, marker: &Marker) {
    let tracks = state.tracks.values_mut();
    let mut turns = tracks.flat_map(|track| track.turns.values_mut());
    if let Some(turn) = turns.find(|turn| turn.turn == marker.turn)
        && marker.attempt < turn.attempt
    {
        turn.late_finds = turn.late_finds.saturating_add(1);
    }
}

/// Archives a session again that is still at work, because the process died before archiving it. After a day a person
/// has resumed it on purpose.
fn archive_again(builder: &mut DecisionBuilder<'_>, session: &Session) {
    let now = builder.now();
    let young = |at: &Timestamp| now.duration_since(*at) < DAY;
    let recorded = |entry: &HistoryEntry| {
        let given_up = entry.is_given_up()
            && entry.session_id.as_ref() == Some(&session.id)
            && entry.finished_at.as_ref().is_some_and(young);
        given_up || entry.duplicates.contains(&session.id)
    };
    let at_work = session.state.is_live() && !session.archived;
    if at_work && builder.state.history.values().rev().any(recorded) {
        builder.add_effect(Effect::ArchiveSession {
            session: session.id.clone(),
        });
    }
}
