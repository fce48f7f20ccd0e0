//! Tests merges whose answer was lost, and GitHub's objections.

use phileas_domain::engine::{MergeStatus, Reason};
use phileas_domain::model::Oid;

use super::{GREEN, PULL, facts, is_merged, merge_count, refused, reviewed};
use crate::support::scenario::{Merging, Scenario};

/// A process that died after the commit has not called GitHub; the next tick checks again and calls.
#[test]
fn the_ledger_records_a_merge_call_before_it_is_made() {
    let mut scenario = reviewed(GREEN);
    scenario.label(PULL.0, "merge", "ada");
    scenario.answering = crate::support::scenario::Answering::Dies;
    scenario.tick();
    assert!(!is_merged(&scenario));
    let sent = |scenario: &Scenario| {
        let mut requests = scenario.state().requests.values();
        requests.find_map(|one| one.merge.clone()).unwrap()
    };
    assert_eq!(sent(&scenario).sent_at, Some(scenario.now));
    assert_eq!(sent(&scenario).head, Oid::from("00"));
    scenario.answering = crate::support::scenario::Answering::Session;
    scenario.minutes(4);
    scenario.tick();
    assert_eq!(
        merge_count(&scenario),
        0,
        "the first request may still be answered"
    );
    assert_eq!(scenario.reasons("request:1"), [Reason::MergeSent]);
    scenario.minutes(1);
    scenario.tick();
    assert!(is_merged(&scenario));
    assert_eq!(sent(&scenario).attempts, 2);
}

#[test]
fn after_a_lost_answer_the_pull_request_is_read_before_each_further_call_and_calls_end() {
    let mut scenario = reviewed(GREEN);
    scenario.merging = Merging::Lost;
    scenario.label(PULL.0, "merge", "ada");
    scenario.tick();
    assert_eq!(merge_count(&scenario), 1);
    for _ in 0..4 {
        scenario.minutes(6);
        scenario.tick();
        assert_eq!(merge_count(&scenario), 0, "it is merged");
    }
    assert!(scenario.status(PULL.0).contains("was merged"));

    let mut scenario = reviewed(GREEN);
    scenario.merging = Merging::LostBefore;
    scenario.label(PULL.0, "merge", "ada");
    let mut count = 0;
    for _ in 0..8 {
        scenario.tick();
        count += merge_count(&scenario);
        scenario.minutes(6);
    }
    assert_eq!(count, 3);
    assert!(
        scenario.status(PULL.0).contains("refused.merge_failed"),
        "{}",
        scenario.status(PULL.0)
    );
}

/// A process that died before the answer left the label, and labels of closed pull requests are not read.
#[test]
fn the_label_of_what_turns_out_to_be_merged_comes_off() {
    let mut scenario = reviewed(GREEN);
    scenario.merging = Merging::Lost;
    scenario.lost = vec!["remove_label"];
    scenario.label(PULL.0, "merge", "ada");
    scenario.tick();
    assert!(is_merged(&scenario) && scenario.bears(PULL.0).contains("merge"));
    scenario.subject(PULL.0).open = false;
    scenario.lost.clear();
    scenario.minutes(1);
    scenario.tick();
    assert!(scenario.bears(PULL.0).is_empty());
}

/// A commit that is pushed between two attempts is not merged.
#[test]
fn what_changed_since_a_lost_answer_counts() {
    let mut scenario = reviewed(GREEN);
    scenario.merging = Merging::LostBefore;
    scenario.label(PULL.0, "merge", "ada");
    scenario.tick();
    facts(&mut scenario).head = "01".into();
    scenario.merging = Merging::Merges;
    scenario.minutes(6);
    scenario.tick();
    assert!(!is_merged(&scenario));
    assert_eq!(merge_count(&scenario), 0);
    assert_eq!(scenario.reasons("request:1"), [Reason::ContentChanged]);
}

#[test]
fn r22_githubs_objection_is_reported_once_and_mentions_no_account() {
    let mut scenario = reviewed(GREEN);
    scenario.merging = Merging::Refuses;
    scenario.label(PULL.0, "merge", "ada");
    scenario.tick();
    assert_eq!(merge_count(&scenario), 1);
    let status = scenario.status(PULL.0).to_owned();
    assert!(
        status.contains("not today") && !status.contains("@ada"),
        "{status}"
    );
    for _ in 0..3 {
        scenario.minutes(20);
        scenario.tick();
        assert_eq!(merge_count(&scenario), 0);
    }
    // Put on again, it counts.
    scenario.merging = Merging::Merges;
    scenario.label(PULL.0, "merge", "ada");
    scenario.tick();
    assert!(is_merged(&scenario));
}

/// A merge that was never sent is no attempt, and GitHub's own retry time is kept.
#[test]
fn a_postponed_merge_is_requested_again_and_not_counted() {
    let mut scenario = reviewed(GREEN);
    scenario.merging = Merging::PutsOff(None);
    scenario.label(PULL.0, "merge", "ada");
    let mut gaps = Vec::new();
    let mut last = scenario.now;
    for _ in 0..180 {
        scenario.tick();
        if merge_count(&scenario) > 0 {
            gaps.push(scenario.now.duration_since(last).as_mins());
            last = scenario.now;
            assert!(scenario.status(PULL.0).contains("waiting.merge_put_off"));
        }
        scenario.minutes(1);
    }
    assert_eq!(gaps, [0, 1, 2, 4, 8, 16, 30, 30, 30, 30]);
    let asked_at = scenario.now;
    let hour = asked_at.checked_add(jiff::SignedDuration::from_hours(1));
    scenario.merging = Merging::PutsOff(hour.ok());
    scenario.minutes(30);
    scenario.tick();
    assert_eq!(merge_count(&scenario), 1);
    scenario.merging = Merging::Merges;
    scenario.minutes(29);
    scenario.tick();
    assert_eq!((merge_count(&scenario), is_merged(&scenario)), (0, false));
    let looks = scenario.last_looks;
    scenario.minutes(1);
    scenario.tick();
    assert!(is_merged(&scenario), "{:?}", scenario.lines);
    assert_eq!(scenario.last_looks, looks + 1, "it is read again");
}

/// A mergeability that GitHub never computes is checked less and less often, and not forever.
#[test]
fn a_merge_that_github_never_computes_is_refused_after_some_checks() {
    let mut scenario = reviewed(GREEN);
    facts(&mut scenario).status = MergeStatus::Unknown;
    scenario.label(PULL.0, "merge", "ada");
    for _ in 0..121 {
        scenario.tick();
        assert!(!is_merged(&scenario) && scenario.status(PULL.0).contains("waiting."));
        scenario.minutes(1);
    }
    scenario.tick();
    assert_eq!(scenario.last_looks, 9);
    refused(&mut scenario, Reason::NotMergeable, "unknown");
    assert_eq!(scenario.last_looks, 9);
}
