//! A label asks for a merge: who may ask, for what, and how often.

mod answers;
mod gates;

use std::collections::BTreeSet;

use phileas_domain::engine::{
    Actor, Checks, Effect, MergeFacts, MergeMethod, MergeStands, Opinion, PullState, Reason,
    ReviewDemand, SubjectChange,
};
use phileas_domain::model::PullNumber;
use phileas_domain::state::Outcome;

use crate::desk::{Desk, Merging};
use crate::subjects::account;

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

/// A session's pull request that everything speaks for: green, and approved by a writer.
fn reviewed(plan: &str) -> Desk {
    let mut desk = Desk::new(plan, &["a"]);
    desk.writer("ada").writer("eve");
    desk.tick();
    desk.minutes(5);
    desk.opens_pull();
    desk.tick();
    desk.pull_subject(PULL.0, true);
    let ends = desk.subject(PULL.0).pull.as_mut().unwrap();
    ends.head_oid = "00".into();
    let pull = desk.pulls.get_mut(&PULL).unwrap();
    pull.checks = Checks::Green;
    pull.reviewed = true;
    let facts = MergeFacts {
        state: PullState::Open,
        draft: false,
        head: "00".into(),
        committed_at: None,
        same_repository: true,
        base: "main".into(),
        labels: BTreeSet::new(),
        checks: Checks::Green,
        stands: MergeStands::Yes,
        demand: ReviewDemand::Met,
        opinions: Some(vec![opinion("eve", true)]),
        files: Some(vec!["src/main.rs".to_owned()]),
        method: Some(MergeMethod::Squash),
    };
    desk.facts.insert(PULL, facts);
    desk
}

fn facts(desk: &mut Desk) -> &mut MergeFacts {
    desk.facts.get_mut(&PULL).unwrap()
}

fn is_merged(desk: &Desk) -> bool {
    desk.pulls[&PULL].state == PullState::Merged
}

fn asked(desk: &Desk) -> usize {
    let is_merge = |effect: &&Effect| matches!(effect, Effect::MergePull { .. });
    desk.effects.iter().filter(is_merge).count()
}

#[track_caller]
fn refused(desk: &mut Desk, reason: Reason, context: &str) {
    assert!(!is_merged(desk), "{context}");
    assert_eq!(asked(desk), 0, "{context}");
    assert!(
        desk.reasons("request:1").contains(&reason),
        "{context}: {:?}",
        desk.lines
    );
    assert!(desk.bears(PULL.0).is_empty(), "{context}: its label is off");
    let status = desk.status(PULL.0).to_owned();
    let said = status.contains(reason.code()) && status.contains("not merged: ");
    assert!(said, "{context}: {status}");
    // It is said once, and nothing is done again.
    for _ in 0..3 {
        desk.minutes(30);
        desk.tick();
        assert!(!is_merged(desk), "{context}");
        assert!(desk.reasons("request:1").is_empty(), "{context}");
    }
    assert_eq!(desk.status(PULL.0), status, "{context}");
}

#[test]
fn r18_what_everything_speaks_for_is_merged_once_and_settles_its_turn() {
    let mut desk = reviewed(GREEN);
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    assert!(is_merged(&desk));
    assert_eq!(asked(&desk), 1);
    assert!(desk.bears(PULL.0).is_empty());
    assert!(desk.status(PULL.0).contains("pull request #1 was merged"));
    assert!(
        desk.headlines
            .iter()
            .any(|one| one.contains("merging pull request #1"))
    );
    desk.minutes(1);
    desk.tick();
    assert_eq!(desk.outcomes()[0], Some(Outcome::Merged));
    for _ in 0..3 {
        desk.minutes(30);
        desk.tick();
        assert_eq!(asked(&desk), 0);
    }
    assert_eq!(desk.last_looks, 1);
}

/// What the plan takes back while a wish waits is not done.
#[test]
fn the_plan_and_the_actor_count_as_they_are_in_the_end() {
    type Change = fn(&mut Desk);
    let cases: [(Change, Reason); 2] = [
        (
            |desk| {
                desk.permissions.remove(&account("ada").login);
            },
            Reason::ActorPermission,
        ),
        (
            |desk| {
                let off = GREEN.replace("green", "off");
                desk.files.insert(".jules/schedules.toml".to_owned(), off);
            },
            Reason::MergeOff,
        ),
    ];
    for (change, reason) in cases {
        let mut desk = reviewed(GREEN);
        desk.pulls.get_mut(&PULL).unwrap().checks = Checks::Pending;
        desk.label(PULL.0, "merge", "ada");
        desk.tick();
        assert_eq!(desk.reasons("request:1"), [Reason::ChecksRunning]);
        desk.pulls.get_mut(&PULL).unwrap().checks = Checks::Green;
        change(&mut desk);
        desk.minutes(16);
        desk.tick();
        refused(&mut desk, reason, "taken back");
    }
}

#[test]
fn r18_only_writers_ask_and_only_for_ours_as_they_saw_it() {
    let mut desk = reviewed(GREEN);
    desk.label(PULL.0, "merge", "stranger");
    desk.tick();
    refused(&mut desk, Reason::ActorPermission, "a stranger");

    let mut desk = reviewed(GREEN);
    desk.pull_subject(77, true);
    desk.label(77, "merge", "ada");
    desk.tick();
    assert_eq!(desk.reasons("request:1"), [Reason::NotOurs]);
    assert!(desk.status(77).contains("refused.not_ours"));

    let mut desk = reviewed(GREEN);
    desk.subject(PULL.0).pull.as_mut().unwrap().same_repository = false;
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    refused(&mut desk, Reason::Fork, "a fork");

    for change in [SubjectChange::Pushed, SubjectChange::Renamed] {
        let mut desk = reviewed(GREEN);
        desk.label(PULL.0, "merge", "ada");
        desk.happens(PULL.0, Some(account("ada")), change);
        desk.tick();
        refused(&mut desk, Reason::ContentChanged, "after the label");
    }
}

#[test]
fn whoever_asks_twice_for_one_commit_is_told_so() {
    let mut desk = reviewed(GREEN);
    desk.pulls.get_mut(&PULL).unwrap().checks = Checks::Pending;
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    desk.minutes(1);
    desk.label(PULL.0, "merge", "eve");
    desk.tick();
    assert_eq!(desk.reasons("request:2"), [Reason::NothingToDo]);
    desk.pulls.get_mut(&PULL).unwrap().checks = Checks::Green;
    desk.minutes(6);
    desk.tick();
    assert_eq!(asked(&desk), 1);
    assert!(is_merged(&desk));
}

#[test]
fn a_wish_is_taken_back_by_cancel_and_ends_with_its_pull_request() {
    let pending = || {
        let mut desk = reviewed(GREEN);
        desk.pulls.get_mut(&PULL).unwrap().checks = Checks::Pending;
        desk.label(PULL.0, "merge", "ada");
        desk.tick();
        desk.minutes(1);
        desk
    };
    let mut desk = pending();
    desk.writes(PULL.0, "/phileas cancel", "ada");
    desk.tick();
    desk.pulls.get_mut(&PULL).unwrap().checks = Checks::Green;
    desk.minutes(10);
    desk.tick();
    assert!(!is_merged(&desk));

    let mut desk = pending();
    desk.close(PULL);
    desk.tick();
    assert!(desk.reasons("request:1").contains(&Reason::SubjectClosed));

    let mut desk = pending();
    desk.merge(PULL);
    desk.tick();
    assert!(desk.status(PULL.0).contains("was merged"));
    assert_eq!(asked(&desk), 0);
}

#[test]
fn a_login_that_belongs_to_another_account_by_now_merges_nothing() {
    let mut desk = reviewed(GREEN);
    let other = Actor {
        id: Some(1),
        ..account("eve")
    };
    facts(&mut desk).opinions = Some(vec![Opinion {
        actor: Some(other),
        ..opinion("eve", true)
    }]);
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    desk.minutes(15);
    desk.tick();
    refused(&mut desk, Reason::ReviewMissing, "another account");
}

#[test]
fn a_merge_does_not_wait_for_the_sessions_of_its_commit() {
    let mut desk = reviewed(GREEN);
    desk.push();
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    let names: Vec<_> = desk.effects.iter().map(Effect::name).collect();
    let place = |name| names.iter().position(|one| *one == name);
    assert!(place("create_session").is_some(), "{names:?}");
    assert!(place("merge_pull") < place("create_session"), "{names:?}");
}

/// The first merge moves the base of the second one, whose gates were looked at before.
#[test]
fn of_two_that_may_be_merged_the_second_is_looked_at_after_the_first() {
    let mut desk = reviewed(GREEN);
    desk.push();
    desk.tick();
    desk.minutes(5);
    let second = desk.opens_pull();
    desk.tick();
    desk.pull_subject(second.0, true);
    desk.subject(second.0).pull.as_mut().unwrap().head_oid = "00".into();
    desk.pulls.get_mut(&second).unwrap().checks = Checks::Green;
    desk.facts.insert(second, desk.facts[&PULL].clone());
    desk.label(PULL.0, "merge", "ada");
    desk.label(second.0, "merge", "ada");
    desk.merging = Merging::MergesAlone;
    desk.tick();
    assert!(is_merged(&desk));
    assert_eq!(asked(&desk), 1, "the second one conflicts by then");
    assert_eq!(desk.last_looks, 3);
    let reasons = desk.reasons("request:2");
    assert!(reasons.contains(&Reason::NotMergeable), "{:?}", desk.lines);
}

/// Who labels first and approves then need not ask again.
#[test]
fn an_approval_that_comes_after_the_label_counts() {
    let mut desk = reviewed(GREEN);
    facts(&mut desk).opinions = Some(Vec::new());
    facts(&mut desk).stands = MergeStands::Blocked;
    desk.label(PULL.0, "merge", "ada");
    for _ in 0..2 {
        desk.tick();
        assert_eq!((asked(&desk), is_merged(&desk)), (0, false));
        assert_eq!(
            desk.wake_at,
            desk.now
                .checked_add(jiff::SignedDuration::from_mins(5))
                .ok()
        );
        desk.minutes(5);
    }
    facts(&mut desk).opinions = Some(vec![opinion("eve", true)]);
    facts(&mut desk).stands = MergeStands::Yes;
    desk.tick();
    assert!(is_merged(&desk), "{:?}", desk.lines);
}

#[test]
fn only_so_many_are_looked_at_in_one_go() {
    let mut desk = reviewed(GREEN);
    let (pull, seen) = (desk.pulls[&PULL].clone(), desk.facts[&PULL].clone());
    desk.merging = Merging::LostBefore;
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    desk.minutes(1);
    let mut state = desk.state().clone();
    let (entry, request) = (
        state.history[&0].clone(),
        state.requests.values().next().unwrap().clone(),
    );
    for number in 2..=8 {
        let number = PullNumber(number);
        desk.pulls.insert(
            number,
            phileas_domain::engine::Pull {
                number,
                ..pull.clone()
            },
        );
        desk.facts.insert(
            number,
            MergeFacts {
                stands: MergeStands::Unknown,
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
    desk.set_state(state);
    let looks = desk.last_looks;
    desk.tick();
    assert_eq!(desk.last_looks, looks + 5);
    desk.minutes(1);
    desk.tick();
    assert_eq!(
        desk.last_looks,
        looks + 10,
        "the two that had no room, and three again"
    );
}
