//! Plays the beats of a session, which move it through its states.

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::activity::{Artifact, Kind};
use super::beat::{Beat, BeatAction};
use super::ideas::Ideas;
use super::session::{Checkout, Session};
use super::state::State;
use super::work::Worker;
use crate::github;
use crate::knobs::Knobs;

/// A picture of one transparent pixel.
const PIXEL: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0, 0,
    1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 13, b'I', b'D', b'A', b'T',
    0x78, 0xda, 0x63, 0x64, 0x60, 0xf8, 0x5f, 0x0f, 0, 0x02, 0x87, 0x01, 0x80, 0xeb, 0x47, 0xba,
    0x92, 0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82,
];

/// What a beat needs besides its session.
pub(super) struct BeatContext<'a> {
    pub(super) github: &'a mut github::Model,
    pub(super) knobs: &'a Knobs,
    pub(super) worker: Option<&'a mut Box<dyn Worker>>,
    pub(super) ideas: Option<&'a Ideas>,
    /// The login of the session's account.
    pub(super) login: &'a str,
    /// The session's number in the model, from 1.
    pub(super) ordinal: usize,
}

impl Session {
    /// Plays what is due at this instant and sets the next due time.
    pub(super) fn perform_due(&mut self, now: Timestamp, context: &mut BeatContext<'_>) {
        self.due = None;
        if self.state() == State::AwaitingPlanApproval && self.gives_up_after().is_none() {
            let by_itself = self.scenario.auto_approve_minutes.is_none();
            context.knobs.count_use("auto-approve-seconds", by_itself);
            self.accept_plan("system", now, context.knobs);
            return;
        }
        if let Some(beat) = self.beats.pop_front() {
            self.play_beat(beat.action, now, context);
        }
        self.schedule_next(now);
    }

    /// Sets the due time of the next beat, unless the session waits for a person.
    pub(super) fn schedule_next(&mut self, now: Timestamp) {
        let waits = match self.state() {
            State::AwaitingUserFeedback | State::Paused | State::Failed => true,
            State::AwaitingPlanApproval => return,
            _ => self.held || self.deleted && self.beats.is_empty(),
        };
        self.due = if waits {
            None
        } else {
            self.beats
                .front()
                .map(|beat| later_by_seconds(now, beat.after))
        };
    }

    fn play_beat(&mut self, action: BeatAction, now: Timestamp, context: &mut BeatContext<'_>) {
        let knobs = context.knobs;
        match action {
            BeatAction::Start => self.start_work(now, context),
            BeatAction::Plan => self.propose_plan(now, context),
            BeatAction::Progress { title, description } => {
                self.log_activity(
                    "agent",
                    Kind::ProgressUpdated { title, description },
                    Vec::new(),
                    now,
                    knobs,
                );
            }
            BeatAction::Bash {
                command,
                output,
                exit_code,
            } => {
                let ran = Artifact::Bash {
                    command,
                    output,
                    exit_code,
                };
                self.log_update("Ran a command", vec![ran], now, knobs);
            }
            BeatAction::Media => {
                let picture = Artifact::Media {
                    data: PIXEL.to_vec(),
                    mime: "image/png",
                };
                self.log_update("Took a screenshot", vec![picture], now, knobs);
            }
            BeatAction::Edit(files) => {
                self.edit_files(&files, context.ordinal, now, context.github);
                self.report_changes(now, knobs);
            }
            BeatAction::EditSomehow => {
                let task = self.worker_task(now);
                let worked = context
                    .worker
                    .as_mut()
                    .and_then(|worker| worker.change_files(&task, context.github));
                let files = match worked {
                    Some(files) => {
                        self.idea = None;
                        files
                    }
                    None => self.own_changes(context.ideas, context.github),
                };
                self.edit_files(&files, context.ordinal, now, context.github);
                self.report_changes(now, knobs);
            }
            BeatAction::Say(text) => {
                self.log_activity("agent", Kind::AgentMessaged(text), Vec::new(), now, knobs);
            }
            BeatAction::AskInPassing(text) => {
                self.note_question(&text, now);
                self.log_activity("agent", Kind::AgentMessaged(text), Vec::new(), now, knobs);
            }
            BeatAction::Ask(text) => {
                self.note_question(&text, now);
                self.log_activity("agent", Kind::AgentMessaged(text), Vec::new(), now, knobs);
                self.enter_state(State::AwaitingUserFeedback, now);
            }
            BeatAction::Push => self.push_changes(false, context.login, now, context.github, knobs),
            BeatAction::PushOldDiff => {
                self.push_changes(true, context.login, now, context.github, knobs)
            }
            BeatAction::Complete { outputs } => self.complete_session(outputs, now, context),
            BeatAction::Fail(reason) => self.fail_session(reason, now, knobs),
            BeatAction::Unknown { activity, artifact } => {
                let kind = if activity.is_empty() {
                    Kind::ProgressUpdated {
                        title: String::new(),
                        description: String::new(),
                    }
                } else {
                    Kind::Unknown(activity)
                };
                let artifacts = if artifact.is_empty() {
                    Vec::new()
                } else {
                    vec![Artifact::Unknown(artifact)]
                };
                self.log_activity("agent", kind, artifacts, now, knobs);
            }
            BeatAction::Hang => self.beats.clear(),
        }
    }

    fn log_update(&mut self, title: &str, artifacts: Vec<Artifact>, now: Timestamp, knobs: &Knobs) {
        let kind = Kind::ProgressUpdated {
            title: title.to_owned(),
            description: String::new(),
        };
        self.log_activity("agent", kind, artifacts, now, knobs);
    }

    fn report_changes(&mut self, now: Timestamp, knobs: &Knobs) {
        let artifacts = self
            .change_set()
            .map(Artifact::ChangeSet)
            .into_iter()
            .collect();
        self.log_update("Changed files", artifacts, now, knobs);
    }

    fn start_work(&mut self, now: Timestamp, context: &mut BeatContext<'_>) {
        self.enter_state(State::Planning, now);
        let Some(path) = self.source.strip_prefix("sources/github/") else {
            return;
        };
        let checkout = path.split_once('/').and_then(|(owner, name)| {
            let repo = context.github.repository_by_name(owner, name)?;
            let base = context
                .github
                .branch_head(repo, &self.record.starting_branch)?;
            Some(Checkout { repo, base })
        });
        match checkout {
            Some(checkout) => self.checkout = Some(checkout),
            None => self.fail_session(
                "The repository could not be cloned.".to_owned(),
                now,
                context.knobs,
            ),
        }
    }

    fn propose_plan(&mut self, now: Timestamp, context: &BeatContext<'_>) {
        let knobs = context.knobs;
        if let Some(ideas) = context.ideas {
            self.have_idea(ideas);
        }
        let plan = self.make_plan(now);
        self.plan = Some(plan.id.clone());
        self.log_activity("agent", Kind::PlanGenerated(plan), Vec::new(), now, knobs);
        if self.record.require_plan_approval && !self.approved {
            self.enter_state(State::AwaitingPlanApproval, now);
            let minutes = self.scenario.auto_approve_minutes;
            let seconds = minutes.map(|minutes| minutes * 60.0).or_else(|| {
                (knobs.auto_approve_seconds > 0).then_some(knobs.auto_approve_seconds as f64)
            });
            self.due = match self.gives_up_after() {
                Some(after) => Some(later_by_seconds(now, after)),
                None => seconds.map(|seconds| later_by_seconds(now, seconds)),
            };
        } else {
            let by = if self.approved { "user" } else { "system" };
            self.accept_plan(by, now, knobs);
        }
    }

    /// The seconds after which a session that makes only a plan completes, approved or not.
    fn gives_up_after(&self) -> Option<f64> {
        self.beats
            .front()
            .filter(|beat| matches!(beat.action, BeatAction::Complete { .. }))
            .map(|beat| beat.after)
    }

    /// Starts the work on the current plan.
    pub(super) fn accept_plan(&mut self, by: &'static str, now: Timestamp, knobs: &Knobs) {
        if let Some(plan) = self.plan.clone() {
            self.log_activity(by, Kind::PlanApproved(plan), Vec::new(), now, knobs);
        }
        self.enter_state(State::InProgress, now);
        self.schedule_next(now);
    }

    fn complete_session(&mut self, outputs: bool, now: Timestamp, context: &mut BeatContext<'_>) {
        self.enter_state(State::Completed, now);
        self.log_activity(
            "system",
            Kind::SessionCompleted,
            Vec::new(),
            now,
            context.knobs,
        );
        self.outputs.shown.clear();
        self.outputs.at = Some(now);
        if outputs {
            self.show_outputs(context);
        }
    }

    fn show_outputs(&mut self, context: &BeatContext<'_>) {
        let mut shown = Vec::new();
        let pull = self.checkout.as_ref().zip(self.record.pull);
        if let Some((checkout, number)) = pull
            && let Some(pull) = context.github.pull(checkout.repo, number)
        {
            let path = self.source.trim_start_matches("sources/github/");
            shown.push(json!({ "pullRequest": {
                "url": format!("https://github.com/{path}/pull/{number}"),
                "title": pull.title,
                "description": pull.body,
                "baseRef": self.record.starting_branch,
                "headRef": self.record.branch,
            }}));
        }
        // The service was seen to show a pull request with and without the change set.
        if let Some(set) = self.change_set()
            && (shown.is_empty() || self.chance.happens(0.5))
        {
            shown.push(json!({ "changeSet": set.to_wire() }));
        }
        if let Some(unknown) = &self.scenario.unknown_output {
            shown.push(json!({ unknown: {} }));
        }
        self.outputs.shown = shown;
    }

    pub(super) fn fail_session(&mut self, reason: String, now: Timestamp, knobs: &Knobs) {
        self.enter_state(State::Failed, now);
        self.log_activity(
            "system",
            Kind::SessionFailed(reason),
            Vec::new(),
            now,
            knobs,
        );
        self.beats.clear();
    }

    /// Sends a message soon, before the next beat if that comes later.
    pub(super) fn answer_soon(&mut self, text: String, seconds: f64, now: Timestamp) {
        let due = later_by_seconds(now, seconds);
        if let (Some(next), Some(front)) = (self.due, self.beats.front_mut()) {
            if next <= due {
                // The next beat is due earlier; the message follows it.
                let first = self.beats.pop_front();
                self.beats
                    .push_front(Beat::new(seconds, BeatAction::Say(text)));
                if let Some(first) = first {
                    self.beats.push_front(first);
                }
                return;
            }
            front.after = (next.duration_since(due)).as_secs_f64();
        }
        self.beats
            .push_front(Beat::new(seconds, BeatAction::Say(text)));
        self.due = Some(due);
    }
}

/// An instant later by this many seconds, to the millisecond.
pub(super) fn later_by_seconds(now: Timestamp, seconds: f64) -> Timestamp {
    let span = SignedDuration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(SignedDuration::MAX);
    let millis = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    now.checked_add(SignedDuration::from_millis(millis))
        .unwrap_or(Timestamp::MAX)
}
