//! Reads from a session's activities what its state means: a question, a plan, an end, a failure, a standstill.

use jiff::{SignedDuration, Timestamp};

use crate::engine::{Activity, ActivityKind, PlanStep};
use crate::jobs::event::{EventKind, MAX_STEP_CHARS, MAX_STEPS, Payload, shorten_text};
use crate::jobs::memory::JobMemory;
use crate::jobs::session::AccountSession;

/// How long to wait until a question, plan or end that the state announces appears among the activities. After that the
/// event is sent without its text.
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(10);

/// How long to wait until the reason of a failure appears.
pub const REASON_PATIENCE: SignedDuration = SignedDuration::from_mins(2);

/// The longest title of an event, in characters.
pub(super) const MAX_TITLE_CHARS: usize = 120;

/// The settings by which sessions are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// How long a session has no activity before it counts as stuck.
    pub stuck: SignedDuration,
}

/// An event that is worth sending.
pub(super) struct Finding {
    pub(super) kind: EventKind,
    pub(super) cause: String,
    pub(super) message: Option<String>,
    pub(super) payload: Payload,
}

impl From<Finding> for Verdict {
    fn from(found: Finding) -> Self {
        Self::Send(Box::new(found))
    }
}

impl Finding {
    pub(super) fn new(kind: EventKind, cause: String) -> Self {
        Self {
            kind,
            cause: format!("{kind}/{cause}"),
            message: None,
            payload: Payload::default(),
        }
    }
}

pub(super) enum Verdict {
    None,
    /// Something will be sent, once more of the session can be read.
    Later,
    Send(Box<Finding>),
}

/// A session's activities, and those that matter.
pub(super) struct ActivityLog<'a> {
    pub(super) all: &'a [Activity],
    pub(super) newest: Option<&'a Activity>,
    /// The last message or approval that Jules received, followed by the activities after it.
    pub(super) last_input: Option<&'a Activity>,
    pub(super) after_input: &'a [Activity],
    /// The activities after the last message to Jules.
    pub(super) after_message: &'a [Activity],
}

impl<'a> ActivityLog<'a> {
    pub(super) fn new(all: &'a [Activity]) -> Self {
        let is_message =
            |activity: &Activity| matches!(activity.kind, ActivityKind::UserMessaged(_));
        let is_word = |activity: &Activity| {
            is_message(activity) || activity.kind == ActivityKind::PlanApproved
        };
        let word = all.iter().rposition(is_word);
        let message = all.iter().rposition(is_message);
        let after = |place: Option<usize>| &all[place.map_or(0, |place| place + 1)..];
        Self {
            all,
            newest: all.iter().max_by_key(|activity| activity.at),
            last_input: word.map(|place| &all[place]),
            after_input: after(word),
            after_message: after(message),
        }
    }

    /// A name for the period since the last message or approval.
    pub(super) fn period_name(&self) -> String {
        let word = self.last_input.map_or("start", |word| word.id.as_str());
        format!("after {word}")
    }

    /// The last message of Jules since it was last written to.
    pub(super) fn last_said(&self) -> Option<(&'a Activity, &'a str)> {
        let mut later = self.after_message.iter().rev();
        later.find_map(|activity| match &activity.kind {
            ActivityKind::AgentMessaged(text) => Some((activity, text.as_str())),
            _ => None,
        })
    }

    pub(super) fn judge_question(
        &self,
        known: &JobMemory,
        since: Timestamp,
        now: Timestamp,
    ) -> Verdict {
        let unseen = Finding::new(EventKind::Question, self.period_name());
        if known.was_sent(&unseen.cause) {
            // The event was sent without its text, which has appeared since.
            return Verdict::None;
        }
        match self.last_said() {
            Some((activity, text)) => question_found(activity, text).into(),
            None if now.duration_since(since) < PATIENCE => Verdict::Later,
            None => Verdict::from(Finding {
                message: Some(
                    "Jules waits for an answer and does not show its question; the session's page may".to_owned(),
                ),
                ..unseen
            }),
        }
    }

    pub(super) fn judge_plan(&self, since: Timestamp, now: Timestamp) -> Verdict {
        let is_plan =
            |activity: &Activity| matches!(activity.kind, ActivityKind::PlanGenerated { .. });
        let Some(place) = self.all.iter().rposition(is_plan) else {
            if now.duration_since(since) < PATIENCE {
                return Verdict::Later;
            }
            return Verdict::from(Finding {
                message: Some(
                    "Jules waits for its plan to be approved and does not show it".to_owned(),
                ),
                ..Finding::new(EventKind::PlanReview, self.period_name())
            });
        };
        let approved = |activity: &Activity| activity.kind == ActivityKind::PlanApproved;
        if self.all[place..].iter().any(approved) {
            // The state lags behind the approval.
            return Verdict::None;
        }
        let activity = &self.all[place];
        let ActivityKind::PlanGenerated { id, steps } = &activity.kind else {
            return Verdict::None;
        };
        let plan = if id.is_empty() { &activity.id } else { id };
        let mut found = Finding::new(EventKind::PlanReview, plan.clone());
        let shown = steps.iter().take(MAX_STEPS);
        let short = |step: &PlanStep| shorten_text(Some(step.title.clone()), MAX_STEP_CHARS).0;
        found.payload = Payload {
            plan_id: Some(plan.clone()),
            activity_id: Some(activity.id.clone()),
            steps: shown.filter_map(short).collect(),
            steps_total: (steps.len() > MAX_STEPS).then_some(steps.len()),
            ..Payload::default()
        };
        found.into()
    }

    pub(super) fn has_ended(&self) -> bool {
        let ended = |activity: &Activity| activity.kind == ActivityKind::Completed;
        self.after_input.iter().any(ended)
    }

    pub(super) fn judge_end(&self, seen: &AccountSession, now: Timestamp) -> Verdict {
        if !self.has_ended()
            && let Some(word) = self.last_input
            && now.duration_since(word.at) < PATIENCE
        {
            // The state is older than the last message to Jules, so it describes the end before that message.
            return Verdict::Later;
        }
        let changes = seen.has_changes() || self.all.iter().any(|activity| activity.has_changes);
        if seen.pull().is_none()
            && !changes
            && let Some((activity, text)) = self.last_said()
            && text.contains('?')
        {
            return question_found(activity, text).into();
        }
        let mut found = Finding::new(EventKind::Completed, self.period_name());
        let outcome = match (seen.pull(), changes) {
            (Some(_), _) => "pull_request",
            (None, true) => "changes",
            (None, false) => "nothing",
        };
        found.payload.outcome = Some(outcome.to_owned());
        if outcome == "nothing" {
            found.message = self.last_said().map(|(_, text)| text.to_owned());
        }
        found.into()
    }

    pub(super) fn judge_failure(&self, since: Timestamp, now: Timestamp) -> Verdict {
        let mut later = self.all.iter().rev();
        let reason = later.find_map(|activity| match &activity.kind {
            ActivityKind::Failed(reason) => Some(reason.clone()),
            _ => None,
        });
        if reason.is_none() && now.duration_since(since) < REASON_PATIENCE {
            return Verdict::Later;
        }
        let mut found = Finding::new(EventKind::Error, format!("failed {}", self.period_name()));
        let reason = reason.filter(|reason| !reason.trim().is_empty());
        found.message = reason.or_else(|| Some("Jules gives no reason".to_owned()));
        found.payload.cause = Some("session_failed".to_owned());
        found.into()
    }

    /// Judges a session whose state says that it is at work.
    pub(super) fn judge_work(
        &self,
        seen: &AccountSession,
        known: &JobMemory,
        now: Timestamp,
        rules: &Rules,
    ) -> Verdict {
        if self.has_ended() {
            // Its state may stay behind for ever (google-labs-code/jules-sdk#23); its activities do not.
            return self.judge_end(seen, now);
        }
        let newest = known.last_activity.max(seen.created_at);
        let Some(newest) = newest.or(known.status_since) else {
            return Verdict::None;
        };
        if now.duration_since(newest) < rules.stuck {
            return Verdict::None;
        }
        let last = self.newest.map_or("start", |activity| activity.id.as_str());
        let mut found = Finding::new(EventKind::Stuck, format!("after {last}"));
        found.message = self.newest.and_then(message_text);
        found.payload.activity_id = self.newest.map(|activity| activity.id.clone());
        found.into()
    }
}

pub(super) fn question_found(activity: &Activity, text: &str) -> Finding {
    let mut found = Finding::new(EventKind::Question, activity.id.clone());
    found.message = Some(text.to_owned());
    found.payload.activity_id = Some(activity.id.clone());
    found
}

/// The text of an activity, if it has one.
pub(super) fn message_text(activity: &Activity) -> Option<String> {
    let text = match &activity.kind {
        ActivityKind::AgentMessaged(text) | ActivityKind::Progress { title: text } => text,
        _ => return None,
    };
    (!text.trim().is_empty()).then(|| text.clone())
}
