//! Tests labels and comments that change live turns.

use std::collections::BTreeSet;

use phileas_domain::engine::{Effect, Notice, Reason, SessionState, Verdict};
use phileas_domain::plan::SCHEDULES_PATH;

use crate::support::scenario::{Answering, Scenario};

const WAY_OUT: &str = "say `/phileas retry` here to start it again";

/// An issue on which a session of `b` is at work.
fn at_work(plan: &str) -> Scenario {
    let mut scenario = Scenario::new(plan, &["a", "b"]);
    scenario.writer("ada");
    scenario.issue(7, "It is slow", "Opening takes a minute.");
    scenario.label(7, "b", "ada");
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 1);
    scenario.minutes(3);
    scenario
}

#[track_caller]
fn refused(scenario: &Scenario, reason: Reason) {
    let said = scenario
        .lines
        .iter()
        .find(|line| line.verdict == Verdict::Refused);
    assert_eq!(
        said.map(|line| line.reason),
        Some(reason),
        "{:?}",
        scenario.lines
    );
    assert!(
        scenario.status(7).contains(reason.code()),
        "{}",
        scenario.status(7)
    );
}

/// How many plans are approved. A tick decides several times on one listing, and approving twice is harmless.
fn approvals(scenario: &Scenario) -> usize {
    let approved = scenario.effects.iter().filter_map(|effect| match effect {
        Effect::ApprovePlan { session } => Some(session),
        _ => None,
    });
    approved.collect::<BTreeSet<_>>().len()
}

#[test]
fn a_writer_approves_the_plan_that_waits_by_label_and_by_comment() {
    for by_comment in [false, true] {
        let mut scenario = at_work("");
        scenario.becomes(SessionState::AwaitingPlanApproval);
        scenario.tick();
        assert_eq!(approvals(&scenario), 0);
        scenario.minutes(1);
        if by_comment {
            scenario.writes(7, "/phileas approve", "ada");
        } else {
            scenario.label(7, "approve-plan", "ada");
        }
        scenario.tick();
        assert_eq!(approvals(&scenario), 1, "{:?}", scenario.lines);
        assert!(scenario.bears(7).is_empty());
        let status = scenario.status(7);
        assert!(status.contains("the plan is approved"), "{status}");
        // Jules' state follows later.
        assert!(
            status.contains("`b`, requested by `ada`: at work since")
                && !status.contains("plan_approval"),
            "{status}"
        );
    }
}

#[test]
fn who_may_not_write_approves_nothing() {
    let mut scenario = at_work("");
    scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.label(7, "approve-plan", "outsider");
    scenario.tick();
    assert_eq!(approvals(&scenario), 0);
    refused(&scenario, Reason::ActorPermission);
}

#[test]
fn an_approval_is_for_the_plan_that_waits_and_for_no_later_one() {
    let mut scenario = at_work("");
    scenario.label(7, "approve-plan", "ada");
    scenario.tick();
    refused(&scenario, Reason::NothingToDo);
    scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.label(7, "approve-plan", "ada");
    scenario.tick();
    assert_eq!(approvals(&scenario), 1);
    scenario.minutes(1);
    scenario.becomes(SessionState::InProgress);
    scenario.tick();
    scenario.minutes(1);
    scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.tick();
    assert_eq!(approvals(&scenario), 0, "a new plan waits for a new word");
}

#[test]
fn what_the_plan_keeps_from_phileas_is_refused() {
    let mut scenario = at_work("[defaults]\nplan_approval = \"never\"\n");
    scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.label(7, "approve-plan", "ada");
    scenario.tick();
    assert_eq!(approvals(&scenario), 0);
    refused(&scenario, Reason::PlanForbids);
}

#[test]
fn retry_requests_the_same_persona_again_once_its_session_ended() {
    let mut scenario = at_work("");
    scenario.label(7, "retry", "ada");
    scenario.tick();
    refused(&scenario, Reason::NothingToDo);
    scenario.minutes(3);
    scenario.becomes(SessionState::Failed);
    scenario.tick();
    assert!(
        scenario.status(7).contains(": failed; "),
        "{}",
        scenario.status(7)
    );
    assert!(
        scenario.status(7).contains(WAY_OUT),
        "{}",
        scenario.status(7)
    );
    scenario.minutes(1);
    scenario.label(7, "retry", "ada");
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["b", "b"]);
    // It was approved; no further approval is needed.
    assert!(
        !scenario.status(7).contains(WAY_OUT),
        "{}",
        scenario.status(7)
    );
    let prompt = scenario.sessions[1].prompt.clone().unwrap();
    assert!(prompt.contains("Opening takes a minute."));
}

/// The comment on a given-up session says what to do, and that works; it does not say so where it would be refused.
#[test]
fn the_comment_of_a_stuck_session_names_retry() {
    type Change = fn(&mut Scenario);
    let changes: [(Change, bool); 3] = [
        (|_| {}, true),
        (
            |scenario| {
                let prompt = |path: &String| path.starts_with(".jules/personas/b/");
                scenario.files.retain(|path, _| !prompt(path));
            },
            false,
        ),
        (
            |scenario| {
                let plan = "[budget]\nrequests_per_actor_hour = 0\n".to_owned();
                scenario.files.insert(SCHEDULES_PATH.to_owned(), plan);
            },
            false,
        ),
    ];
    for (change, works) in changes {
        let mut scenario = at_work("");
        scenario.becomes(SessionState::InProgress);
        scenario.tick();
        change(&mut scenario);
        scenario.hours(7);
        scenario.tick();
        let status = scenario.status(7);
        assert!(
            status.contains("abandoned, as it made no progress"),
            "{status}"
        );
        assert_eq!(status.contains(WAY_OUT), works, "{status}");
        scenario.minutes(1);
        scenario.writes(7, "/phileas retry", "ada");
        scenario.tick();
        let sessions = scenario.personas_run().len();
        assert_eq!(sessions, if works { 2 } else { 1 }, "{:?}", scenario.lines);
    }
}

/// Only an approval continues a session with a plan; other or misplaced commands get an answer that names the place.
#[test]
fn a_request_that_a_waiting_plan_blocks_names_its_place() {
    let mut scenario = at_work("[budget]\nmax_active = 1\n");
    scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.tick();
    scenario.minutes(1);
    let session = scenario.sessions[0].id.clone();
    let link = format!("(https://jules.google.com/session/{session})");

    scenario.writes(7, "/phileas retry", "ada");
    scenario.tick();
    refused(&scenario, Reason::NothingToDo);
    let status = scenario.status(7);
    assert!(
        status.contains("not done: its plan waits for approval: read it in [session")
            && status.contains(&link)
            && status.contains("say `/phileas approve` here"),
        "{status}"
    );

    scenario.issue(8, "It is ugly", "Opening hurts.");
    for command in ["/phileas approve", "/phileas run a"] {
        scenario.minutes(1);
        scenario.writes(8, command, "ada");
        scenario.tick();
        assert_eq!(approvals(&scenario), 0, "{command}");
    }
    let status = scenario.status(8);
    for said in [
        "; one waits at #7 ([session",
        "; a plan waits for approval at #7 ([session",
    ] {
        assert!(status.contains(said), "{said}: {status}");
    }
    assert!(status.contains(&link), "{status}");

    scenario.minutes(1);
    scenario.writes(7, "/phileas approve", "ada");
    scenario.tick();
    assert_eq!(approvals(&scenario), 1, "{:?}", scenario.lines);
}

/// The notices that a tick has opened: their keys and texts.
fn opened(scenario: &Scenario) -> Vec<(String, String)> {
    let opened = scenario.effects.iter().filter_map(|effect| match effect {
        Effect::OpenNotice { key, body, .. } => Some((key.to_string(), body.clone())),
        _ => None,
    });
    opened.collect()
}

/// Who approves a plan has to have seen it.
#[test]
fn a_plan_that_waits_is_shown_where_it_is_approved() {
    let mut scenario = at_work("");
    let id = scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.minutes(1);
    let hostile = "Thanks @octocat\n```\n</details>\n/merge\nfixes #3";
    scenario.plans(
        &id,
        &[("Find the slow part", "src/open.rs"), ("Fix it", hostile)],
    );
    scenario.tick();
    let notices = opened(&scenario);
    let [(_, notice)] = &notices[..] else {
        panic!("{notices:?}");
    };
    let shown = "2 steps, planned at 2026-01-05 00:04 UTC</summary>\n\n```text\n1. Find the slow part\n   src/open.rs\n\
                 2. Fix it\n   Thanks (at)octocat\n   '''\n   ‹/details›\n   ∕merge\n   fixes no. 3\n```\n\n</details>";
    for text in [notice.as_str(), scenario.status(7)] {
        assert!(text.contains(shown), "{text}");
        assert!(
            text.contains("requested by `ada` on #7:\n\n<details><summary>"),
            "{text}"
        );
    }
    // Once it is approved, there is nothing to show.
    scenario.minutes(1);
    scenario.writes(7, "/phileas approve", "ada");
    scenario.tick();
    scenario.minutes(1);
    scenario.becomes(SessionState::InProgress);
    scenario.tick();
    assert!(
        !scenario.status(7).contains("<details>"),
        "{}",
        scenario.status(7)
    );
}

#[test]
fn a_plan_of_a_track_is_shown_with_its_origin() {
    let plan = "[tracks]\nmain = [\"a\"]\n[defaults]\nplan_approval = \"writers\"\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    scenario.writer("ada");
    scenario.tick();
    scenario.minutes(2);
    let id = scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.tick();
    let (_, notice) = opened(&scenario).remove(0);
    let ways = format!(
        "`a`, turn 1 of track `main`. Its plan waits for the approval of a person with write access. Do one of these:\n\n\
         - say `/phileas approve` here;\n\
         - put the label `phileas:approve-plan` on this issue;\n\
         - run `phileas session approve {id} --repo acme/widget`.\n\nThe plan of [session"
    );
    assert!(notice.starts_with(&ways), "{notice}");
    let origin = "requested by track `main` of [the plan](https://github.com/acme/widget/blob/HEAD/.jules/schedules.toml)";
    assert!(notice.contains(origin), "{notice}");
    assert!(notice.contains("1. Look around"), "{notice}");
    // It is approved there, and the comment there shows it, too.
    let number = scenario.notices[0].number;
    scenario.issue(number, "waits", &notice);
    scenario.writes(number, "/phileas explain", "ada");
    scenario.tick();
    let status = scenario.status(number).to_owned();
    assert!(status.contains("1. Look around"), "{status}");
    let (_, answer) = status.split_once("The answer to").unwrap();
    let said = answer.matches("`a` in `main`: ").count();
    assert_eq!(said, 1, "explain says a turn once: {answer}");
    assert!(
        answer.contains(&format!("run 'phileas session approve {id}'")),
        "with its detail: {answer}"
    );
    scenario.minutes(1);
    scenario.writes(number, "/phileas approve", "ada");
    scenario.tick();
    assert_eq!(approvals(&scenario), 1, "{:?}", scenario.lines);
}

#[test]
fn the_notice_about_a_plan_that_only_jules_takes_names_no_command() {
    let plan = "cycle = [\"a\"]\n[defaults]\nplan_approval = \"never\"\n";
    let mut scenario = Scenario::new(plan, &["a"]);
    scenario.tick();
    scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.tick();
    let (_, notice) = opened(&scenario).remove(0);
    assert!(
        notice.contains("`plan_approval = \"never\"`: approve it in [session"),
        "{notice}"
    );
    assert!(!notice.contains("session approve"), "{notice}");
}

/// Jules may revise a plan while it waits.
#[test]
fn another_plan_is_shown_again_and_not_approved_unseen() {
    let mut scenario = at_work("");
    let id = scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.tick();
    assert!(
        scenario.status(7).contains("1. Look around"),
        "{}",
        scenario.status(7)
    );
    scenario.minutes(1);
    scenario.plans(&id, &[("Delete everything", "")]);
    scenario.minutes(1);
    // By a person who saw the first one.
    scenario.writes(7, "/phileas approve", "ada");
    scenario.tick();
    assert_eq!(approvals(&scenario), 0, "{:?}", scenario.lines);
    let told = scenario.status(7);
    assert!(
        told.contains("Jules has made another plan since the one that is shown"),
        "{told}"
    );
    assert!(
        told.contains("1. Delete everything") && !told.contains("Look around"),
        "{told}"
    );
    let notices = opened(&scenario);
    assert_eq!(notices.len(), 1, "{:?}", scenario.effects);
    assert!(notices[0].1.contains("1. Delete everything"), "{notices:?}");
    let closes = |effect: &&Effect| matches!(effect, Effect::CloseNotice { .. });
    assert_eq!(scenario.effects.iter().filter(closes).count(), 1);
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(opened(&scenario), []);
    scenario.writes(7, "/phileas approve", "ada");
    scenario.tick();
    assert_eq!(approvals(&scenario), 1, "{:?}", scenario.lines);
}

/// While Jules does not answer, what waits for a person waits still.
#[test]
fn an_outage_takes_back_no_call() {
    let mut scenario = at_work("");
    scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.tick();
    assert_eq!(scenario.notices.len(), 1);
    scenario.listing_works = false;
    for _ in 0..3 {
        scenario.minutes(20);
        scenario.tick();
        assert_eq!(scenario.notices.len(), 1, "{:?}", scenario.effects);
    }
    assert!(
        scenario.status(7).contains("waiting.jules_unavailable"),
        "{}",
        scenario.status(7)
    );
    scenario.listing_works = true;
    scenario.minutes(20);
    scenario.tick();
    assert_eq!(opened(&scenario), [], "it was never closed");
    assert!(
        scenario.status(7).contains("1. Look around"),
        "{}",
        scenario.status(7)
    );
}

/// Where no plan waits, no place is named, and no listing is read for one; the first listing is for the new ledger.
#[test]
fn an_approval_of_nothing_names_no_place() {
    let mut scenario = Scenario::new("", &["b"]);
    scenario.writer("ada").issue(7, "t", "b");
    for _ in 0..2 {
        scenario.writes(7, "/phileas approve", "ada");
        scenario.tick();
        refused(&scenario, Reason::NothingToDo);
        let status = scenario.status(7);
        assert!(
            status.contains("not done: no session of phileas is at work here (`"),
            "{status}"
        );
        assert_eq!(scenario.listings, 1);
        scenario.minutes(1);
    }
}

#[test]
fn retry_without_an_earlier_request_is_refused() {
    let mut scenario = Scenario::new("", &["b"]);
    scenario.writer("ada").issue(7, "t", "b");
    scenario.label(7, "retry", "ada");
    scenario.tick();
    refused(&scenario, Reason::NothingToDo);
}

/// On a notice, retry resumes its turn.
#[test]
fn retry_on_a_notice_resumes_its_turn() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n[defaults]\nmax_nudges = 0\n", &["a"]);
    scenario.writer("ada");
    scenario.answering = Answering::Session;
    scenario.tick();
    scenario.minutes(3);
    scenario.becomes(SessionState::AwaitingUserFeedback);
    scenario.tick();
    let Notice { number, .. } = scenario.notices[0].clone();
    let turn = |scenario: &Scenario| scenario.state().tracks["default"].turns[""].clone();
    assert!(turn(&scenario).warned_at.is_some());
    scenario.issue(number, "phileas: a waits for a person", "");
    scenario.label(number, "retry", "ada");
    scenario.becomes(SessionState::InProgress);
    scenario.tick();
    assert_eq!(turn(&scenario).warned_at, None);
    assert!(
        scenario.status(number).contains("goes on"),
        "{}",
        scenario.status(number)
    );
}

/// A request of an unauthorized user does not count.
#[test]
fn retry_does_not_repeat_the_request_of_an_unauthorized_user() {
    for by_comment in [false, true] {
        let mut scenario = Scenario::new("", &["a", "b"]);
        scenario.writer("ada").issue(7, "It is slow", "t");
        scenario.label(7, "a", "ada");
        scenario.tick();
        scenario.minutes(3);
        scenario.becomes(SessionState::Failed);
        scenario.tick();
        if by_comment {
            scenario.writes(7, "/phileas run b", "outsider");
        } else {
            scenario.label(7, "b", "outsider");
        }
        scenario.tick();
        scenario.minutes(1);
        scenario.writes(7, "/phileas retry", "ada");
        scenario.tick();
        assert_eq!(
            scenario.personas_run(),
            ["a", "a"],
            "by comment: {by_comment}"
        );
    }
}

#[test]
fn the_request_of_an_unauthorized_user_does_not_hide_a_pending_one() {
    let mut scenario = at_work("[budget]\nmax_active = 1\n");
    scenario.issue(8, "It is slow, too", "t");
    scenario.label(8, "a", "ada");
    scenario.tick();
    scenario.minutes(1);
    scenario.writes(8, "/phileas run b", "outsider");
    scenario.tick();
    scenario.minutes(1);
    scenario.writes(8, "/phileas retry", "ada");
    scenario.tick();
    assert!(
        scenario.status(8).contains("refused.nothing_to_do"),
        "{}",
        scenario.status(8)
    );
}

/// An issue may have several sessions; a command on it is for the waiting one, whatever its number.
#[test]
fn what_waits_is_found_among_several_sessions_of_an_issue() {
    let mut scenario = Scenario::new("[budget]\nmax_active = 3\n", &["a", "b"]);
    scenario.writer("ada").issue(7, "It is slow", "t");
    scenario.label(7, "a", "ada");
    scenario.tick();
    scenario.becomes(SessionState::InProgress);
    scenario.minutes(1);
    scenario.label(7, "b", "ada");
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 2);
    scenario.minutes(3);
    scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.tick();
    scenario.minutes(1);
    scenario.writes(7, "/phileas approve", "ada");
    scenario.tick();
    assert_eq!(approvals(&scenario), 1, "{}", scenario.status(7));
}

/// An approval cannot mean a plan that did not exist yet.
#[test]
fn an_approval_is_for_a_plan_that_was_there() {
    let mut scenario = at_work("");
    scenario.writes(7, "/phileas approve", "ada");
    scenario.minutes(1);
    scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.tick();
    assert_eq!(approvals(&scenario), 0);
    refused(&scenario, Reason::NothingToDo);
    scenario.minutes(1);
    scenario.writes(7, "/phileas approve", "ada");
    scenario.tick();
    assert_eq!(approvals(&scenario), 1, "{}", scenario.status(7));
}

/// The notice was about a question; the plan that Jules made then is its first.
#[test]
fn the_first_plan_after_a_question_is_no_other_plan() {
    let mut scenario = at_work("[defaults]\nmax_nudges = 0\n");
    scenario.becomes(SessionState::AwaitingUserFeedback);
    scenario.tick();
    scenario.tick();
    assert_eq!(scenario.notices.len(), 1, "{:?}", scenario.lines);
    let comments = |scenario: &Scenario| -> Vec<String> {
        let closed = scenario.effects.iter().filter_map(|effect| match effect {
            Effect::CloseNotice { comment, .. } => Some(comment.clone()),
            _ => None,
        });
        closed.collect()
    };
    for said in [
        "Jules made a plan; another issue shows it.",
        "Jules made another plan; another issue shows it.",
    ] {
        scenario.minutes(5);
        let id = scenario.becomes(SessionState::AwaitingPlanApproval);
        scenario.minutes(1);
        scenario.plans(&id, &[("Tidy", "Move a file.")]);
        scenario.tick();
        assert_eq!(comments(&scenario), [said], "{:?}", scenario.lines);
    }
}

/// The approval could not be sent, and Jules made another plan meanwhile.
#[test]
fn an_approval_does_not_pass_to_the_next_plan() {
    let mut scenario = at_work("");
    scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.minutes(1);
    scenario.lost = vec!["approve_plan"];
    scenario.writes(7, "/phileas approve", "ada");
    scenario.tick();
    scenario.minutes(5);
    scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.lost.clear();
    scenario.tick();
    assert_eq!(approvals(&scenario), 0);
}
