//! What became of the creation of a session.

use jiff::{SignedDuration, Timestamp};

use crate::engine::input::session::Session;
use crate::engine::lookup::{rest, waiting_turns};
use crate::engine::output::builder::Draft;
use crate::engine::output::effect::NoticeKey;
use crate::engine::output::event::CreateFailure;
use crate::engine::output::limits::{
    QUOTA_PAUSE, QUOTA_PAUSE_LIMIT, REFUSED_PAUSE, REFUSED_PAUSE_LIMIT, RETRY_AFTER_LIMIT,
    UNSENT_PAUSE,
};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::record::session::own;
use crate::engine::record::turn;
use crate::engine::text::time::doubled;
use crate::model::{Marker, Slot, TrackName};
use crate::state::Refusal;

pub(crate) fn created(
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

pub(crate) fn not_created(
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
                draft.say(waiting_turns::held(draft, track, slot, turn, text));
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
    turn::drop_unstarted(
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
