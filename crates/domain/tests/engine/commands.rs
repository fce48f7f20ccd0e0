//! Labels and comments that steer what is under way.

use std::collections::BTreeSet;

use phileas_domain::engine::{Effect, Notice, Reason, SessionState, Verdict};
use phileas_domain::plan::SCHEDULES_PATH;

use crate::desk::{Answering, Desk};

const WAY_OUT: &str = "say `/phileas retry` here to have it started again";

/// An issue on which a session of `b` is at work.
fn at_work(plan: &str) -> Desk {
    let mut desk = Desk::new(plan, &["a", "b"]);
    desk.writer("ada");
    desk.issue(7, "It is slow", "Opening takes a minute.");
    desk.label(7, "b", "ada");
    desk.tick();
    assert_eq!(desk.sessions.len(), 1);
    desk.minutes(3);
    desk
}

#[track_caller]
fn refused(desk: &Desk, reason: Reason) {
    let said = desk
        .lines
        .iter()
        .find(|line| line.verdict == Verdict::Refused);
    assert_eq!(
        said.map(|line| line.reason),
        Some(reason),
        "{:?}",
        desk.lines
    );
    assert!(desk.status(7).contains(reason.code()), "{}", desk.status(7));
}

/// How many sessions' plans are approved. A tick decides several times about one look at Jules, and approving twice does
/// no harm.
fn approvals(desk: &Desk) -> usize {
    let approved = desk.effects.iter().filter_map(|effect| match effect {
        Effect::ApprovePlan { session } => Some(session),
        _ => None,
    });
    approved.collect::<BTreeSet<_>>().len()
}

#[test]
fn a_writer_approves_the_plan_that_waits_by_label_and_by_comment() {
    for by_comment in [false, true] {
        let mut desk = at_work("");
        desk.becomes(SessionState::AwaitingPlanApproval);
        desk.tick();
        assert_eq!(approvals(&desk), 0);
        desk.minutes(1);
        if by_comment {
            desk.writes(7, "/phileas approve", "ada");
        } else {
            desk.label(7, "approve-plan", "ada");
        }
        desk.tick();
        assert_eq!(approvals(&desk), 1, "{:?}", desk.lines);
        assert!(desk.bears(7).is_empty());
        assert!(
            desk.status(7).contains("the plan is approved"),
            "{}",
            desk.status(7)
        );
    }
}

#[test]
fn who_may_not_write_approves_nothing() {
    let mut desk = at_work("");
    desk.becomes(SessionState::AwaitingPlanApproval);
    desk.label(7, "approve-plan", "stranger");
    desk.tick();
    assert_eq!(approvals(&desk), 0);
    refused(&desk, Reason::ActorPermission);
}

#[test]
fn an_approval_is_for_the_plan_that_waits_and_for_no_later_one() {
    let mut desk = at_work("");
    desk.label(7, "approve-plan", "ada");
    desk.tick();
    refused(&desk, Reason::NothingToDo);
    desk.becomes(SessionState::AwaitingPlanApproval);
    desk.label(7, "approve-plan", "ada");
    desk.tick();
    assert_eq!(approvals(&desk), 1);
    desk.minutes(1);
    desk.becomes(SessionState::InProgress);
    desk.tick();
    desk.minutes(1);
    desk.becomes(SessionState::AwaitingPlanApproval);
    desk.tick();
    assert_eq!(approvals(&desk), 0, "a new plan waits for a new word");
}

#[test]
fn what_the_plan_keeps_from_phileas_is_refused() {
    let mut desk = at_work("[defaults]\nplan_approval = \"never\"\n");
    desk.becomes(SessionState::AwaitingPlanApproval);
    desk.label(7, "approve-plan", "ada");
    desk.tick();
    assert_eq!(approvals(&desk), 0);
    refused(&desk, Reason::PlanForbids);
}

#[test]
fn retry_asks_the_same_persona_again_once_it_is_over() {
    let mut desk = at_work("");
    desk.label(7, "retry", "ada");
    desk.tick();
    refused(&desk, Reason::NothingToDo);
    desk.minutes(3);
    desk.becomes(SessionState::Failed);
    desk.tick();
    assert!(
        desk.status(7).contains("ended as `failed`"),
        "{}",
        desk.status(7)
    );
    assert!(desk.status(7).contains(WAY_OUT), "{}", desk.status(7));
    desk.minutes(1);
    desk.label(7, "retry", "ada");
    desk.tick();
    assert_eq!(desk.personas_run(), ["b", "b"]);
    // It was said; nobody is to say it again.
    assert!(!desk.status(7).contains(WAY_OUT), "{}", desk.status(7));
    let prompt = desk.sessions[1].prompt.clone().unwrap();
    assert!(prompt.contains("Opening takes a minute."));
}

/// Whose session was given up is told what to do, and that works; it is not told where it would be refused.
#[test]
fn a_session_that_ends_stuck_tells_the_way_out() {
    type Change = fn(&mut Desk);
    let changes: [(Change, bool); 3] = [
        (|_| {}, true),
        (
            |desk| {
                let prompt = |path: &String| path.starts_with(".jules/personas/b/");
                desk.files.retain(|path, _| !prompt(path));
            },
            false,
        ),
        (
            |desk| {
                let plan = "[budget]\nrequests_per_actor_hour = 0\n".to_owned();
                desk.files.insert(SCHEDULES_PATH.to_owned(), plan);
            },
            false,
        ),
    ];
    for (change, works) in changes {
        let mut desk = at_work("");
        desk.becomes(SessionState::InProgress);
        desk.tick();
        change(&mut desk);
        desk.hours(7);
        desk.tick();
        let status = desk.status(7);
        assert!(status.contains("ended as `stuck`"), "{status}");
        assert_eq!(status.contains(WAY_OUT), works, "{status}");
        desk.minutes(1);
        desk.writes(7, "/phileas retry", "ada");
        desk.tick();
        let sessions = desk.personas_run().len();
        assert_eq!(sessions, if works { 2 } else { 1 }, "{:?}", desk.lines);
    }
}

/// Only its approval lets a plan go on, and whoever says something else, or says it elsewhere, is told where.
#[test]
fn where_a_plan_waits_is_told_to_whom_it_stops() {
    let mut desk = at_work("[budget]\nmax_active = 1\n");
    desk.becomes(SessionState::AwaitingPlanApproval);
    desk.tick();
    desk.minutes(1);
    let session = desk.sessions[0].id.clone();
    let link = format!("(https://jules.google.com/session/{session})");

    desk.writes(7, "/phileas retry", "ada");
    desk.tick();
    refused(&desk, Reason::NothingToDo);
    let status = desk.status(7);
    assert!(
        status.contains("not done: its plan waits for approval: read it in [session")
            && status.contains(&link)
            && status.contains("say `/phileas approve` here"),
        "{status}"
    );

    desk.issue(8, "It is ugly", "Opening hurts.");
    for command in ["/phileas approve", "/phileas run a"] {
        desk.minutes(1);
        desk.writes(8, command, "ada");
        desk.tick();
        assert_eq!(approvals(&desk), 0, "{command}");
    }
    let status = desk.status(8);
    for said in [
        "; one waits at #7 ([session",
        "; a plan waits for approval at #7 ([session",
    ] {
        assert!(status.contains(said), "{said}: {status}");
    }
    assert!(status.contains(&link), "{status}");

    desk.minutes(1);
    desk.writes(7, "/phileas approve", "ada");
    desk.tick();
    assert_eq!(approvals(&desk), 1, "{:?}", desk.lines);
}

/// The notices that a tick has opened: what they are about, and what they say.
fn opened(desk: &Desk) -> Vec<(String, String)> {
    let opened = desk.effects.iter().filter_map(|effect| match effect {
        Effect::OpenNotice { key, body, .. } => Some((key.to_string(), body.clone())),
        _ => None,
    });
    opened.collect()
}

/// Who approves a plan has to have seen it.
#[test]
fn a_plan_that_waits_is_shown_where_it_is_approved() {
    let mut desk = at_work("");
    let id = desk.becomes(SessionState::AwaitingPlanApproval);
    desk.minutes(1);
    let hostile = "Thanks @octocat\n```\n</details>\n/merge\nfixes #3";
    desk.plans(
        &id,
        &[("Find the slow part", "src/open.rs"), ("Mend it", hostile)],
    );
    desk.tick();
    let notices = opened(&desk);
    let [(_, notice)] = &notices[..] else {
        panic!("{notices:?}");
    };
    let shown = "2 steps, planned at 2026-01-05 00:04 UTC</summary>\n\n```text\n1. Find the slow part\n   src/open.rs\n\
                 2. Mend it\n   Thanks (at)octocat\n   '''\n   ‹/details›\n   ∕merge\n   fixes no. 3\n```\n\n</details>";
    for text in [notice.as_str(), desk.status(7)] {
        assert!(text.contains(shown), "{text}");
        assert!(
            text.contains("asked for by `ada` on #7:\n\n<details><summary>"),
            "{text}"
        );
    }
    // Once it is approved, there is nothing to show.
    desk.minutes(1);
    desk.writes(7, "/phileas approve", "ada");
    desk.tick();
    desk.minutes(1);
    desk.becomes(SessionState::InProgress);
    desk.tick();
    assert!(!desk.status(7).contains("<details>"), "{}", desk.status(7));
}

#[test]
fn a_plan_of_a_track_is_shown_with_what_asked_for_it() {
    let plan = "[tracks]\nmain = [\"a\"]\n[defaults]\nplan_approval = \"writers\"\n";
    let mut desk = Desk::new(plan, &["a"]);
    desk.writer("ada");
    desk.tick();
    desk.minutes(2);
    desk.becomes(SessionState::AwaitingPlanApproval);
    desk.tick();
    let (_, notice) = opened(&desk).remove(0);
    let origin = "asked for by track `main` of [the plan](https://github.com/acme/widget/blob/HEAD/.jules/schedules.toml)";
    assert!(notice.contains(origin), "{notice}");
    assert!(notice.contains("1. Look around"), "{notice}");
    // It is approved there, and the comment there shows it, too.
    let number = desk.notices[0].number;
    desk.issue(number, "waits", &notice);
    desk.writes(number, "/phileas explain", "ada");
    desk.tick();
    assert!(
        desk.status(number).contains("1. Look around"),
        "{}",
        desk.status(number)
    );
    desk.minutes(1);
    desk.writes(number, "/phileas approve", "ada");
    desk.tick();
    assert_eq!(approvals(&desk), 1, "{:?}", desk.lines);
}

/// Jules may revise a plan while it waits.
#[test]
fn another_plan_is_shown_anew_and_not_approved_unseen() {
    let mut desk = at_work("");
    let id = desk.becomes(SessionState::AwaitingPlanApproval);
    desk.tick();
    assert!(
        desk.status(7).contains("1. Look around"),
        "{}",
        desk.status(7)
    );
    desk.minutes(1);
    desk.plans(&id, &[("Delete everything", "")]);
    desk.minutes(1);
    // Said by a person who saw the first one.
    desk.writes(7, "/phileas approve", "ada");
    desk.tick();
    assert_eq!(approvals(&desk), 0, "{:?}", desk.lines);
    let told = desk.status(7);
    assert!(
        told.contains("Jules has made another plan since the one that is shown"),
        "{told}"
    );
    assert!(
        told.contains("1. Delete everything") && !told.contains("Look around"),
        "{told}"
    );
    let notices = opened(&desk);
    assert_eq!(notices.len(), 1, "{:?}", desk.effects);
    assert!(notices[0].1.contains("1. Delete everything"), "{notices:?}");
    let closes = |effect: &&Effect| matches!(effect, Effect::CloseNotice { .. });
    assert_eq!(desk.effects.iter().filter(closes).count(), 1);
    desk.minutes(1);
    desk.tick();
    assert_eq!(opened(&desk), []);
    desk.writes(7, "/phileas approve", "ada");
    desk.tick();
    assert_eq!(approvals(&desk), 1, "{:?}", desk.lines);
}

/// While Jules does not answer, what waits for a person waits still.
#[test]
fn an_outage_takes_back_no_call() {
    let mut desk = at_work("");
    desk.becomes(SessionState::AwaitingPlanApproval);
    desk.tick();
    assert_eq!(desk.notices.len(), 1);
    desk.listing_works = false;
    for _ in 0..3 {
        desk.minutes(20);
        desk.tick();
        assert_eq!(desk.notices.len(), 1, "{:?}", desk.effects);
    }
    assert!(
        desk.status(7).contains("waiting.jules_unavailable"),
        "{}",
        desk.status(7)
    );
    desk.listing_works = true;
    desk.minutes(20);
    desk.tick();
    assert_eq!(opened(&desk), [], "it was never closed");
    assert!(
        desk.status(7).contains("1. Look around"),
        "{}",
        desk.status(7)
    );
}

/// Where no plan waits at all, none is named, and Jules is not asked for one; the first listing is for the new ledger.
#[test]
fn an_approval_of_nothing_names_no_place() {
    let mut desk = Desk::new("", &["b"]);
    desk.writer("ada").issue(7, "t", "b");
    for _ in 0..2 {
        desk.writes(7, "/phileas approve", "ada");
        desk.tick();
        refused(&desk, Reason::NothingToDo);
        let status = desk.status(7);
        assert!(
            status.contains("not done: no session of phileas is at work here (`"),
            "{status}"
        );
        assert_eq!(desk.listings, 1);
        desk.minutes(1);
    }
}

#[test]
fn retry_where_nobody_was_asked_is_refused() {
    let mut desk = Desk::new("", &["b"]);
    desk.writer("ada").issue(7, "t", "b");
    desk.label(7, "retry", "ada");
    desk.tick();
    refused(&desk, Reason::NothingToDo);
}

/// On the issue that called a person, retry lets the turn go on that waits.
#[test]
fn retry_on_the_issue_that_called_a_person_lets_the_turn_go_on() {
    let mut desk = Desk::new("cycle = [\"a\"]\n[defaults]\nmax_nudges = 0\n", &["a"]);
    desk.writer("ada");
    desk.answering = Answering::Session;
    desk.tick();
    desk.minutes(3);
    desk.becomes(SessionState::AwaitingUserFeedback);
    desk.tick();
    let Notice { number, .. } = desk.notices[0].clone();
    let turn = |desk: &Desk| desk.state().tracks["default"].turns[""].clone();
    assert!(turn(&desk).warned_at.is_some());
    desk.issue(number, "phileas: a waits for a person", "");
    desk.label(number, "retry", "ada");
    desk.becomes(SessionState::InProgress);
    desk.tick();
    assert_eq!(turn(&desk).warned_at, None);
    assert!(
        desk.status(number).contains("goes on"),
        "{}",
        desk.status(number)
    );
}

/// Whom a stranger names is nobody's wish.
#[test]
fn retry_does_not_start_whom_a_stranger_has_named() {
    for by_comment in [false, true] {
        let mut desk = Desk::new("", &["a", "b"]);
        desk.writer("ada").issue(7, "It is slow", "t");
        desk.label(7, "a", "ada");
        desk.tick();
        desk.minutes(3);
        desk.becomes(SessionState::Failed);
        desk.tick();
        if by_comment {
            desk.writes(7, "/phileas run b", "stranger");
        } else {
            desk.label(7, "b", "stranger");
        }
        desk.tick();
        desk.minutes(1);
        desk.writes(7, "/phileas retry", "ada");
        desk.tick();
        assert_eq!(desk.personas_run(), ["a", "a"], "by comment: {by_comment}");
    }
}

#[test]
fn a_strangers_wish_does_not_hide_that_one_waits() {
    let mut desk = at_work("[budget]\nmax_active = 1\n");
    desk.issue(8, "It is slow, too", "t");
    desk.label(8, "a", "ada");
    desk.tick();
    desk.minutes(1);
    desk.writes(8, "/phileas run b", "stranger");
    desk.tick();
    desk.minutes(1);
    desk.writes(8, "/phileas retry", "ada");
    desk.tick();
    assert!(
        desk.status(8).contains("refused.nothing_to_do"),
        "{}",
        desk.status(8)
    );
}

/// An issue may have several sessions; what is said on it is for the one that waits, whatever its number.
#[test]
fn what_waits_is_found_among_several_sessions_of_an_issue() {
    let mut desk = Desk::new("[budget]\nmax_active = 3\n", &["a", "b"]);
    desk.writer("ada").issue(7, "It is slow", "t");
    desk.label(7, "a", "ada");
    desk.tick();
    desk.becomes(SessionState::InProgress);
    desk.minutes(1);
    desk.label(7, "b", "ada");
    desk.tick();
    assert_eq!(desk.sessions.len(), 2);
    desk.minutes(3);
    desk.becomes(SessionState::AwaitingPlanApproval);
    desk.tick();
    desk.minutes(1);
    desk.writes(7, "/phileas approve", "ada");
    desk.tick();
    assert_eq!(approvals(&desk), 1, "{}", desk.status(7));
}

/// Nobody can have meant a plan that was not there to be read.
#[test]
fn an_approval_is_for_a_plan_that_was_there() {
    let mut desk = at_work("");
    desk.writes(7, "/phileas approve", "ada");
    desk.minutes(1);
    desk.becomes(SessionState::AwaitingPlanApproval);
    desk.tick();
    assert_eq!(approvals(&desk), 0);
    refused(&desk, Reason::NothingToDo);
    desk.minutes(1);
    desk.writes(7, "/phileas approve", "ada");
    desk.tick();
    assert_eq!(approvals(&desk), 1, "{}", desk.status(7));
}

/// A person was called for a question; the plan that Jules made then is its first.
#[test]
fn the_first_plan_after_a_question_is_no_other_plan() {
    let mut desk = at_work("[defaults]\nmax_nudges = 0\n");
    desk.becomes(SessionState::AwaitingUserFeedback);
    desk.tick();
    desk.tick();
    assert_eq!(desk.notices.len(), 1, "{:?}", desk.lines);
    let comments = |desk: &Desk| -> Vec<String> {
        let closed = desk.effects.iter().filter_map(|effect| match effect {
            Effect::CloseNotice { comment, .. } => Some(comment.clone()),
            _ => None,
        });
        closed.collect()
    };
    for said in [
        "Jules made a plan; another issue shows it.",
        "Jules made another plan; another issue shows it.",
    ] {
        desk.minutes(5);
        let id = desk.becomes(SessionState::AwaitingPlanApproval);
        desk.minutes(1);
        desk.plans(&id, &[("Tidy", "Move a file.")]);
        desk.tick();
        assert_eq!(comments(&desk), [said], "{:?}", desk.lines);
    }
}

/// The approval could not be sent, and Jules made another plan meanwhile.
#[test]
fn an_approval_does_not_pass_to_the_next_plan() {
    let mut desk = at_work("");
    desk.becomes(SessionState::AwaitingPlanApproval);
    desk.minutes(1);
    desk.lost = vec!["approve_plan"];
    desk.writes(7, "/phileas approve", "ada");
    desk.tick();
    desk.minutes(5);
    desk.becomes(SessionState::AwaitingPlanApproval);
    desk.lost.clear();
    desk.tick();
    assert_eq!(approvals(&desk), 0);
}
