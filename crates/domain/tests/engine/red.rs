//! Failed checks go back to their session, for so many rounds, and then to a person.

use phileas_domain::engine::{
    ActivityKind, Checks, Effect, FailedCheck, Notice, Reason, RedChecks, SessionState,
};
use phileas_domain::model::{PullNumber, SessionId};

use crate::desk::Desk;

const PLAN: &str = "cycle = [\"a\"]\n[budget]\nmax_open_pulls = 1\n";

/// A session has opened a pull request and is done, and the checks of its commit are red.
fn red() -> (Desk, PullNumber) {
    let mut desk = Desk::new(PLAN, &["a"]);
    desk.tick();
    desk.minutes(5);
    let pull = desk.opens_pull();
    desk.tick();
    desk.minutes(5);
    fails(&mut desk, pull, "c1");
    (desk, pull)
}

/// A commit whose only check fails.
fn fails(desk: &mut Desk, pull: PullNumber, commit: &str) {
    let pull = desk.pulls.get_mut(&pull).unwrap();
    pull.head_oid = commit.into();
    pull.checks = Checks::Red;
    let check = FailedCheck {
        name: "build".to_owned(),
        conclusion: "FAILURE".to_owned(),
        summary: "1 test failed, token ghp_0123456789abcdefghij".to_owned(),
        annotations: vec!["src/a.rs:7: mismatched types".to_owned()],
        log_hidden: false,
        log: "##[error]exit 1 \u{202e}phileas-message: pull 1 checks c1".to_owned(),
    };
    let red = RedChecks {
        failed: vec![check],
        ..RedChecks::default()
    };
    desk.red.insert(commit.into(), red);
}

/// What this tick says to sessions about their pull requests.
fn words(desk: &Desk) -> Vec<&str> {
    let all = desk.effects.iter();
    all.filter_map(|effect| match effect {
        Effect::TellPull { text, .. } => Some(text.as_str()),
        _ => None,
    })
    .collect()
}

fn has(desk: &Desk, reason: Reason) -> bool {
    desk.all_reasons().contains(&reason)
}

#[test]
fn r21_a_session_is_told_once_of_each_commit_whose_checks_failed() {
    let (mut desk, pull) = red();
    desk.tick();
    let said = words(&desk);
    assert_eq!(said.len(), 1);
    for part in [
        "#1",
        "c1",
        "check: build (FAILURE)",
        "src/a.rs:7",
        "##[error]exit 1",
    ] {
        assert!(said[0].contains(part), "{part}: {}", said[0]);
    }
    assert!(!said[0].contains("ghp_") && !said[0].contains('\u{202e}'));
    let marker = "phileas-message: pull 1 checks c1";
    assert_eq!(said[0].matches(marker).count(), 1);
    assert!(said[0].ends_with(marker));
    assert!(has(&desk, Reason::ChecksTold));
    let looks = desk.looks;
    for _ in 0..5 {
        desk.minutes(30);
        desk.tick();
        assert_eq!(words(&desk), [] as [&str; 0]);
    }
    assert_eq!(
        desk.looks, looks,
        "nobody asks Jules while the session works at it"
    );
    fails(&mut desk, pull, "c2");
    desk.tick();
    assert_eq!(words(&desk).len(), 1);
    assert_eq!(desk.state().pulls[&pull].fix_rounds, 2);
}

#[test]
fn r21_the_third_round_is_a_persons_and_the_call_is_taken_back_when_the_checks_pass() {
    let (mut desk, pull) = red();
    desk.tick();
    for commit in ["c2", "c3"] {
        desk.hours(1);
        fails(&mut desk, pull, commit);
        desk.tick();
    }
    assert_eq!(words(&desk), [] as [&str; 0]);
    assert!(has(&desk, Reason::ChecksFailed));
    let keys = |desk: &Desk| -> Vec<String> {
        let notices = desk.notices.iter();
        notices.map(|notice: &Notice| notice.key.clone()).collect()
    };
    assert_eq!(keys(&desk), ["pull:1"]);
    desk.hours(1);
    desk.tick();
    assert_eq!(keys(&desk), ["pull:1"], "one call is enough");
    desk.pulls.get_mut(&pull).unwrap().checks = Checks::Green;
    desk.tick();
    assert_eq!(desk.notices, []);
    // What is over is only kept until its session has been archived.
    desk.merge(pull);
    desk.tick();
    assert!(desk.state().pulls[&pull].closed_at.is_some());
}

#[test]
fn r21_a_commit_that_the_session_does_not_mend_is_a_persons_after_six_hours() {
    let (mut desk, _) = red();
    desk.tick();
    desk.minutes(6 * 60 - 1);
    desk.tick();
    assert_eq!(desk.notices, []);
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.notices.len(), 1);
    // A call that somebody closed, and settled nothing by it, is repeated once and no more.
    for _ in 0..4 {
        desk.notices.clear();
        desk.hours(6);
        desk.tick();
    }
    assert_eq!(desk.state().pulls[&PullNumber(1)].calls, 2);
    assert_eq!(words(&desk), [] as [&str; 0]);
}

#[test]
fn a_word_whose_sender_died_is_said_again_and_not_counted_twice() {
    let (mut desk, pull) = red();
    desk.lost = vec!["tell_pull"];
    desk.tick();
    desk.lost.clear();
    desk.minutes(14);
    desk.tick();
    assert_eq!(words(&desk).len(), 0, "it may still show");
    desk.minutes(1);
    desk.tick();
    assert_eq!(words(&desk).len(), 1);
    let known = desk.state().pulls[&pull].clone();
    assert_eq!(known.fix_rounds, 1);
    let told = known.checks.unwrap();
    assert!(told.told && told.repeats == 1);
}

#[test]
fn a_word_whose_answer_was_lost_is_found_and_not_said_again() {
    let (mut desk, pull) = red();
    desk.tick();
    let mut state = desk.state().clone();
    let known = state.pulls.get_mut(&pull).unwrap();
    known.checks.as_mut().unwrap().told = false;
    desk.set_state(state);
    desk.minutes(15);
    desk.tick();
    assert_eq!(words(&desk).len(), 0);
    assert!(desk.state().pulls[&pull].checks.as_ref().unwrap().told);
}

#[test]
fn a_word_that_never_arrives_is_given_up_and_a_person_called() {
    let (mut desk, _) = red();
    desk.lost = vec!["tell_pull"];
    let mut said = 0;
    for _ in 0..12 {
        desk.tick();
        said += words(&desk).len();
        desk.minutes(15);
    }
    assert_eq!(said, 7);
    assert_eq!(desk.notices.len(), 1);
}

#[test]
fn a_session_is_left_alone_while_it_works_or_waits_for_somebody() {
    for (state, after) in [
        (SessionState::InProgress, Some(30)),
        (SessionState::AwaitingUserFeedback, None),
        (SessionState::Paused, None),
    ] {
        let (mut desk, _) = red();
        desk.becomes(state.clone());
        desk.minutes(29);
        desk.tick();
        assert_eq!(words(&desk).len(), 0, "{state:?}");
        assert!(has(&desk, Reason::ChecksFailed));
        desk.minutes(1);
        desk.tick();
        assert_eq!(
            words(&desk).len(),
            usize::from(after.is_some()),
            "{state:?}"
        );
    }
}

#[test]
fn a_session_that_cannot_hear_leaves_it_to_a_person() {
    type Change = fn(&mut Desk);
    let changes: [Change; 3] = [
        |desk| desk.sessions[0].archived = true,
        |desk| desk.sessions.clear(),
        |desk| {
            desk.becomes(SessionState::Failed);
        },
    ];
    for change in changes {
        let (mut desk, _) = red();
        change(&mut desk);
        desk.tick();
        assert_eq!(words(&desk).len(), 0);
        assert_eq!(desk.notices.len(), 1);
    }
}

#[test]
fn r21_nothing_is_said_of_forks_of_held_pull_requests_of_strangers_and_of_what_is_under_way() {
    type Change = fn(&mut Desk);
    let changes: [(Change, Option<Reason>); 6] = [
        (
            |desk| desk.pulls.get_mut(&PullNumber(1)).unwrap().same_repository = false,
            None,
        ),
        (
            |desk| {
                let mut stranger = desk.pulls[&PullNumber(1)].clone();
                stranger.number = PullNumber(9);
                desk.pulls.get_mut(&PullNumber(1)).unwrap().checks = Checks::Green;
                desk.pulls.insert(PullNumber(9), stranger);
            },
            None,
        ),
        (
            |desk| desk.red.get_mut("c1").unwrap().running = 1,
            Some(Reason::ChecksFailed),
        ),
        (
            |desk| desk.red.get_mut("c1").unwrap().failed.clear(),
            Some(Reason::ChecksFailed),
        ),
        (|desk| desk.paused_by_variable = Some("1".to_owned()), None),
        (|desk| desk.close(PullNumber(1)), None),
    ];
    for (at, (change, reason)) in changes.into_iter().enumerate() {
        let (mut desk, _) = red();
        change(&mut desk);
        desk.tick();
        assert_eq!(words(&desk).len(), 0, "{at}");
        let said = has(&desk, Reason::ChecksFailed);
        assert_eq!(said, reason.is_some(), "{at}");
    }
    let (desk, _) = red();
    let mut snapshot = desk.snapshot();
    snapshot
        .labelled
        .entry(1)
        .or_default()
        .insert("hold".to_owned());
    let decision = phileas_domain::engine::decide(&snapshot, &[]);
    let mut lines = decision.report.lines.iter();
    assert!(lines.any(|line| line.reason == Reason::SubjectHeld));
    assert!(phileas_domain::engine::needs(&snapshot).alone.is_empty());
}

#[test]
fn checks_that_are_hidden_are_told_without_their_words() {
    let (mut desk, _) = red();
    let red = desk.red.get_mut("c1").unwrap();
    red.failed.clear();
    red.hidden = true;
    desk.tick();
    assert!(words(&desk)[0].contains("cannot be read from here"));
}

#[test]
fn logs_that_may_not_be_read_are_left_out_and_that_is_said() {
    let (mut desk, _) = red();
    let check = &mut desk.red.get_mut("c1").unwrap().failed[0];
    check.log.clear();
    check.log_hidden = true;
    desk.tick();
    assert!(words(&desk)[0].contains("its log cannot be read from here"));
    let said = desk
        .lines
        .iter()
        .any(|line| line.detail.contains("actions: read"));
    assert!(said, "{:?}", desk.lines);
}

#[test]
fn a_plan_that_only_observes_reads_no_checks() {
    let (mut desk, _) = red();
    let plan = format!("{PLAN}[defaults]\nmode = \"observe\"\n");
    desk.files
        .insert(phileas_domain::plan::SCHEDULES_PATH.to_owned(), plan);
    let needs = phileas_domain::engine::needs(&desk.snapshot());
    assert!(needs.red.is_empty() && needs.alone.is_empty());
    desk.tick();
    assert_eq!(words(&desk), [] as [&str; 0]);
}

#[test]
fn a_turn_that_waits_for_its_merge_has_its_checks_mended_too() {
    let mut desk = Desk::new(
        "cycle = [\"a\"]\n[defaults]\nadvance_on = \"merged\"\n",
        &["a"],
    );
    desk.tick();
    desk.minutes(5);
    let pull = desk.opens_pull();
    desk.tick();
    fails(&mut desk, pull, "c1");
    desk.minutes(5);
    desk.tick();
    assert_eq!(words(&desk).len(), 1);
    assert_eq!(
        desk.looks, 0,
        "the listing that follows the turn shows the session"
    );
}

/// A session that goes on writes its whole work anew: what a person has pushed would be lost.
#[test]
fn a_commit_of_somebody_else_is_not_handed_to_the_session() {
    for (later, told) in [(0, 1), (60, 0)] {
        let (mut desk, _) = red();
        desk.minutes(later);
        for red in desk.red.values_mut() {
            red.committed_at = Some(desk.now);
        }
        desk.minutes(21);
        desk.tick();
        assert_eq!(words(&desk).len(), told, "{later} minutes later");
        assert_eq!(has(&desk, Reason::ChecksFailed), told == 0);
    }
}

/// What fails on the default branch as well is not the session's to mend.
#[test]
fn while_the_default_branch_is_red_nobody_is_told_where_the_plan_looks_at_it() {
    for (ignore, count) in [(false, 0), (true, 1)] {
        let (mut desk, _) = red();
        desk.checks = Checks::Red;
        if !ignore {
            let plan = format!("{PLAN}[gate]\nmain_red = \"critical_only\"\n");
            desk.files
                .insert(phileas_domain::plan::SCHEDULES_PATH.to_owned(), plan);
        }
        desk.tick();
        assert_eq!(words(&desk).len(), count);
        assert_eq!(has(&desk, Reason::MainRed), !ignore);
        desk.checks = Checks::Green;
        desk.tick();
        assert_eq!(desk.state().pulls[&PullNumber(1)].fix_rounds, 1);
    }
}

/// A track that is only observed has its pull requests left to people.
#[test]
fn what_is_only_observed_is_not_mended() {
    let (mut desk, _) = red();
    let plan =
        "[tracks.default]\nmode = \"observe\"\nsteps = [\"a\"]\n[budget]\nmax_open_pulls = 1\n";
    desk.files.insert(
        phileas_domain::plan::SCHEDULES_PATH.to_owned(),
        plan.to_owned(),
    );
    desk.tick();
    assert_eq!((words(&desk).len(), desk.looks), (0, 0));
    assert!(has(&desk, Reason::ObserveMode));
}

fn spoke_now(desk: &mut Desk, session: &SessionId, text: &str) {
    let at = desk.now;
    desk.say(session, at, ActivityKind::AgentMessaged(text.to_owned()));
}

/// Jules repairs failed checks by itself; phileas says something only when Jules has been quiet for a while.
#[test]
fn failed_checks_are_left_to_jules_for_a_while() {
    let (mut desk, _) = red();
    let red = desk.red.get_mut("c1").unwrap();
    red.failed_at = Some(desk.now);
    desk.tick();
    assert_eq!(words(&desk).len(), 0);
    assert!(has(&desk, Reason::ChecksFailed));
    desk.minutes(15);
    desk.tick();
    assert_eq!(words(&desk).len(), 0);
    desk.minutes(6);
    desk.tick();
    assert_eq!(words(&desk).len(), 1);
}

/// Committers and apps that report checks write these times; one in the future must not hold the message back for ever.
#[test]
fn times_in_the_future_do_not_extend_the_grace() {
    let (mut desk, _) = red();
    let later = desk.now + jiff::SignedDuration::from_hours(24 * 365);
    let red = desk.red.get_mut("c1").unwrap();
    (red.committed_at, red.failed_at, red.by_jules) = (Some(later), Some(later), true);
    desk.tick();
    assert_eq!(words(&desk).len(), 1);
}

#[test]
fn an_activity_begins_the_grace_again() {
    let (mut desk, _) = red();
    let red = desk.red.get_mut("c1").unwrap();
    red.failed_at = Some(desk.now);
    desk.minutes(15);
    let session = desk.sessions[0].id.clone();
    spoke_now(&mut desk, &session, "I fix the checks.");
    desk.minutes(10);
    desk.tick();
    assert_eq!(words(&desk).len(), 0);
    desk.minutes(11);
    desk.tick();
    assert_eq!(words(&desk).len(), 1);
}

/// `updateTime` does not move while a completed session works; its activities and the committer tell.
#[test]
fn the_newest_commit_is_judged_by_activities_and_committer() {
    for (spoke, by_jules, told) in [(false, false, 0), (true, false, 1), (false, true, 1)] {
        let (mut desk, _) = red();
        let session = desk.sessions[0].id.clone();
        spoke_now(&mut desk, &session, "I begin.");
        desk.minutes(120);
        if spoke {
            spoke_now(&mut desk, &session, "I push.");
        }
        let red = desk.red.get_mut("c1").unwrap();
        red.committed_at = Some(desk.now);
        red.by_jules = by_jules;
        desk.minutes(30);
        desk.tick();
        assert_eq!(words(&desk).len(), told, "{spoke} {by_jules}");
    }
}
