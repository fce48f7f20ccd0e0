use std::collections::BTreeMap;

use phileas::runtime::ports::{
    Commit, CommitError, Disposition, LedgerRead, ReadGitHub as _, WriteGitHub as _,
};
use phileas_domain::model::Oid;
use serde_json::json;

use super::place::ClientWorld;

fn commit(base: Option<&Oid>, holder: &str, text: &str) -> Commit {
    Commit {
        base: base.cloned(),
        headline: "phileas: intent default#1 curator".to_owned(),
        body: format!("Phileas-Holder: {holder}\nskip-checks: true\n"),
        files: BTreeMap::from([(".jules/cycle_state.json".to_owned(), Some(text.to_owned()))]),
    }
}

/// How many commits of a holder the branch `jules` has.
fn commits_of(place: &ClientWorld, holder: &str) -> usize {
    let trailer = format!("Phileas-Holder: {holder}");
    let messages = place.messages("jules");
    let ours = messages.iter().filter(|message| message.contains(&trailer));
    ours.count()
}

#[tokio::test]
async fn a_ledger_is_born_grows_and_lets_only_one_of_two_win() {
    let place = ClientWorld::new();
    let (one, two) = (place.client(), place.client());
    let born = one.commit_ledger(&commit(None, "one", "1")).await.unwrap();
    let late = two.commit_ledger(&commit(None, "two", "2")).await;
    assert_eq!(late, Err(CommitError::Stale));
    for text in ["expected-branch", "is-at-but-expected"] {
        for missing in [0.0, 1.0] {
            place.knobs(&json!({ "stale-text": text, "stale-type-missing": missing }));
            let head = match one.observe_repository().await.unwrap().ledger {
                LedgerRead::State { head, .. } => head,
                other => panic!("{other:?}"),
            };
            let won = two
                .commit_ledger(&commit(Some(&head), "two", "ä\n"))
                .await
                .unwrap();
            let lost = one.commit_ledger(&commit(Some(&head), "one", "3")).await;
            assert_eq!(lost, Err(CommitError::Stale));
            let text = "ä\n".to_owned();
            let ledger = LedgerRead::State { head: won, text };
            assert_eq!(two.observe_repository().await.unwrap().ledger, ledger);
        }
    }
    assert_eq!(
        (commits_of(&place, "one"), commits_of(&place, "two")),
        (1, 4)
    );
    let messages = place.messages("jules");
    assert_eq!(
        messages.last().unwrap().trim_end(),
        "phileas: intent default#1 curator\n\nPhileas-Holder: one\nskip-checks: true"
    );
    let born = born.to_string().parse().unwrap();
    let world = place.world();
    let first = world
        .github()
        .objects(place.repo)
        .unwrap()
        .commit(born)
        .unwrap();
    assert!(first.parents.is_empty(), "the ledger is an orphan");
}

#[tokio::test]
async fn a_plain_commit_costs_one_request() {
    let place = ClientWorld::new();
    let client = place.client();
    let head = client
        .commit_ledger(&commit(None, "one", "1"))
        .await
        .unwrap();
    let before = client.usage().requests;
    client
        .commit_ledger(&commit(Some(&head), "one", "2"))
        .await
        .unwrap();
    assert_eq!(client.usage().requests - before, 1);
}

#[tokio::test]
async fn a_lost_answer_is_settled_by_looking_whatever_happened() {
    let faults = [
        json!({ "kind": "drop-before" }),
        json!({ "kind": "drop-after" }),
        json!({ "kind": "timeout-before" }),
        json!({ "kind": "timeout-after" }),
        json!({ "kind": "status", "status": 502, "done": true, "html": true }),
        json!({ "kind": "status", "status": 500 }),
    ];
    for lag in [0, 8] {
        for fault in &faults {
            for (birth, path, body) in [(false, "/graphql", "Commit"), (true, "*/git/refs", "")] {
                let place = ClientWorld::new();
                let client = place.client();
                let head = if birth {
                    None
                } else {
                    Some(
                        client
                            .commit_ledger(&commit(None, "birth", "0"))
                            .await
                            .unwrap(),
                    )
                };
                place.knobs(&json!({ "replica-lag-seconds": lag }));
                place.faults(
                    &json!([{ "method": "POST", "path": path, "body": body, "nth": 1,
                    "fault": fault }]),
                );
                let told = format!("{fault} lag {lag} birth {birth}");
                let oid = client
                    .commit_ledger(&commit(head.as_ref(), "one", "1"))
                    .await
                    .unwrap_or_else(|error| panic!("{told}: {error:?}"));
                let at = place.world().github().branch_head(place.repo, "jules");
                assert_eq!(at.unwrap().to_string(), oid.to_string(), "{told}");
                assert_eq!(commits_of(&place, "one"), 1, "{told}");
            }
        }
    }
}

#[tokio::test]
async fn with_every_answer_lost_nothing_is_doubled() {
    let place = ClientWorld::new();
    let client = place.client();
    let mut head = client
        .commit_ledger(&commit(None, "birth", "0"))
        .await
        .unwrap();
    place.knobs(&json!({ "commit-done-although-502": 1.0, "replica-lag-seconds": 8 }));
    for round in 1..=5 {
        let text = round.to_string();
        head = client
            .commit_ledger(&commit(Some(&head), "one", &text))
            .await
            .unwrap();
        assert_eq!(commits_of(&place, "one"), round);
    }
}

#[tokio::test]
async fn an_empty_repository_says_what_to_do() {
    let place = ClientWorld::with(phileas_world::seed::Files::new());
    let client = place.client();
    let seen = client.observe_repository().await.unwrap();
    assert_eq!(seen.repository.default_head, None);
    assert_eq!(seen.ledger, LedgerRead::NoBranch);
    match client.commit_ledger(&commit(None, "one", "1")).await {
        Err(CommitError::Failed(failure)) => {
            assert_eq!(failure.disposition, Disposition::Refused);
            assert!(failure.detail.contains("first commit"), "{failure}");
        }
        other => panic!("{other:?}"),
    }
}
