//! Acts of people and clients on a session: messages, approvals, archiving, deleting.

use jiff::Timestamp;

use super::activity::Kind;
use super::beat::{Beat, BeatAction};
use super::beat_plan;
use super::perform::later_by_seconds;
use super::record::Via;
use super::refusal::Refusal;
use super::sample_texts;
use super::session::Session;
use super::state::State;
use crate::knobs::{DeleteRunning, Knobs, ResumedBy};

/// Seconds until the agent answers a message that comes while it works.
const ANSWERS_AFTER: f64 = 40.0;
/// Seconds until the work continues after an answer or a revised plan.
const GOES_ON_AFTER: f64 = 30.0;

impl Session {
    /// Receives a message. It answers a question, revises a plan, wakes a completed session, or is
    /// read during the work.
    pub(super) fn receive_message(
        &mut self,
        text: &str,
        via: Via,
        now: Timestamp,
        knobs: &Knobs,
    ) -> Result<(), Refusal> {
        if self.state() == State::Failed {
            return Err(Refusal::failed_precondition());
        }
        let share = knobs.done_message_unread;
        // Draw nothing without the knob, so that the other draws do not change.
        let unread = share > 0.0 && self.state() == State::Completed && self.chance.happens(share);
        if knobs.count_use("done-message-unread", unread) {
            self.record_act("unread message", via, text, now);
            return Ok(());
        }
        self.record_act("message", via, text, now);
        self.note_answer(text, now);
        self.log_activity(
            "user",
            Kind::UserMessaged(text.to_owned()),
            Vec::new(),
            now,
            knobs,
        );
        match self.state() {
            State::AwaitingPlanApproval => {
                self.beats
                    .push_front(Beat::new(GOES_ON_AFTER, BeatAction::Plan));
                self.plan = None;
                self.enter_state(State::Planning, now);
                self.schedule_next(now);
            }
            State::AwaitingUserFeedback => {
                self.enter_state(State::InProgress, now);
                if let Some(next) = self.beats.front_mut() {
                    next.after = next.after.max(GOES_ON_AFTER);
                }
                self.beats.push_front(Beat::new(
                    GOES_ON_AFTER,
                    BeatAction::Say(sample_texts::agreement_text(&mut self.chance)),
                ));
                self.schedule_next(now);
            }
            State::Completed => self.reopen_work(now, knobs),
            State::Paused => {
                let stays = knobs.resumed_by != ResumedBy::UnarchiveOrMessage;
                if !knobs.count_use("resumed-by", stays) {
                    self.resume(now);
                }
            }
            State::Queued | State::Planning | State::InProgress => {
                if self.due.is_some() {
                    let answer = sample_texts::agreement_text(&mut self.chance);
                    self.answer_soon(answer, ANSWERS_AFTER, now);
                }
            }
            State::Failed => {}
        }
        Ok(())
    }

    fn reopen_work(&mut self, now: Timestamp, knobs: &Knobs) {
        let pushes = self.record.auto_create_pull && !self.source.is_empty();
        self.beats =
            beat_plan::follow_up(&self.scenario, self.follow_ups, pushes, &mut self.chance);
        let again = self.scenario.pushes_again_after.is_some();
        if again || knobs.count_use("pushes-again", self.chance.happens(knobs.pushes_again)) {
            for beat in &mut self.beats {
                if beat.action == BeatAction::Push {
                    beat.action = BeatAction::PushOldDiff;
                }
            }
        }
        self.follow_ups += 1;
        self.enter_state(State::InProgress, now);
        self.schedule_next(now);
    }

    /// Approves the current plan. Any state is answered with success, as on the service.
    pub(super) fn approve_plan(&mut self, via: Via, now: Timestamp, knobs: &Knobs) {
        self.record_act("approve", via, "", now);
        match self.state() {
            State::AwaitingPlanApproval => {
                self.approved = true;
                self.accept_plan("user", now, knobs);
            }
            State::Queued | State::Planning => {
                let ignored = !self.approved && knobs.early_approval_ignored;
                self.approved |= !knobs.count_use("early-approval-ignored", ignored);
            }
            State::Completed
                if self.record.require_plan_approval
                    && !self.approved
                    && self.plan.is_some()
                    && !knobs.count_use("late-approval-ignored", knobs.late_approval_ignored) =>
            {
                self.approved = true;
                let pushes = self.record.auto_create_pull && !self.source.is_empty();
                self.beats = beat_plan::after_late_approval(pushes, &mut self.chance);
                self.accept_plan("user", now, knobs);
            }
            _ => {}
        }
    }

    /// Archives the session; a working session is paused.
    pub(super) fn archive(&mut self, via: Via, now: Timestamp) {
        self.record_act("archive", via, "", now);
        self.archived = true;
        self.mark_changed(now);
        if self.state().is_active() {
            self.pause(now);
        } else if self.state() == State::Completed {
            // An archived session does not come back to its branch.
            self.beats.clear();
            self.due = None;
        }
    }

    /// Unarchives the session; a knob says what a paused session does then.
    pub(super) fn unarchive(&mut self, via: Via, now: Timestamp, knobs: &Knobs) {
        self.record_act("unarchive", via, "", now);
        self.archived = false;
        self.mark_changed(now);
        let stays = knobs.resumed_by == ResumedBy::WebApp && self.paused_from.is_some();
        if !knobs.count_use("resumed-by", stays) {
            self.resume(now);
        }
    }

    /// Pauses the work.
    pub(super) fn pause(&mut self, now: Timestamp) {
        let left = self.due.map(|due| due.duration_since(now));
        self.paused_from = Some((self.state(), left));
        self.enter_state(State::Paused, now);
        self.due = None;
    }

    /// Resumes the work where it was paused.
    pub(super) fn resume(&mut self, now: Timestamp) {
        if let Some((state, left)) = self.paused_from.take() {
            self.enter_state(state, now);
            self.due = left.map(|left| later_by_seconds(now, left.as_secs_f64()));
        }
    }

    /// Deletes the session; a knob says what becomes of running work.
    pub(super) fn delete(
        &mut self,
        via: Via,
        now: Timestamp,
        knobs: &Knobs,
    ) -> Result<(), Refusal> {
        let running = self.state().is_active();
        let other = running && knobs.delete_running != DeleteRunning::Stops;
        knobs.count_use("delete-running", other);
        if running && knobs.delete_running == DeleteRunning::Refused {
            return Err(Refusal::failed_precondition());
        }
        self.record_act("delete", via, "", now);
        self.deleted = true;
        self.mark_changed(now);
        if !(running && knobs.delete_running == DeleteRunning::WorksOn) {
            self.beats.clear();
            self.due = None;
        }
        Ok(())
    }
}
