//! Tests that a label starts a session, and that the one status comment reports it.

use phileas_domain::engine::{Effect, Reason, SessionState, SubjectChange, Verdict};

use crate::support::scenario::{Answering, Scenario};

const PLAN: &str = "cycle = [\"a\"]\n[budget]\nmax_active = 1\n";

/// Two personas, of which only one has a schedule and does not run now, and an issue of an unauthorized user.
fn scenario() -> Scenario {
    let mut scenario = Scenario::new("", &["a", "b"]);
    scenario.writer("ada");
    scenario.issue(7, "It is slow", "Opening takes a minute.");
    scenario
}

fn names(scenario: &Scenario) -> Vec<&'static str> {
    scenario.effects.iter().map(Effect::name).collect()
}

#[test]
fn a_label_of_a_writer_starts_its_persona_on_the_issue() {
    let mut scenario = scenario();
    let event = scenario.label(7, "b", "ada");
    scenario.tick();
    assert_eq!(
        names(&scenario),
        [
            "create_session",
            "add_reaction",
            "remove_label",
            "write_status"
        ]
    );
    assert_eq!(
        scenario.reasons("request:1"),
        [Reason::DueRequest, Reason::SessionRunning]
    );
    assert_eq!(scenario.eyes, [(7, None)]);
    assert!(scenario.bears(7).is_empty());
    let request = &scenario.state().requests[&event];
    assert_eq!(request.kind, "label");
    assert_eq!(request.subject.as_deref(), Some("I_7"));
    assert_eq!(request.digest, Some(scenario.subjects[&7].digest()));
    assert_eq!(request.actor.as_deref(), Some("ada"));
    assert_eq!(request.comment_id, Some(900));
    let prompt = scenario.sessions[0].prompt.clone().unwrap();
    assert!(prompt.contains("track=request:1"), "{prompt}");
    assert!(prompt.contains("on issue #7"), "{prompt}");
    let status = scenario.status(7);
    assert!(
        status.contains("`b`, requested by `ada`: at work since 2026-01-05 00:00 UTC; [session"),
        "{status}"
    );
    assert!(
        status.contains("https://jules.google.com/session/"),
        "{status}"
    );
    // Nothing more is reported while nothing changes.
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(names(&scenario), [] as [&str; 0]);
    assert_eq!(
        scenario.permission_reads, 1,
        "the actor was asked about once"
    );
}

#[test]
fn a_personas_case_does_not_matter_to_a_label() {
    let mut scenario = scenario();
    scenario.persona("Tidy-Up", "emoji: \"🔧\"");
    scenario.label(7, "tidy-up", "ada");
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["Tidy-Up"]);
}

#[test]
fn the_status_comment_is_edited_as_things_go_on() {
    let mut scenario = scenario();
    scenario.label(7, "b", "ada");
    scenario.tick();
    scenario.minutes(9);
    let pull = scenario.opens_pull();
    scenario.tick();
    let said = format!("pull request #{pull} is open");
    assert!(scenario.status(7).contains(&said), "{}", scenario.status(7));
    scenario.minutes(9);
    scenario.merge(pull);
    scenario.tick();
    let said = format!("pull request #{pull} was merged");
    assert!(scenario.status(7).contains(&said), "{}", scenario.status(7));
    let request = scenario.state().requests.values().next().unwrap();
    assert_eq!(request.outcome.as_deref(), Some("merged"));
    assert!(request.finished_at.is_some());
}

#[test]
fn who_has_no_place_waits_and_the_comment_says_why() {
    let mut scenario = scenario();
    scenario
        .files
        .insert(".jules/schedules.toml".to_owned(), PLAN.to_owned());
    scenario.tick();
    scenario.label(7, "b", "ada");
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.reasons("request:1"), [Reason::BudgetActive]);
    let status = scenario.status(7).to_owned();
    assert!(
        status.contains("waits since 2026-01-05 00:00 UTC: enough sessions are at work in this repository (`waiting.budget_active`)"),
        "{status}"
    );
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.tick();
    assert_eq!(
        scenario.sessions.len(),
        2,
        "it has its turn once there is a place"
    );
    assert!(
        scenario.status(7).contains("at work"),
        "{}",
        scenario.status(7)
    );
}

#[test]
fn a_second_label_is_a_second_request_in_the_same_comment() {
    let mut scenario = scenario();
    let first = scenario.label(7, "b", "ada");
    scenario.tick();
    scenario.minutes(9);
    scenario.opens_pull();
    scenario.tick();
    let second = scenario.label(7, "b", "ada");
    assert_ne!(first, second);
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 2);
    assert_eq!(scenario.status(7).matches("requested by `ada`").count(), 2);
    assert_eq!(scenario.state().requests[&second].comment_id, Some(900));
}

#[test]
fn an_event_is_taken_up_once_however_long_its_label_stays() {
    let mut scenario = scenario();
    scenario.lost = vec!["remove_label", "add_reaction"];
    scenario.label(7, "b", "ada");
    for _ in 0..4 {
        scenario.tick();
        scenario.minutes(1);
    }
    assert_eq!(scenario.state().requests.len(), 1);
    assert_eq!(scenario.sessions.len(), 1);
    scenario.lost.clear();
    scenario.tick();
    assert!(
        scenario.bears(7).is_empty(),
        "it comes off as soon as it can"
    );
    assert_eq!(scenario.eyes, [(7, None)]);
}

#[test]
fn a_lost_status_comment_is_written_again_and_not_forever() {
    let mut scenario = scenario();
    scenario.label(7, "b", "ada");
    scenario.lost = vec!["write_status"];
    scenario.tick();
    assert!(scenario.comments.is_empty());
    scenario.minutes(14);
    scenario.becomes(SessionState::InProgress);
    scenario.tick();
    assert_eq!(
        names(&scenario),
        [] as [&str; 0],
        "its writer may still be at it"
    );
    for again in 1..=8 {
        scenario.minutes(15);
        scenario.becomes(SessionState::InProgress);
        scenario.tick();
        let expected: &[&str] = if again <= 6 { &["write_status"] } else { &[] };
        assert_eq!(names(&scenario), expected, "{again}");
    }
    // News is reported all the same.
    scenario.lost.clear();
    scenario.opens_pull();
    scenario.tick();
    assert!(scenario.status(7).contains("is open"));
}

/// It may have been written, and a search a moment later may not show it yet.
#[test]
fn what_is_new_waits_while_the_first_comment_may_still_be_on_its_way() {
    let mut scenario = scenario();
    scenario.label(7, "b", "ada");
    scenario.lost = vec!["write_status"];
    scenario.tick();
    scenario.lost.clear();
    scenario.opens_pull();
    scenario.minutes(1);
    scenario.tick();
    assert!(
        !names(&scenario).contains(&"write_status"),
        "{:?}",
        names(&scenario)
    );
    scenario.minutes(2);
    scenario.tick();
    assert!(scenario.status(7).contains("is open"));
}

#[test]
fn a_process_that_dies_after_the_commit_leaves_a_request_that_starts() {
    let mut scenario = scenario();
    scenario.label(7, "b", "ada");
    scenario.answering = Answering::Dies;
    scenario.tick();
    assert!(scenario.sessions.is_empty() && scenario.comments.is_empty());
    scenario.answering = Answering::Session;
    for _ in 0..4 {
        scenario.minutes(16);
        scenario.tick();
    }
    assert_eq!(scenario.sessions.len(), 1);
    assert!(
        scenario.status(7).contains("it started at"),
        "{}",
        scenario.status(7)
    );
    assert!(scenario.bears(7).is_empty());
}

#[test]
fn hold_keeps_everything_from_starting_on_it() {
    let mut scenario = scenario();
    scenario.label(7, "hold", "ada");
    scenario.label(7, "b", "ada");
    scenario.tick();
    assert_eq!(
        scenario.reasons("request:1").last(),
        Some(&Reason::SubjectHeld)
    );
    assert!(scenario.sessions.is_empty());
    assert_eq!(Vec::from_iter(scenario.bears(7)), ["hold"], "it stays on");
    assert!(
        scenario.status(7).contains("paused.hold"),
        "{}",
        scenario.status(7)
    );
    scenario.unlabel(7, "phileas:hold");
    scenario.minutes(20);
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 1);
}

/// Only what was touched last is listed with its labels; a hold counts however long ago it was put on.
#[test]
fn hold_counts_also_on_an_issue_that_is_not_listed_any_more() {
    let mut scenario = scenario();
    scenario.label(7, "hold", "ada");
    scenario.unlisted.insert(7);
    scenario.writes(7, "/phileas run b", "ada");
    scenario.tick();
    assert_eq!(
        scenario.reasons("request:1").last(),
        Some(&Reason::SubjectHeld)
    );
    assert!(scenario.sessions.is_empty());
    scenario.unlabel(7, "phileas:hold");
    scenario.minutes(20);
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 1);
}

#[test]
fn hold_alone_costs_no_further_read() {
    let mut scenario = scenario();
    scenario.label(7, "hold", "ada");
    scenario.label(7, "pause", "ada");
    let snapshot = scenario.full_snapshot();
    assert!(snapshot.subjects.is_empty() && snapshot.permissions.is_empty());
}

#[test]
fn work_on_a_pull_request_continues_on_its_branch() {
    let mut scenario = scenario();
    scenario.pull_subject(8, true);
    scenario.label(8, "b", "ada");
    scenario.tick();
    let create = scenario.effects.iter().find_map(|effect| match effect {
        Effect::CreateSession(create) => Some(create),
        _ => None,
    });
    assert_eq!(create.unwrap().branch.as_str(), "topic");
    let prompt = scenario.sessions[0].prompt.clone().unwrap();
    assert!(prompt.contains("on pull request #8"), "{prompt}");
}

#[test]
fn what_is_closed_before_it_starts_is_not_started() {
    let mut scenario = scenario();
    scenario.label(7, "hold", "ada");
    scenario.label(7, "b", "ada");
    scenario.tick();
    scenario.subject(7).open = false;
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.reasons("request:1"), [Reason::SubjectClosed]);
    assert!(scenario.sessions.is_empty());
    assert!(scenario.status(7).contains("refused.subject_closed"));
}

#[test]
fn an_unknown_persona_and_a_command_of_comments_are_refused_with_their_code() {
    for word in ["absent", "run", "merge"] {
        let mut scenario = scenario();
        scenario.label(7, word, "ada");
        scenario.tick();
        let line = scenario
            .lines
            .iter()
            .find(|line| line.verdict == Verdict::Refused);
        let reason = line.unwrap().reason;
        let expected = if word == "merge" {
            Reason::NothingToDo
        } else {
            Reason::Unknown
        };
        assert_eq!(reason, expected, "{word}");
        assert!(
            scenario.status(7).contains(reason.code()),
            "{}",
            scenario.status(7)
        );
        assert!(scenario.bears(7).is_empty());
        assert!(scenario.sessions.is_empty());
    }
}

#[test]
fn a_label_without_a_known_actor_starts_nothing() {
    let mut scenario = scenario();
    scenario.happens(7, None, SubjectChange::Labelled("phileas:b".to_owned()));
    scenario.tick();
    assert_eq!(scenario.reasons("request:1"), [Reason::ActorPermission]);
    assert!(scenario.sessions.is_empty());
}

/// Of a long timeline only the newest events are shown.
#[test]
fn a_label_whose_event_is_not_shown_waits_and_is_then_refused_once() {
    let mut scenario = scenario();
    scenario.put_on_unseen.insert(7, ["b".to_owned()].into());
    scenario.tick();
    assert!(scenario.comments.is_empty(), "it may be shown in a moment");
    assert!(scenario.all_reasons().contains(&Reason::RequestUnread));
    scenario.minutes(15);
    scenario.tick();
    assert!(scenario.sessions.is_empty() && scenario.bears(7).is_empty());
    let status = scenario.status(7).to_owned();
    assert!(status.contains("refused.actor_unknown"), "{status}");
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.effects, []);
    // Put on again it counts.
    scenario.label(7, "b", "ada");
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["b"]);
}

#[test]
fn nothing_counts_as_read_while_the_time_of_a_label_is_unknown() {
    let mut scenario = scenario();
    scenario.put_on_unseen.insert(7, ["b".to_owned()].into());
    scenario.writes(7, "/phileas status", "ada");
    scenario.tick();
    assert_eq!(scenario.state().cursors.comments_since, None);
    scenario.minutes(15);
    scenario.tick();
    assert!(scenario.state().cursors.comments_since.is_some());
}

#[test]
fn a_label_counts_in_whatever_case_the_repository_has_it() {
    let mut scenario = scenario();
    let label = SubjectChange::Labelled("Phileas:Ä".to_owned());
    scenario.happens(7, Some(crate::support::subjects::account("ada")), label);
    scenario.tick();
    assert!(
        scenario.status(7).contains("refused.unknown"),
        "{}",
        scenario.status(7)
    );
    assert!(scenario.sessions.is_empty());
}

/// However many requests come at once, one commit accepts a limited number, and a stop never waits behind them.
#[test]
fn a_flood_of_requests_is_accepted_in_parts_and_a_stop_at_once() {
    let mut scenario = scenario();
    for number in 100..150 {
        scenario
            .issue(number, "t", "b")
            .label(number, "absent", "ada");
    }
    scenario.minutes(1);
    scenario.writes(7, "/phileas stop", "ada");
    scenario.answering = Answering::Dies;
    for _ in 0..3 {
        scenario.tick();
    }
    assert!(scenario.state().paused.is_some());
    let mut taken = Vec::new();
    scenario.answering = Answering::Session;
    scenario.tick();
    let bare = (100..150).filter(|number| scenario.bears(*number).is_empty());
    assert_eq!(bare.count(), 20, "labels come off in parts, too");
    for _ in 0..6 {
        scenario.tick();
        scenario.minutes(1);
        taken.push(scenario.state().requests.len());
    }
    assert_eq!(taken.last(), Some(&51), "{taken:?}");
    assert!((100..150).all(|number| scenario.bears(number).is_empty()));
}
