//! Records the results of create calls.

use jiff::{SignedDuration, Timestamp};

use crate::engine::input::session::Session;
use crate::engine::lookup::{rest, waiting_turns};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::NoticeKey;
use crate::engine::output::event::CreateFailure;
use crate::engine::output::limits::{
    QUOTA_PAUSE, QUOTA_PAUSE_LIMIT, REFUSED_PAUSE, REFUSED_PAUSE_LIMIT, RETRY_AFTER_LIMIT,
    UNSENT_PAUSE,
};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::record::session::record_session;
use crate::engine::record::turn;
use crate::engine::text::time::doubled_pause;
use crate::model::{Marker, Slot, TrackName};
use crate::state::Refusal;

pub(crate) fn record_created(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
    marker: &Marker,
    session: &Session,
) {
    if matches_turn(builder, track, slot, marker) {
        record_session(builder, track, slot, marker, session, "started");
        builder.state.budget.quota_failures = 0;
    }
}

fn matches_turn(
    builder: &DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
    marker: &Marker,
) -> bool {
    builder.find_turn(track, slot).is_some_and(|turn| {
        turn.turn == marker.turn && turn.attempt == marker.attempt && turn.session_id.is_none()
    })
}

pub(crate) fn record_not_created(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
    marker: &Marker,
    failure: &CreateFailure,
) {
    if !matches_turn(builder, track, slot, marker) {
        return;
    }
    // A key that has just listed its sessions is valid, so Jules refused only this session.
    let refused = match failure {
        CreateFailure::Credential { detail } if builder.snapshot.listing().is_some() => {
            Some(CreateFailure::Refused {
                detail: detail.clone(),
            })
        }
        _ => None,
    };
    if let CreateFailure::TurnRefused { detail } = failure
        && rest::has_passes(track)
    {
        return skip_persona(builder, track, slot, detail);
    }
    let failure = refused.as_ref().unwrap_or(failure);
    let Some(deferral) = deferral_of(builder, track, slot, failure) else {
        return;
    };
    let until = builder.now_plus(deferral.pause);
    let seq = builder.newest_seq(track);
    if let Some(turn) = builder.find_turn_mut(track, slot) {
        turn.intent = None;
        // Each call has a marker of its own, so that sessions that appear later can be told apart.
        turn.attempt += 1;
        turn.not_before = Some(until);
        let turn = turn.clone();
        builder.add_headline(
            format!("deferred {track}#{seq} {}", turn.persona_id),
            Some(&turn.turn),
        );
        let Deferral {
            verdict,
            reason,
            detail,
            ..
        } = deferral;
        let line = Line::about_turn(track, seq, slot, &turn, verdict, reason, detail);
        builder.report_line(line.with_until(until));
    }
}

/// How long a turn waits after a failed create call, and why.
struct Deferral {
    pause: SignedDuration,
    verdict: Verdict,
    reason: Reason,
    detail: String,
}

/// Records the failure of a create call, and returns how long its turn waits. `None`: the intent stays.
fn deferral_of(
    builder: &mut DecisionBuilder<'_>,
    track: &TrackName,
    slot: &Slot,
    failure: &CreateFailure,
) -> Option<Deferral> {
    let deferral = |pause, verdict, reason, detail| {
        Some(Deferral {
            pause,
            verdict,
            reason,
            detail,
        })
    };
    match failure {
        // Only a complete listing after the grace period tells what happened.
        CreateFailure::Unknown { detail } => {
            let turn = builder.find_turn(track, slot)?;
            let text = format!("whether the session was created is not known: {detail}");
            let line = waiting_turns::ambiguous_line(builder, track, slot, turn, text);
            builder.report_line(line);
            None
        }
        CreateFailure::NotSent { detail } => {
            let text = format!("the create call was not sent: {detail}");
            deferral(UNSENT_PAUSE, Verdict::Waiting, Reason::NotSent, text)
        }
        // A schedule or a request has only this persona, so its turn stays and is tried again.
        CreateFailure::Refused { detail } | CreateFailure::TurnRefused { detail } => {
            let turn = builder.find_turn(track, slot);
            let refusals = turn.map_or(0, |turn| turn.refusals);
            let pause = doubled_pause(REFUSED_PAUSE, refusals, REFUSED_PAUSE_LIMIT);
            if let Some(turn) = builder.find_turn_mut(track, slot) {
                turn.refusals += 1;
                turn.refusal = Some(detail.clone());
                turn.warned_at = None;
            }
            let text = format!("the session was refused: {detail}");
            deferral(pause, Verdict::Held, Reason::CreateRefused, text)
        }
        CreateFailure::Quota { retry_at } => {
            let until = pause_for_quota(builder, *retry_at);
            let pause = until.duration_since(builder.now());
            let text = "the key's quota is spent; the session is deferred, not failed".to_owned();
            deferral(pause, Verdict::Waiting, Reason::JulesQuota, text)
        }
        CreateFailure::Credential { detail } => {
            builder.open_notice(
                NoticeKey::JulesCredential,
                "phileas: Jules refuses the key".to_owned(),
                "Jules answers that the API key is missing, wrong or disabled. Make a new one in Jules' settings and \
                 put it where phileas reads it (`JULES_API_KEY`)."
                    .to_owned(),
            );
            let text = format!("Jules refuses the key: {detail}");
            deferral(QUOTA_PAUSE, Verdict::Paused, Reason::JulesCredential, text)
        }
    }
}

/// Ends a turn whose content was refused, so that its track continues. The persona is skipped for a while, longer each
/// time in a row.
fn skip_persona(builder: &mut DecisionBuilder<'_>, track: &TrackName, slot: &Slot, detail: &str) {
    let Some(turn) = builder.find_turn(track, slot).cloned() else {
        return;
    };
    let persona = turn.persona_id.clone();
    let known = builder
        .state
        .tracks
        .get(track)
        .and_then(|known| known.refused.get(&persona));
    let times = known.map_or(0, |known| known.times);
    let extra = known.map(|known| known.extra.clone()).unwrap_or_default();
    let until = builder.now_plus(doubled_pause(REFUSED_PAUSE, times, REFUSED_PAUSE_LIMIT));
    let refusal = Refusal {
        times: times.saturating_add(1),
        until,
        why: detail.to_owned(),
        notified: false,
        extra,
    };
    builder.track_mut(track).refused.insert(persona, refusal);
    let seq = builder.newest_seq(track);
    let what = format!("the session was refused, and its track goes on: {detail}");
    turn::drop_unstarted(
        builder,
        track,
        slot,
        &turn,
        "given up before it had a session",
    );
    let (verdict, reason) = (Verdict::Refused, Reason::PersonaRefused);
    builder.report_line(
        Line::about_turn(track, seq, slot, &turn, verdict, reason, what).with_until(until),
    );
}

/// Pauses everything that needs the key, longer each time in a row, with jitter so that several repositories of one key
/// do not retry together.
fn pause_for_quota(builder: &mut DecisionBuilder<'_>, retry_at: Option<Timestamp>) -> Timestamp {
    let failures = builder.state.budget.quota_failures;
    let pause = doubled_pause(QUOTA_PAUSE, failures, QUOTA_PAUSE_LIMIT);
    let jitter = pause.as_secs() * i64::from(builder.snapshot.entropy[0]) / (4 * 255);
    let own = builder.now_plus(pause + SignedDuration::from_secs(jitter));
    let longest = builder.now_plus(RETRY_AFTER_LIMIT);
    let until = retry_at.map_or(own, |asked| asked.min(longest).max(own));
    let budget = &mut builder.state.budget;
    budget.quota_failures = failures.saturating_add(1);
    budget.paused_until = Some(until);
    budget.reason = Some("Jules says that the key's quota is spent".to_owned());
    until
}
