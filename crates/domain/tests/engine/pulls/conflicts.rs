//! Tests that a pull request with a conflict, or behind its base, goes back to its session.

use phileas_domain::engine::{Checks, Effect, Mergeable, Reason};
use phileas_domain::model::PullNumber;

use crate::support::scenario::Scenario;

const PULL: PullNumber = PullNumber(1);

fn conflicting() -> Scenario {
    let mut scenario = Scenario::new("cycle = [\"a\"]\n[budget]\nmax_open_pulls = 1\n", &["a"]);
    scenario.tick();
    scenario.minutes(5);
    scenario.opens_pull();
    scenario.tick();
    scenario.minutes(5);
    becomes(&mut scenario, "c1", Mergeable::Conflicting);
    scenario
}

fn becomes(scenario: &mut Scenario, commit: &str, mergeable: Mergeable) {
    let pull = scenario.pulls.get_mut(&PULL).unwrap();
    pull.head_oid = commit.into();
    pull.mergeable = mergeable;
}

fn messages(scenario: &Scenario) -> Vec<&str> {
    let all = scenario.effects.iter();
    all.filter_map(|effect| match effect {
        Effect::NotifyPullSession { text, .. } => Some(text.as_str()),
        _ => None,
    })
    .collect()
}

#[test]
fn a_session_gets_a_conflict_message_once_for_each_commit_and_three_times_in_all() {
    let mut scenario = conflicting();
    for round in 1..=3 {
        becomes(&mut scenario, &format!("c{round}"), Mergeable::Conflicting);
        scenario.tick();
        let said = messages(&scenario);
        assert_eq!(said.len(), 1);
        assert!(said[0].contains("it conflicts with its base"));
        assert!(said[0].ends_with(&format!("phileas-message: pull 1 base c{round}")));
        assert!(scenario.all_reasons().contains(&Reason::UpdateRequested));
        scenario.hours(1);
        scenario.tick();
        assert_eq!(messages(&scenario).len(), 0);
    }
    becomes(&mut scenario, "c4", Mergeable::Conflicting);
    scenario.tick();
    assert_eq!(messages(&scenario).len(), 0);
    assert_eq!(scenario.notices.len(), 1);
    becomes(&mut scenario, "c5", Mergeable::Unknown);
    scenario.tick();
    assert_eq!(
        scenario.notices.len(),
        1,
        "it is not known whether it is fixed"
    );
    becomes(&mut scenario, "c5", Mergeable::Yes);
    scenario.tick();
    assert_eq!(scenario.notices, []);
}

#[test]
fn a_pull_request_behind_its_base_gets_a_message_and_an_unknown_one_waits() {
    for (mergeable, count) in [
        (Mergeable::Unknown, 0),
        (Mergeable::Yes, 0),
        (Mergeable::Behind, 1),
    ] {
        let mut scenario = conflicting();
        becomes(&mut scenario, "c1", mergeable);
        scenario.tick();
        assert_eq!(
            (messages(&scenario).len(), scenario.session_reads),
            (count, count)
        );
        let is_behind = |text: &&str| text.contains("it is behind its base");
        assert!(messages(&scenario).iter().all(is_behind));
        // A conflict that is found later belongs to the same commit.
        if count > 0 {
            scenario.hours(1);
            becomes(&mut scenario, "c1", Mergeable::Conflicting);
            scenario.tick();
            assert_eq!(messages(&scenario).len(), 0);
        }
    }
}

#[test]
fn conflicts_are_fixed_before_failed_checks_and_these_before_an_update() {
    for (mergeable, checks, first) in [
        (Mergeable::Conflicting, Checks::Failed, "base c1"),
        (Mergeable::Behind, Checks::Failed, ""),
        (Mergeable::Behind, Checks::Pending, ""),
        (Mergeable::Behind, Checks::Passed, "base c1"),
    ] {
        let mut scenario = conflicting();
        becomes(&mut scenario, "c1", mergeable);
        scenario.pulls.get_mut(&PULL).unwrap().checks = checks;
        scenario.tick();
        let said = messages(&scenario);
        let is_first = |text: &&str| text.ends_with(first);
        assert_eq!(
            said.len(),
            usize::from(!first.is_empty()),
            "{mergeable:?} {checks:?}"
        );
        assert!(said.iter().all(is_first));
    }
}

#[test]
fn a_conflict_message_whose_sender_died_is_sent_again() {
    let mut scenario = conflicting();
    scenario.lost = vec!["notify_pull_session"];
    scenario.tick();
    scenario.lost.clear();
    scenario.minutes(15);
    scenario.tick();
    assert_eq!(messages(&scenario).len(), 1);
    let known = scenario.state().pulls[&PULL].clone();
    assert_eq!(known.conflict_rounds, 1);
    assert!(known.conflicts.unwrap().notified);
}

/// A lagging replica shows a commit with a message: no message is sent, and no round is used.
#[test]
fn a_look_that_lags_behind_does_not_say_the_same_again() {
    let mut scenario = conflicting();
    for commit in ["c1", "c2"] {
        becomes(&mut scenario, commit, Mergeable::Conflicting);
        scenario.tick();
        assert_eq!(messages(&scenario).len(), 1);
        scenario.minutes(20);
    }
    for commit in ["c1", "c2"] {
        becomes(&mut scenario, commit, Mergeable::Conflicting);
        scenario.tick();
        assert_eq!(messages(&scenario).len(), 0, "{commit}");
        assert!(scenario.all_reasons().contains(&Reason::UpdateRequested));
    }
    let known = scenario.state().pulls[&PULL].clone();
    assert_eq!(
        (known.conflict_rounds, known.conflicts.unwrap().head),
        (2, "c2".into())
    );
}
