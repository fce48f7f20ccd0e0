//! Tests commits against a small branch of git, with every combination of results.

mod place;

use std::collections::BTreeMap;
use std::time::Duration;

use phileas_domain::model::Oid;

use super::*;
use crate::runtime::ports::{Commit, CommitError, Disposition};
use place::{AttemptResult, FakeRemote, OURS, Rival};

fn commit_on(base: Option<&str>) -> Commit {
    Commit {
        base: base.map(Oid::from),
        headline: "phileas: intent default#1 curator".to_owned(),
        body: "Phileas-Turn: k3v9w2m1q8zt\nPhileas-Holder: serve:a:1\n".to_owned(),
        files: BTreeMap::from([
            (
                ".jules/cycle_state.json".to_owned(),
                Some("{}\n".to_owned()),
            ),
            (".jules/gone".to_owned(), None),
        ]),
    }
}

const RIVALS: [Rival; 4] = [
    Rival::Never,
    Rival::BeforeUs,
    Rival::AfterOurFirstAttempt,
    Rival::TwiceAfterOurFirstAttempt,
];
/// How many reads of the head still show the old one. [`CHECK_DELAYS`] bridges three.
const LAGS: [u32; 5] = [0, 1, 3, 4, 12];

/// Every combination of two results, a rival and a lag, for an existing and for a new branch.
fn every_place() -> Vec<(FakeRemote, bool)> {
    let mut places = Vec::new();
    for born in [false, true] {
        for first in AttemptResult::ALL {
            for second in AttemptResult::ALL {
                for rival in RIVALS {
                    for lag in LAGS {
                        places.push((FakeRemote::new(!born, [first, second], rival, lag), born));
                    }
                }
            }
        }
    }
    places
}

#[tokio::test]
async fn whatever_happens_a_win_is_a_fact_and_nothing_is_done_twice() {
    let mut tried = 0;
    let mut wins = 0;
    for (place, born) in every_place() {
        let base = (!born).then_some("base");
        let answer = commit(&place, &commit_on(base)).await;
        place.let_late_ones_land();
        let told = place.transcript();
        assert!(place.ours() <= 1, "doubled: {told}: {answer:?}");
        match &answer {
            Ok(oid) => {
                wins += 1;
                assert_eq!(
                    place.message_of(oid.as_str()).as_deref(),
                    Some(OURS),
                    "{told}"
                );
                assert!(place.is_on_branch(oid.as_str()), "{told}");
            }
            // Only a commit that appears after all checks may stay unnoticed.
            Err(CommitError::Stale) => {
                assert!(
                    place.ours() == 0 || place.is_beyond_looking(),
                    "lost: {told}"
                );
            }
            Err(CommitError::Failed(failure)) => {
                assert_ne!(failure.disposition, Disposition::Unknown, "{told}");
                assert!(
                    place.ours() == 0 || place.is_beyond_looking(),
                    "lost: {told}"
                );
            }
        }
        assert!(place.sent() <= MAX_SWAPS, "{told}");
        tried += 1;
    }
    assert_eq!(
        tried,
        2 * AttemptResult::ALL.len() * AttemptResult::ALL.len() * RIVALS.len() * LAGS.len()
    );
    assert!(wins > 200, "{wins}");
}

#[tokio::test]
async fn a_plain_win_costs_one_request() {
    let place = FakeRemote::new(true, [AttemptResult::Lands; 2], Rival::Never, 0);
    commit(&place, &commit_on(Some("base"))).await.unwrap();
    assert_eq!(
        (place.sent(), place.reads(), place.waited()),
        (1, 0, Duration::ZERO)
    );
}

#[tokio::test]
async fn a_lost_answer_of_a_commit_that_landed_is_a_win() {
    for lag in [0, 1, 2, 3] {
        let place = FakeRemote::new(true, [AttemptResult::LandsUnheard; 2], Rival::Never, lag);
        commit(&place, &commit_on(Some("base"))).await.unwrap();
        assert_eq!(place.sent(), 1, "lag {lag}");
    }
    // The replica hides it from all checks; the repetition is refused, and the checks after it find it.
    let place = FakeRemote::new(
        true,
        [AttemptResult::LandsUnheard, AttemptResult::Lands],
        Rival::Never,
        4,
    );
    commit(&place, &commit_on(Some("base"))).await.unwrap();
    assert_eq!(place.sent(), 2);
}

#[tokio::test]
async fn a_commit_with_our_words_and_other_contents_is_not_ours() {
    let mut other = commit_on(Some("base"));
    other.files.insert(
        ".jules/cycle_state.json".to_owned(),
        Some("{ }\n".to_owned()),
    );
    let place = FakeRemote::new(true, [AttemptResult::Lands; 2], Rival::Never, 0);
    commit(&place, &other).await.unwrap();
    let answer = commit(&place, &commit_on(Some("base"))).await;
    assert_eq!(answer, Err(CommitError::Stale));
}

#[tokio::test]
async fn a_refusal_is_told_at_once() {
    let place = FakeRemote::new(true, [AttemptResult::Refused; 2], Rival::Never, 0);
    let answer = commit(&place, &commit_on(Some("base"))).await;
    assert!(
        matches!(&answer, Err(CommitError::Failed(failure)) if failure.disposition == Disposition::Denied),
        "{answer:?}"
    );
    assert_eq!((place.sent(), place.reads()), (1, 0));
}

#[tokio::test]
async fn a_refusal_of_the_repetition_is_not_believed() {
    let fates = [AttemptResult::LandsUnheard, AttemptResult::Refused];
    for base in [Some("base"), None] {
        let place = FakeRemote::new(base.is_some(), fates, Rival::Never, 4);
        commit(&place, &commit_on(base)).await.unwrap();
        assert_eq!(place.sent(), 2);
    }
}
