//! What a step says of its live turn is done: messages, approvals, calls for a person, and its end.

use super::messages::{answer, message_marker, reminder};
use super::progress::Progress;
use crate::engine::lookup::plan_approval;
use crate::engine::lookup::slot::Seat;
use crate::engine::output::builder::Draft;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::POLL;
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::record::notice::call_for;
use crate::engine::record::turn::{end, retry};
use crate::model::{SessionId, Slot, TrackName};
use crate::state::Turn;

/// Does what a step says of its live turn.
pub(crate) fn carry_on(
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
            let plan =
                plan_approval::newest(draft, session).filter(|_| reason == Reason::PlanApproval);
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
