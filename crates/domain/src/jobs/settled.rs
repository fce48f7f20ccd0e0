//! Decides whether an event still needs an answer. Between the event and the agent's start another one may have
//! answered or approved, or the session may have continued.

use jiff::Timestamp;

use super::event::{Event, EventKind};
use super::session::AccountSession;
use crate::engine::{Activity, ActivityKind, SessionState};

/// Why a question, a plan or a standstill needs no action any more, as a sentence. `None` if it still waits, and for
/// events of other kinds. `log` holds all activities of the session, oldest first.
#[must_use]
pub fn settled_reason(event: &Event, seen: &AccountSession, log: &[Activity]) -> Option<String> {
    let kind = event.event_kind()?;
    if !matches!(
        kind,
        EventKind::Question | EventKind::PlanReview | EventKind::Stuck
    ) {
        return None;
    }
    if seen.archived {
        return Some("its session is archived".to_owned());
    }
    let later = activities_after(event, log);
    let said = later.iter().find(|one| is_message(one));
    match kind {
        EventKind::Question => match said {
            Some(answer) => {
                let more = if still_waits(seen, later) {
                    "; what Jules asks now is another event"
                } else {
                    ""
                };
                Some(format!("it was answered at {}{more}", to_second(answer.at)))
            }
            None => gone_on(event, seen, SessionState::AwaitingUserFeedback),
        },
        EventKind::PlanReview => {
            let approved = later
                .iter()
                .find(|one| one.kind == ActivityKind::PlanApproved);
            let newer = later
                .iter()
                .any(|one| matches!(one.kind, ActivityKind::PlanGenerated { .. }));
            match (approved, said) {
                (Some(one), _) => Some(format!("it was approved at {}", to_second(one.at))),
                (None, _) if newer => {
                    Some("Jules has made another plan, which is another event".to_owned())
                }
                (None, Some(one)) => Some(format!(
                    "Jules got a message about it at {}",
                    to_second(one.at)
                )),
                // Some sessions are reported as completed although they wait for approval.
                (None, None) if seen.state == SessionState::Completed => None,
                (None, None) => gone_on(event, seen, SessionState::AwaitingPlanApproval),
            }
        }
        _ => match later.last() {
            Some(newest) => Some(format!("the session has moved at {}", to_second(newest.at))),
            None => match seen.state {
                SessionState::Completed
                | SessionState::Failed
                | SessionState::AwaitingUserFeedback
                | SessionState::AwaitingPlanApproval => {
                    Some(format!("the session is {} now", seen.state.as_str()))
                }
                _ => None,
            },
        },
    }
}

/// The activities after the event's own. If the event names none: those that are newer than the newest one known then.
fn activities_after<'a>(event: &Event, log: &'a [Activity]) -> &'a [Activity] {
    let payload = event.payload.as_ref();
    let id = payload.and_then(|payload| payload.activity_id.as_deref());
    let own = id.and_then(|id| log.iter().rposition(|one| one.id == id));
    if let Some(own) = own {
        return &log[own + 1..];
    }
    match event.last_activity {
        Some(known) => &log[log.partition_point(|one| one.at <= known)..],
        // An event that was sent without reading the log, or by another writer, says nothing about what was in it.
        None if event.schema.is_some() && !is_told_of_turn(event) => log,
        None => &[],
    }
}

/// Whether the event of a turn was sent without its text, because Jules did not respond for a long time.
fn is_told_of_turn(event: &Event) -> bool {
    let payload = event.payload.as_ref();
    payload.is_some_and(|payload| payload.turn.is_some())
}

fn is_message(activity: &Activity) -> bool {
    matches!(activity.kind, ActivityKind::UserMessaged(_))
}

/// Whether Jules waits for an answer to a message that it wrote after the last message to it.
fn still_waits(seen: &AccountSession, later: &[Activity]) -> bool {
    let answered = later.iter().rposition(is_message).map_or(0, |at| at + 1);
    let asks = |one: &Activity| matches!(one.kind, ActivityKind::AgentMessaged(_));
    seen.state == SessionState::AwaitingUserFeedback && later[answered..].iter().any(asks)
}

/// The reason if the session's state is neither the one that waits for this nor the one at the time of the event.
fn gone_on(event: &Event, seen: &AccountSession, waiting: SessionState) -> Option<String> {
    let state = seen.state.as_str();
    let same = event.status.as_deref() == Some(state);
    (seen.state != waiting && !same).then(|| format!("the session has gone on and is {state} now"))
}

fn to_second(at: Timestamp) -> impl std::fmt::Display {
    at.strftime("%Y-%m-%d %H:%M:%SZ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn does(id: &str, second: i64, kind: ActivityKind) -> Activity {
        Activity {
            id: id.to_owned(),
            at: at(second),
            kind,
            has_changes: false,
        }
    }

    fn activity(id: &str, second: i64) -> Activity {
        does(id, second, ActivityKind::AgentMessaged("Tabs?".to_owned()))
    }

    fn answer(id: &str, second: i64) -> Activity {
        does(id, second, ActivityKind::UserMessaged("Yes.".to_owned()))
    }

    fn plan(id: &str, second: i64) -> Activity {
        let steps = Vec::new();
        let id = id.to_owned();
        let kind = ActivityKind::PlanGenerated {
            id: id.clone(),
            steps,
        };
        does(&id, second, kind)
    }

    fn seen(state: SessionState) -> AccountSession {
        AccountSession {
            created_at: Some(at(0)),
            ..AccountSession::new("7".parse().unwrap(), state)
        }
    }

    fn event(kind: &str, status: &str, activity: Option<&str>) -> Event {
        let line = serde_json::json!({
            "event": kind, "job_id": "7", "status": status, "last_activity": at(10).to_string(),
            "payload": {"activity_id": activity},
        });
        Event::parse(&line.to_string()).unwrap()
    }

    #[test]
    fn what_still_waits_is_told_from_what_was_settled() {
        let awaiting = || SessionState::AwaitingUserFeedback;
        let planned = || SessionState::AwaitingPlanApproval;
        let working = || SessionState::InProgress;
        let approved = does("ok", 20, ActivityKind::PlanApproved);
        let progress = |id: &str| {
            let title = String::new();
            does(id, 20, ActivityKind::Progress { title })
        };
        let asked = || event("question", "AWAITING_USER_FEEDBACK", Some("q"));
        let unnamed = || event("question", "AWAITING_USER_FEEDBACK", None);
        let ended = || event("question", "COMPLETED", Some("q"));
        let review = || event("plan_review", "AWAITING_PLAN_APPROVAL", Some("p"));
        let stuck = || event("stuck", "IN_PROGRESS", Some("w"));
        let over = || event("completed", "COMPLETED", Some("q"));
        let cases: Vec<(Event, SessionState, Vec<Activity>, Option<&str>)> = vec![
            (asked(), awaiting(), vec![activity("q", 10)], None),
            // The state may lag behind the answer.
            (
                asked(),
                awaiting(),
                vec![activity("q", 10), answer("a", 20)],
                Some("answered at 2027-01-15"),
            ),
            (
                asked(),
                awaiting(),
                vec![activity("q", 10), answer("a", 20), activity("r", 30)],
                Some("what Jules asks now is another event"),
            ),
            (
                asked(),
                working(),
                vec![activity("q", 10)],
                Some("is IN_PROGRESS now"),
            ),
            (
                unnamed(),
                awaiting(),
                vec![answer("a", 5), activity("q", 10)],
                None,
            ),
            (
                unnamed(),
                awaiting(),
                vec![activity("q", 10), answer("a", 20)],
                Some("answered"),
            ),
            (
                ended(),
                SessionState::Completed,
                vec![activity("q", 10)],
                None,
            ),
            (
                ended(),
                SessionState::Completed,
                vec![activity("q", 10), answer("a", 20)],
                Some("answered"),
            ),
            (review(), planned(), vec![plan("p", 10)], None),
            (
                review(),
                planned(),
                vec![plan("p", 10), approved],
                Some("approved at"),
            ),
            (
                review(),
                planned(),
                vec![plan("p", 10), answer("a", 20)],
                Some("got a message"),
            ),
            (
                review(),
                planned(),
                vec![plan("p", 10), answer("a", 20), plan("r", 30)],
                Some("another plan"),
            ),
            (review(), working(), vec![plan("p", 10)], Some("gone on")),
            (review(), SessionState::Completed, vec![plan("p", 10)], None),
            (stuck(), working(), vec![progress("w")], None),
            (
                stuck(),
                working(),
                vec![progress("w"), progress("v")],
                Some("moved at"),
            ),
            (
                stuck(),
                awaiting(),
                vec![progress("w")],
                Some("AWAITING_USER_FEEDBACK now"),
            ),
            (
                over(),
                working(),
                vec![activity("q", 10), answer("a", 20)],
                None,
            ),
        ];
        for (event, state, log, wanted) in cases {
            let found = settled_reason(&event, &seen(state.clone()), &log);
            let context = format!("{} {state:?} {log:?}: {found:?}", event.event);
            match (wanted, found) {
                (None, None) => {}
                (Some(wanted), Some(found)) => assert!(found.contains(wanted), "{context}"),
                _ => panic!("{context}"),
            }
        }
        let mut away = seen(awaiting());
        away.archived = true;
        assert!(settled_reason(&asked(), &away, &[activity("q", 10)]).is_some());
    }
}
