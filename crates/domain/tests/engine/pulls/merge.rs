//! Tests merge requests by label: who may request them, for what, and how often.

mod answers;
mod gates;
mod manual;

use std::collections::BTreeSet;

use phileas_domain::engine::{
    Actor, Checks, Effect, MergeFacts, MergeMethod, MergeStatus, Opinion, PullState, Reason,
    ReviewDemand, SubjectChange,
};
use phileas_domain::model::PullNumber;
use phileas_domain::state::Outcome;

use crate::support::scenario::{Merging, Scenario};
use crate::support::subjects::account;

const PULL: PullNumber = PullNumber(1);
const GREEN: &str =
    "cycle = [\"a\"]\n[defaults]\nmerge = \"green\"\n[budget]\nmax_open_pulls = 1\n";

fn opinion(who: &str, approves: bool) -> Opinion {
    Opinion {
        actor: Some(account(who)),
        approves,
        commit: Some("00".into()),
    }
}

/// A session's pull request that passes all gates: checks passed, and approved by a writer.
fn reviewed(plan: &str) -> Scenario {
    let mut scenario = Scenario::new(plan, &["a"]);
    scenario.writer("ada").writer("eve");
    scenario.tick();
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.tick();
    scenario.pull_subject(PULL.0, true);
    let ends = scenario.subject(PULL.0).pull.as_mut().unwrap();
    ends.head_oid = "00".into();
    let pull = scenario.pulls.get_mut(&PULL).unwrap();
    pull.checks = Checks::Passed;
    pull.reviewed = true;
    let facts = MergeFacts {
        state: PullState::Open,
        draft: false,
        head: "00".into(),
        committed_at: None,
        same_repository: true,
        base: "main".into(),
        labels: BTreeSet::new(),
        checks: Checks::Passed,
        status: MergeStatus::Yes,
        demand: ReviewDemand::Met,
        opinions: Some(vec![opinion("eve", true)]),
        files: Some(vec!["src/main.rs".to_owned()]),
        method: Some(MergeMethod::Squash),
    };
    scenario.facts.insert(PULL, facts);
    scenario
}

fn facts(scenario: &mut Scenario) -> &mut MergeFacts {
    scenario.facts.get_mut(&PULL).unwrap()
}

fn is_merged(scenario: &Scenario) -> bool {
    scenario.pulls[&PULL].state == PullState::Merged
}

fn merge_count(scenario: &Scenario) -> usize {
    let is_merge = |effect: &&Effect| matches!(effect, Effect::MergePull { .. });
    scenario.effects.iter().filter(is_merge).count()
}

#[track_caller]
fn refused(scenario: &mut Scenario, reason: Reason, context: &str) {
    assert!(!is_merged(scenario), "{context}");
    assert_eq!(merge_count(scenario), 0, "{context}");
    assert!(
        scenario.reasons("request:1").contains(&reason),
        "{context}: {:?}",
        scenario.lines
    );
    assert!(
        scenario.bears(PULL.0).is_empty(),
        "{context}: its label is off"
    );
    let status = scenario.status(PULL.0).to_owned();
    let said = status.contains(reason.code()) && status.contains("not merged: ");
    assert!(said, "{context}: {status}");
    // It is reported once, and nothing is repeated.
    for _ in 0..3 {
        scenario.minutes(30);
        scenario.tick();
        assert!(!is_merged(scenario), "{context}");
        assert!(scenario.reasons("request:1").is_empty(), "{context}");
    }
    assert_eq!(scenario.status(PULL.0), status, "{context}");
}

#[test]
fn r18_a_pull_request_that_passes_all_gates_is_merged_once_and_settles_its_turn() {
    let mut scenario = reviewed(GREEN);
    scenario.label(PULL.0, "merge", "ada");
    scenario.tick();
    assert!(is_merged(&scenario));
    assert_eq!(merge_count(&scenario), 1);
    assert!(scenario.bears(PULL.0).is_empty());
    assert!(
        scenario
            .status(PULL.0)
            .contains("pull request #1 was merged")
    );
    assert!(
        scenario
            .headlines
            .iter()
            .any(|one| one.contains("merging pull request #1"))
    );
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(scenario.outcomes()[0], Some(Outcome::Merged));
    for _ in 0..3 {
        scenario.minutes(30);
        scenario.tick();
        assert_eq!(merge_count(&scenario), 0);
    }
    assert_eq!(scenario.last_looks, 1);
}

/// A merge that the plan forbids while its request waits is not made.
#[test]
fn the_plan_and_the_actor_count_as_they_are_in_the_end() {
    type Change = fn(&mut Scenario);
    let cases: [(Change, Reason); 2] = [
        (
            |scenario| {
                scenario.permissions.remove(&account("ada").login);
            },
            Reason::ActorPermission,
        ),
        (
            |scenario| {
                let off = GREEN.replace("green", "off");
                scenario
                    .files
                    .insert(".jules/schedules.toml".to_owned(), off);
            },
            Reason::MergeOff,
        ),
    ];
    for (change, reason) in cases {
        let mut scenario = reviewed(GREEN);
        scenario.pulls.get_mut(&PULL).unwrap().checks = Checks::Pending;
        scenario.label(PULL.0, "merge", "ada");
        scenario.tick();
        assert_eq!(scenario.reasons("request:1"), [Reason::ChecksRunning]);
        scenario.pulls.get_mut(&PULL).unwrap().checks = Checks::Passed;
        change(&mut scenario);
        scenario.minutes(16);
        scenario.tick();
        refused(&mut scenario, reason, "taken back");
    }
}

#[test]
fn r18_only_writers_ask_and_only_for_ours_as_they_saw_it() {
    let mut scenario = reviewed(GREEN);
    scenario.label(PULL.0, "merge", "outsider");
    scenario.tick();
    refused(
        &mut scenario,
        Reason::ActorPermission,
        "an unauthorized user",
    );

    let mut scenario = reviewed(GREEN);
    scenario.pull_subject(77, true);
    scenario.label(77, "merge", "ada");
    scenario.tick();
    assert_eq!(scenario.reasons("request:1"), [Reason::NotOurs]);
    assert!(scenario.status(77).contains("refused.not_ours"));

    let mut scenario = reviewed(GREEN);
    scenario
        .subject(PULL.0)
        .pull
        .as_mut()
        .unwrap()
        .same_repository = false;
    scenario.label(PULL.0, "merge", "ada");
    scenario.tick();
    refused(&mut scenario, Reason::Fork, "a fork");

    for change in [SubjectChange::Pushed, SubjectChange::Renamed] {
        let mut scenario = reviewed(GREEN);
        scenario.label(PULL.0, "merge", "ada");
        scenario.happens(PULL.0, Some(account("ada")), change);
        scenario.tick();
        refused(&mut scenario, Reason::ContentChanged, "after the label");
    }
}

#[test]
fn a_second_request_for_one_commit_is_refused() {
    let mut scenario = reviewed(GREEN);
    scenario.pulls.get_mut(&PULL).unwrap().checks = Checks::Pending;
    scenario.label(PULL.0, "merge", "ada");
    scenario.tick();
    scenario.minutes(1);
    scenario.label(PULL.0, "merge", "eve");
    scenario.tick();
    assert_eq!(scenario.reasons("request:2"), [Reason::NothingToDo]);
    scenario.pulls.get_mut(&PULL).unwrap().checks = Checks::Passed;
    scenario.minutes(6);
    scenario.tick();
    assert_eq!(merge_count(&scenario), 1);
    assert!(is_merged(&scenario));
}

#[test]
fn a_merge_request_is_withdrawn_by_cancel_and_ends_with_its_pull_request() {
    let pending = || {
        let mut scenario = reviewed(GREEN);
        scenario.pulls.get_mut(&PULL).unwrap().checks = Checks::Pending;
        scenario.label(PULL.0, "merge", "ada");
        scenario.tick();
        scenario.minutes(1);
        scenario
    };
    let mut scenario = pending();
    scenario.writes(PULL.0, "/phileas cancel", "ada");
    scenario.tick();
    scenario.pulls.get_mut(&PULL).unwrap().checks = Checks::Passed;
    scenario.minutes(10);
    scenario.tick();
    assert!(!is_merged(&scenario));

    let mut scenario = pending();
    scenario.close(PULL);
    scenario.tick();
    assert!(
        scenario
            .reasons("request:1")
            .contains(&Reason::SubjectClosed)
    );

    let mut scenario = pending();
    scenario.merge(PULL);
    scenario.tick();
    assert!(scenario.status(PULL.0).contains("was merged"));
    assert_eq!(merge_count(&scenario), 0);
}

#[test]
fn a_login_that_belongs_to_another_account_by_now_merges_nothing() {
    let mut scenario = reviewed(GREEN);
    let other = Actor {
        id: Some(1),
        ..account("eve")
    };
    facts(&mut scenario).opinions = Some(vec![Opinion {
        actor: Some(other),
        ..opinion("eve", true)
    }]);
    scenario.label(PULL.0, "merge", "ada");
    scenario.tick();
    scenario.minutes(15);
    scenario.tick();
    refused(&mut scenario, Reason::ReviewMissing, "another account");
}

#[test]
fn a_merge_does_not_wait_for_the_sessions_of_its_commit() {
    let mut scenario = reviewed(GREEN);
    scenario.push();
    scenario.label(PULL.0, "merge", "ada");
    scenario.tick();
    let names: Vec<_> = scenario.effects.iter().map(Effect::name).collect();
    let place = |name| names.iter().position(|one| *one == name);
    assert!(place("create_session").is_some(), "{names:?}");
    assert!(place("merge_pull") < place("create_session"), "{names:?}");
}

/// The first merge moves the base of the second one, whose gates were checked before.
#[test]
fn of_two_that_may_be_merged_the_second_is_read_again_after_the_first() {
    let mut scenario = reviewed(GREEN);
    scenario.push();
    scenario.tick();
    scenario.minutes(5);
    let second = scenario.opens_pull();
    scenario.tick();
    scenario.pull_subject(second.0, true);
    scenario.subject(second.0).pull.as_mut().unwrap().head_oid = "00".into();
    scenario.pulls.get_mut(&second).unwrap().checks = Checks::Passed;
    scenario.facts.insert(second, scenario.facts[&PULL].clone());
    scenario.label(PULL.0, "merge", "ada");
    scenario.label(second.0, "merge", "ada");
    scenario.merging = Merging::MergesAlone;
    scenario.tick();
    assert!(is_merged(&scenario));
    assert_eq!(
        merge_count(&scenario),
        1,
        "the second one conflicts by then"
    );
    assert_eq!(scenario.last_looks, 3);
    let reasons = scenario.reasons("request:2");
    assert!(
        reasons.contains(&Reason::NotMergeable),
        "{:?}",
        scenario.lines
    );
}

/// An approval after the label needs no further request.
#[test]
fn an_approval_that_comes_after_the_label_counts() {
    let mut scenario = reviewed(GREEN);
    facts(&mut scenario).opinions = Some(Vec::new());
    facts(&mut scenario).status = MergeStatus::Blocked;
    scenario.label(PULL.0, "merge", "ada");
    for _ in 0..2 {
        scenario.tick();
        assert_eq!((merge_count(&scenario), is_merged(&scenario)), (0, false));
        assert_eq!(
            scenario.wake_at,
            scenario
                .now
                .checked_add(jiff::SignedDuration::from_mins(5))
                .ok()
        );
        scenario.minutes(5);
    }
    facts(&mut scenario).opinions = Some(vec![opinion("eve", true)]);
    facts(&mut scenario).status = MergeStatus::Yes;
    scenario.tick();
    assert!(is_merged(&scenario), "{:?}", scenario.lines);
}

#[test]
fn only_a_limited_number_is_read_in_one_decision() {
    let mut scenario = reviewed(GREEN);
    let (pull, seen) = (scenario.pulls[&PULL].clone(), scenario.facts[&PULL].clone());
    scenario.merging = Merging::LostBefore;
    scenario.label(PULL.0, "merge", "ada");
    scenario.tick();
    scenario.minutes(1);
    let mut state = scenario.state().clone();
    let (entry, request) = (
        state.history[&0].clone(),
        state.requests.values().next().unwrap().clone(),
    );
    for number in 2..=8 {
        let number = PullNumber(number);
        scenario.pulls.insert(
            number,
            phileas_domain::engine::Pull {
                number,
                ..pull.clone()
            },
        );
        scenario.facts.insert(
            number,
            MergeFacts {
                status: MergeStatus::Unknown,
                ..seen.clone()
            },
        );
        let mut entry = entry.clone();
        entry.pr_number = Some(number);
        entry.session_id = Some(format!("{:017}", 5000 + number.0).as_str().into());
        entry.turn = None;
        state.history.insert(number.0 - 1, entry);
        let mut request = request.clone();
        request.thread = Some(number.0);
        request.number = Some(number.0);
        request.merge.as_mut().unwrap().sent_at = None;
        state.requests.insert(format!("LE_x{number}"), request);
    }
    scenario.set_state(state);
    let looks = scenario.last_looks;
    scenario.tick();
    assert_eq!(scenario.last_looks, looks + 5);
    scenario.minutes(1);
    scenario.tick();
    assert_eq!(
        scenario.last_looks,
        looks + 10,
        "the two that had no room, and three again"
    );
}
