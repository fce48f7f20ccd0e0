//! Plans that phileas turned down: a session is asked once for another task, and never where a person has decided.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use phileas_world::books::{Session, SessionAct};
use serde_json::Value;

use super::sessions::Marked;
use super::{Judge, entries};

/// What ends the message that asks for another plan. [`super::sessions::messages`] counts them.
const ASKED: &str = "/p1";
/// What ends a message of a person who calls `phileas session message`.
const BY_PERSON: &str = "/person-";
/// Activities are read right before the message, but a process may stand still in between.
const LAG: SignedDuration = SignedDuration::from_mins(15);

/// What is known of the plans of a session.
#[derive(Debug, Clone, Default)]
struct Plans {
    /// Since when plans wait for approval.
    waiting: Vec<Timestamp>,
    /// When the session was asked for another one.
    requested_at: Option<Timestamp>,
    /// When phileas approved.
    approvals: Vec<Timestamp>,
    /// When a person approved or wrote, once there was a plan.
    person: Option<Timestamp>,
}

impl Plans {
    fn of(session: &Session) -> Self {
        let waiting = session
            .states
            .iter()
            .filter(|(_, word)| word == "AWAITING_PLAN_APPROVAL");
        let waiting: Vec<Timestamp> = waiting.map(|(at, _)| *at).collect();
        let times = |is_wanted: &dyn Fn(&SessionAct) -> bool| -> Vec<Timestamp> {
            let acts = session.acts.iter();
            acts.filter(|act| is_wanted(act))
                .map(|act| act.at)
                .collect()
        };
        let is_message = |act: &SessionAct, end: &str| {
            let last = act.text.lines().last().unwrap_or_default();
            act.what == "message" && last.contains(end)
        };
        let person = times(&|act| {
            let in_web_app = act.in_web_app && matches!(act.what.as_str(), "message" | "approve");
            in_web_app || is_message(act, BY_PERSON)
        });
        Self {
            requested_at: times(&|act| is_message(act, ASKED)).first().copied(),
            approvals: times(&|act| act.what == "approve" && !act.in_web_app),
            person: person
                .into_iter()
                .find(|at| waiting.first().is_some_and(|first| first < at)),
            waiting,
        }
    }

    /// `is_judged`: whether plans of such turns are judged. `outcome`: what became of the turn, where it has no pull request.
    fn findings(&self, is_judged: bool, outcome: Option<&str>) -> Vec<String> {
        let mut found = Vec::new();
        let is_repeated = outcome == Some("repeated");
        let Some(asked) = self.requested_at else {
            if is_repeated {
                found.push("is `repeated`, and was not asked for another plan".to_owned());
            }
            return found;
        };
        if !is_judged {
            found.push("was asked for another plan, and its plans are not judged".to_owned());
        }
        if let Some(person) = self.person.filter(|person| asked > *person + LAG) {
            found.push(format!(
                "was asked for another plan at {asked}, after a person had decided at {person}"
            ));
        }
        let has_plan_before = |at: Timestamp| {
            let mut waiting = self.waiting.iter();
            waiting.any(|made| (asked..=at).contains(made))
        };
        let mut later = self.approvals.iter().filter(|at| **at > asked);
        if let Some(at) = later.clone().find(|at| !has_plan_before(**at)) {
            found.push(format!(
                "was approved at {at} for a plan turned down at {asked}"
            ));
        }
        if is_repeated && let Some(at) = later.next() {
            found.push(format!(
                "is `repeated`, and its other plan was approved at {at}"
            ));
        }
        found
    }
}

impl Judge<'_> {
    /// Plans that repeat earlier work.
    pub(super) fn plans(&mut self, state: &Value, ours: &[&Marked<'_>]) {
        let mut outcomes: BTreeMap<&str, &str> = BTreeMap::new();
        for entry in entries(state) {
            if let (Some(id), Some(outcome), None) = (
                entry["session_id"].as_str(),
                entry["outcome"].as_str(),
                entry["pr_number"].as_u64(),
            ) {
                outcomes.insert(id, outcome);
            }
        }
        for one in ours {
            let plans = Plans::of(one.session);
            let id = one.session.id.as_str();
            let was_asked_for = one.is_requested || one.is_of_layer || one.attempt > 1;
            let is_judged = self.allowed.judges_plans && !was_asked_for;
            self.verdict.plans_turned_down += usize::from(plans.requested_at.is_some());
            for finding in plans.findings(is_judged, outcomes.get(id).copied()) {
                self.find(format!("session {id} {finding}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(1_767_571_200 + minute * 60).unwrap()
    }

    fn act(minute: i64, what: &str, text: &str) -> SessionAct {
        SessionAct {
            at: at(minute),
            what: what.to_owned(),
            in_web_app: false,
            text: text.to_owned(),
        }
    }

    fn plans(acts: Vec<SessionAct>) -> Plans {
        let waiting = |minute| (at(minute), "AWAITING_PLAN_APPROVAL".to_owned());
        Plans::of(&Session {
            states: vec![waiting(1), (at(2), "PLANNING".to_owned()), waiting(4)],
            acts,
            ..Session::default()
        })
    }

    const OTHER: &str = "Choose another task.\n\nphileas-message: abc.1/p1";
    const PERSON: &str = "Keep it short.\n\nphileas-message: abc.1/person-77";

    #[test]
    fn a_plan_is_turned_down_and_another_one_approved_or_the_turn_ended() {
        let asked = plans(vec![act(2, "message", OTHER)]);
        assert_eq!(asked.findings(true, Some("repeated")), [""; 0]);
        assert_eq!(asked.findings(true, None), [""; 0]);
        assert_eq!(asked.findings(false, None).len(), 1, "not judged");
        let approved = plans(vec![act(2, "message", OTHER), act(5, "approve", "")]);
        assert_eq!(approved.findings(true, Some("completed")), [""; 0]);
        assert_eq!(approved.findings(true, Some("repeated")).len(), 1);
        let at_once = plans(vec![act(2, "message", OTHER), act(3, "approve", "")]);
        assert_eq!(at_once.findings(true, None).len(), 1, "the same plan");
        let never_asked = plans(Vec::new());
        assert_eq!(never_asked.findings(true, Some("repeated")).len(), 1);
        assert_eq!(never_asked.findings(true, Some("failed")), [""; 0]);
    }

    #[test]
    fn what_a_person_decides_is_not_turned_down() {
        let person = |minute, asked| {
            let acts = vec![act(minute, "message", PERSON), act(asked, "message", OTHER)];
            plans(acts).findings(true, None).len()
        };
        assert_eq!(person(0, 40), 0, "there was no plan yet");
        assert_eq!(person(2, 40), 1);
        assert_eq!(person(2, 16), 0, "it was on its way");
        let mut approval = act(2, "approve", "");
        approval.in_web_app = true;
        let acts = vec![approval, act(40, "message", OTHER)];
        assert_eq!(plans(acts).findings(true, None).len(), 1);
    }
}
