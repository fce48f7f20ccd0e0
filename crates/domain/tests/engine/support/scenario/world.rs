//! What Jules and people do between ticks.

use jiff::Timestamp;
use phileas_domain::engine::{
    Activity, ActivityKind, Checks, Mergeable, PlanStep, Pull, PullState, SessionState,
};
use phileas_domain::model::{PullNumber, SessionId};

use super::Scenario;

impl Scenario {
    pub(crate) fn add_activity(&mut self, session: &SessionId, at: Timestamp, kind: ActivityKind) {
        let log = self.activities.entry(session.clone()).or_default();
        // Jules' own log never goes back, whatever our clock does.
        let at = log.last().map_or(at, |last| last.at.max(at));
        log.push(Activity {
            id: format!("a{}", log.len()),
            at,
            kind,
            has_changes: false,
        });
    }

    /// A session makes a plan of steps with these titles and descriptions.
    pub(crate) fn plans(&mut self, session: &SessionId, steps: &[(&str, &str)]) {
        let steps = steps.iter().map(|(title, description)| PlanStep {
            title: (*title).to_owned(),
            description: (*description).to_owned(),
        });
        self.add_activity(
            session,
            self.now,
            ActivityKind::PlanGenerated {
                id: "plan".to_owned(),
                steps: steps.collect(),
            },
        );
    }

    /// The newest session changes its state.
    pub(crate) fn becomes(&mut self, state: SessionState) -> SessionId {
        let now = self.now;
        let session = self.sessions.last_mut().expect("a session");
        session.state = state.clone();
        session.updated_at = Some(now);
        let id = session.id.clone();
        match state {
            SessionState::Completed => self.add_activity(&id, now, ActivityKind::Completed),
            SessionState::Failed => {
                self.add_activity(&id, now, ActivityKind::Failed("it broke".to_owned()))
            }
            SessionState::AwaitingUserFeedback => {
                self.add_activity(&id, now, ActivityKind::AgentMessaged("which?".to_owned()))
            }
            SessionState::AwaitingPlanApproval => self.plans(&id, &[("Look around", "")]),
            _ => {}
        }
        id
    }

    /// The newest session ends with a pull request.
    pub(crate) fn opens_pull(&mut self) -> PullNumber {
        let index = self.sessions.len() - 1;
        self.opens_pull_of(index)
    }

    pub(crate) fn opens_pull_of(&mut self, index: usize) -> PullNumber {
        let number = PullNumber(1 + self.pulls.len() as u64);
        let now = self.now;
        let session = &mut self.sessions[index];
        session.state = SessionState::Completed;
        session.updated_at = Some(now);
        session.pulls.push(number);
        session.has_changes = true;
        let pull = Pull {
            number,
            state: PullState::Open,
            draft: false,
            title: "work".to_owned(),
            body: String::new(),
            author: "google-labs-jules[bot]".into(),
            bot_id: None,
            head: format!("work-{}", session.id).into(),
            head_oid: "00".into(),
            same_repository: true,
            base: "main".into(),
            created_at: now,
            closed_at: None,
            reviewed: false,
            checks: Checks::None,
            mergeable: Mergeable::Yes,
        };
        self.pulls.insert(number, pull);
        number
    }

    pub(crate) fn merge(&mut self, number: PullNumber) {
        self.pulls.get_mut(&number).unwrap().state = PullState::Merged;
        self.push();
    }

    pub(crate) fn close(&mut self, number: PullNumber) {
        self.pulls.get_mut(&number).unwrap().state = PullState::Closed;
    }
}
