//! Tests what the one status comment answers, and until when an answer stands.

use phileas_domain::engine::SessionState;

use super::comments::scenario;
use crate::support::scenario::Scenario;

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
            "/phileas refuse outofscope They know.",
            "`outofscope` is no reason; did you mean `/phileas refuse out-of-scope`?",
        ),
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
        assert_eq!(told.matches("\n- `/phileas ").count(), 13, "{told}");
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
        (
            "phileas:hold",
            "`phileas:hold` is a label and not a command; put it on",
        ),
        (
            "phileas:a",
            "`phileas:a` is a label and not a command; put it on, or say `/phileas run a`",
        ),
        (
            "phileas:retry",
            "`phileas:retry` is a label and not a command; say `/phileas retry`",
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
        let said = format!("is not a command; say `/phileas {word}` in a comment");
        (word, said)
    });
    let others = [
        ("run", "names no persona; put on `phileas:PERSONA`"),
        ("approve", "is not a command; put on `phileas:approve-plan`"),
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
    let line = "the label `phileas:status` is not a command; say `/phileas status` in a comment";
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
