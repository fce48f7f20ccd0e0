//! A label starts a session, and the one status comment tells what becomes of it.

use phileas_domain::engine::{Effect, Reason, SessionState, SubjectChange, Verdict};

use crate::desk::{Answering, Desk};

const PLAN: &str = "cycle = [\"a\"]\n[budget]\nmax_active = 1\n";

/// Two personas, of whom only one takes turns by itself and does not run now, and an issue of a stranger.
fn desk() -> Desk {
    let mut desk = Desk::new("", &["a", "b"]);
    desk.writer("ada");
    desk.issue(7, "It is slow", "Opening takes a minute.");
    desk
}

fn names(desk: &Desk) -> Vec<&'static str> {
    desk.effects.iter().map(Effect::name).collect()
}

#[test]
fn a_label_of_a_writer_starts_its_persona_on_the_issue() {
    let mut desk = desk();
    let event = desk.label(7, "b", "ada");
    desk.tick();
    assert_eq!(
        names(&desk),
        [
            "create_session",
            "add_reaction",
            "remove_label",
            "tell_status"
        ]
    );
    assert_eq!(
        desk.reasons("request:1"),
        [Reason::DueRequest, Reason::SessionRunning]
    );
    assert_eq!(desk.eyes, [(7, None)]);
    assert!(desk.bears(7).is_empty());
    let request = &desk.state().requests[&event];
    assert_eq!(request.kind, "label");
    assert_eq!(request.subject.as_deref(), Some("I_7"));
    assert_eq!(request.digest, Some(desk.subjects[&7].digest()));
    assert_eq!(request.actor.as_deref(), Some("ada"));
    assert_eq!(request.comment_id, Some(900));
    let prompt = desk.sessions[0].prompt.clone().unwrap();
    assert!(prompt.contains("track=request:1"), "{prompt}");
    assert!(prompt.contains("on issue #7"), "{prompt}");
    let status = desk.status(7);
    assert!(
        status.contains("`b`, asked for by `ada`: at work since 2026-01-05 00:00 UTC; [session"),
        "{status}"
    );
    assert!(
        status.contains("https://jules.google.com/session/"),
        "{status}"
    );
    // Nothing more is said while nothing changes.
    desk.minutes(1);
    desk.tick();
    assert_eq!(names(&desk), [] as [&str; 0]);
    assert_eq!(desk.asked_about, 1, "the actor was asked about once");
}

#[test]
fn a_personas_case_does_not_matter_to_a_label() {
    let mut desk = desk();
    desk.persona("Tidy-Up", "emoji: \"🔧\"");
    desk.label(7, "tidy-up", "ada");
    desk.tick();
    assert_eq!(desk.personas_run(), ["Tidy-Up"]);
}

#[test]
fn the_status_comment_is_edited_as_things_go_on() {
    let mut desk = desk();
    desk.label(7, "b", "ada");
    desk.tick();
    desk.minutes(9);
    let pull = desk.opens_pull();
    desk.tick();
    let said = format!("pull request #{pull} is open");
    assert!(desk.status(7).contains(&said), "{}", desk.status(7));
    desk.minutes(9);
    desk.merge(pull);
    desk.tick();
    let said = format!("pull request #{pull} was merged");
    assert!(desk.status(7).contains(&said), "{}", desk.status(7));
    let request = desk.state().requests.values().next().unwrap();
    assert_eq!(request.outcome.as_deref(), Some("merged"));
    assert!(request.finished_at.is_some());
}

#[test]
fn who_has_no_place_waits_and_the_comment_says_why() {
    let mut desk = desk();
    desk.files
        .insert(".jules/schedules.toml".to_owned(), PLAN.to_owned());
    desk.tick();
    desk.label(7, "b", "ada");
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.reasons("request:1"), [Reason::BudgetActive]);
    let status = desk.status(7).to_owned();
    assert!(
        status.contains("waits since 2026-01-05 00:00 UTC (`waiting.budget_active`): enough"),
        "{status}"
    );
    desk.minutes(5);
    desk.opens_pull();
    desk.tick();
    assert_eq!(
        desk.sessions.len(),
        2,
        "it has its turn once there is a place"
    );
    assert!(desk.status(7).contains("at work"), "{}", desk.status(7));
}

#[test]
fn a_second_label_is_a_second_request_told_in_the_same_comment() {
    let mut desk = desk();
    let first = desk.label(7, "b", "ada");
    desk.tick();
    desk.minutes(9);
    desk.opens_pull();
    desk.tick();
    let second = desk.label(7, "b", "ada");
    assert_ne!(first, second);
    desk.tick();
    assert_eq!(desk.sessions.len(), 2);
    assert_eq!(desk.status(7).matches("asked for by `ada`").count(), 2);
    assert_eq!(desk.state().requests[&second].comment_id, Some(900));
}

#[test]
fn an_event_is_taken_up_once_however_long_its_label_stays() {
    let mut desk = desk();
    desk.lost = vec!["remove_label", "add_reaction"];
    desk.label(7, "b", "ada");
    for _ in 0..4 {
        desk.tick();
        desk.minutes(1);
    }
    assert_eq!(desk.state().requests.len(), 1);
    assert_eq!(desk.sessions.len(), 1);
    desk.lost.clear();
    desk.tick();
    assert!(desk.bears(7).is_empty(), "it comes off as soon as it can");
    assert_eq!(desk.eyes, [(7, None)]);
}

#[test]
fn a_status_that_got_lost_is_told_again_and_not_for_ever() {
    let mut desk = desk();
    desk.label(7, "b", "ada");
    desk.lost = vec!["tell_status"];
    desk.tick();
    assert!(desk.comments.is_empty());
    desk.minutes(14);
    desk.becomes(SessionState::InProgress);
    desk.tick();
    assert_eq!(
        names(&desk),
        [] as [&str; 0],
        "its writer may still be at it"
    );
    for again in 1..=8 {
        desk.minutes(15);
        desk.becomes(SessionState::InProgress);
        desk.tick();
        let expected: &[&str] = if again <= 6 { &["tell_status"] } else { &[] };
        assert_eq!(names(&desk), expected, "{again}");
    }
    // What is new is told all the same.
    desk.lost.clear();
    desk.opens_pull();
    desk.tick();
    assert!(desk.status(7).contains("is open"));
}

/// It may have been written, and whoever looks for it a moment later may not be shown it yet.
#[test]
fn what_is_new_waits_while_the_first_comment_may_still_be_on_its_way() {
    let mut desk = desk();
    desk.label(7, "b", "ada");
    desk.lost = vec!["tell_status"];
    desk.tick();
    desk.lost.clear();
    desk.opens_pull();
    desk.minutes(1);
    desk.tick();
    assert!(!names(&desk).contains(&"tell_status"), "{:?}", names(&desk));
    desk.minutes(2);
    desk.tick();
    assert!(desk.status(7).contains("is open"));
}

#[test]
fn whoever_dies_after_the_commit_leaves_a_request_that_is_worked_off() {
    let mut desk = desk();
    desk.label(7, "b", "ada");
    desk.answering = Answering::Dies;
    desk.tick();
    assert!(desk.sessions.is_empty() && desk.comments.is_empty());
    desk.answering = Answering::Session;
    for _ in 0..4 {
        desk.minutes(16);
        desk.tick();
    }
    assert_eq!(desk.sessions.len(), 1);
    assert!(desk.status(7).contains("at work"), "{}", desk.status(7));
    assert!(desk.bears(7).is_empty());
}

#[test]
fn hold_keeps_everything_from_starting_on_it() {
    let mut desk = desk();
    desk.label(7, "hold", "ada");
    desk.label(7, "b", "ada");
    desk.tick();
    assert_eq!(desk.reasons("request:1").last(), Some(&Reason::SubjectHeld));
    assert!(desk.sessions.is_empty());
    assert_eq!(Vec::from_iter(desk.bears(7)), ["hold"], "it stays on");
    assert!(desk.status(7).contains("paused.hold"), "{}", desk.status(7));
    desk.unlabel(7, "phileas:hold");
    desk.minutes(20);
    desk.tick();
    assert_eq!(desk.sessions.len(), 1);
}

/// Only what was touched last is listed with its labels; a hold counts however long ago it was put on.
#[test]
fn hold_counts_also_on_an_issue_that_is_not_listed_any_more() {
    let mut desk = desk();
    desk.label(7, "hold", "ada");
    desk.unlisted.insert(7);
    desk.writes(7, "/phileas run b", "ada");
    desk.tick();
    assert_eq!(desk.reasons("request:1").last(), Some(&Reason::SubjectHeld));
    assert!(desk.sessions.is_empty());
    desk.unlabel(7, "phileas:hold");
    desk.minutes(20);
    desk.tick();
    assert_eq!(desk.sessions.len(), 1);
}

#[test]
fn hold_alone_costs_no_further_read() {
    let mut desk = desk();
    desk.label(7, "hold", "ada");
    desk.label(7, "pause", "ada");
    let snapshot = desk.look();
    assert!(snapshot.subjects.is_empty() && snapshot.permissions.is_empty());
}

#[test]
fn a_pull_request_is_worked_on_where_it_stands() {
    let mut desk = desk();
    desk.pull_subject(8, true);
    desk.label(8, "b", "ada");
    desk.tick();
    let create = desk.effects.iter().find_map(|effect| match effect {
        Effect::CreateSession(create) => Some(create),
        _ => None,
    });
    assert_eq!(create.unwrap().branch.as_str(), "topic");
    let prompt = desk.sessions[0].prompt.clone().unwrap();
    assert!(prompt.contains("on pull request #8"), "{prompt}");
}

#[test]
fn what_is_closed_before_it_starts_is_not_started() {
    let mut desk = desk();
    desk.label(7, "hold", "ada");
    desk.label(7, "b", "ada");
    desk.tick();
    desk.subject(7).open = false;
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.reasons("request:1"), [Reason::SubjectClosed]);
    assert!(desk.sessions.is_empty());
    assert!(desk.status(7).contains("refused.subject_closed"));
}

#[test]
fn an_unknown_persona_and_a_word_of_comments_are_refused_with_their_code() {
    for word in ["nobody", "run", "merge"] {
        let mut desk = desk();
        desk.label(7, word, "ada");
        desk.tick();
        let line = desk
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
        assert!(desk.status(7).contains(reason.code()), "{}", desk.status(7));
        assert!(desk.bears(7).is_empty());
        assert!(desk.sessions.is_empty());
    }
}

#[test]
fn a_label_that_nobody_can_be_found_for_starts_nothing() {
    let mut desk = desk();
    desk.happens(7, None, SubjectChange::Labelled("phileas:b".to_owned()));
    desk.tick();
    assert_eq!(desk.reasons("request:1"), [Reason::ActorPermission]);
    assert!(desk.sessions.is_empty());
}

/// Of a long timeline only the newest events are shown.
#[test]
fn a_label_whose_event_is_not_shown_is_waited_for_and_then_refused_once() {
    let mut desk = desk();
    desk.put_on_unseen.insert(7, ["b".to_owned()].into());
    desk.tick();
    assert!(desk.comments.is_empty(), "it may be shown in a moment");
    assert!(desk.all_reasons().contains(&Reason::RequestUnread));
    desk.minutes(15);
    desk.tick();
    assert!(desk.sessions.is_empty() && desk.bears(7).is_empty());
    let status = desk.status(7).to_owned();
    assert!(status.contains("refused.actor_unknown"), "{status}");
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.effects, []);
    // Put on again it counts.
    desk.label(7, "b", "ada");
    desk.tick();
    assert_eq!(desk.personas_run(), ["b"]);
}

#[test]
fn nothing_counts_as_heard_while_nobody_knows_since_when_a_label_is_there() {
    let mut desk = desk();
    desk.put_on_unseen.insert(7, ["b".to_owned()].into());
    desk.writes(7, "/phileas status", "ada");
    desk.tick();
    assert_eq!(desk.state().cursors.comments_since, None);
    desk.minutes(15);
    desk.tick();
    assert!(desk.state().cursors.comments_since.is_some());
}

#[test]
fn a_label_counts_in_whatever_case_the_repository_has_it() {
    let mut desk = desk();
    let label = SubjectChange::Labelled("Phileas:Ä".to_owned());
    desk.happens(7, Some(crate::subjects::account("ada")), label);
    desk.tick();
    assert!(
        desk.status(7).contains("refused.unknown"),
        "{}",
        desk.status(7)
    );
    assert!(desk.sessions.is_empty());
}

/// However much is asked for at once, one commit takes up so much and no more, and a stop is never behind it.
#[test]
fn a_flood_of_wishes_is_taken_up_in_parts_and_a_stop_at_once() {
    let mut desk = desk();
    for number in 100..150 {
        desk.issue(number, "t", "b").label(number, "nobody", "ada");
    }
    desk.minutes(1);
    desk.writes(7, "/phileas stop", "ada");
    desk.answering = Answering::Dies;
    for _ in 0..3 {
        desk.tick();
    }
    assert!(desk.state().paused.is_some());
    let mut taken = Vec::new();
    desk.answering = Answering::Session;
    desk.tick();
    let bare = (100..150).filter(|number| desk.bears(*number).is_empty());
    assert_eq!(bare.count(), 20, "labels come off in parts, too");
    for _ in 0..6 {
        desk.tick();
        desk.minutes(1);
        taken.push(desk.state().requests.len());
    }
    assert_eq!(taken.last(), Some(&51), "{taken:?}");
    assert!((100..150).all(|number| desk.bears(number).is_empty()));
}
