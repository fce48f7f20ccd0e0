//! What a step says of its live turn is done: messages, approvals, calls for a person, and its end.

use jiff::Timestamp;

use super::draft::Draft;
use super::ending::{end, retry};
use super::layers::Seat;
use super::limits::{CALL_AGAIN, POLL};
use super::messages::{answer, message_marker, reminder};
use super::step::Progress;
use super::{Effect, Line, NoticeKey, Reason, Verdict, plans};
use crate::model::{SessionId, Slot, TrackName};
use crate::state::Turn;

/// Does what a step says of its live turn.
pub(super) fn carry_on(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    session: &SessionId,
    progress: Progress,
    max_nudges: u32,
) {
    let now = draft.now();
    let seq = draft.seq(track);
    let current = draft
        .turn(track, slot)
        .cloned()
        .unwrap_or_else(|| turn.clone());
    let line = |verdict, reason, detail: String| {
        Line::turn(track, seq, slot, &current, verdict, reason, detail)
    };
    let soon = draft.after(POLL);
    // While the session cannot be seen, it may wait for the person still.
    let still_calls = matches!(
        progress,
        Progress::CallPerson { .. }
            | Progress::ReadActivities
            | Progress::Wait {
                reason: Reason::JulesUnavailable | Reason::SessionUnread,
                ..
            }
    );
    if turn.warned_at.is_some()
        && !still_calls
        && let Some(turn) = draft.turn_mut(track, slot)
    {
        turn.warned_at = None;
        turn.plan_shown = None;
    }
    match progress {
        Progress::ReadActivities if draft.snapshot.unread.contains_key(session) => {
            let outage = &draft.snapshot.unread[session];
            let text = format!("its activities cannot be read: {}", outage.detail);
            let until = outage.retry_at.unwrap_or(soon);
            draft.say(line(Verdict::Waiting, Reason::SessionUnread, text).until(until));
        }
        Progress::ReadActivities => {
            draft.needs.activities.insert(session.clone());
            draft.say(
                line(
                    Verdict::Waiting,
                    Reason::SessionRunning,
                    "its activities are being read".to_owned(),
                )
                .until(soon),
            );
        }
        Progress::Wait {
            reason,
            detail,
            until,
        } => {
            draft.say(line(Verdict::Waiting, reason, detail).until(until));
        }
        Progress::Answer { number } => {
            let marker = message_marker(turn, &format!("q{number}"));
            if let Some(turn) = draft.turn_mut(track, slot) {
                let again = turn.nudges == number;
                turn.repeats = if again { turn.repeats + 1 } else { 0 };
                turn.nudges = number;
                turn.nudged_at = Some(now);
            }
            let text = answer(Seat::of(slot).as_ref(), &marker);
            send(draft, track, slot, session, marker.clone(), text);
            draft.headline(
                format!("answer {number} to {track}#{seq} {}", turn.persona_id),
                Some(&turn.turn),
            );
            let text =
                format!("it asked something and gets standard answer {number} of {max_nudges}");
            draft.say(line(Verdict::Waiting, Reason::SessionAsked, text).until(soon));
        }
        Progress::Remind => {
            let marker = message_marker(turn, "r1");
            if let Some(turn) = draft.turn_mut(track, slot) {
                let again = turn.reminded_at.is_some();
                turn.repeats = if again { turn.repeats + 1 } else { 0 };
                turn.reminded_at = Some(now);
            }
            send(
                draft,
                track,
                slot,
                session,
                marker.clone(),
                reminder(Seat::of(slot).as_ref(), &marker),
            );
            draft.headline(
                format!("reminder to {track}#{seq} {}", turn.persona_id),
                Some(&turn.turn),
            );
            let text = "it ended without a result and is reminded of it, once".to_owned();
            draft.say(line(Verdict::Waiting, Reason::SessionReminded, text).until(soon));
        }
        Progress::Approve => {
            draft.effect(Effect::ApprovePlan {
                session: session.clone(),
            });
            draft.say(
                line(
                    Verdict::Waiting,
                    Reason::PlanApproval,
                    "its plan is being approved".to_owned(),
                )
                .until(soon),
            );
        }
        Progress::CallPerson { reason, detail } => {
            let plan = plans::newest(draft, session).filter(|_| reason == Reason::PlanApproval);
            let plan = plan.map(|(made, _)| made.id.clone());
            call_for(draft, (track, slot), turn, &detail, plan);
            draft.say(line(Verdict::Waiting, reason, detail).until(soon));
        }
        Progress::End {
            outcome,
            note,
            archive,
        } => {
            if archive {
                draft.effect(Effect::ArchiveSession {
                    session: session.clone(),
                });
            }
            end(draft, track, slot, outcome, note);
        }
        Progress::Retry { note } => retry(draft, track, slot, &note),
        // Whoever follows a layer's turn does it with the session at hand.
        Progress::BringIn => {}
    }
}

fn send(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    session: &SessionId,
    marker: String,
    text: String,
) {
    let session = session.clone();
    draft.effect(Effect::SendMessage {
        track: track.clone(),
        slot: slot.clone(),
        session,
        marker,
        text,
    });
}

/// Calls a person by an issue, unless one is open. An issue that was decided on and is not there is opened again after
/// a while: its sender died, GitHub refused it, or somebody closed it and settled nothing.
pub(super) fn call_person(
    draft: &mut Draft<'_>,
    track: &TrackName,
    slot: &Slot,
    turn: &Turn,
    detail: &str,
) {
    call_for(draft, (track, slot), turn, detail, None);
}

/// The same, with the plan that waits, by its activity. Another plan than the one that people were shown calls again, by
/// another issue: who approved on the first one would approve what is not shown there.
fn call_for(
    draft: &mut Draft<'_>,
    (track, slot): (&TrackName, &Slot),
    turn: &Turn,
    detail: &str,
    plan: Option<String>,
) {
    let now = draft.now();
    let key = NoticeKey::Turn(turn.turn.clone());
    let is_other_plan = turn.warned_at.is_some() && plan.is_some() && turn.plan_shown != plan;
    let lately = |at: Timestamp| now.duration_since(at) < CALL_AGAIN;
    if !is_other_plan
        && (turn.warned_at.is_some_and(lately)
            || (turn.warned_at.is_some() && draft.is_called(&key)))
    {
        return;
    }
    let seq = draft.seq(track);
    let before = turn.plan_shown.clone();
    if let Some(turn) = draft.turn_mut(track, slot) {
        turn.warned_at = Some(now);
        turn.plan_shown = plan.clone();
    }
    let persona = &turn.persona_id;
    let session = turn
        .session_id
        .as_ref()
        .map(|id| format!("\n\nThe session: https://jules.google.com/session/{id}"))
        .unwrap_or_default();
    let plan = plan.and_then(|_| plans::shown(draft, track, turn));
    let plan = plan.map(|text| format!("\n\n{text}")).unwrap_or_default();
    let title = format!("phileas: {persona} waits for a person");
    let body = format!(
        "Turn {seq} of track `{track}` ({persona}): {detail}.{session}{plan}\n\nThe track waits until this is settled; \
         the others go on. `phileas explain` shows where it stands, `phileas session cancel` ends the turn."
    );
    if is_other_plan {
        let comment = match before {
            Some(_) => "Jules made another plan; another issue shows it.",
            None => "Jules made a plan; another issue shows it.",
        };
        draft.call_anew(key, title, body, comment);
    } else {
        draft.call(key, title, body);
    }
    draft.headline(
        format!("called a person for {track}#{seq} {persona}"),
        Some(&turn.turn),
    );
}
