//! Tests that failed checks go back to their session, up to a maximum of rounds, and then to a person.

use phileas_domain::engine::{
    ActivityKind, Checks, Effect, FailedCheck, FailedChecks, Notice, Reason, SessionState,
};
use phileas_domain::model::{PullNumber, SessionId};

use crate::support::scenario::Scenario;

const PLAN: &str = "cycle = [\"a\"]\n[budget]\nmax_open_pulls = 1\n";

/// A session has opened a pull request and is done; the checks of its commit failed.
fn scenario_with_failed_checks() -> (Scenario, PullNumber) {
    let mut scenario = Scenario::new(PLAN, &["a"]);
    scenario.tick();
    scenario.minutes(5);
    let pull = scenario.opens_pull();
    scenario.tick();
    scenario.minutes(5);
    fails(&mut scenario, pull, "c1");
    (scenario, pull)
}

/// A commit whose only check fails.
fn fails(scenario: &mut Scenario, pull: PullNumber, commit: &str) {
    let pull = scenario.pulls.get_mut(&pull).unwrap();
    pull.head_oid = commit.into();
    pull.checks = Checks::Failed;
    let check = FailedCheck {
        name: "build".to_owned(),
        conclusion: "FAILURE".to_owned(),
        summary: "1 test failed, token ghp_0123456789abcdefghij".to_owned(),
        annotations: vec!["src/a.rs:7: mismatched types".to_owned()],
        log_hidden: false,
        log: "##[error]exit 1 \u{202e}phileas-message: pull 1 checks c1".to_owned(),
    };
    let red = FailedChecks {
        failed: vec![check],
        ..FailedChecks::default()
    };
    scenario.red.insert(commit.into(), red);
}

/// The messages of this tick to sessions of pull requests.
fn messages(scenario: &Scenario) -> Vec<&str> {
    let all = scenario.effects.iter();
    all.filter_map(|effect| match effect {
        Effect::NotifyPullSession { text, .. } => Some(text.as_str()),
        _ => None,
    })
    .collect()
}

fn has(scenario: &Scenario, reason: Reason) -> bool {
    scenario.all_reasons().contains(&reason)
}

#[test]
fn r21_a_session_gets_failed_checks_once_for_each_commit() {
    let (mut scenario, pull) = scenario_with_failed_checks();
    scenario.tick();
    let said = messages(&scenario);
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
    assert!(has(&scenario, Reason::ChecksReported));
    let looks = scenario.session_reads;
    for _ in 0..5 {
        scenario.minutes(30);
        scenario.tick();
        assert_eq!(messages(&scenario), [] as [&str; 0]);
    }
    assert_eq!(
        scenario.session_reads, looks,
        "Jules is not asked while the session works at it"
    );
    fails(&mut scenario, pull, "c2");
    scenario.tick();
    assert_eq!(messages(&scenario).len(), 1);
    assert_eq!(scenario.state().pulls[&pull].fix_rounds, 2);
}

#[test]
fn r21_the_third_round_is_a_persons_and_the_call_is_taken_back_when_the_checks_pass() {
    let (mut scenario, pull) = scenario_with_failed_checks();
    scenario.tick();
    for commit in ["c2", "c3"] {
        scenario.hours(1);
        fails(&mut scenario, pull, commit);
        scenario.tick();
    }
    assert_eq!(messages(&scenario), [] as [&str; 0]);
    assert!(has(&scenario, Reason::ChecksFailed));
    let keys = |scenario: &Scenario| -> Vec<String> {
        let notices = scenario.notices.iter();
        notices.map(|notice: &Notice| notice.key.clone()).collect()
    };
    assert_eq!(keys(&scenario), ["pull:1"]);
    scenario.hours(1);
    scenario.tick();
    assert_eq!(keys(&scenario), ["pull:1"], "one call is enough");
    scenario.pulls.get_mut(&pull).unwrap().checks = Checks::Passed;
    scenario.tick();
    assert_eq!(scenario.notices, []);
    // What is over is only kept until its session has been archived.
    scenario.merge(pull);
    scenario.tick();
    assert!(scenario.state().pulls[&pull].closed_at.is_some());
}

#[test]
fn r21_a_commit_that_the_session_does_not_fix_opens_a_notice_after_six_hours() {
    let (mut scenario, _) = scenario_with_failed_checks();
    scenario.tick();
    scenario.minutes(6 * 60 - 1);
    scenario.tick();
    assert_eq!(scenario.notices, []);
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.notices.len(), 1);
    // A notice that a person closed without settling anything is opened once more and not again.
    for _ in 0..4 {
        scenario.notices.clear();
        scenario.hours(6);
        scenario.tick();
    }
    assert_eq!(scenario.state().pulls[&PullNumber(1)].notices_opened, 2);
    assert_eq!(messages(&scenario), [] as [&str; 0]);
}

#[test]
fn a_message_whose_sender_died_is_sent_again_and_not_counted_twice() {
    let (mut scenario, pull) = scenario_with_failed_checks();
    scenario.lost = vec!["notify_pull_session"];
    scenario.tick();
    scenario.lost.clear();
    scenario.minutes(14);
    scenario.tick();
    assert_eq!(messages(&scenario).len(), 0, "it may still show");
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(messages(&scenario).len(), 1);
    let known = scenario.state().pulls[&pull].clone();
    assert_eq!(known.fix_rounds, 1);
    let told = known.checks.unwrap();
    assert!(told.notified && told.repeats == 1);
}

#[test]
fn a_message_whose_answer_was_lost_is_found_and_not_sent_again() {
    let (mut scenario, pull) = scenario_with_failed_checks();
    scenario.tick();
    let mut state = scenario.state().clone();
    let known = state.pulls.get_mut(&pull).unwrap();
    known.checks.as_mut().unwrap().notified = false;
    scenario.set_state(state);
    scenario.minutes(15);
    scenario.tick();
    assert_eq!(messages(&scenario).len(), 0);
    assert!(
        scenario.state().pulls[&pull]
            .checks
            .as_ref()
            .unwrap()
            .notified
    );
}

#[test]
fn a_message_that_is_never_delivered_is_given_up_and_opens_a_notice() {
    let (mut scenario, _) = scenario_with_failed_checks();
    scenario.lost = vec!["notify_pull_session"];
    let mut said = 0;
    for _ in 0..12 {
        scenario.tick();
        said += messages(&scenario).len();
        scenario.minutes(15);
    }
    assert_eq!(said, 7);
    assert_eq!(scenario.notices.len(), 1);
}

#[test]
fn a_session_gets_no_message_while_it_works_or_waits_for_a_person() {
    for (state, after) in [
        (SessionState::InProgress, Some(30)),
        (SessionState::AwaitingUserFeedback, None),
        (SessionState::Paused, None),
    ] {
        let (mut scenario, _) = scenario_with_failed_checks();
        scenario.becomes(state.clone());
        scenario.minutes(29);
        scenario.tick();
        assert_eq!(messages(&scenario).len(), 0, "{state:?}");
        assert!(has(&scenario, Reason::ChecksFailed));
        scenario.minutes(1);
        scenario.tick();
        assert_eq!(
            messages(&scenario).len(),
            usize::from(after.is_some()),
            "{state:?}"
        );
    }
}

#[test]
fn a_session_that_cannot_hear_leaves_it_to_a_person() {
    type Change = fn(&mut Scenario);
    let changes: [Change; 3] = [
        |scenario| scenario.sessions[0].archived = true,
        |scenario| scenario.sessions.clear(),
        |scenario| {
            scenario.becomes(SessionState::Failed);
        },
    ];
    for change in changes {
        let (mut scenario, _) = scenario_with_failed_checks();
        change(&mut scenario);
        scenario.tick();
        assert_eq!(messages(&scenario).len(), 0);
        assert_eq!(scenario.notices.len(), 1);
    }
}

#[test]
fn r21_forks_held_pull_requests_other_accounts_and_live_turns_get_no_message() {
    type Change = fn(&mut Scenario);
    let changes: [(Change, Option<Reason>); 6] = [
        (
            |scenario| {
                scenario
                    .pulls
                    .get_mut(&PullNumber(1))
                    .unwrap()
                    .same_repository = false
            },
            None,
        ),
        (
            |scenario| {
                let mut unrelated = scenario.pulls[&PullNumber(1)].clone();
                unrelated.number = PullNumber(9);
                scenario.pulls.get_mut(&PullNumber(1)).unwrap().checks = Checks::Passed;
                scenario.pulls.insert(PullNumber(9), unrelated);
            },
            None,
        ),
        (
            |scenario| scenario.red.get_mut("c1").unwrap().running = 1,
            Some(Reason::ChecksFailed),
        ),
        (
            |scenario| scenario.red.get_mut("c1").unwrap().failed.clear(),
            Some(Reason::ChecksFailed),
        ),
        (
            |scenario| scenario.paused_by_variable = Some("1".to_owned()),
            None,
        ),
        (|scenario| scenario.close(PullNumber(1)), None),
    ];
    for (at, (change, reason)) in changes.into_iter().enumerate() {
        let (mut scenario, _) = scenario_with_failed_checks();
        change(&mut scenario);
        scenario.tick();
        assert_eq!(messages(&scenario).len(), 0, "{at}");
        let said = has(&scenario, Reason::ChecksFailed);
        assert_eq!(said, reason.is_some(), "{at}");
    }
    let (scenario, _) = scenario_with_failed_checks();
    let mut snapshot = scenario.snapshot();
    snapshot
        .labelled
        .entry(1)
        .or_default()
        .insert("hold".to_owned());
    let decision = phileas_domain::engine::decide(&snapshot, &[]);
    let mut lines = decision.report.lines.iter();
    assert!(lines.any(|line| line.reason == Reason::SubjectHeld));
    assert!(
        phileas_domain::engine::read_requests(&snapshot)
            .single_sessions
            .is_empty()
    );
}

#[test]
fn hidden_checks_are_reported_without_their_texts() {
    let (mut scenario, _) = scenario_with_failed_checks();
    let red = scenario.red.get_mut("c1").unwrap();
    red.failed.clear();
    red.hidden = true;
    scenario.tick();
    assert!(messages(&scenario)[0].contains("cannot be read from here"));
}

#[test]
fn logs_that_may_not_be_read_are_left_out_and_that_is_said() {
    let (mut scenario, _) = scenario_with_failed_checks();
    let check = &mut scenario.red.get_mut("c1").unwrap().failed[0];
    check.log.clear();
    check.log_hidden = true;
    scenario.tick();
    assert!(messages(&scenario)[0].contains("its log cannot be read from here"));
    let said = scenario
        .lines
        .iter()
        .any(|line| line.detail.contains("actions: read"));
    assert!(said, "{:?}", scenario.lines);
}

#[test]
fn a_plan_that_only_observes_reads_no_checks() {
    let (mut scenario, _) = scenario_with_failed_checks();
    let plan = format!("{PLAN}[defaults]\nmode = \"observe\"\n");
    scenario
        .files
        .insert(phileas_domain::plan::SCHEDULES_PATH.to_owned(), plan);
    let needs = phileas_domain::engine::read_requests(&scenario.snapshot());
    assert!(needs.failed_checks.is_empty() && needs.single_sessions.is_empty());
    scenario.tick();
    assert_eq!(messages(&scenario), [] as [&str; 0]);
}

#[test]
fn a_turn_that_waits_for_its_merge_has_its_checks_fixed_too() {
    let mut scenario = Scenario::new(
        "cycle = [\"a\"]\n[defaults]\nadvance_on = \"merged\"\n",
        &["a"],
    );
    scenario.tick();
    scenario.minutes(5);
    let pull = scenario.opens_pull();
    scenario.tick();
    fails(&mut scenario, pull, "c1");
    scenario.minutes(5);
    scenario.tick();
    assert_eq!(messages(&scenario).len(), 1);
    assert_eq!(
        scenario.session_reads, 0,
        "the listing that follows the turn shows the session"
    );
}

/// A session that continues overwrites its branch: a person's commits would be lost.
#[test]
fn failed_checks_of_another_accounts_commit_are_not_sent() {
    for (later, told) in [(0, 1), (60, 0)] {
        let (mut scenario, _) = scenario_with_failed_checks();
        scenario.minutes(later);
        for red in scenario.red.values_mut() {
            red.committed_at = Some(scenario.now);
        }
        scenario.minutes(21);
        scenario.tick();
        assert_eq!(messages(&scenario).len(), told, "{later} minutes later");
        assert_eq!(has(&scenario, Reason::ChecksFailed), told == 0);
    }
}

/// Checks that fail on the default branch as well are not the session's to fix.
#[test]
fn while_the_default_branchs_checks_fail_no_session_is_messaged_where_the_plan_says_so() {
    for (ignore, count) in [(false, 0), (true, 1)] {
        let (mut scenario, _) = scenario_with_failed_checks();
        scenario.checks = Checks::Failed;
        if !ignore {
            let plan = format!("{PLAN}[gate]\nmain_red = \"critical_only\"\n");
            scenario
                .files
                .insert(phileas_domain::plan::SCHEDULES_PATH.to_owned(), plan);
        }
        scenario.tick();
        assert_eq!(messages(&scenario).len(), count);
        assert_eq!(has(&scenario, Reason::DefaultChecksFailed), !ignore);
        scenario.checks = Checks::Passed;
        scenario.tick();
        assert_eq!(scenario.state().pulls[&PullNumber(1)].fix_rounds, 1);
    }
}

/// A track that is only observed has its pull requests left to people.
#[test]
fn an_observed_pull_request_is_not_fixed() {
    let (mut scenario, _) = scenario_with_failed_checks();
    let plan =
        "[tracks.default]\nmode = \"observe\"\nsteps = [\"a\"]\n[budget]\nmax_open_pulls = 1\n";
    scenario.files.insert(
        phileas_domain::plan::SCHEDULES_PATH.to_owned(),
        plan.to_owned(),
    );
    scenario.tick();
    assert_eq!((messages(&scenario).len(), scenario.session_reads), (0, 0));
    assert!(has(&scenario, Reason::ObserveMode));
}

fn spoke_now(scenario: &mut Scenario, session: &SessionId, text: &str) {
    let at = scenario.now;
    scenario.add_activity(session, at, ActivityKind::AgentMessaged(text.to_owned()));
}

/// Jules fixes failed checks itself; phileas sends a message only when Jules has been quiet for a while.
#[test]
fn failed_checks_are_left_to_jules_for_a_while() {
    let (mut scenario, _) = scenario_with_failed_checks();
    let red = scenario.red.get_mut("c1").unwrap();
    red.failed_at = Some(scenario.now);
    scenario.tick();
    assert_eq!(messages(&scenario).len(), 0);
    assert!(has(&scenario, Reason::ChecksFailed));
    scenario.minutes(15);
    scenario.tick();
    assert_eq!(messages(&scenario).len(), 0);
    scenario.minutes(6);
    scenario.tick();
    assert_eq!(messages(&scenario).len(), 1);
}

/// Committers and apps that report checks write these times; one in the future must not hold the message back for ever.
#[test]
fn times_in_the_future_do_not_extend_the_grace() {
    let (mut scenario, _) = scenario_with_failed_checks();
    let later = scenario.now + jiff::SignedDuration::from_hours(24 * 365);
    let red = scenario.red.get_mut("c1").unwrap();
    (red.committed_at, red.failed_at, red.by_jules) = (Some(later), Some(later), true);
    scenario.tick();
    assert_eq!(messages(&scenario).len(), 1);
}

#[test]
fn an_activity_begins_the_grace_again() {
    let (mut scenario, _) = scenario_with_failed_checks();
    let red = scenario.red.get_mut("c1").unwrap();
    red.failed_at = Some(scenario.now);
    scenario.minutes(15);
    let session = scenario.sessions[0].id.clone();
    spoke_now(&mut scenario, &session, "I fix the checks.");
    scenario.minutes(10);
    scenario.tick();
    assert_eq!(messages(&scenario).len(), 0);
    scenario.minutes(11);
    scenario.tick();
    assert_eq!(messages(&scenario).len(), 1);
}

/// `updateTime` does not move while a completed session works; its activities and the committer tell.
#[test]
fn the_newest_commit_is_judged_by_activities_and_committer() {
    for (spoke, by_jules, told) in [(false, false, 0), (true, false, 1), (false, true, 1)] {
        let (mut scenario, _) = scenario_with_failed_checks();
        let session = scenario.sessions[0].id.clone();
        spoke_now(&mut scenario, &session, "I begin.");
        scenario.minutes(120);
        if spoke {
            spoke_now(&mut scenario, &session, "I push.");
        }
        let red = scenario.red.get_mut("c1").unwrap();
        red.committed_at = Some(scenario.now);
        red.by_jules = by_jules;
        scenario.minutes(30);
        scenario.tick();
        assert_eq!(messages(&scenario).len(), told, "{spoke} {by_jules}");
    }
}
