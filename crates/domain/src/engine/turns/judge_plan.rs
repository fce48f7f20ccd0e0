//! Judges the plan of a session: one that does what a pull request does that is open, that people refused, or that was
//! merged and counts, is turned down once. A second one ends the turn.
//!
//! The ledger has the message before it is sent, and the session's log tells whether it arrived. A person who approves
//! the plan or writes to the session comes first.

use jiff::Timestamp;

use super::assess::{assess_running, is_plan_approved, sent_at};
use super::messages::{PLAN_MESSAGE, message_marker};
use super::progress::{LiveTurn, Progress};
use crate::engine::input::session::{Activity, ActivityKind, SessionState};
use crate::engine::lookup::plan_approval::newest_plan;
use crate::engine::lookup::twins::{judges_plan, planned_twin, twin_text};
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::{MESSAGE_LAG, MESSAGE_REPEATS};
use crate::engine::output::report::Reason;
use crate::engine::text::markers::is_of_person;
use crate::engine::text::time::time_after;
use crate::model::{Slot, TrackName};
use crate::state::{Outcome, RepeatedPlan, Turn};

/// What becomes of a plan that would be approved, or shown to a person.
pub(crate) fn judge_plan(
    builder: &mut DecisionBuilder<'_>,
    live: &LiveTurn<'_>,
    place: (&TrackName, &Slot),
    progress: Progress,
) -> Progress {
    let is_judged = live.pull.is_none()
        && judges_plan(&live.snapshot.plan, live.policy, place, live.turn.attempt);
    match progress {
        Progress::Approve if is_judged => {
            let progress = approve_or_turn_down(builder, live);
            if progress == Progress::Approve {
                record_approved(builder, live, place);
            }
            progress
        }
        Progress::OpenNotice {
            reason: Reason::PlanApproval,
            detail,
        } if is_judged => Progress::OpenNotice {
            reason: Reason::PlanApproval,
            detail: with_twin(builder, live, place, detail),
        },
        Progress::Wait {
            reason: Reason::SessionRunning,
            until,
            ..
        } if is_judged
            && live.session.state == SessionState::Planning
            && let Some((told, _)) = turned_down(live.turn) =>
        {
            wait_for_plan(told, until)
        }
        other => other,
    }
}

/// Records that a plan is approved: Jules may show that late, and by then there may be a pull request that it repeats.
fn record_approved(
    builder: &mut DecisionBuilder<'_>,
    live: &LiveTurn<'_>,
    (track, slot): (&TrackName, &Slot),
) {
    let Some((made, _)) = newest_plan(builder, &live.session.id) else {
        return;
    };
    if live.turn.approved_plan.as_ref() == Some(&made.id) {
        return;
    }
    if let Some(turn) = builder.find_turn_mut(track, slot) {
        turn.approved_plan = Some(made.id.clone());
    }
    let (seq, persona) = (builder.newest_seq(track), &live.turn.persona_id);
    let headline = format!("approved the plan of {track}#{seq} {persona}");
    builder.add_headline(headline, Some(&live.turn.turn));
}

/// The plan instead of which the session was asked for another one, and when.
fn turned_down(turn: &Turn) -> Option<(&RepeatedPlan, Timestamp)> {
    let repeated = turn.repeated_plan.as_ref()?;
    Some((repeated, repeated.requested_at?))
}

fn approve_or_turn_down(builder: &mut DecisionBuilder<'_>, live: &LiveTurn<'_>) -> Progress {
    let activities = live.activities.unwrap_or_default();
    let Some((made, _)) = newest_plan(builder, &live.session.id) else {
        return Progress::Approve;
    };
    let was_approved = live.turn.approved_plan.as_ref() == Some(&made.id)
        || is_plan_approved(live.turn, Some(made.at));
    if was_approved || is_steered_by_person(activities) {
        return Progress::Approve;
    }
    let Some((told, requested_at)) = turned_down(live.turn) else {
        return match find_twin(builder, live) {
            Some(repeated) => Progress::TurnDown(repeated),
            None => Progress::Approve,
        };
    };
    let marker = message_marker(live.turn, PLAN_MESSAGE);
    match sent_at(activities, &marker) {
        // Jules has not made another plan yet.
        Some(sent_at) if made.at <= sent_at => await_plan(live, told),
        Some(_) => match find_twin(builder, live) {
            Some(repeated) => Progress::End {
                outcome: Outcome::Repeated,
                note: Some(format!(
                    "its plan {}, also after it was asked for another task",
                    twin_text(&repeated)
                )),
                archive: true,
            },
            None => Progress::Approve,
        },
        None if live.snapshot.now < time_after(requested_at, MESSAGE_LAG) => await_plan(live, told),
        // The decision to send was committed, but the process died before it sent the message.
        None if told.repeats < MESSAGE_REPEATS => match find_twin(builder, live) {
            Some(repeated) => Progress::TurnDown(RepeatedPlan {
                repeats: told.repeats + 1,
                ..repeated
            }),
            None => Progress::Approve,
        },
        // No message arrives, and the session must not wait for ever.
        None => Progress::Approve,
    }
}

/// Waits for another plan. A session that makes none is given up as one that makes no progress.
fn await_plan(live: &LiveTurn<'_>, told: &RepeatedPlan) -> Progress {
    match assess_running(live, None) {
        Progress::Wait {
            reason: Reason::SessionRunning,
            until,
            ..
        } => wait_for_plan(told, until),
        other => other,
    }
}

fn wait_for_plan(told: &RepeatedPlan, until: Timestamp) -> Progress {
    Progress::Wait {
        reason: Reason::PlanRepeats,
        detail: format!(
            "its plan {}; it was asked for another task",
            twin_text(told)
        ),
        until,
    }
}

/// Whether a person has written to the session since its first plan: the plan is what that person wants.
fn is_steered_by_person(activities: &[Activity]) -> bool {
    let is_plan = |one: &Activity| matches!(one.kind, ActivityKind::PlanGenerated { .. });
    let since_plan = activities.iter().skip_while(|one| !is_plan(one));
    let mut messages = since_plan.filter_map(|one| match &one.kind {
        ActivityKind::UserMessaged(text) => Some(text),
        _ => None,
    });
    messages.any(|text| is_of_person(text))
}

/// The pull request that the newest plan repeats.
fn find_twin(builder: &mut DecisionBuilder<'_>, live: &LiveTurn<'_>) -> Option<RepeatedPlan> {
    let plan = newest_plan(builder, &live.session.id)?;
    planned_twin(builder, &live.turn.turn, plan)
}

/// Adds to the detail of a plan that waits for a person which pull request it repeats. The ledger keeps that, so that
/// the records are read once for each plan.
fn with_twin(
    builder: &mut DecisionBuilder<'_>,
    live: &LiveTurn<'_>,
    (track, slot): (&TrackName, &Slot),
    detail: String,
) -> String {
    let Some((made, _)) = newest_plan(builder, &live.session.id) else {
        return detail;
    };
    let is_newest = |known: &&RepeatedPlan| known.plan == made.id;
    let is_shown = live.turn.plan_shown.as_ref() == Some(&made.id);
    let known = live.turn.repeated_plan.as_ref().filter(is_newest).cloned();
    let repeated = match known {
        None if !is_shown => find_twin(builder, live),
        known => known,
    };
    let Some(repeated) = repeated else {
        return detail;
    };
    let text = format!("{detail}; it {}", twin_text(&repeated));
    if let Some(turn) = builder.find_turn_mut(track, slot) {
        turn.repeated_plan = Some(repeated);
    }
    text
}
