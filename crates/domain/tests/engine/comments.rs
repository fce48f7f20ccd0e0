//! Commands in comments: who is heard, what they do, and what is answered in the one status comment.

use phileas_domain::engine::{Reason, SessionState, Verdict, needs};
use phileas_domain::state::{State, rebuild};

use crate::desk::{Answering, Desk};

fn desk() -> Desk {
    let mut desk = Desk::new("", &["a", "b"]);
    desk.writer("ada");
    desk.issue(7, "It is slow", "Opening takes a minute.");
    desk
}

#[test]
fn a_writers_comment_starts_a_session_and_is_seen() {
    let mut desk = desk();
    let id = desk.writes(7, "/phileas run b\n\nPlease.", "ada");
    desk.tick();
    assert_eq!(desk.sessions.len(), 1);
    assert_eq!(desk.eyes, [(7, Some(500))], "on the comment itself");
    let request = &desk.state().requests[&id];
    assert_eq!(
        (request.kind.as_str(), request.actor.as_deref()),
        ("comment", Some("ada"))
    );
    assert!(desk.status(7).contains("`b`, asked for by `ada`: at work"));
    let prompt = desk.sessions[0].prompt.clone().unwrap();
    assert!(
        prompt.contains("Opening takes") && !prompt.contains("Please"),
        "{prompt}"
    );
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.effects, []);
}

#[test]
fn r9_an_edited_quoted_fenced_or_mid_text_command_does_nothing() {
    for body in [
        "> /phileas run b",
        "```\n/phileas run b\n```",
        "    /phileas run b",
        "Could somebody say /phileas run b ?",
        "Hello\n/phileas run b",
    ] {
        let mut desk = desk();
        desk.writes(7, body, "ada");
        desk.tick();
        assert!(
            desk.sessions.is_empty() && desk.comments.is_empty(),
            "{body}"
        );
    }
    let mut desk = desk();
    desk.writes(7, "/phileas run b", "ada");
    desk.said[0].edited = true;
    desk.tick();
    assert!(desk.sessions.is_empty() && desk.comments.is_empty());
}

#[test]
fn r9_a_created_comment_that_begins_with_it_goes_through() {
    let mut desk = desk();
    desk.writes(7, "/phileas run b", "ada");
    desk.tick();
    assert_eq!(desk.sessions.len(), 1);
    // What is made of it later changes nothing.
    desk.said[0].edited = true;
    desk.said[0].body = "/phileas stop".to_owned();
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.effects, []);
}

/// Anybody may comment. Phileas does not talk to strangers, and asks once a tick about all their comments.
#[test]
fn r5_a_strangers_comment_does_nothing_and_is_not_answered() {
    let mut desk = desk();
    desk.writes(7, "/phileas run b", "stranger");
    desk.writes(7, "/phileas run nobody", "stranger");
    desk.writes(7, "/phileas dance", "stranger");
    desk.writes(7, "/phileas stop", "helper[bot]");
    for _ in 0..3 {
        desk.tick();
        desk.minutes(1);
    }
    assert!(desk.sessions.is_empty() && desk.comments.is_empty() && desk.eyes.is_empty());
    assert_eq!(desk.asked_about, 3);
    assert_eq!(desk.headlines, [] as [&str; 0], "and writes nothing");
}

#[test]
fn r8_a_text_that_was_edited_after_the_comment_starts_nothing() {
    let mut desk = desk();
    desk.writes(7, "/phileas run b", "ada");
    desk.minutes(1);
    let now = desk.now;
    desk.subject(7).edited_at = Some(now);
    desk.tick();
    assert!(desk.sessions.is_empty());
    assert!(desk.status(7).contains("refused.content_changed"));
}

#[test]
fn a_command_of_a_week_ago_is_passed_over_in_silence() {
    let mut desk = desk();
    desk.writes(7, "/phileas run b", "ada");
    desk.hours(7 * 24);
    desk.tick();
    assert!(desk.sessions.is_empty() && desk.comments.is_empty());
}

#[test]
fn what_is_not_understood_is_said_once() {
    let long = format!("/phileas run {}", "x".repeat(60_000));
    for body in [
        "/phileas",
        "/phileas dance",
        "/phileas run",
        "/phileas run nobody",
        "/phileas run `b`",
        &long,
    ] {
        let mut desk = desk();
        desk.writes(7, body, "ada");
        desk.tick();
        let status = desk.status(7);
        assert_eq!(status.matches("refused.unknown").count(), 1, "{status}");
        let written = phileas_domain::state::codec::save(desk.state());
        assert!(written.len() < 5_000, "{}", written.len());
        assert!(desk.lines.iter().all(|line| line.detail.len() < 500));
    }
}

#[test]
fn cancel_ends_what_is_at_work_and_takes_back_what_waits() {
    let mut desk = desk();
    desk.files.insert(
        ".jules/schedules.toml".to_owned(),
        "[budget]\nmax_active = 1\n".to_owned(),
    );
    desk.label(7, "a", "ada");
    desk.label(7, "b", "ada");
    desk.tick();
    assert_eq!(desk.sessions.len(), 1);
    desk.minutes(1);
    desk.writes(7, "/phileas cancel", "ada");
    desk.tick();
    assert!(desk.sessions[0].archived, "its session is stopped");
    let status = desk.status(7);
    assert!(status.contains("cancelled: 2"), "{status}");
    assert!(
        status.contains("taken back before it was started"),
        "{status}"
    );
    desk.minutes(30);
    desk.tick();
    assert_eq!(desk.sessions.len(), 1, "nothing starts in its place");
    desk.writes(7, "/phileas cancel", "ada");
    desk.tick();
    assert!(desk.status(7).contains("refused.nothing_to_do"));
}

#[test]
fn pause_keeps_everything_from_starting_until_somebody_resumes() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.writer("ada").issue(7, "t", "b");
    desk.writes(7, "/phileas pause for the release", "ada");
    desk.tick();
    assert!(desk.sessions.is_empty());
    let pause = desk.state().paused.clone().unwrap();
    assert_eq!(pause.by.as_deref(), Some("ada"));
    assert!(desk.all_reasons().contains(&Reason::PausedState));
    assert!(desk.status(7).contains("paused"), "{}", desk.status(7));
    desk.minutes(1);
    desk.writes(7, "/phileas resume", "ada");
    desk.tick();
    assert_eq!(desk.personas_run(), ["a"]);
    desk.writes(7, "/phileas resume", "ada");
    desk.tick();
    assert!(desk.status(7).contains("refused.nothing_to_do"));
}

/// GitHub dates comments to the second, so that both may bear the same time.
#[test]
fn a_resume_in_the_second_of_its_pause_takes_it_back() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.writer("ada").issue(7, "t", "b");
    desk.writes(7, "/phileas pause", "ada");
    desk.tick();
    assert!(desk.state().paused.is_some());
    desk.writes(7, "/phileas resume", "ada");
    desk.tick();
    assert_eq!(desk.state().paused, None);
    assert_eq!(desk.personas_run(), ["a"]);
}

#[test]
fn what_was_said_later_counts_later_in_whatever_order_it_is_shown() {
    for (first, second, paused) in [
        ("/phileas pause", "/phileas resume", false),
        ("/phileas resume", "/phileas pause", true),
    ] {
        let mut desk = desk();
        desk.issue(3, "t", "b");
        desk.writes(7, first, "ada");
        desk.minutes(1);
        desk.writes(3, second, "ada");
        desk.said.reverse();
        desk.tick();
        assert_eq!(desk.state().paused.is_some(), paused, "{first}, {second}");
    }
}

/// Whose permission could not be read is heard a tick later, and must not undo what was said meanwhile.
#[test]
fn an_older_resume_does_not_undo_a_later_stop() {
    let mut desk = desk();
    desk.writes(7, "/phileas pause", "ada");
    desk.tick();
    desk.minutes(1);
    desk.writes(7, "/phileas resume", "ada");
    let mut late = desk.said.pop().unwrap();
    late.id = "IC_late".to_owned();
    desk.minutes(1);
    desk.writes(7, "/phileas stop", "ada");
    desk.tick();
    desk.said.push(late);
    desk.minutes(1);
    desk.tick();
    assert!(desk.state().paused.is_some());
    let reason = desk.state().requests["IC_late"].reason.clone();
    assert_eq!(reason.as_deref(), Some("refused.nothing_to_do"));
    desk.minutes(1);
    desk.writes(7, "/phileas resume", "ada");
    desk.tick();
    assert_eq!(desk.state().paused, None);
}

/// A tick that comes late sees the stop a while after it was said; the answer to it counts from then.
#[test]
fn a_resume_after_a_stop_counts_however_late_the_stop_was_seen() {
    let mut desk = desk();
    desk.writes(7, "/phileas stop", "ada");
    desk.minutes(1);
    desk.writes(7, "/phileas resume", "ada");
    let resume = desk.said.pop().unwrap();
    desk.minutes(5);
    desk.tick();
    assert!(desk.state().paused.is_some());
    desk.said.push(resume);
    desk.tick();
    assert_eq!(desk.state().paused, None);
}

#[test]
fn an_older_cancel_does_not_take_back_a_later_label() {
    for seen_later in [false, true] {
        let mut desk = desk();
        desk.label(7, "a", "ada");
        desk.tick();
        desk.minutes(1);
        desk.writes(7, "/phileas cancel", "ada");
        let cancel = desk.said.clone();
        desk.minutes(1);
        desk.label(7, "b", "ada");
        if seen_later {
            desk.said.clear();
            desk.tick();
            desk.said = cancel;
            desk.minutes(1);
        }
        desk.tick();
        let archived: Vec<_> = desk.sessions.iter().map(|one| one.archived).collect();
        assert_eq!(archived, [true, false], "seen later: {seen_later}");
    }
}

#[test]
fn stop_pauses_and_ends_every_session() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a", "b"]);
    desk.writer("ada").issue(7, "t", "b");
    desk.label(7, "b", "ada");
    desk.tick();
    assert_eq!(desk.sessions.len(), 2);
    desk.minutes(1);
    desk.writes(7, "/phileas stop", "ada");
    desk.tick();
    assert!(desk.sessions.iter().all(|session| session.archived));
    assert!(
        desk.status(7).contains("paused, and cancelled: 2"),
        "{}",
        desk.status(7)
    );
    desk.hours(2);
    desk.tick();
    assert_eq!(desk.sessions.len(), 2);
}

/// Who has asked for too much may still stop it.
#[test]
fn r20_a_brake_is_never_counted() {
    let mut desk = Desk::new("[budget]\nrequests_per_actor_hour = 0\n", &["b"]);
    desk.writer("ada").issue(7, "t", "b");
    desk.writes(7, "/phileas run b", "ada");
    desk.tick();
    assert!(desk.status(7).contains("refused.actor_budget"));
    desk.writes(7, "/phileas stop", "ada");
    desk.tick();
    assert!(desk.state().paused.is_some());
}

#[test]
fn status_and_explain_are_answered_once_with_reason_codes() {
    let mut desk = Desk::new(
        "cycle = [\"a\"]\n[schedules]\nb = \"manual\"\n",
        &["a", "b"],
    );
    desk.writer("ada").issue(7, "t", "b");
    desk.tick();
    desk.becomes(SessionState::InProgress);
    desk.minutes(1);
    desk.writes(7, "/phileas explain", "ada");
    desk.tick();
    let told = desk.status(7).to_owned();
    assert!(told.contains("waiting.session_running"), "{told}");
    assert!(told.contains("skipped.manual"), "{told}");
    desk.minutes(40);
    desk.tick();
    let answer = |text: &str| text.split_once("The answer to").unwrap().1.to_owned();
    assert_eq!(
        answer(desk.status(7)),
        answer(&told),
        "an answer stays as it was given"
    );
    desk.writes(7, "/phileas status", "ada");
    desk.tick();
    let now = desk.status(7).to_owned();
    assert!(now.contains("waiting.session_stuck"), "{now}");
    // The newest answer takes the place of the one before, and says nothing of who asked for it.
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
    let mut desk = Desk::new(plan, &["a", "b", "c", "d"]);
    desk.writer("ada").issue(7, "t", "b");
    desk.tick();
    desk.becomes(SessionState::Paused);
    desk.minutes(1);
    desk.writes(7, "/phileas status", "ada");
    desk.tick();
    let told = desk.status(7).to_owned();
    for line in [
        "- `one`, `a`: its session is at work (`waiting.session_running`); since 2026-01-05 \
         00:00 UTC; [session",
        "- `two`, `b`: a person paused its session in Jules",
        "- `schedule:c`, `c`: it runs only when a person requests it (`skipped.manual`)",
        "- `schedule:d`, `d`: its time has not come until 2026-01-05 09:00 UTC (`waiting.not_due`)",
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
}

/// However much is said afterwards, what is at work stands first; and what other accounts said is not told here.
#[test]
fn current_work_stands_first_and_always_with_who_paused() {
    let mut desk = desk();
    desk.writes(7, "/phileas run b", "ada");
    desk.tick();
    let work = "`b`, asked for by `ada`: at work since 2026-01-05 00:00 UTC; [session";
    for _ in 0..7 {
        desk.minutes(1);
        desk.writes(7, "/phileas resume", "ada");
        desk.writes(7, "/phileas status", "ada");
        desk.writes(7, "/phileas status", "stranger");
        desk.tick();
    }
    let told = desk.status(7).to_owned();
    assert!(
        told.starts_with(&format!("**phileas**\n\n- {work}")),
        "{told}"
    );
    assert_eq!(told.matches("the command `resume`").count(), 5, "{told}");
    assert!(!told.contains("actor_permission"), "{told}");
    desk.minutes(1);
    desk.writes(7, "/phileas pause", "ada");
    desk.tick();
    let told = desk.status(7).to_owned();
    let paused = "- paused by `ada` since 2026-01-05 00:08 UTC (`paused.state`)";
    let (first, rest) = told.split_once(paused).expect("who paused");
    assert!(first.contains(work) && rest.contains("Before:"), "{told}");
    let pull = desk.opens_pull();
    desk.minutes(1);
    desk.tick();
    let open = format!(
        "- `b`, asked for by `ada`: pull request #{pull} is open since 2026-01-05 00:09 UTC; [session"
    );
    let told = desk.status(7).to_owned();
    assert!(
        told.starts_with(&format!("**phileas**\n\n{open}")),
        "{told}"
    );
    desk.merge(pull);
    desk.minutes(1);
    desk.tick();
    let told = desk.status(7).to_owned();
    assert!(
        told.starts_with("**phileas**\n\nNothing of phileas is at work"),
        "{told}"
    );
}

/// The ledger keeps the newest answer of an issue, not each.
#[test]
fn an_answer_that_was_replaced_takes_no_room_in_the_ledger() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.writer("ada").issue(7, "t", "b");
    for _ in 0..9 {
        desk.writes(7, "/phileas status", "ada");
        desk.tick();
        desk.minutes(1);
    }
    let answers = desk.state().requests.values();
    let long = answers.filter(|one| {
        one.answer
            .as_ref()
            .is_some_and(|text| text.contains("default"))
    });
    assert_eq!(long.count(), 1);
}

/// There is no request on a pull request of a track; its session stands in the status all the same.
#[test]
fn the_comment_on_a_sessions_pull_request_names_that_session() {
    let mut desk = Desk::new("cycle = [\"a\"]\n", &["a"]);
    desk.writer("ada");
    desk.tick();
    let pull = desk.opens_pull();
    desk.minutes(1);
    desk.tick();
    desk.pull_subject(pull.0, true);
    desk.writes(pull.0, "/phileas status", "ada");
    desk.tick();
    let told = desk.status(pull.0).to_owned();
    let work = format!(
        "- `a` of track `default`: pull request #{pull} is open since 2026-01-05 00:01 UTC; [session"
    );
    assert!(told.contains(&work), "{told}");
    // Days later it is merged.
    desk.hours(48);
    desk.tick();
    desk.merge(pull);
    desk.minutes(1);
    desk.tick();
    let told = desk.status(pull.0).to_owned();
    assert!(told.contains("Nothing of phileas is at work"), "{told}");
}

#[test]
fn an_unknown_command_is_answered_with_its_word_and_the_list_of_commands() {
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
        let mut desk = desk();
        desk.writes(7, typed, "ada");
        desk.tick();
        let told = desk.status(7);
        let line =
            format!("- a request, asked for by `ada`: not done: {said} (`refused.unknown`).");
        assert!(told.contains(&line), "{line}\n{told}");
        assert_eq!(told.matches("\n- `/phileas ").count(), 11, "{told}");
    }
    let mut desk = desk();
    desk.label(7, "run", "ada");
    desk.tick();
    let told = desk.status(7);
    let said = "the label `phileas:run` names no persona and no command";
    assert!(
        told.contains(said) && told.contains("- `/phileas status`: "),
        "{told}"
    );
}

#[test]
fn help_lists_the_commands_once() {
    let mut desk = desk();
    for _ in 0..2 {
        desk.writes(7, "/phileas help", "ada");
        desk.tick();
        desk.minutes(1);
    }
    let told = desk.status(7);
    assert!(
        told.contains("the command `help`, asked for by `ada`: the commands are listed below."),
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
    assert_eq!(desk.sessions, []);
}

/// Whoever asks how things stand does not make the comment change with every reason to wait.
#[test]
fn the_status_comment_stays_calm_while_something_only_waits_whatever_was_asked_last() {
    let mut desk = desk();
    desk.label(7, "hold", "ada");
    desk.label(7, "b", "ada");
    desk.tick();
    desk.minutes(1);
    desk.writes(7, "/phileas status", "ada");
    desk.tick();
    let told = desk.status(7).to_owned();
    assert!(told.contains("paused.hold"), "{told}");
    for minute in 1..15 {
        desk.minutes(1);
        desk.paused_by_variable = (minute % 2 == 0).then(|| "yes".to_owned());
        desk.tick();
        assert_eq!(desk.status(7), told);
        assert_eq!(desk.effects, []);
    }
    desk.minutes(1);
    desk.paused_by_variable = Some("yes".to_owned());
    desk.tick();
    assert!(
        desk.status(7).contains("paused.variable"),
        "{}",
        desk.status(7)
    );
    // What is more than another reason to wait is told at once.
    desk.paused_by_variable = None;
    desk.unlabel(7, "phileas:hold");
    desk.minutes(1);
    desk.tick();
    assert!(desk.status(7).contains("at work"), "{}", desk.status(7));
}

/// A desk whose ledger says that everything was heard until a quarter of an hour ago.
fn listened() -> Desk {
    let mut desk = desk();
    desk.writes(7, "/phileas pause", "ada");
    desk.tick();
    let heard = desk.state().cursors.comments_since;
    assert_eq!(heard, desk.now.checked_sub(MARGIN).ok());
    desk
}

/// What GitHub may not show yet.
const MARGIN: jiff::SignedDuration = jiff::SignedDuration::from_mins(15);

fn missed(desk: &Desk) -> Vec<String> {
    let lines = desk.lines.iter();
    let lines = lines.filter(|line| line.reason == Reason::CommentsMissed);
    lines
        .map(|line| {
            assert_eq!(line.verdict, Verdict::Waiting);
            line.detail.clone()
        })
        .collect()
}

/// Phileas was down for two days: what fell out of sight meanwhile is owned up to, however long ago it was said.
#[test]
fn what_was_said_since_the_last_look_and_is_not_shown_is_owned_up_to() {
    let mut desk = listened();
    desk.hours(48);
    let a_day = jiff::SignedDuration::from_hours(24);
    let a_day_ago = desk.now.checked_sub(a_day).unwrap();
    desk.heard.cut.insert(7, a_day_ago);
    desk.heard.issues_after = Some(a_day_ago);
    desk.tick();
    let [said] = &missed(&desk)[..] else {
        panic!("{:?}", desk.lines);
    };
    assert!(said.contains("on #7, issues"), "{said}");
    // It is owned up to once, not with every tick from then on.
    desk.minutes(1);
    desk.tick();
    assert_eq!(missed(&desk), [] as [&str; 0]);
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
        let mut desk = listened();
        desk.hours(48);
        let at = desk.now.checked_sub(MARGIN).ok();
        match part {
            "a thread" => drop(desk.heard.cut.insert(7, at.unwrap())),
            "issues" => desk.heard.issues_after = at,
            _ => desk.heard.pulls_after = at,
        }
        desk.tick();
        let missed = missed(&desk);
        assert!(missed.len() == 1 && missed[0].contains(words), "{missed:?}");
    }
}

#[test]
fn what_was_shown_at_the_last_look_is_not_missed_however_much_was_said() {
    let mut desk = listened();
    let before = desk.now.checked_sub(MARGIN).unwrap();
    desk.heard.cut.insert(7, before);
    desk.heard.issues_after = Some(before);
    desk.heard.pulls_after = Some(before);
    desk.hours(2);
    desk.tick();
    assert_eq!(missed(&desk), [] as [&str; 0]);
}

/// Strangers cannot fill the ledger: for however many comments, one commit an hour says how far they were heard.
#[test]
fn strangers_comments_leave_nothing_in_the_ledger_but_how_far_was_heard() {
    let mut desk = listened();
    let before = desk.headlines.len();
    for _ in 0..11 {
        desk.writes(7, "/phileas run b", "stranger");
        desk.minutes(5);
        desk.tick();
    }
    assert_eq!(desk.headlines.len(), before, "within the hour");
    desk.minutes(5);
    desk.tick();
    assert_eq!(desk.headlines.len(), before + 1);
    assert_eq!(desk.state().requests.len(), 1, "the writer's own");
    let asked = desk.asked_about;
    desk.minutes(20);
    desk.tick();
    desk.hours(2);
    desk.tick();
    assert_eq!(desk.headlines.len(), before + 2);
    desk.minutes(1);
    desk.tick();
    assert_eq!(
        desk.asked_about,
        asked + 2,
        "nobody is asked about for ever"
    );
    assert!(desk.sessions.is_empty());
}

/// Whoever may ask is not passed over because somebody else's wish was written down first.
#[test]
fn a_command_that_cannot_be_decided_on_yet_is_not_counted_as_heard() {
    let mut desk = desk();
    desk.label(7, "b", "ada");
    desk.tick();
    desk.minutes(3);
    desk.becomes(SessionState::AwaitingPlanApproval);
    desk.minutes(1);
    desk.listing_works = false;
    desk.writes(7, "/phileas approve", "ada");
    let said_at = desk.now;
    desk.tick();
    desk.hours(2);
    desk.writes(7, "/phileas status", "ada");
    desk.tick();
    assert!(desk.state().cursors.comments_since.unwrap() < said_at);
    desk.listing_works = true;
    desk.minutes(1);
    desk.tick();
    assert!(desk.effects.iter().any(|one| one.name() == "approve_plan"));
    desk.minutes(20);
    desk.writes(7, "/phileas status", "ada");
    desk.tick();
    assert!(desk.state().cursors.comments_since.unwrap() > said_at);
}

/// One request of which nothing is left to tell does not silence the others.
#[test]
fn what_was_cancelled_before_it_had_a_session_is_told_and_holds_back_nothing() {
    let mut desk = desk();
    desk.answering = Answering::Refused;
    desk.writes(7, "/phileas run b", "ada");
    desk.tick();
    assert!(desk.sessions.is_empty());
    desk.minutes(20);
    desk.writes(7, "/phileas cancel", "ada");
    desk.tick();
    desk.minutes(1);
    desk.answering = Answering::Session;
    desk.writes(7, "/phileas run a", "ada");
    desk.tick();
    let status = desk.status(7);
    assert!(
        status.contains("cancelled before it had a session"),
        "{status}"
    );
    assert!(
        status.contains("`a`, asked for by `ada`: at work"),
        "{status}"
    );
}

/// A service may work with the token of a person who also labels and comments.
#[test]
fn the_person_whose_token_phileas_works_with_is_heard_and_phileas_is_not() {
    let mut desk = desk();
    desk.viewer = Some(crate::subjects::account("ada"));
    desk.writes(7, "/phileas run a\n<!-- phileas:status -->", "ada");
    desk.tick();
    assert!(desk.sessions.is_empty());
    desk.writes(7, "/phileas run b", "ada");
    desk.tick();
    assert_eq!(desk.personas_run(), ["b"]);
}

/// Nobody knows any more what a ledger that was rebuilt has obeyed; what comes after is heard.
#[test]
fn a_rebuilt_ledger_hears_no_command_of_the_past() {
    let mut desk = desk();
    desk.writes(7, "/phileas pause", "ada");
    desk.tick();
    assert!(desk.state().paused.is_some());
    desk.minutes(5);
    let repository = desk.snapshot().repository.id;
    let rebuilt = rebuild::rebuild(repository, desk.now, "new-nonce".to_owned(), &[]);
    desk.set_state(rebuilt.state);
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.state().paused, None);
    assert!(desk.state().requests.is_empty());
    desk.writes(7, "/phileas pause", "ada");
    desk.tick();
    assert!(desk.state().paused.is_some());
}

/// The branch was deleted, or the ledger was made by hand: nobody knows what an earlier one obeyed.
#[test]
fn a_ledger_that_does_not_tell_how_far_was_heard_obeys_nothing_of_the_past() {
    for ledger in [None, Some(State::default())] {
        let mut desk = desk();
        desk.writes(7, "/phileas pause", "ada");
        desk.writes(7, "/phileas run b", "ada");
        desk.hours(1);
        if let Some(by_hand) = ledger {
            desk.set_state(by_hand);
        }
        desk.tick();
        assert!(desk.sessions.is_empty(), "{:?}", desk.lines);
        let [said] = &missed(&desk)[..] else {
            panic!("{:?}", desk.lines);
        };
        assert!(said.contains("(2 are read)"), "{said}");
        assert!(said.contains("to be given again"), "{said}");
        assert!(desk.comments.is_empty(), "old words are not answered");
        // What is said from then on is obeyed, and the past is over.
        desk.minutes(1);
        desk.writes(7, "/phileas run b", "ada");
        desk.tick();
        assert_eq!(desk.personas_run(), ["b"]);
        assert_eq!(desk.state().paused, None);
        desk.minutes(1);
        desk.tick();
        assert_eq!(missed(&desk), [] as [&str; 0]);
        assert_eq!(desk.effects, []);
    }
}

/// Who sets phileas up may ask before it has run for the first time.
#[test]
fn what_was_asked_for_within_the_hour_before_the_first_tick_is_obeyed() {
    let mut desk = desk();
    desk.writes(7, "/phileas run b", "ada");
    desk.pass(jiff::SignedDuration::from_secs(3599));
    desk.tick();
    assert_eq!(desk.personas_run(), ["b"]);
    assert_eq!(missed(&desk), [] as [&str; 0]);
}

/// The first tick may not be able to decide on it; the hour is that of the birth, and not that of every tick.
#[test]
fn what_waits_since_before_the_birth_is_obeyed_later_than_an_hour_after() {
    let mut desk = desk();
    desk.writes(7, "/phileas run b", "ada");
    desk.minutes(59);
    let repository = desk.snapshot().repository.id;
    desk.set_state(State::born(repository, desk.now, "nonce".to_owned()));
    desk.minutes(30);
    desk.tick();
    assert_eq!(desk.personas_run(), ["b"]);
}

/// Whoever floods a repository with commands has phileas read no more at once, and nothing is lost.
#[test]
fn of_many_commands_and_labels_twenty_issues_each_are_read_at_a_time() {
    for by_label in [false, true] {
        let mut desk = desk();
        let repository = desk.snapshot().repository.id;
        desk.set_state(State::born(repository, desk.now, "nonce".to_owned()));
        for number in 100..125 {
            desk.issue(number, "It is slow", "Opening takes a minute.");
            if by_label {
                desk.label(number, "b", "ada");
            } else {
                desk.writes(number, "/phileas run b", "ada");
            }
        }
        // Nothing is read of a comment before its author is known to be somebody who may write.
        let mut snapshot = desk.snapshot();
        assert_eq!(needs(&snapshot).subjects.is_empty(), !by_label);
        let writer = desk.permissions["ada"];
        snapshot.permissions.insert("ada".into(), writer);
        let read_next = needs(&snapshot).subjects;
        assert_eq!(read_next, (100..120).collect(), "by label: {by_label}");
    }
}
