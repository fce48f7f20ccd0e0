use super::*;
use crate::engine::{ActivityKind, PlanStep};
use crate::jobs::event::EventKind;
use crate::jobs::session::{PullLink, SessionPull};

/// A session, its activities, and the monitor's memory of it.
struct Stage {
    job: Job,
    known: JobMemory,
    seen: AccountSession,
    log: Vec<Activity>,
    now: Timestamp,
    reads: usize,
}

const RULES: Rules = Rules {
    stuck: SignedDuration::from_mins(20),
};

fn stage() -> Stage {
    let now: Timestamp = "2026-01-05T00:00:00Z".parse().unwrap();
    let job = Job::new("77".parse().unwrap());
    Stage {
        seen: AccountSession {
            title: "Tidy up".to_owned(),
            repository: Some("acme/widget".parse().unwrap()),
            url: "https://jules.google.com/session/77".to_owned(),
            created_at: Some(now),
            updated_at: Some(now),
            ..AccountSession::new(job.job_id.clone(), SessionState::Queued)
        },
        job,
        known: JobMemory::default(),
        log: Vec::new(),
        now,
        reads: 0,
    }
}

impl Stage {
    fn pass(&mut self, minutes: i64) {
        self.now += SignedDuration::from_mins(minutes);
    }

    fn does(&mut self, id: &str, kind: ActivityKind) {
        let at = self.now;
        self.seen.updated_at = Some(at);
        self.log.push(Activity {
            id: id.to_owned(),
            at,
            kind,
            has_changes: false,
        });
    }

    fn set_state(&mut self, state: SessionState) {
        self.seen.state = state;
        self.seen.updated_at = Some(self.now);
    }

    /// One check of the monitor; returns the event that it sent.
    fn check(&mut self) -> Option<NewEvent> {
        let needed = needs_activities(&self.known, &self.seen, self.now, &RULES);
        self.reads += usize::from(needed);
        let log = needed.then_some(self.log.as_slice());
        let told = judge_session(
            &self.job,
            &mut self.known,
            &self.seen,
            log,
            self.now,
            &RULES,
        );
        if let Some(told) = &told {
            self.known.record_sent(told.cause.clone());
        }
        told
    }

    /// One check a minute; returns the kinds of the events that were sent.
    fn watch(&mut self, minutes: i64) -> Vec<EventKind> {
        (0..minutes)
            .filter_map(|_| {
                self.pass(1);
                self.check().map(|told| told.kind)
            })
            .collect()
    }
}

fn asks(text: &str) -> ActivityKind {
    ActivityKind::AgentMessaged(text.to_owned())
}

fn answers(text: &str) -> ActivityKind {
    ActivityKind::UserMessaged(text.to_owned())
}

fn progress() -> ActivityKind {
    ActivityKind::Progress {
        title: "Running tests".to_owned(),
    }
}

fn step(title: &str) -> PlanStep {
    PlanStep {
        title: title.to_owned(),
        description: String::new(),
    }
}

fn plan(id: &str) -> ActivityKind {
    ActivityKind::PlanGenerated {
        id: id.to_owned(),
        steps: ["Read", "Write"].map(step).to_vec(),
    }
}

/// Upstream defect 1: terminal events were sent again with every poll.
#[test]
fn defect_01_an_end_is_told_once() {
    let mut stage = stage();
    stage.does("a", ActivityKind::Completed);
    stage.set_state(SessionState::Completed);
    assert_eq!(stage.watch(100), [EventKind::Completed]);
    assert_eq!(stage.reads, 1, "an end costs one reading");
    // A restart reads the same memory; the session's update time may change although nothing happened.
    stage.set_state(SessionState::Completed);
    assert_eq!(stage.watch(100), []);
    stage.does("b", answers("One more thing."));
    assert_eq!(stage.watch(3), [], "the state lags behind the message");
    stage.set_state(SessionState::InProgress);
    assert_eq!(stage.watch(3), []);
    stage.does("c", ActivityKind::Completed);
    stage.set_state(SessionState::Completed);
    assert_eq!(stage.watch(100), [EventKind::Completed]);
}

/// Upstream defect 3: a session at work counted as stuck after twenty minutes, because only its status was compared.
#[test]
fn defect_03_activities_keep_a_session_from_being_stuck() {
    let mut stage = stage();
    stage.set_state(SessionState::InProgress);
    for round in 0..30 {
        stage.does(&format!("p{round}"), progress());
        assert_eq!(stage.watch(10), []);
    }
    assert!(stage.reads < 20, "{} readings in five hours", stage.reads);
    assert_eq!(stage.watch(300), [EventKind::Stuck], "once for each time");
    stage.does("again", progress());
    assert_eq!(stage.watch(15), []);
    assert_eq!(stage.watch(60), [EventKind::Stuck]);
}

/// Upstream defect 13: without a cursor the same question was sent with every poll.
#[test]
fn defect_13_a_question_is_told_once_and_the_next_one_again() {
    let mut stage = stage();
    stage.set_state(SessionState::InProgress);
    stage.check();
    stage.does("q1", asks("Tabs or spaces?"));
    stage.set_state(SessionState::AwaitingUserFeedback);
    let told = stage.check().unwrap();
    assert_eq!(told.message.as_deref(), Some("Tabs or spaces?"));
    assert_eq!(told.payload.activity_id.as_deref(), Some("q1"));
    assert_eq!(stage.watch(600), []);
    stage.does("u1", answers("Tabs."));
    assert_eq!(stage.watch(9), [], "the state lags behind the answer");
    stage.set_state(SessionState::InProgress);
    stage.check();
    stage.does("q2", asks("Really?"));
    stage.set_state(SessionState::AwaitingUserFeedback);
    assert_eq!(stage.watch(600), [EventKind::Question]);
}

#[test]
fn an_answer_and_the_next_question_between_two_looks_are_seen() {
    let mut stage = stage();
    stage.does("q1", asks("Tabs?"));
    stage.set_state(SessionState::AwaitingUserFeedback);
    assert!(stage.check().is_some());
    stage.pass(1);
    stage.does("u1", answers("Yes."));
    stage.does("q2", asks("Spaces?"));
    assert_eq!(stage.check().unwrap().message.as_deref(), Some("Spaces?"));
}

#[test]
fn a_question_that_is_slow_to_appear_is_waited_for_and_told_once() {
    let mut stage = stage();
    stage.set_state(SessionState::AwaitingUserFeedback);
    assert_eq!(stage.watch(5), []);
    stage.does("q1", asks("Which?"));
    assert_eq!(stage.check().unwrap().message.as_deref(), Some("Which?"));
    let mut stage = self::stage();
    stage.set_state(SessionState::AwaitingUserFeedback);
    assert_eq!(stage.watch(30), [EventKind::Question]);
    stage.does("q1", asks("Which?"));
    assert_eq!(stage.watch(30), []);
}

#[test]
fn a_plan_is_told_once_and_its_revision_again() {
    let mut stage = stage();
    stage.does("a", plan("p1"));
    stage.set_state(SessionState::AwaitingPlanApproval);
    let told = stage.check().unwrap();
    assert_eq!(told.kind, EventKind::PlanReview);
    assert_eq!(told.payload.steps, ["Read", "Write"]);
    assert_eq!(stage.watch(100), []);
    stage.does("b", answers("Write first."));
    stage.does("c", plan("p2"));
    assert_eq!(
        stage.check().unwrap().payload.plan_id.as_deref(),
        Some("p2")
    );
    stage.does("d", ActivityKind::PlanApproved);
    assert_eq!(stage.watch(100), [], "the state lags behind the approval");
}

#[test]
fn an_end_with_an_open_question_is_a_question() {
    let mut stage = stage();
    stage.does("a", ActivityKind::Completed);
    stage.does("b", asks("Shall I go on?"));
    stage.set_state(SessionState::Completed);
    assert_eq!(stage.watch(100), [EventKind::Question]);
}

#[test]
fn an_end_tells_what_it_has_brought() {
    for (pull, changes, outcome) in [
        (true, true, "pull_request"),
        (false, true, "changes"),
        (false, false, "nothing"),
    ] {
        let mut stage = stage();
        stage.does("s", asks("Nothing to do."));
        stage.does("a", ActivityKind::Completed);
        stage.log[1].has_changes = changes;
        let url = "https://github.com/acme/widget/pull/3";
        let shown = SessionPull {
            url: url.to_owned(),
            title: String::new(),
            link: PullLink::parse(url),
        };
        stage.seen.pulls = pull.then_some(shown).into_iter().collect();
        stage.set_state(SessionState::Completed);
        let payload = stage.check().unwrap().payload;
        assert_eq!(payload.outcome.as_deref(), Some(outcome));
        assert_eq!(payload.pull.is_some(), pull);
    }
}

#[test]
fn a_failure_is_told_with_its_reason() {
    let mut stage = stage();
    stage.set_state(SessionState::Failed);
    assert!(stage.check().is_none());
    stage.does("a", ActivityKind::Failed("no disk".to_owned()));
    assert_eq!(stage.check().unwrap().message.as_deref(), Some("no disk"));
    assert_eq!(stage.watch(100), []);
    let mut stage = self::stage();
    stage.set_state(SessionState::Failed);
    assert_eq!(stage.watch(100), [EventKind::Error]);
}

/// google-labs-code/jules-sdk#23: the state stays IN_PROGRESS for ever after the work is done.
#[test]
fn an_end_that_the_state_conceals_is_told_as_an_end() {
    let mut stage = stage();
    stage.does("a", ActivityKind::Completed);
    stage.set_state(SessionState::InProgress);
    assert_eq!(stage.watch(200), [EventKind::Completed]);
}

#[test]
fn a_session_that_waits_for_a_person_is_never_stuck() {
    for state in [
        SessionState::AwaitingUserFeedback,
        SessionState::AwaitingPlanApproval,
        SessionState::Paused,
        SessionState::Completed,
        SessionState::Failed,
    ] {
        let mut stage = stage();
        stage.does("q", asks("Well?"));
        stage.does("p", plan("p1"));
        stage.set_state(state.clone());
        let told = stage.watch(600);
        assert!(!told.contains(&EventKind::Stuck), "{state:?}: {told:?}");
        assert!(told.len() <= 1, "{state:?}: {told:?}");
    }
}

#[test]
fn an_unknown_state_counts_as_work() {
    let mut stage = stage();
    stage.set_state(SessionState::Unknown("REVIEWING".to_owned()));
    assert_eq!(stage.watch(200), [EventKind::Stuck]);
    assert_eq!(stage.known.last_status.as_deref(), Some("REVIEWING"));
}
