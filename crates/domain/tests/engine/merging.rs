//! A label asks for a merge: each gate by itself, with its allowed twin, and what becomes of a lost answer.

use std::collections::BTreeSet;

use phileas_domain::engine::{
    Actor, Checks, Effect, MergeFacts, MergeMethod, MergeStands, Mergeable, Opinion, PullState,
    Reason, ReviewDemand, SubjectChange,
};
use phileas_domain::model::{Oid, PullNumber};
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

/// The first check that ends well is not the last one that begins.
#[test]
fn green_is_not_yet_green_right_after_a_commit() {
    for (age, merged) in [(1, false), (2, true)] {
        let mut desk = reviewed(GREEN);
        facts(&mut desk).committed_at = Some(desk.now);
        desk.minutes(age);
        desk.label(PULL.0, "merge", "ada");
        desk.tick();
        assert_eq!(
            desk.pulls[&PULL].state == PullState::Merged,
            merged,
            "{age}"
        );
        assert_eq!(desk.all_reasons().contains(&Reason::ChecksRunning), !merged);
    }
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

/// Who died after the commit has not asked; the successor looks again and does.
#[test]
fn that_github_is_asked_stands_in_the_ledger_before() {
    let mut desk = reviewed(GREEN);
    desk.label(PULL.0, "merge", "ada");
    desk.answering = crate::desk::Answering::Dies;
    desk.tick();
    assert!(!is_merged(&desk));
    let sent = |desk: &Desk| {
        let mut requests = desk.state().requests.values();
        requests.find_map(|one| one.merge.clone()).unwrap()
    };
    assert_eq!(sent(&desk).sent_at, Some(desk.now));
    assert_eq!(sent(&desk).head, Oid::from("00"));
    desk.answering = crate::desk::Answering::Session;
    desk.minutes(4);
    desk.tick();
    assert_eq!(asked(&desk), 0, "whoever asked may still be answered");
    assert_eq!(desk.reasons("request:1"), [Reason::MergeSent]);
    desk.minutes(1);
    desk.tick();
    assert!(is_merged(&desk));
    assert_eq!(sent(&desk).attempts, 2);
}

#[test]
fn r18_one_condition_that_fails_is_enough() {
    type Change = fn(&mut Desk);
    let cases: [(&str, Change, Reason); 21] = [
        (
            "red",
            |desk| facts(desk).checks = Checks::Red,
            Reason::ChecksNotGreen,
        ),
        (
            "seen red",
            |desk| desk.pulls.get_mut(&PULL).unwrap().checks = Checks::Red,
            Reason::ChecksNotGreen,
        ),
        (
            "draft",
            |desk| facts(desk).draft = true,
            Reason::NotMergeable,
        ),
        (
            "base",
            |desk| facts(desk).base = "next".into(),
            Reason::NotMergeable,
        ),
        (
            "fork",
            |desk| facts(desk).same_repository = false,
            Reason::Fork,
        ),
        (
            "pushed",
            |desk| facts(desk).head = "01".into(),
            Reason::ContentChanged,
        ),
        (
            "conflict",
            |desk| facts(desk).stands = MergeStands::Conflicting,
            Reason::NotMergeable,
        ),
        (
            "seen behind",
            |desk| desk.pulls.get_mut(&PULL).unwrap().mergeable = Mergeable::Behind,
            Reason::NotMergeable,
        ),
        (
            "blocked",
            |desk| facts(desk).stands = MergeStands::Blocked,
            Reason::NotMergeable,
        ),
        (
            "no way",
            |desk| facts(desk).method = None,
            Reason::NotMergeable,
        ),
        (
            "closed",
            |desk| facts(desk).state = PullState::Closed,
            Reason::SubjectClosed,
        ),
        (
            "gone",
            |desk| {
                desk.facts.remove(&PULL);
            },
            Reason::SubjectClosed,
        ),
        (
            "nobody approves",
            |desk| facts(desk).opinions = Some(Vec::new()),
            Reason::ReviewMissing,
        ),
        (
            "an older commit was approved",
            |desk| {
                let older = Opinion {
                    commit: Some("99".into()),
                    ..opinion("eve", true)
                };
                facts(desk).opinions = Some(vec![older]);
            },
            Reason::ReviewMissing,
        ),
        (
            "a stranger approves",
            |desk| facts(desk).opinions = Some(vec![opinion("stranger", true)]),
            Reason::ReviewMissing,
        ),
        (
            "a bot approves",
            |desk| facts(desk).opinions = Some(vec![opinion("eve[bot]", true)]),
            Reason::ReviewMissing,
        ),
        (
            "a writer asks for changes",
            |desk| {
                let both = vec![opinion("eve", true), opinion("ada", false)];
                facts(desk).opinions = Some(both);
            },
            Reason::ReviewMissing,
        ),
        (
            "the branch asks for more",
            |desk| facts(desk).demand = ReviewDemand::Missing,
            Reason::ReviewMissing,
        ),
        (
            "too many reviews",
            |desk| facts(desk).opinions = None,
            Reason::ReviewMissing,
        ),
        (
            "a workflow",
            |desk| {
                let files = ["src/main.rs", ".github/workflows/ci.yml"];
                facts(desk).files = Some(files.map(str::to_owned).to_vec());
            },
            Reason::ProtectedPath,
        ),
        (
            "too many files",
            |desk| facts(desk).files = None,
            Reason::ProtectedPath,
        ),
    ];
    for (name, change, reason) in cases {
        let mut desk = reviewed(GREEN);
        desk.label(PULL.0, "merge", "ada");
        change(&mut desk);
        desk.tick();
        // What may only not have arrived is waited for.
        if reason == Reason::ReviewMissing || name == "blocked" {
            assert!(!is_merged(&desk), "{name}");
            assert!(
                desk.reasons("request:1").contains(&Reason::MergeNotYet),
                "{name}"
            );
            desk.minutes(15);
            desk.tick();
        }
        refused(&mut desk, reason, name);
    }
    let own = "[gate]\nprotected_paths = [\"src/**\"]\n";
    let mut desk = reviewed(&format!("{GREEN}{own}"));
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    refused(&mut desk, Reason::ProtectedPath, "a path of the plan");
}

/// The allowed twins of what looks like one of the above.
#[test]
fn r18_what_only_looks_like_an_obstacle_is_none() {
    type Change = fn(&mut Desk);
    let cases: [(&str, Change); 8] = [
        (
            "the first read shows an older commit, which was red",
            |desk| {
                let pull = desk.pulls.get_mut(&PULL).unwrap();
                pull.head_oid = "99".into();
                pull.checks = Checks::Red;
            },
        ),
        ("a stranger asks for changes", |desk| {
            let both = vec![opinion("stranger", false), opinion("eve", true)];
            facts(desk).opinions = Some(both);
        }),
        ("a bot asks for changes", |desk| {
            let both = vec![opinion("x[bot]", false), opinion("eve", true)];
            facts(desk).opinions = Some(both);
        }),
        ("somebody who is gone approved, too", |desk| {
            let gone = Opinion {
                actor: None,
                ..opinion("x", true)
            };
            facts(desk).opinions = Some(vec![gone, opinion("eve", true)]);
        }),
        ("who asks approves", |desk| {
            facts(desk).opinions = Some(vec![opinion("ada", true)]);
        }),
        ("a journal", |desk| {
            let journal = ".jules/personas/a/journals/1.md".to_owned();
            facts(desk).files = Some(vec![journal]);
        }),
        ("a merge commit", |desk| {
            facts(desk).method = Some(MergeMethod::Merge)
        }),
        ("GitHub knew nothing at first", |desk| {
            desk.pulls.get_mut(&PULL).unwrap().mergeable = Mergeable::Unknown;
        }),
    ];
    for (name, change) in cases {
        let mut desk = reviewed(GREEN);
        desk.label(PULL.0, "merge", "ada");
        change(&mut desk);
        desk.tick();
        assert!(is_merged(&desk), "{name}: {:?}", desk.lines);
    }
}

#[test]
fn r18_merging_is_off_unless_the_plan_says_green() {
    let off = GREEN.replace("green", "off");
    let unsaid = "cycle = [\"a\"]\n[budget]\nmax_open_pulls = 1\n";
    for plan in [&off, unsaid] {
        let mut desk = reviewed(plan);
        desk.label(PULL.0, "merge", "ada");
        desk.tick();
        refused(&mut desk, Reason::MergeOff, plan);
    }
    let step = "[tracks.default]\nsteps = [{ persona = \"a\", merge = \"green\" }]\n[budget]\nmax_open_pulls = 1\n";
    let mut desk = reviewed(step);
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    assert!(is_merged(&desk));
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
fn r18_it_waits_for_checks_for_hold_and_for_github_and_goes_on_by_itself() {
    type Change = fn(&mut Desk);
    let cases: [(Change, Change, Reason); 5] = [
        (
            |desk| desk.pulls.get_mut(&PULL).unwrap().checks = Checks::Pending,
            |desk| desk.pulls.get_mut(&PULL).unwrap().checks = Checks::Green,
            Reason::ChecksRunning,
        ),
        (
            |desk| desk.pulls.get_mut(&PULL).unwrap().checks = Checks::None,
            |desk| desk.pulls.get_mut(&PULL).unwrap().checks = Checks::Green,
            Reason::ChecksRunning,
        ),
        (
            |desk| {
                desk.label(PULL.0, "hold", "ada");
            },
            |desk| desk.unlabel(PULL.0, "phileas:hold"),
            Reason::SubjectHeld,
        ),
        (
            |desk| {
                facts(desk).labels.insert("hold".to_owned());
            },
            |desk| facts(desk).labels.clear(),
            Reason::SubjectHeld,
        ),
        (
            |desk| facts(desk).stands = MergeStands::Unknown,
            |desk| facts(desk).stands = MergeStands::Yes,
            Reason::MergeableUnknown,
        ),
    ];
    for (stop, go, reason) in cases {
        let mut desk = reviewed(GREEN);
        stop(&mut desk);
        desk.label(PULL.0, "merge", "ada");
        desk.tick();
        assert!(!is_merged(&desk) && asked(&desk) == 0, "{reason}");
        assert!(desk.reasons("request:1").contains(&reason), "{reason}");
        assert!(desk.status(PULL.0).contains(reason.code()), "{reason}");
        assert!(!desk.bears(PULL.0).contains("merge"), "{reason}");
        go(&mut desk);
        desk.minutes(6);
        desk.tick();
        assert!(is_merged(&desk), "{reason}: {:?}", desk.lines);
    }
}

/// While the first read says not yet, nothing further is read.
#[test]
fn waiting_for_checks_costs_no_further_look() {
    let mut desk = reviewed(GREEN);
    desk.pulls.get_mut(&PULL).unwrap().checks = Checks::Pending;
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    let asked_about = desk.asked_about;
    for _ in 0..4 {
        desk.minutes(20);
        desk.tick();
        assert_eq!(desk.reasons("request:1"), [Reason::ChecksRunning]);
    }
    assert_eq!((desk.last_looks, desk.asked_about), (0, asked_about));
    desk.hours(24 * 7);
    desk.tick();
    refused(&mut desk, Reason::RequestOld, "a week");
}

#[test]
fn a_commit_without_checks_is_refused_when_none_has_begun_for_a_while() {
    let mut desk = reviewed(GREEN);
    desk.pulls.get_mut(&PULL).unwrap().checks = Checks::None;
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    desk.minutes(15);
    desk.tick();
    refused(&mut desk, Reason::ChecksNotGreen, "no checks");
}

#[test]
fn r28_nothing_is_merged_while_everything_is_paused() {
    let mut desk = reviewed(GREEN);
    desk.paused_by_variable = Some("1".to_owned());
    desk.label(PULL.0, "merge", "ada");
    for _ in 0..3 {
        desk.tick();
        assert!(!is_merged(&desk));
        assert!(desk.reasons("request:1").contains(&Reason::PausedVariable));
        desk.minutes(20);
    }
    desk.paused_by_variable = None;
    desk.tick();
    assert!(is_merged(&desk));

    let mut desk = reviewed(GREEN);
    let mut state = desk.state().clone();
    let track = state.tracks.get_mut("default").unwrap();
    track.paused = Some(phileas_domain::state::Pause::default());
    desk.set_state(state);
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    assert!(!is_merged(&desk));
    assert!(desk.reasons("request:1").contains(&Reason::PausedTrack));
}

#[test]
fn who_only_observes_merges_nothing_and_looks_at_nothing() {
    let mut desk = reviewed(GREEN);
    let observe = GREEN.replace("[defaults]", "[defaults]\nmode = \"observe\"");
    desk.files
        .insert(".jules/schedules.toml".to_owned(), observe);
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    assert!(!is_merged(&desk));
    assert_eq!((asked(&desk), desk.last_looks), (0, 0));
}

#[test]
fn a_lost_answer_is_looked_for_before_it_is_asked_again_and_that_ends() {
    let mut desk = reviewed(GREEN);
    desk.merging = Merging::Lost;
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    assert_eq!(asked(&desk), 1);
    for _ in 0..4 {
        desk.minutes(6);
        desk.tick();
        assert_eq!(asked(&desk), 0, "it is merged");
    }
    assert!(desk.status(PULL.0).contains("was merged"));

    let mut desk = reviewed(GREEN);
    desk.merging = Merging::LostBefore;
    desk.label(PULL.0, "merge", "ada");
    let mut count = 0;
    for _ in 0..8 {
        desk.tick();
        count += asked(&desk);
        desk.minutes(6);
    }
    assert_eq!(count, 3);
    assert!(
        desk.status(PULL.0).contains("refused.merge_failed"),
        "{}",
        desk.status(PULL.0)
    );
}

/// Who died before the answer left the label on, and nobody reads the labels of what is not open.
#[test]
fn the_label_of_what_turns_out_to_be_merged_comes_off() {
    let mut desk = reviewed(GREEN);
    desk.merging = Merging::Lost;
    desk.lost = vec!["remove_label"];
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    assert!(is_merged(&desk) && desk.bears(PULL.0).contains("merge"));
    desk.subject(PULL.0).open = false;
    desk.lost.clear();
    desk.minutes(1);
    desk.tick();
    assert!(desk.bears(PULL.0).is_empty());
}

/// A commit that is pushed between two attempts is not merged.
#[test]
fn what_changed_since_a_lost_answer_counts() {
    let mut desk = reviewed(GREEN);
    desk.merging = Merging::LostBefore;
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    facts(&mut desk).head = "01".into();
    desk.merging = Merging::Merges;
    desk.minutes(6);
    desk.tick();
    assert!(!is_merged(&desk));
    assert_eq!(asked(&desk), 0);
    assert_eq!(desk.reasons("request:1"), [Reason::ContentChanged]);
}

#[test]
fn r22_what_github_says_against_it_is_told_once_and_calls_nobody() {
    let mut desk = reviewed(GREEN);
    desk.merging = Merging::Refuses;
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    assert_eq!(asked(&desk), 1);
    let status = desk.status(PULL.0).to_owned();
    assert!(
        status.contains("not today") && !status.contains("@ada"),
        "{status}"
    );
    for _ in 0..3 {
        desk.minutes(20);
        desk.tick();
        assert_eq!(asked(&desk), 0);
    }
    // Put on again, it counts.
    desk.merging = Merging::Merges;
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    assert!(is_merged(&desk));
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

/// A merge that was never asked for is no attempt, and GitHub's own word about when to come back is kept.
#[test]
fn what_github_could_not_do_at_that_moment_is_asked_again_and_not_counted() {
    let mut desk = reviewed(GREEN);
    desk.merging = Merging::PutsOff(None);
    desk.label(PULL.0, "merge", "ada");
    let mut gaps = Vec::new();
    let mut last = desk.now;
    for _ in 0..180 {
        desk.tick();
        if asked(&desk) > 0 {
            gaps.push(desk.now.duration_since(last).as_mins());
            last = desk.now;
            assert!(desk.status(PULL.0).contains("waiting.merge_put_off"));
        }
        desk.minutes(1);
    }
    assert_eq!(gaps, [0, 1, 2, 4, 8, 16, 30, 30, 30, 30]);
    let asked_at = desk.now;
    let hour = asked_at.checked_add(jiff::SignedDuration::from_hours(1));
    desk.merging = Merging::PutsOff(hour.ok());
    desk.minutes(30);
    desk.tick();
    assert_eq!(asked(&desk), 1);
    desk.merging = Merging::Merges;
    desk.minutes(29);
    desk.tick();
    assert_eq!((asked(&desk), is_merged(&desk)), (0, false));
    let looks = desk.last_looks;
    desk.minutes(1);
    desk.tick();
    assert!(is_merged(&desk), "{:?}", desk.lines);
    assert_eq!(desk.last_looks, looks + 1, "it is looked at anew");
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

/// What GitHub never works out is looked at ever less often, and not for ever.
#[test]
fn what_github_never_knows_is_refused_after_some_looks() {
    let mut desk = reviewed(GREEN);
    facts(&mut desk).stands = MergeStands::Unknown;
    desk.label(PULL.0, "merge", "ada");
    for _ in 0..121 {
        desk.tick();
        assert!(!is_merged(&desk) && desk.status(PULL.0).contains("waiting."));
        desk.minutes(1);
    }
    desk.tick();
    assert_eq!(desk.last_looks, 9);
    refused(&mut desk, Reason::NotMergeable, "unknown");
    assert_eq!(desk.last_looks, 9);
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

#[test]
fn a_track_that_is_only_observed_is_not_merged() {
    let plan = "[tracks.default]\nsteps = [{ persona = \"a\", merge = \"green\" }]\n[budget]\nmax_open_pulls = 1\n";
    let mut desk = reviewed(plan);
    let observed = plan.replace("steps =", "mode = \"observe\"\nsteps =");
    desk.files
        .insert(".jules/schedules.toml".to_owned(), observed);
    desk.label(PULL.0, "merge", "ada");
    desk.tick();
    refused(&mut desk, Reason::MergeOff, "observed");
}

/// What steers other programs than GitHub's own is a person's as well.
#[test]
fn r18_what_steers_editors_agents_and_other_ci_is_protected() {
    for path in [
        ".circleci/config.yml",
        ".gitlab-ci.yml",
        "ci/Jenkinsfile",
        ".claude/settings.json",
        ".cursor/rules/a.mdc",
        ".devcontainer/devcontainer.json",
        ".husky/pre-commit",
        "web/.npmrc",
        ".cargo/config.toml",
        "bun.lockb",
        "ios/Podfile.lock",
        "gradle.lockfile",
        "packages.lock.json",
    ] {
        let mut desk = reviewed(GREEN);
        facts(&mut desk).files = Some(vec![path.to_owned()]);
        desk.label(PULL.0, "merge", "ada");
        desk.tick();
        refused(&mut desk, Reason::ProtectedPath, path);
    }
}
