//! What becomes of a merge whose answer was lost, and of what GitHub says against it.

use phileas_domain::engine::{MergeStands, Reason};
use phileas_domain::model::Oid;

use super::{GREEN, PULL, asked, facts, is_merged, refused, reviewed};
use crate::desk::{Desk, Merging};

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
