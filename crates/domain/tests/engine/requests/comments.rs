//! Tests commands in comments: who is authorized, what they do, and the one status comment that answers.

use phileas_domain::engine::{Reason, SessionState, Verdict, read_requests};
use phileas_domain::state::{State, rebuild};

use crate::support::scenario::{Answering, Scenario};

fn scenario() -> Scenario {
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
    assert!(
        scenario.status(7).contains("paused"),
        "{}",
        scenario.status(7)
    );
    scenario.minutes(1);
    scenario.writes(7, "/phileas resume", "ada");
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["a"]);
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

#[test]
fn status_and_explain_are_answered_once_with_reason_codes() {
    let mut scenario = Scenario::new(
        "cycle = [\"a\"]\n[schedules]\nb = \"manual\"\n",
        &["a", "b"],
    );
    scenario.writer("ada").issue(7, "t", "b");
    scenario.tick();
    scenario.becomes(SessionState::InProgress);
    scenario.minutes(1);
    scenario.writes(7, "/phileas explain", "ada");
    scenario.tick();
    let told = scenario.status(7).to_owned();
    assert!(told.contains("waiting.session_running"), "{told}");
    assert!(told.contains("skipped.manual"), "{told}");
    scenario.minutes(40);
    scenario.tick();
    let answer = |text: &str| text.split_once("The answer to").unwrap().1.to_owned();
    assert_eq!(
        answer(scenario.status(7)),
        answer(&told),
        "an answer stays as it was given"
    );
    scenario.writes(7, "/phileas status", "ada");
    scenario.tick();
    let now = scenario.status(7).to_owned();
    assert!(now.contains("waiting.session_stuck"), "{now}");
    // The newest answer replaces the previous one, and does not name its actor.
    assert_eq!(now.matches("The answer to").count(), 1, "{now}");
    assert!(
        now.contains("`/phileas status` to `ada`, 2026-01-05 00:41 UTC"),
        "{now}"
    );
    for text in ["explain", "request:", "finished.command"] {
        assert!(!now.contains(text), "{text}: {now}");
    }
}

#[test]
fn status_lists_each_track_with_its_reason_as_a_sentence() {
    let plan =
        "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\n[schedules]\nc = \"manual\"\nd = \"0 9 * * *\"\n";
    let mut scenario = Scenario::new(plan, &["a", "b", "c", "d"]);
    scenario.writer("ada").issue(7, "t", "b");
    scenario.tick();
    scenario.becomes(SessionState::Paused);
    scenario.minutes(1);
    scenario.writes(7, "/phileas status", "ada");
    scenario.tick();
    let told = scenario.status(7).to_owned();
    for line in [
        "- `a` in `one`: at work since 2026-01-05 00:00 UTC; [session",
        "- `b` in `two`: a person paused its session in Jules (`waiting.session_paused`); it \
         started at 2026-01-05 00:00 UTC; [session",
        "- `c` on its schedule: it runs only when a person requests it (`skipped.manual`)",
        "- `d` on its schedule: its time has not come until 2026-01-05 09:00 UTC \
         (`waiting.not_due`)",
        "- budget: 2 of 5 sessions within a day, 2 of 2 at work; 0 of 3 pull requests wait for a \
         review",
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
}

/// However many comments follow, current work comes first, and other accounts' comments are not quoted.
#[test]
fn current_work_comes_first_and_always_with_the_actor_of_a_pause() {
    let mut scenario = scenario();
    scenario.writes(7, "/phileas run b", "ada");
    scenario.tick();
    let work = "`b`, requested by `ada`: at work since 2026-01-05 00:00 UTC; [session";
    for _ in 0..7 {
        scenario.minutes(1);
        scenario.writes(7, "/phileas resume", "ada");
        scenario.writes(7, "/phileas status", "ada");
        scenario.writes(7, "/phileas status", "outsider");
        scenario.tick();
    }
    let told = scenario.status(7).to_owned();
    assert!(
        told.starts_with(&format!("**phileas**\n\n- {work}")),
        "{told}"
    );
    assert_eq!(told.matches("the command `resume`").count(), 5, "{told}");
    assert!(!told.contains("actor_permission"), "{told}");
    scenario.minutes(1);
    scenario.writes(7, "/phileas pause", "ada");
    scenario.tick();
    let told = scenario.status(7).to_owned();
    let paused = "- paused by `ada` since 2026-01-05 00:08 UTC (`paused.state`)";
    let (first, rest) = told.split_once(paused).expect("who paused");
    assert!(first.contains(work) && rest.contains("Before:"), "{told}");
    let pull = scenario.opens_pull();
    scenario.minutes(1);
    scenario.tick();
    let open = format!(
        "- `b`, requested by `ada`: pull request #{pull} is open since 2026-01-05 00:09 UTC; [session"
    );
    let told = scenario.status(7).to_owned();
    assert!(
        told.starts_with(&format!("**phileas**\n\n{open}")),
        "{told}"
    );
    scenario.merge(pull);
    scenario.minutes(1);
    scenario.tick();
    let told = scenario.status(7).to_owned();
    assert!(
        told.starts_with("**phileas**\n\nNothing of phileas is at work"),
        "{told}"
    );
}

/// The ledger keeps the newest answer of an issue, not each.
#[test]
fn an_answer_that_was_replaced_takes_no_room_in_the_ledger() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.writer("ada").issue(7, "t", "b");
    for _ in 0..9 {
        scenario.writes(7, "/phileas status", "ada");
        scenario.tick();
        scenario.minutes(1);
    }
    let answers = scenario.state().requests.values();
    let long = answers.filter(|one| {
        one.answer
            .as_ref()
            .is_some_and(|text| text.contains("default"))
    });
    assert_eq!(long.count(), 1);
}

/// There is no request on a pull request of a track; its session is in the status all the same.
#[test]
fn the_comment_on_a_sessions_pull_request_names_that_session() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.writer("ada");
    scenario.tick();
    let pull = scenario.opens_pull();
    scenario.minutes(1);
    scenario.tick();
    scenario.pull_subject(pull.0, true);
    scenario.writes(pull.0, "/phileas status", "ada");
    scenario.tick();
    let told = scenario.status(pull.0).to_owned();
    let work = format!(
        "- `a` in `default`: pull request #{pull} is open since 2026-01-05 00:01 UTC; [session"
    );
    assert!(told.contains(&work), "{told}");
    // Days later it is merged.
    scenario.hours(48);
    scenario.tick();
    scenario.merge(pull);
    scenario.minutes(1);
    scenario.tick();
    let told = scenario.status(pull.0).to_owned();
    assert!(told.contains("Nothing of phileas is at work"), "{told}");
}

#[test]
fn an_unknown_command_is_answered_with_its_text_and_the_list_of_commands() {
    for (typed, said) in [
        (
            "/phileas stauts",
            "`stauts` is not a command; did you mean `/phileas status`?",
        ),
        (
            "/phileas Status",
            "`Status` is not a command; did you mean `/phileas status`?",
        ),
        ("/phileas dance now", "`dance now` is not a command"),
        (
            "/phileas approve please",
            "`approve please` has words behind the command; say `/phileas approve`",
        ),
        ("/phileas a", "`a` is not a command; say `/phileas run a`"),
        (
            "/phileas run",
            "`run` needs the id of a persona: `/phileas run PERSONA`",
        ),
        (
            "/phileas run a b",
            "`run a b` does not name one persona: `/phileas run PERSONA`",
        ),
        ("/phileas", "`/phileas` stands alone, without a command"),
        (
            "/phileas @octocat <b>#1",
            "`(at)octocat ‹b›no. 1` is not a command",
        ),
    ] {
        let mut scenario = scenario();
        scenario.writes(7, typed, "ada");
        scenario.tick();
        let told = scenario.status(7);
        let line =
            format!("- a request, requested by `ada`: not done: {said} (`refused.unknown`).");
        assert!(told.contains(&line), "{line}\n{told}");
        assert_eq!(told.matches("\n- `/phileas ").count(), 11, "{told}");
    }
}

/// What is a label and no command, or a command and no label, is answered with what to do instead.
#[test]
fn a_word_in_the_wrong_place_is_answered_with_its_place() {
    for (typed, said) in [
        (
            "merge",
            "`merge` is not a command; put on the label `phileas:merge`",
        ),
        (
            "hold",
            "`hold` is not a command; put on the label `phileas:hold`",
        ),
        (
            "approve-plan",
            "`approve-plan` is not a command; say `/phileas approve`",
        ),
        (
            "implementer",
            "`implementer` is not a command; say `/phileas run implementer`",
        ),
    ] {
        let mut scenario = scenario();
        scenario.writes(7, &format!("/phileas {typed}"), "ada");
        scenario.tick();
        let told = scenario.status(7);
        assert!(told.contains(&format!("not done: {said} (")), "{told}");
    }
    let commands = [
        "cancel",
        "resume",
        "stop",
        "status",
        "explain",
        "dashboard",
        "help",
    ];
    let commands = commands.map(|word| {
        let said = format!("is no command; say `/phileas {word}` in a comment");
        (word, said)
    });
    let others = [
        ("run", "names no persona; put on `phileas:PERSONA`"),
        ("approve", "is no command; put on `phileas:approve-plan`"),
    ];
    let others = others.map(|(word, said)| (word, said.to_owned()));
    for (label, said) in commands.into_iter().chain(others) {
        let mut scenario = scenario();
        scenario.label(7, label, "ada");
        scenario.tick();
        let told = scenario.status(7);
        let line = format!("not done: the label `phileas:{label}` {said} (`refused.unknown`)");
        assert!(told.contains(&line), "{line}\n{told}");
        assert!(told.contains("- `/phileas status`: "), "{told}");
    }
    // GitHub's labels are case-insensitive.
    let mut scenario = scenario();
    scenario.label(7, "Status", "ada");
    scenario.tick();
    let line = "the label `phileas:status` is no command; say `/phileas status` in a comment";
    assert!(scenario.status(7).contains(line));
    // A persona may have the name of a command.
    let mut scenario = Scenario::new("", &["cancel"]);
    scenario.writer("ada").issue(7, "t", "b");
    scenario.label(7, "cancel", "ada");
    scenario.tick();
    assert_eq!(scenario.sessions.len(), 1);
}

/// An answer that says "paused" or "waits for you" is folded away once that is over, however late.
#[test]
fn an_answer_that_is_no_longer_true_is_folded_away() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.writer("ada").issue(7, "t", "b");
    scenario.writes(7, "/phileas pause", "ada");
    scenario.tick();
    scenario.minutes(1);
    scenario.writes(7, "/phileas explain", "ada");
    scenario.tick();
    let told = scenario.status(7).to_owned();
    let by = "paused by `ada` since 2026-01-05 00:00 UTC (`paused.state`): requested on #7;";
    assert_eq!(
        told.matches(by).count(),
        2,
        "now, and in the answer: {told}"
    );
    scenario.hours(3 * 24);
    scenario.tick();
    assert_eq!(scenario.status(7), told, "it is true still");
    // The command line resumes it.
    let mut state = scenario.state().clone();
    state.paused = None;
    scenario.set_state(state);
    scenario.minutes(1);
    scenario.tick();
    let told = scenario.status(7).to_owned();
    let (first, folded) = told.split_once("<details><summary>").expect("folded");
    assert!(!first.contains("paused by"), "{told}");
    assert!(folded.contains(by), "{told}");
    let summary = "The answer to /phileas explain of 2026-01-05 00:01 UTC, which is no longer true";
    assert!(folded.starts_with(summary), "{told}");
    scenario.minutes(30);
    scenario.tick();
    assert_eq!(scenario.status(7), told, "and stays as it is");
}

#[test]
fn an_answer_stays_while_only_its_details_change() {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n", &["a"]);
    scenario.writer("ada").issue(7, "t", "b");
    scenario.tick();
    scenario.becomes(SessionState::InProgress);
    scenario.minutes(45);
    scenario.writes(7, "/phileas explain", "ada");
    scenario.tick();
    let told = scenario.status(7).to_owned();
    for part in ["waiting.session_stuck", "nothing has moved for 45 minutes"] {
        assert!(told.contains(part), "{told}");
    }
    scenario.minutes(30);
    scenario.tick();
    assert_eq!(scenario.status(7), told);
    scenario.opens_pull();
    scenario.minutes(30);
    scenario.tick();
    let told = scenario.status(7);
    assert!(told.contains("which is no longer true"), "{told}");
}

#[test]
fn an_answer_about_a_plan_that_is_approved_is_folded_away() {
    let mut scenario = Scenario::new("", &["b"]);
    scenario.writer("ada").issue(7, "t", "b");
    scenario.label(7, "b", "ada");
    scenario.tick();
    scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.minutes(1);
    scenario.tick();
    scenario.writes(7, "/phileas status", "ada");
    scenario.tick();
    let told = scenario.status(7).to_owned();
    assert_eq!(
        told.matches("<details><summary>The answer").count(),
        0,
        "{told}"
    );
    let answer = told.split_once("The answer to").unwrap().1;
    assert!(answer.contains("waiting.plan_approval"), "{told}");
    scenario.becomes(SessionState::InProgress);
    scenario.minutes(1);
    scenario.tick();
    let told = scenario.status(7);
    assert_eq!(
        told.matches("<details><summary>The answer").count(),
        1,
        "{told}"
    );
}

#[test]
fn help_lists_the_commands_once() {
    let mut scenario = scenario();
    for _ in 0..2 {
        scenario.writes(7, "/phileas help", "ada");
        scenario.tick();
        scenario.minutes(1);
    }
    let told = scenario.status(7);
    assert!(
        told.contains("the command `help`, requested by `ada`: the commands are listed below."),
        "{told}"
    );
    for word in [
        "run PERSONA",
        "retry",
        "approve",
        "cancel",
        "pause",
        "resume",
        "stop",
        "status",
        "explain",
        "dashboard",
        "help",
    ] {
        assert_eq!(
            told.matches(&format!("- `/phileas {word}`: ")).count(),
            1,
            "{word}: {told}"
        );
    }
    assert_eq!(scenario.sessions, []);
}

/// A request for the status does not make the comment change with every reason to wait.
#[test]
fn the_status_comment_stays_stable_while_requests_only_wait() {
    let mut scenario = scenario();
    scenario.label(7, "hold", "ada");
    scenario.label(7, "b", "ada");
    scenario.tick();
    scenario.minutes(1);
    scenario.writes(7, "/phileas status", "ada");
    scenario.tick();
    let told = scenario.status(7).to_owned();
    assert!(told.contains("paused.hold"), "{told}");
    for minute in 1..15 {
        scenario.minutes(1);
        scenario.paused_by_variable = (minute % 2 == 0).then(|| "yes".to_owned());
        scenario.tick();
        assert_eq!(scenario.status(7), told);
        assert_eq!(scenario.effects, []);
    }
    scenario.minutes(1);
    scenario.paused_by_variable = Some("yes".to_owned());
    scenario.tick();
    assert!(
        scenario.status(7).contains("paused.variable"),
        "{}",
        scenario.status(7)
    );
    // Anything but another reason to wait is reported at once.
    scenario.paused_by_variable = None;
    scenario.unlabel(7, "phileas:hold");
    scenario.minutes(1);
    scenario.tick();
    assert!(
        scenario.status(7).contains("at work"),
        "{}",
        scenario.status(7)
    );
}

/// A scenario whose ledger says that comments were read until a quarter of an hour ago.
fn listened() -> Scenario {
    let mut scenario = scenario();
    scenario.writes(7, "/phileas pause", "ada");
    scenario.tick();
    let heard = scenario.state().cursors.comments_since;
    assert_eq!(heard, scenario.now.checked_sub(MARGIN).ok());
    scenario
}

/// What GitHub may not show yet.
const MARGIN: jiff::SignedDuration = jiff::SignedDuration::from_mins(15);

fn missed(scenario: &Scenario) -> Vec<String> {
    let lines = scenario.lines.iter();
    let lines = lines.filter(|line| line.reason == Reason::CommentsMissed);
    lines
        .map(|line| {
            assert_eq!(line.verdict, Verdict::Waiting);
            line.detail.clone()
        })
        .collect()
}

/// phileas was down for two days: comments that may be missing are reported, however old.
#[test]
fn what_was_said_since_the_last_look_and_is_not_shown_is_owned_up_to() {
    let mut scenario = listened();
    scenario.hours(48);
    let a_day = jiff::SignedDuration::from_hours(24);
    let a_day_ago = scenario.now.checked_sub(a_day).unwrap();
    scenario.comment_coverage.cut.insert(7, a_day_ago);
    scenario.comment_coverage.issues_after = Some(a_day_ago);
    scenario.tick();
    let [said] = &missed(&scenario)[..] else {
        panic!("{:?}", scenario.lines);
    };
    assert!(said.contains("on #7, issues"), "{said}");
    // It is owned up to once, not with every tick from then on.
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(missed(&scenario), [] as [&str; 0]);
}

#[test]
fn each_thing_that_is_not_shown_is_owned_up_to_by_itself() {
    for (part, words) in [
        ("a thread", "is read, on #7; "),
        (
            "issues",
            "is read, on issues that were touched before others; ",
        ),
        (
            "pulls",
            "is read, on pull requests that were touched before others; ",
        ),
    ] {
        let mut scenario = listened();
        scenario.hours(48);
        let at = scenario.now.checked_sub(MARGIN).ok();
        match part {
            "a thread" => drop(scenario.comment_coverage.cut.insert(7, at.unwrap())),
            "issues" => scenario.comment_coverage.issues_after = at,
            _ => scenario.comment_coverage.pulls_after = at,
        }
        scenario.tick();
        let missed = missed(&scenario);
        assert!(missed.len() == 1 && missed[0].contains(words), "{missed:?}");
    }
}

#[test]
fn what_was_shown_at_the_last_look_is_not_missed_however_much_was_said() {
    let mut scenario = listened();
    let before = scenario.now.checked_sub(MARGIN).unwrap();
    scenario.comment_coverage.cut.insert(7, before);
    scenario.comment_coverage.issues_after = Some(before);
    scenario.comment_coverage.pulls_after = Some(before);
    scenario.hours(2);
    scenario.tick();
    assert_eq!(missed(&scenario), [] as [&str; 0]);
}

/// Unauthorized users cannot fill the ledger: for any number of comments, one commit an hour records the cursor.
#[test]
fn comments_of_unauthorized_users_change_only_the_comment_cursor() {
    let mut scenario = listened();
    let before = scenario.headlines.len();
    for _ in 0..11 {
        scenario.writes(7, "/phileas run b", "outsider");
        scenario.minutes(5);
        scenario.tick();
    }
    assert_eq!(scenario.headlines.len(), before, "within the hour");
    scenario.minutes(5);
    scenario.tick();
    assert_eq!(scenario.headlines.len(), before + 1);
    assert_eq!(scenario.state().requests.len(), 1, "the writer's own");
    let asked = scenario.permission_reads;
    scenario.minutes(20);
    scenario.tick();
    scenario.hours(2);
    scenario.tick();
    assert_eq!(scenario.headlines.len(), before + 2);
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(
        scenario.permission_reads,
        asked + 2,
        "no account is read for ever"
    );
    assert!(scenario.sessions.is_empty());
}

/// A writer's request is not skipped because another one was recorded first.
#[test]
fn a_command_that_cannot_be_decided_yet_does_not_count_as_read() {
    let mut scenario = scenario();
    scenario.label(7, "b", "ada");
    scenario.tick();
    scenario.minutes(3);
    scenario.becomes(SessionState::AwaitingPlanApproval);
    scenario.minutes(1);
    scenario.listing_works = false;
    scenario.writes(7, "/phileas approve", "ada");
    let said_at = scenario.now;
    scenario.tick();
    scenario.hours(2);
    scenario.writes(7, "/phileas status", "ada");
    scenario.tick();
    assert!(scenario.state().cursors.comments_since.unwrap() < said_at);
    scenario.listing_works = true;
    scenario.minutes(1);
    scenario.tick();
    assert!(
        scenario
            .effects
            .iter()
            .any(|one| one.name() == "approve_plan")
    );
    scenario.minutes(20);
    scenario.writes(7, "/phileas status", "ada");
    scenario.tick();
    assert!(scenario.state().cursors.comments_since.unwrap() > said_at);
}

/// One request without a known result does not silence the others.
#[test]
fn a_turn_cancelled_before_its_session_is_reported_and_blocks_nothing() {
    let mut scenario = scenario();
    scenario.answering = Answering::Refused;
    scenario.writes(7, "/phileas run b", "ada");
    scenario.tick();
    assert!(scenario.sessions.is_empty());
    scenario.minutes(20);
    scenario.writes(7, "/phileas cancel", "ada");
    scenario.tick();
    scenario.minutes(1);
    scenario.answering = Answering::Session;
    scenario.writes(7, "/phileas run a", "ada");
    scenario.tick();
    let status = scenario.status(7);
    assert!(
        status.contains("cancelled before it had a session"),
        "{status}"
    );
    assert!(
        status.contains("`a`, requested by `ada`: at work"),
        "{status}"
    );
}

/// A service may work with the token of a person who also labels and comments.
#[test]
fn the_person_whose_token_phileas_uses_is_authorized_and_phileas_is_not() {
    let mut scenario = scenario();
    scenario.viewer = Some(crate::support::subjects::account("ada"));
    scenario.writes(7, "/phileas run a\n<!-- phileas:status -->", "ada");
    scenario.tick();
    assert!(scenario.sessions.is_empty());
    scenario.writes(7, "/phileas run b", "ada");
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["b"]);
}

/// What a rebuilt ledger's predecessor executed is unknown; later commands are executed.
#[test]
fn a_rebuilt_ledger_executes_no_past_command() {
    let mut scenario = scenario();
    scenario.writes(7, "/phileas pause", "ada");
    scenario.tick();
    assert!(scenario.state().paused.is_some());
    scenario.minutes(5);
    let repository = scenario.snapshot().repository.id;
    let rebuilt = rebuild::rebuild(repository, scenario.now, "new-nonce".to_owned(), &[]);
    scenario.set_state(rebuilt.state);
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.state().paused, None);
    assert!(scenario.state().requests.is_empty());
    scenario.writes(7, "/phileas pause", "ada");
    scenario.tick();
    assert!(scenario.state().paused.is_some());
}

/// The branch was deleted, or the ledger was made by hand: what an earlier one executed is unknown.
#[test]
fn a_ledger_without_a_comment_cursor_executes_no_past_command() {
    for ledger in [None, Some(State::default())] {
        let mut scenario = scenario();
        scenario.writes(7, "/phileas pause", "ada");
        scenario.writes(7, "/phileas run b", "ada");
        scenario.hours(1);
        if let Some(by_hand) = ledger {
            scenario.set_state(by_hand);
        }
        scenario.tick();
        assert!(scenario.sessions.is_empty(), "{:?}", scenario.lines);
        let [said] = &missed(&scenario)[..] else {
            panic!("{:?}", scenario.lines);
        };
        assert!(said.contains("(2 are read)"), "{said}");
        assert!(said.contains("to be given again"), "{said}");
        assert!(scenario.comments.is_empty(), "old words are not answered");
        // Later commands are executed; earlier ones are not.
        scenario.minutes(1);
        scenario.writes(7, "/phileas run b", "ada");
        scenario.tick();
        assert_eq!(scenario.personas_run(), ["b"]);
        assert_eq!(scenario.state().paused, None);
        scenario.minutes(1);
        scenario.tick();
        assert_eq!(missed(&scenario), [] as [&str; 0]);
        assert_eq!(scenario.effects, []);
    }
}

/// A person who sets phileas up may write a command before its first run.
#[test]
fn a_command_within_the_hour_before_the_first_tick_is_executed() {
    let mut scenario = scenario();
    scenario.writes(7, "/phileas run b", "ada");
    scenario.pass(jiff::SignedDuration::from_secs(3599));
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["b"]);
    assert_eq!(missed(&scenario), [] as [&str; 0]);
}

/// The first tick may not be able to decide on it; the hour is that of the birth, and not that of every tick.
#[test]
fn a_command_from_before_the_ledgers_birth_is_executed_more_than_an_hour_after() {
    let mut scenario = scenario();
    scenario.writes(7, "/phileas run b", "ada");
    scenario.minutes(59);
    let repository = scenario.snapshot().repository.id;
    scenario.set_state(State::new_ledger(
        repository,
        scenario.now,
        "nonce".to_owned(),
    ));
    scenario.minutes(30);
    scenario.tick();
    assert_eq!(scenario.personas_run(), ["b"]);
}

/// A flood of commands causes no more reads at once, and nothing is lost.
#[test]
fn of_many_commands_and_labels_twenty_issues_each_are_read_at_a_time() {
    for by_label in [false, true] {
        let mut scenario = scenario();
        let repository = scenario.snapshot().repository.id;
        scenario.set_state(State::new_ledger(
            repository,
            scenario.now,
            "nonce".to_owned(),
        ));
        for number in 100..125 {
            scenario.issue(number, "It is slow", "Opening takes a minute.");
            if by_label {
                scenario.label(number, "b", "ada");
            } else {
                scenario.writes(number, "/phileas run b", "ada");
            }
        }
        // A comment's subject is not read before its author is known to be a writer.
        let mut snapshot = scenario.snapshot();
        assert_eq!(read_requests(&snapshot).subjects.is_empty(), !by_label);
        let writer = scenario.permissions["ada"];
        snapshot.permissions.insert("ada".into(), writer);
        let read_next = read_requests(&snapshot).subjects;
        assert_eq!(read_next, (100..120).collect(), "by label: {by_label}");
    }
}
