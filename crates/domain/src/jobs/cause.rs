//! Which sight of a session is worth waking an agent for, once for each cause.
//!
//! A cause has a name that is made from what Jules wrote down for good: the id of the question, of the plan, of the newest
//! activity, of the last thing that somebody said. Whoever looks again, after a crash or from another machine, finds the
//! same name, and what was told under it is not told again.

use jiff::{SignedDuration, Timestamp};

use super::event::{Draft, EventKind, MAX_STEP_CHARS, MAX_STEPS, Payload, shortened};
use super::job::{Job, Priority};
use super::memory::JobMemory;
use super::sight::{Activity, ActivityKind, Session};
use crate::engine::SessionState;

/// How long a question, a plan or an end that a state speaks of may take to appear among the activities. Then it is told
/// without them.
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(10);

/// How long the reason of a failure may take to appear.
pub const REASON_PATIENCE: SignedDuration = SignedDuration::from_mins(2);

/// How often the activities of a session that waits for somebody are read again although nothing says that it changed.
pub const WAITING_RECHECK: SignedDuration = SignedDuration::from_mins(10);

/// The longest title that stands in an event, in characters.
const MAX_TITLE_CHARS: usize = 120;

/// What is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// After how long without any activity a session is stuck.
    pub stuck: SignedDuration,
}

/// Whether a session's activities have to be read before it can be judged. `now` is by the clock that they are dated by.
///
/// A session at work costs nothing beyond its place in the listing until it has been quiet for so long that it may be
/// stuck.
#[must_use]
pub fn needs_activities(known: &JobMemory, seen: &Session, now: Timestamp, rules: &Rules) -> bool {
    if seen.archived || seen.state == SessionState::Paused {
        return false;
    }
    let moved = known.last_status.as_deref() != Some(seen.state.as_str());
    let changed = moved || known.updated_at != seen.updated_at;
    let due = known.read_again_at.is_some_and(|at| at <= now);
    match seen.state {
        SessionState::AwaitingUserFeedback
        | SessionState::AwaitingPlanApproval
        | SessionState::Completed
        | SessionState::Failed => changed || known.pending || due,
        _ => {
            let newest = known.last_activity.max(seen.created_at);
            let quiet = newest.is_none_or(|newest| now.duration_since(newest) >= rules.stuck);
            quiet && known.read_again_at.is_none_or(|at| at <= now)
        }
    }
}

/// What is to be told of a session. `activities` are all of them, oldest first, or `None` where they were not read; they
/// must be read when [`needs_activities`] says so. `now` is by the clock that sessions and activities are dated by.
///
/// The causes are not marked as told: that is for whoever has written the event down.
#[must_use]
pub fn judge(
    job: &Job,
    known: &mut JobMemory,
    seen: &Session,
    activities: Option<&[Activity]>,
    now: Timestamp,
    rules: &Rules,
) -> Option<Draft> {
    if known.last_status.as_deref() != Some(seen.state.as_str()) {
        known.last_status = Some(seen.state.as_str().to_owned());
        known.status_since = Some(now);
        known.read_again_at = None;
    }
    let since = *known.status_since.get_or_insert(now);
    if let Some(pull) = &seen.pull {
        known.pull = Some(pull.url.clone());
    }
    let activities = activities?;
    known.updated_at = seen.updated_at;
    known.pending = false;
    let log = Log::new(activities);
    // What was said to Jules last begins a wait of its own: the state may lag behind it.
    let since = log.word.map_or(since, |word| since.max(word.at));
    if let Some(newest) = log.newest {
        known.last_activity = known.last_activity.max(Some(newest.at));
        known.cursor = Some(format!("{} {}", newest.at, newest.id));
    }
    let verdict = match seen.state {
        SessionState::AwaitingUserFeedback => log.question(known, since, now),
        SessionState::AwaitingPlanApproval => log.plan(since, now),
        SessionState::Completed => log.end(seen, now),
        SessionState::Failed => log.failure(since, now),
        SessionState::Paused => Verdict::Nothing,
        _ => log.work(seen, known, now, rules),
    };
    let found = match verdict {
        Verdict::Nothing => None,
        Verdict::Later => {
            known.pending = true;
            None
        }
        Verdict::Tell(found) => Some(found),
    };
    known.read_again_at = match seen.state {
        SessionState::AwaitingUserFeedback | SessionState::AwaitingPlanApproval => {
            now.checked_add(WAITING_RECHECK).ok()
        }
        SessionState::Completed | SessionState::Failed | SessionState::Paused => None,
        _ => now.checked_add(rules.stuck).ok(),
    };
    let found = found.filter(|found| !known.was_told(&found.cause))?;
    Some(draft(job, seen, known, *found))
}

/// Something that is worth telling.
struct Found {
    kind: EventKind,
    cause: String,
    message: Option<String>,
    payload: Payload,
}

impl From<Found> for Verdict {
    fn from(found: Found) -> Self {
        Self::Tell(Box::new(found))
    }
}

impl Found {
    fn new(kind: EventKind, cause: String) -> Self {
        Self {
            kind,
            cause: format!("{kind}/{cause}"),
            message: None,
            payload: Payload::default(),
        }
    }
}

enum Verdict {
    Nothing,
    /// Something, once more of the session is seen.
    Later,
    Tell(Box<Found>),
}

/// A session's activities, and what stands out among them.
struct Log<'a> {
    all: &'a [Activity],
    newest: Option<&'a Activity>,
    /// The last thing that somebody said to Jules, or approved, and what came after it.
    word: Option<&'a Activity>,
    after_word: &'a [Activity],
    /// What came after the last message to Jules.
    after_message: &'a [Activity],
}

impl<'a> Log<'a> {
    fn new(all: &'a [Activity]) -> Self {
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
            word: word.map(|place| &all[place]),
            after_word: after(word),
            after_message: after(message),
        }
    }

    /// The name of the time since somebody said something to Jules last.
    fn period(&self) -> String {
        let word = self.word.map_or("start", |word| word.id.as_str());
        format!("after {word}")
    }

    /// The last thing that Jules said since it was last spoken to.
    fn last_said(&self) -> Option<(&'a Activity, &'a str)> {
        let mut later = self.after_message.iter().rev();
        later.find_map(|activity| match &activity.kind {
            ActivityKind::AgentMessaged(text) => Some((activity, text.as_str())),
            _ => None,
        })
    }

    fn question(&self, known: &JobMemory, since: Timestamp, now: Timestamp) -> Verdict {
        let unseen = Found::new(EventKind::Question, self.period());
        if known.was_told(&unseen.cause) {
            // It was told without its text, which has come since.
            return Verdict::Nothing;
        }
        match self.last_said() {
            Some((activity, text)) => asked(activity, text).into(),
            None if now.duration_since(since) < PATIENCE => Verdict::Later,
            None => Verdict::from(Found {
                message: Some(
                    "Jules waits for an answer and does not show its question; the session's page may".to_owned(),
                ),
                ..unseen
            }),
        }
    }

    fn plan(&self, since: Timestamp, now: Timestamp) -> Verdict {
        let is_plan =
            |activity: &Activity| matches!(activity.kind, ActivityKind::PlanGenerated { .. });
        let Some(place) = self.all.iter().rposition(is_plan) else {
            if now.duration_since(since) < PATIENCE {
                return Verdict::Later;
            }
            return Verdict::from(Found {
                message: Some(
                    "Jules waits for its plan to be approved and does not show it".to_owned(),
                ),
                ..Found::new(EventKind::PlanReview, self.period())
            });
        };
        let approved = |activity: &Activity| activity.kind == ActivityKind::PlanApproved;
        if self.all[place..].iter().any(approved) {
            // The state lags behind the approval.
            return Verdict::Nothing;
        }
        let activity = &self.all[place];
        let ActivityKind::PlanGenerated { id, steps } = &activity.kind else {
            return Verdict::Nothing;
        };
        let plan = if id.is_empty() { &activity.id } else { id };
        let mut found = Found::new(EventKind::PlanReview, plan.clone());
        let shown = steps.iter().take(MAX_STEPS);
        let short = |step: &String| shortened(Some(step.clone()), MAX_STEP_CHARS).0;
        found.payload = Payload {
            plan_id: Some(plan.clone()),
            activity_id: Some(activity.id.clone()),
            steps: shown.filter_map(short).collect(),
            steps_total: (steps.len() > MAX_STEPS).then_some(steps.len()),
            ..Payload::default()
        };
        found.into()
    }

    fn has_ended(&self) -> bool {
        let ended = |activity: &Activity| activity.kind == ActivityKind::Completed;
        self.after_word.iter().any(ended)
    }

    fn end(&self, seen: &Session, now: Timestamp) -> Verdict {
        if !self.has_ended()
            && let Some(word) = self.word
            && now.duration_since(word.at) < PATIENCE
        {
            // The state is older than what was said to Jules, so that it speaks of the end before that.
            return Verdict::Later;
        }
        let changes = seen.has_changes || self.all.iter().any(|activity| activity.has_changes);
        if seen.pull.is_none()
            && !changes
            && let Some((activity, text)) = self.last_said()
            && text.contains('?')
        {
            return asked(activity, text).into();
        }
        let mut found = Found::new(EventKind::Completed, self.period());
        let outcome = match (&seen.pull, changes) {
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

    fn failure(&self, since: Timestamp, now: Timestamp) -> Verdict {
        let mut later = self.all.iter().rev();
        let reason = later.find_map(|activity| match &activity.kind {
            ActivityKind::Failed(reason) => Some(reason.clone()),
            _ => None,
        });
        if reason.is_none() && now.duration_since(since) < REASON_PATIENCE {
            return Verdict::Later;
        }
        let mut found = Found::new(EventKind::Error, format!("failed {}", self.period()));
        let reason = reason.filter(|reason| !reason.trim().is_empty());
        found.message = reason.or_else(|| Some("Jules gives no reason".to_owned()));
        found.payload.cause = Some("session_failed".to_owned());
        found.into()
    }

    /// A session that says that it is at work.
    fn work(&self, seen: &Session, known: &JobMemory, now: Timestamp, rules: &Rules) -> Verdict {
        if self.has_ended() {
            // Its state may stay behind for ever (google-labs-code/jules-sdk#23); its activities do not.
            return self.end(seen, now);
        }
        let newest = known.last_activity.max(seen.created_at);
        let Some(newest) = newest.or(known.status_since) else {
            return Verdict::Nothing;
        };
        if now.duration_since(newest) < rules.stuck {
            return Verdict::Nothing;
        }
        let last = self.newest.map_or("start", |activity| activity.id.as_str());
        let mut found = Found::new(EventKind::Stuck, format!("after {last}"));
        found.message = self.newest.and_then(said);
        found.payload.activity_id = self.newest.map(|activity| activity.id.clone());
        found.into()
    }
}

fn asked(activity: &Activity, text: &str) -> Found {
    let mut found = Found::new(EventKind::Question, activity.id.clone());
    found.message = Some(text.to_owned());
    found.payload.activity_id = Some(activity.id.clone());
    found
}

/// What an activity says.
fn said(activity: &Activity) -> Option<String> {
    let text = match &activity.kind {
        ActivityKind::AgentMessaged(text) | ActivityKind::Progress { title: text } => text,
        _ => return None,
    };
    (!text.trim().is_empty()).then(|| text.clone())
}

fn draft(job: &Job, seen: &Session, known: &JobMemory, found: Found) -> Draft {
    let repository = seen.repository.clone().or_else(|| job.repository());
    let title = Some(seen.title.trim().to_owned()).filter(|title| !title.is_empty());
    let payload = Payload {
        repo: repository.map(|repository| repository.to_string()),
        title: shortened(title, MAX_TITLE_CHARS).0,
        url: Some(seen.url.clone()).filter(|url| !url.is_empty()),
        pull: known.pull.clone(),
        priority: (job.priority != Priority::Normal).then_some(job.priority),
        ..found.payload
    };
    Draft {
        kind: found.kind,
        job_id: Some(job.job_id.clone()),
        status: Some(seen.state.as_str().to_owned()),
        message: found.message,
        last_activity: known.last_activity,
        payload,
        cause: found.cause,
    }
}

mod turn;

pub use turn::of_turn;

#[cfg(test)]
mod tests;
