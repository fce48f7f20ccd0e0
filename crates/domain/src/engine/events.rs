//! What came of this tick's effects is written into the state.

use jiff::{SignedDuration, Timestamp};

use super::draft::Draft;
use super::limits::{
    EFFECT_PAUSE, EFFECT_PAUSE_LIMIT, QUOTA_PAUSE, QUOTA_PAUSE_LIMIT, REFUSED_PAUSE,
    REFUSED_PAUSE_LIMIT, RETRY_AFTER_LIMIT, UNSENT_PAUSE,
};
use super::{
    CreateFailure, Effect, Event, Line, NoticeKey, Reason, Session, Verdict, adopt, dashboard,
    ending, layers, merging, ready, rest, tell, word,
};
use crate::model::{Marker, Slot, TrackName};
use crate::prompt;
use crate::state::{Extra, HistoryEntry, Intent, Refusal, RefusedEffect, Turn};

pub(super) fn apply(draft: &mut Draft<'_>, events: &[Event]) {
    for event in events {
        match event {
            Event::SessionCreated {
                track,
                slot,
                marker,
                session,
            } => created(draft, track, slot, marker, session),
            Event::SessionNotCreated {
                track,
                slot,
                marker,
                failure,
            } => {
                not_created(draft, track, slot, marker, failure);
            }
            Event::StatusTold {
                request,
                digest,
                comment_id,
            } => tell::told(draft, request, digest, *comment_id),
            Event::PullReadied { pull } => ready::done(draft, *pull),
            Event::PullTold { pull, marker } => word::told_of(draft, *pull, marker),
            Event::PullMerged { request } => merging::answered(draft, request, None),
            Event::MergeRefused { request, detail } => {
                merging::answered(draft, request, Some(detail));
            }
            Event::MergePutOff { request, retry_at } => {
                merging::put_off(draft, request, *retry_at);
            }
            Event::ProposalPublished { key, number } => layers::published(draft, key, *number),
            Event::WorkOffered { key, number } => layers::shown(draft, key, *number),
            Event::OfferClosed { number } => layers::closed(draft, *number),
            Event::DashboardOpened { number } => dashboard::opened(draft, *number),
            Event::EffectRefused { key } => refused(draft, key),
            // The executor has reported it; the next tick looks at the world again and decides again.
            Event::EffectFailed { .. } => {}
        }
    }
}

fn created(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    marker: &Marker,
    session: &Session,
) {
    if matches(draft, track, slot, marker) {
        own(draft, track, slot, marker, session, "started");
        draft.state.budget.strikes = 0;
    }
}

fn matches(draft: &Draft<'_>, track: &TrackName, slot: &Slot, marker: &Marker) -> bool {
    draft.turn(track, slot).is_some_and(|turn| {
        turn.turn == marker.turn && turn.attempt == marker.attempt && turn.session_id.is_none()
    })
}

/// What the history says of a turn that has no session yet.
pub(super) fn entry_of(turn: &Turn, track: &TrackName, slot: &Slot, seq: u64) -> HistoryEntry {
    HistoryEntry {
        persona_id: turn.persona_id.clone(),
        session_id: None,
        pr_number: None,
        created_at: None,
        track: Some(track.clone()),
        turn: Some(turn.turn.clone()),
        seq: Some(seq),
        slot: Some(slot.clone()),
        attempt: Some(turn.attempt),
        base_sha: turn.base_sha.clone(),
        outcome: None,
        finished_at: None,
        duplicates: Vec::new(),
        note: None,
        extra: Extra::new(),
    }
}

/// Makes a session the turn's own: in the turn, in its track, in the history and in the budget.
pub(super) fn own(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    marker: &Marker,
    session: &Session,
    word: &str,
) {
    let key = draft.state.next_history_key();
    let Some(state) = draft.state.tracks.get_mut(track) else {
        return;
    };
    let seq = state.seq;
    let Some(turn) = state.turns.get_mut(slot) else {
        return;
    };
    turn.refusals = 0;
    turn.refusal = None;
    state.refused.remove(&turn.persona_id);
    turn.session_id = Some(session.id.clone());
    turn.history_key = Some(key);
    // A session that is taken without an intent of this process still has a holder from now on.
    turn.intent.get_or_insert_with(|| Intent {
        created_at: session.created_at,
        not_after: session.created_at,
        holder: draft.snapshot.holder.clone(),
        prompt_sha256: session
            .prompt
            .as_deref()
            .map(prompt::sha256)
            .unwrap_or_default(),
        extra: Extra::new(),
    });
    state.session_id = Some(session.id.clone());
    state.updated_at = Some(draft.snapshot.now);
    let entry = HistoryEntry {
        session_id: Some(session.id.clone()),
        created_at: Some(session.created_at),
        attempt: Some(marker.attempt),
        ..entry_of(turn, track, slot, seq)
    };
    let headline = format!("{word} {track}#{seq} {}", turn.persona_id);
    let turn_id = turn.turn.clone();
    // Who never got a session has not seen this head.
    if let Some(base) = &turn.base_sha {
        let (persona, base) = (turn.persona_id.clone(), base.clone());
        state.base_shas.insert(persona, base);
    }
    draft.state.history.insert(key, entry);
    spend(draft, session.created_at);
    draft.headline(headline, Some(&turn_id));
}

fn spend(draft: &mut Draft<'_>, at: Timestamp) {
    let created = &mut draft.state.budget.created;
    let place = created.partition_point(|known| *known <= at);
    created.insert(place, at);
}

fn not_created(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    marker: &Marker,
    failure: &CreateFailure,
) {
    if !matches(draft, track, slot, marker) {
        return;
    }
    let now = draft.now();
    // A key that has just listed its sessions is not refused as a key: it is this session that it may not start.
    let refused = match failure {
        CreateFailure::Credential { detail } if draft.snapshot.listing().is_some() => {
            Some(CreateFailure::Refused {
                detail: detail.clone(),
            })
        }
        _ => None,
    };
    if let CreateFailure::TurnRefused { detail } = failure
        && rest::has_passes(track)
    {
        return leave_out(draft, track, slot, detail);
    }
    let (pause, reason, verdict, detail) = match refused.as_ref().unwrap_or(failure) {
        // The intent stays: only a complete listing after the grace tells what became of it.
        CreateFailure::Unknown { detail } => {
            if let Some(turn) = draft.turn(track, slot) {
                let text = format!("nobody knows whether the session was created: {detail}");
                draft.say(adopt::held(draft, track, slot, turn, text));
            }
            return;
        }
        CreateFailure::NotSent { detail } => (
            UNSENT_PAUSE,
            Reason::NotSent,
            Verdict::Waiting,
            format!("the session was not asked for: {detail}"),
        ),
        // A schedule and a request have this persona alone, so that its turn stays and is tried again.
        CreateFailure::Refused { detail } | CreateFailure::TurnRefused { detail } => {
            let refusals = draft.turn(track, slot).map_or(0, |turn| turn.refusals);
            let pause = doubled(REFUSED_PAUSE, refusals, REFUSED_PAUSE_LIMIT);
            if let Some(turn) = draft.turn_mut(track, slot) {
                turn.refusals += 1;
                turn.refusal = Some(detail.clone());
                turn.warned_at = None;
            }
            (
                pause,
                Reason::CreateRefused,
                Verdict::Held,
                format!("the session was refused: {detail}"),
            )
        }
        CreateFailure::Quota { retry_at } => {
            let until = quota_pause(draft, *retry_at);
            let text = "the key's quota is spent; the session is deferred, not failed".to_owned();
            (
                until.duration_since(now),
                Reason::JulesQuota,
                Verdict::Waiting,
                text,
            )
        }
        CreateFailure::Credential { detail } => {
            draft.call(
                NoticeKey::JulesCredential,
                "phileas: Jules refuses the key".to_owned(),
                "Jules answers that the API key is missing, wrong or disabled. Make a new one in Jules' settings and \
                 put it where phileas reads it (`JULES_API_KEY`)."
                    .to_owned(),
            );
            (
                QUOTA_PAUSE,
                Reason::JulesCredential,
                Verdict::Paused,
                format!("Jules refuses the key: {detail}"),
            )
        }
    };
    let until = draft.after(pause);
    let seq = draft.seq(track);
    if let Some(turn) = draft.turn_mut(track, slot) {
        turn.intent = None;
        // Each call bears a marker of its own, so that what is found later can be told apart.
        turn.attempt += 1;
        turn.not_before = Some(until);
        let turn = turn.clone();
        draft.headline(
            format!("deferred {track}#{seq} {}", turn.persona_id),
            Some(&turn.turn),
        );
        draft.say(Line::turn(track, seq, slot, &turn, verdict, reason, detail).until(until));
    }
}

/// Ends a turn that was refused for what it says, so that its track goes on. The persona is left out for a while, longer
/// each time in a row.
fn leave_out(draft: &mut Draft<'_>, track: &TrackName, slot: &Slot, detail: &str) {
    let Some(turn) = draft.turn(track, slot).cloned() else {
        return;
    };
    let persona = turn.persona_id.clone();
    let known = draft
        .state
        .tracks
        .get(track)
        .and_then(|known| known.refused.get(&persona));
    let times = known.map_or(0, |known| known.times);
    let extra = known.map(|known| known.extra.clone()).unwrap_or_default();
    let until = draft.after(doubled(REFUSED_PAUSE, times, REFUSED_PAUSE_LIMIT));
    let refusal = Refusal {
        times: times.saturating_add(1),
        until,
        why: detail.to_owned(),
        notified: false,
        extra,
    };
    draft.track_mut(track).refused.insert(persona, refusal);
    let seq = draft.seq(track);
    let what = format!("the session was refused, and its track goes on: {detail}");
    ending::drop_unstarted(
        draft,
        track,
        slot,
        &turn,
        "given up before it had a session",
    );
    let (verdict, reason) = (Verdict::Refused, Reason::PersonaRefused);
    draft.say(Line::turn(track, seq, slot, &turn, verdict, reason, what).until(until));
}

/// Pauses everything that needs the key, longer each time in a row, with jitter so that several repositories of one
/// key do not come back together.
fn quota_pause(draft: &mut Draft<'_>, retry_at: Option<Timestamp>) -> Timestamp {
    let strikes = draft.state.budget.strikes;
    let pause = doubled(QUOTA_PAUSE, strikes, QUOTA_PAUSE_LIMIT);
    let jitter = pause.as_secs() * i64::from(draft.snapshot.entropy[0]) / (4 * 255);
    let own = draft.after(pause + SignedDuration::from_secs(jitter));
    let longest = draft.after(RETRY_AFTER_LIMIT);
    let until = retry_at.map_or(own, |asked| asked.min(longest).max(own));
    let budget = &mut draft.state.budget;
    budget.strikes = strikes.saturating_add(1);
    budget.paused_until = Some(until);
    budget.reason = Some("Jules says that the key's quota is spent".to_owned());
    until
}

/// Remembers what GitHub refused.
fn refused(draft: &mut Draft<'_>, key: &str) {
    let now = draft.now();
    let known = draft.state.refused_effects.get(key);
    let one = RefusedEffect {
        at: now,
        times: known.map_or(0, |known| known.times).saturating_add(1),
        extra: known.map(|known| known.extra.clone()).unwrap_or_default(),
    };
    draft.state.refused_effects.insert(key.to_owned(), one);
    draft.headline(format!("GitHub refused {key}"), None);
}

/// Whether GitHub refused an effect a short while ago.
pub(super) fn is_refused_lately(draft: &Draft<'_>, effect: &Effect) -> bool {
    if draft.state.refused_effects.is_empty() {
        return false;
    }
    let key = effect.refusal_key();
    let known = key.and_then(|key| draft.state.refused_effects.get(&key));
    known.is_some_and(|known| {
        let pause = doubled(
            EFFECT_PAUSE,
            known.times.saturating_sub(1),
            EFFECT_PAUSE_LIMIT,
        );
        draft.now().duration_since(known.at) < pause
    })
}

/// Forgets what was refused long ago: it is not wanted any more, or it was done.
pub(super) fn forget_refused(draft: &mut Draft<'_>) {
    let now = draft.now();
    let kept = EFFECT_PAUSE_LIMIT + EFFECT_PAUSE_LIMIT;
    let known = &mut draft.state.refused_effects;
    known.retain(|_, one| now.duration_since(one.at) < kept);
}

/// A pause that doubles each time, up to a limit.
pub(super) fn doubled(base: SignedDuration, times: u32, limit: SignedDuration) -> SignedDuration {
    let factor = 1_i32.checked_shl(times.min(16)).unwrap_or(i32::MAX);
    base.checked_mul(factor)
        .map_or(limit, |span| span.min(limit))
}
