//! Applies the progress of a live turn: messages, approvals, notices, and its end.

use jiff::Timestamp;

use super::messages::{
    PLAN_MESSAGE, message_marker, reminder_text, standard_answer, turned_down_text,
};
use super::progress::Progress;
use crate::engine::lookup::plan_approval;
use crate::engine::lookup::slot::SlotRole;
use crate::engine::lookup::twins::twin_text;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::effect::Effect;
use crate::engine::output::limits::{INTENT_VALID, POLL};
use crate::engine::output::report::{Line, Reason, Verdict};
use crate::engine::record::notice::open_plan_notice;
use crate::engine::record::turn::{end_turn, retry_turn};
use crate::model::{SessionId, Slot, TrackName};
use crate::state::{Outcome, RepeatedPlan, Turn};

/// A live turn whose progress is applied.
pub(crate) struct FollowedTurn<'a> {
    pub(crate) track: &'a TrackName,
    pub(crate) slot: &'a Slot,
    pub(crate) turn: &'a Turn,
    pub(crate) session: &'a SessionId,
    /// Maximum standard answers, by the plan.
    pub(crate) max_nudges: u32,
}

/// Applies the progress of a live turn.
pub(crate) fn apply_progress(
    builder: &mut DecisionBuilder<'_>,
    followed: &FollowedTurn<'_>,
    progress: Progress,
) {
    clear_settled_notice(builder, followed, &progress);
    match progress {
        Progress::ReadActivities => read_activities(builder, followed),
        Progress::Wait {
            reason,
            detail,
            until,
        } => followed.report_waiting(builder, reason, detail, until),
        Progress::Answer { number } => send_answer(builder, followed, number),
        Progress::Remind => send_reminder(builder, followed),
        Progress::Approve => approve_plan(builder, followed),
        Progress::TurnDown(repeated) => turn_down_plan(builder, followed, repeated),
        Progress::OpenNotice { reason, detail } => open_notice(builder, followed, reason, detail),
        Progress::End {
            outcome,
            note,
            archive,
        } => end_session(builder, followed, outcome, note, archive),
        Progress::Retry { note } => retry_turn(builder, followed.track, followed.slot, &note),
        // The caller imports the output, because it has the session.
        Progress::Import => {}
    }
}

impl FollowedTurn<'_> {
    /// The turn's role, where it is a layer's.
    fn slot_role(&self) -> Option<SlotRole> {
        SlotRole::from_slot(self.slot)
    }

    /// The turn in headlines: `<track>#<seq> <persona>`.
    fn headline_name(&self, builder: &DecisionBuilder<'_>) -> String {
        let seq = builder.newest_seq(self.track);
        format!("{}#{seq} {}", self.track, self.turn.persona_id)
    }

    fn report_waiting(
        &self,
        builder: &mut DecisionBuilder<'_>,
        reason: Reason,
        detail: String,
        until: Timestamp,
    ) {
        let (track, slot) = (self.track, self.slot);
        let seq = builder.newest_seq(track);
        let current = builder.find_turn(track, slot).unwrap_or(self.turn);
        let line = Line::about_turn(track, seq, slot, current, Verdict::Waiting, reason, detail);
        builder.report_line(line.with_until(until));
    }

    fn send_message(&self, builder: &mut DecisionBuilder<'_>, marker: String, text: String) {
        builder.add_effect(Effect::SendMessage {
            track: self.track.clone(),
            slot: self.slot.clone(),
            session: self.session.clone(),
            marker,
            text,
            not_after: builder.now_plus(INTENT_VALID),
        });
    }
}

/// Forgets the notice of a turn that no longer needs one. A session that cannot be read may still wait for the person.
fn clear_settled_notice(
    builder: &mut DecisionBuilder<'_>,
    followed: &FollowedTurn<'_>,
    progress: &Progress,
) {
    let may_wait = matches!(
        progress,
        Progress::OpenNotice { .. }
            | Progress::ReadActivities
            | Progress::Wait {
                reason: Reason::JulesUnavailable | Reason::SessionUnread,
                ..
            }
    );
    if followed.turn.warned_at.is_some()
        && !may_wait
        && let Some(turn) = builder.find_turn_mut(followed.track, followed.slot)
    {
        turn.warned_at = None;
        turn.plan_shown = None;
    }
}

fn read_activities(builder: &mut DecisionBuilder<'_>, followed: &FollowedTurn<'_>) {
    let soon = builder.now_plus(POLL);
    if let Some(outage) = builder.snapshot.unread.get(followed.session) {
        let text = format!("its activities cannot be read: {}", outage.detail);
        let until = outage.retry_at.unwrap_or(soon);
        followed.report_waiting(builder, Reason::SessionUnread, text, until);
        return;
    }
    builder.reads.activities.insert(followed.session.clone());
    let text = "its activities are being read".to_owned();
    followed.report_waiting(builder, Reason::SessionRunning, text, soon);
}

fn send_answer(builder: &mut DecisionBuilder<'_>, followed: &FollowedTurn<'_>, number: u32) {
    let now = builder.now();
    let marker = message_marker(followed.turn, &format!("q{number}"));
    if let Some(turn) = builder.find_turn_mut(followed.track, followed.slot) {
        let again = turn.nudges == number;
        turn.repeats = if again { turn.repeats + 1 } else { 0 };
        turn.nudges = number;
        turn.nudged_at = Some(now);
    }
    let text = standard_answer(followed.slot_role().as_ref(), &marker);
    followed.send_message(builder, marker, text);
    let name = followed.headline_name(builder);
    let headline = format!("answer {number} to {name}");
    builder.add_headline(headline, Some(&followed.turn.turn));
    let max = followed.max_nudges;
    let text = format!("it asked a question and gets standard answer {number} of {max}");
    let soon = builder.now_plus(POLL);
    followed.report_waiting(builder, Reason::SessionAsked, text, soon);
}

fn send_reminder(builder: &mut DecisionBuilder<'_>, followed: &FollowedTurn<'_>) {
    let now = builder.now();
    let marker = message_marker(followed.turn, "r1");
    if let Some(turn) = builder.find_turn_mut(followed.track, followed.slot) {
        let again = turn.reminded_at.is_some();
        turn.repeats = if again { turn.repeats + 1 } else { 0 };
        turn.reminded_at = Some(now);
    }
    let text = reminder_text(followed.slot_role().as_ref(), &marker);
    followed.send_message(builder, marker, text);
    let name = followed.headline_name(builder);
    builder.add_headline(format!("reminder to {name}"), Some(&followed.turn.turn));
    let text = "it ended without a result and is reminded of it, once".to_owned();
    let soon = builder.now_plus(POLL);
    followed.report_waiting(builder, Reason::SessionReminded, text, soon);
}

fn approve_plan(builder: &mut DecisionBuilder<'_>, followed: &FollowedTurn<'_>) {
    builder.add_effect(Effect::ApprovePlan {
        session: followed.session.clone(),
    });
    // The approval was given: nothing waits for a person any more, though Jules' state still says so.
    let text = "its plan is approved; Jules is told so".to_owned();
    let soon = builder.now_plus(POLL);
    followed.report_waiting(builder, Reason::SessionRunning, text, soon);
}

fn turn_down_plan(
    builder: &mut DecisionBuilder<'_>,
    followed: &FollowedTurn<'_>,
    repeated: RepeatedPlan,
) {
    let marker = message_marker(followed.turn, PLAN_MESSAGE);
    let text = turned_down_text(&repeated, &marker);
    let detail = format!(
        "its plan {}; it is asked for another task",
        twin_text(&repeated)
    );
    let now = builder.now();
    if let Some(turn) = builder.find_turn_mut(followed.track, followed.slot) {
        turn.repeated_plan = Some(RepeatedPlan {
            requested_at: Some(now),
            ..repeated
        });
    }
    followed.send_message(builder, marker, text);
    let name = followed.headline_name(builder);
    let headline = format!("turned down the plan of {name}");
    builder.add_headline(headline, Some(&followed.turn.turn));
    let soon = builder.now_plus(POLL);
    followed.report_waiting(builder, Reason::PlanRepeats, detail, soon);
}

fn open_notice(
    builder: &mut DecisionBuilder<'_>,
    followed: &FollowedTurn<'_>,
    reason: Reason,
    detail: String,
) {
    let plan = plan_approval::newest_plan(builder, followed.session)
        .filter(|_| reason == Reason::PlanApproval)
        .map(|(made, _)| made.id.clone());
    let turn = (followed.track, followed.slot);
    open_plan_notice(builder, turn, followed.turn, &detail, plan);
    let soon = builder.now_plus(POLL);
    followed.report_waiting(builder, reason, detail, soon);
}

fn end_session(
    builder: &mut DecisionBuilder<'_>,
    followed: &FollowedTurn<'_>,
    outcome: Outcome,
    note: Option<String>,
    archive: bool,
) {
    if archive {
        builder.add_effect(Effect::ArchiveSession {
            session: followed.session.clone(),
        });
    }
    end_turn(builder, followed.track, followed.slot, outcome, note);
}
