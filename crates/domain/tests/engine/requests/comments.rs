//! Tests commands in comments: who is authorized, and what they do.

use phileas_domain::engine::Reason;

use crate::support::scenario::Scenario;

pub(super) fn scenario() -> Scenario {
    let mut scenario = Scenario::new("", &["a", "b"]);
    scenario.writer("ada");
    scenario.issue(7, "It is slow", "Opening takes a minute.");
    scenario
}

#[test]
fn a_writers_comment_starts_a_session_and_is_seen() {
    let mut scenario = scenario();
    let id = scenario.writes(7, "/phileas run b\n\nPlease.", "ada");
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 1);
    assert_eq!(scenario.eyes, [(7, Some(500))], "on the comment itself");
    let request = &scenario.state().requests[&id];
    assert_eq!(
        (request.kind.as_str(), request.actor.as_deref()),
        ("comment", Some("ada"))
    );
    assert!(
        scenario
            .status(7)
            .contains("`b`, requested by `ada`: at work")
    );
    let prompt = scenario.sessions[0].prompt.clone().unwrap();
    assert!(
        prompt.contains("Opening takes") && !prompt.contains("Please"),
        "{prompt}"
    );
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.effects, []);
}

#[test]
fn r9_an_edited_quoted_fenced_or_mid_text_command_does_nothing() {
    for body in [
        "> /phileas run b",
        "```\n/phileas run b\n```",
        "    /phileas run b",
        "Could you say /phileas run b ?",
        "Hello\n/phileas run b",
    ] {
        let mut scenario = scenario();
        scenario.writes(7, body, "ada");
        scenario.tick();
        assert!(
            scenario.sessions.is_empty() && scenario.comments.is_empty(),
            "{body}"
        );
    }
    let mut scenario = scenario();
    scenario.writes(7, "/phileas run b", "ada");
    scenario.said[0].edited = true;
    scenario.tick();
    assert!(scenario.sessions.is_empty() && scenario.comments.is_empty());
}

#[test]
fn r9_a_created_comment_that_begins_with_it_goes_through() {
    let mut scenario = scenario();
    scenario.writes(7, "/phileas run b", "ada");
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 1);
    // What is made of it later changes nothing.
    scenario.said[0].edited = true;
    scenario.said[0].body = "/phileas stop".to_owned();
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.effects, []);
}

/// Any account may comment. phileas does not answer unauthorized users, and reports once a tick about all their
/// comments.
#[test]
fn r5_the_comment_of_an_unauthorized_user_does_nothing_and_is_not_answered() {
    let mut scenario = scenario();
    scenario.writes(7, "/phileas run b", "outsider");
    scenario.writes(7, "/phileas run absent", "outsider");
    scenario.writes(7, "/phileas dance", "outsider");
    scenario.writes(7, "/phileas stop", "helper[bot]");
    for _ in 0..3 {
        scenario.tick();
        scenario.minutes(1);
    }
    assert!(
        scenario.sessions.is_empty() && scenario.comments.is_empty() && scenario.eyes.is_empty()
    );
    assert_eq!(scenario.permission_reads, 3);
    assert_eq!(scenario.headlines, [] as [&str; 0], "and writes nothing");
}

#[test]
fn r8_a_text_that_was_edited_after_the_comment_starts_nothing() {
    let mut scenario = scenario();
    scenario.writes(7, "/phileas run b", "ada");
    scenario.minutes(1);
    let now = scenario.now;
    scenario.subject(7).edited_at = Some(now);
    scenario.tick();
    assert!(scenario.sessions.is_empty());
    assert!(scenario.status(7).contains("refused.content_changed"));
}

#[test]
fn a_command_of_a_week_ago_is_passed_over_in_silence() {
    let mut scenario = scenario();
    scenario.writes(7, "/phileas run b", "ada");
    scenario.hours(7 * 24);
    scenario.tick();
    assert!(scenario.sessions.is_empty() && scenario.comments.is_empty());
}

#[test]
fn what_is_not_understood_is_said_once() {
    let long = format!("/phileas run {}", "x".repeat(60_000));
    for body in [
        "/phileas",
        "/phileas dance",
        "/phileas run",
        "/phileas run absent",
        "/phileas run `b`",
        &long,
    ] {
        let mut scenario = scenario();
        scenario.writes(7, body, "ada");
        scenario.tick();
        let status = scenario.status(7);
        assert_eq!(status.matches("refused.unknown").count(), 1, "{status}");
        let written = phileas_domain::state::codec::save(scenario.state());
        assert!(written.len() < 5_000, "{}", written.len());
        assert!(scenario.lines.iter().all(|line| line.detail.len() < 500));
    }
}

#[test]
fn cancel_ends_what_is_at_work_and_takes_back_what_waits() {
    let mut scenario = scenario();
    scenario.files.insert(
        ".jules/schedules.toml".to_owned(),
        "[budget]\nmax_active = 1\n".to_owned(),
    );
    scenario.label(7, "a", "ada");
    scenario.label(7, "b", "ada");
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 1);
    scenario.minutes(1);
    scenario.writes(7, "/phileas cancel", "ada");
    scenario.tick();
    assert!(scenario.sessions[0].archived, "its session is stopped");
    let status = scenario.status(7);
    assert!(status.contains("cancelled: 2"), "{status}");
    assert!(
        status.contains("withdrawn before it was started"),
        "{status}"
    );
    scenario.minutes(30);
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 1, "nothing starts in its place");
    scenario.writes(7, "/phileas cancel", "ada");
    scenario.tick();
    assert!(scenario.status(7).contains("refused.nothing_to_do"));
}

#[test]
fn pause_blocks_every_start_until_a_person_resumes() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.writer("ada").issue(7, "t", "b");
    scenario.writes(7, "/phileas pause for the release", "ada");
    scenario.tick();
    assert!(scenario.sessions.is_empty());
    let pause = scenario.state().paused.clone().unwrap();
    assert_eq!(pause.by.as_deref(), Some("ada"));
    assert!(scenario.all_reasons().contains(&Reason::PausedState));
    // How it ends stands with the pause, and the answer says the rest.
    for part in [
        "`/phileas resume` ends the pause",
        "- the command `pause`, requested by `ada`: paused: sessions at work go on; `/phileas stop` ends them.",
    ] {
        assert_eq!(
            scenario.status(7).matches(part).count(),
            1,
            "{}",
            scenario.status(7)
        );
    }
    scenario.minutes(1);
    scenario.writes(7, "/phileas pause", "ada");
    scenario.tick();
    assert!(
        scenario.status(7).contains("it was paused already."),
        "{}",
        scenario.status(7)
    );
    scenario.minutes(1);
    scenario.writes(7, "/phileas resume", "ada");
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a"]);
    assert!(
        scenario
            .status(7)
            .contains("the pause is over: what is due starts again"),
        "{}",
        scenario.status(7)
    );
    scenario.writes(7, "/phileas resume", "ada");
    scenario.tick();
    assert!(scenario.status(7).contains("refused.nothing_to_do"));
}

/// GitHub dates comments to the second, so both may have the same time.
#[test]
fn a_resume_in_the_second_of_its_pause_takes_it_back() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.writer("ada").issue(7, "t", "b");
    scenario.writes(7, "/phileas pause", "ada");
    scenario.tick();
    assert!(scenario.state().paused.is_some());
    scenario.writes(7, "/phileas resume", "ada");
    scenario.tick();
    assert_eq!(scenario.state().paused, None);
    assert_eq!(scenario.personas_run(), ["a"]);
}

#[test]
fn what_was_said_later_counts_later_in_whatever_order_it_is_shown() {
    for (first, second, paused) in [
        ("/phileas pause", "/phileas resume", false),
        ("/phileas resume", "/phileas pause", true),
    ] {
        let mut scenario = scenario();
        scenario.issue(3, "t", "b");
        scenario.writes(7, first, "ada");
        scenario.minutes(1);
        scenario.writes(3, second, "ada");
        scenario.said.reverse();
        scenario.tick();
        assert_eq!(
            scenario.state().paused.is_some(),
            paused,
            "{first}, {second}"
        );
    }
}

/// A comment whose author's permission could not be read is accepted a tick later, and must not undo later commands.
#[test]
fn an_older_resume_does_not_undo_a_later_stop() {
    let mut scenario = scenario();
    scenario.writes(7, "/phileas pause", "ada");
    scenario.tick();
    scenario.minutes(1);
    scenario.writes(7, "/phileas resume", "ada");
    let mut late = scenario.said.pop().unwrap();
    late.id = "IC_late".to_owned();
    scenario.minutes(1);
    scenario.writes(7, "/phileas stop", "ada");
    scenario.tick();
    scenario.said.push(late);
    scenario.minutes(1);
    scenario.tick();
    assert!(scenario.state().paused.is_some());
    let reason = scenario.state().requests["IC_late"].reason.clone();
    assert_eq!(reason.as_deref(), Some("refused.nothing_to_do"));
    scenario.minutes(1);
    scenario.writes(7, "/phileas resume", "ada");
    scenario.tick();
    assert_eq!(scenario.state().paused, None);
}

/// A late tick sees the stop a while after it was written; the time of the comment counts.
#[test]
fn a_resume_after_a_stop_counts_however_late_the_stop_was_seen() {
    let mut scenario = scenario();
    scenario.writes(7, "/phileas stop", "ada");
    scenario.minutes(1);
    scenario.writes(7, "/phileas resume", "ada");
    let resume = scenario.said.pop().unwrap();
    scenario.minutes(5);
    scenario.tick();
    assert!(scenario.state().paused.is_some());
    scenario.said.push(resume);
    scenario.tick();
    assert_eq!(scenario.state().paused, None);
}

#[test]
fn an_older_cancel_does_not_take_back_a_later_label() {
    for seen_later in [false, true] {
        let mut scenario = scenario();
        scenario.label(7, "a", "ada");
        scenario.tick();
        scenario.minutes(1);
        scenario.writes(7, "/phileas cancel", "ada");
        let cancel = scenario.said.clone();
        scenario.minutes(1);
        scenario.label(7, "b", "ada");
        if seen_later {
            scenario.said.clear();
            scenario.tick();
            scenario.said = cancel;
            scenario.minutes(1);
        }
        scenario.tick();
        let archived: Vec<_> = scenario.sessions.iter().map(|one| one.archived).collect();
        assert_eq!(archived, [true, false], "seen later: {seen_later}");
    }
}

#[test]
fn stop_pauses_and_ends_every_session() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a", "b"]);
    scenario.writer("ada").issue(7, "t", "b");
    scenario.label(7, "b", "ada");
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 2);
    scenario.minutes(1);
    scenario.writes(7, "/phileas stop", "ada");
    scenario.tick();
    assert!(scenario.sessions.iter().all(|session| session.archived));
    assert!(
        scenario.status(7).contains("paused, and cancelled: 2"),
        "{}",
        scenario.status(7)
    );
    scenario.hours(2);
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 2);
}

/// A person at the hourly limit may still stop.
#[test]
fn r20_a_brake_is_never_counted() {
    let mut scenario = Scenario::new("[budget]\nrequests_per_actor_hour = 0\n", &["b"]);
    scenario.writer("ada").issue(7, "t", "b");
    scenario.writes(7, "/phileas run b", "ada");
    scenario.tick();
    assert!(scenario.status(7).contains("refused.actor_budget"));
    scenario.writes(7, "/phileas stop", "ada");
    scenario.tick();
    assert!(scenario.state().paused.is_some());
}
