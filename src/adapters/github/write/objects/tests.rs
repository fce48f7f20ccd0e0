use std::time::Duration;

use serde_json::json as value;

use super::*;
use crate::adapters::github::scripted::{json, lost, reply, set};

async fn swap(outcome: crate::adapters::github::scripted::Outcome) -> Attempt {
    let set = set([outcome]);
    let files = BTreeMap::from([
        (".jules/a".to_owned(), Some("ä\n".to_owned())),
        (".jules/b".to_owned(), None),
    ]);
    let base = Oid::from("base");
    let attempt = set
        .client
        .commit_on_branch("jules", &base, "subject", "body", &files)
        .await;
    let seen = set.script.seen();
    assert_eq!(seen.len(), 1, "a swap is sent once");
    let input = value!({
        "branch": { "repositoryNameWithOwner": "acme/widget", "branchName": "jules" },
        "expectedHeadOid": "base",
        "message": { "headline": "subject", "body": "body" },
        "fileChanges": {
            "additions": [{ "path": ".jules/a", "contents": "w6QK" }],
            "deletions": [{ "path": ".jules/b" }],
        },
    });
    assert_eq!(seen[0].body["variables"]["input"], input);
    attempt
}

fn errors(kind: Option<&str>, message: &str) -> crate::adapters::github::scripted::Outcome {
    let mut error = value!({ "message": message, "path": ["createCommitOnBranch"] });
    if let Some(kind) = kind {
        error["type"] = kind.into();
    }
    json(
        200,
        &value!({ "data": { "createCommitOnBranch": null }, "errors": [error] }),
    )
}

#[tokio::test]
async fn a_plain_success_is_believed() {
    let done = value!({ "data": { "createCommitOnBranch": { "commit": { "oid": "1f" } } } });
    assert_eq!(swap(json(200, &done)).await, Attempt::Done("1f".into()));
}

#[tokio::test]
async fn a_stale_head_is_known_by_type_and_by_both_texts() {
    let first = "Expected branch to point to \"base\" but it did not. Pull and try again.";
    for (kind, message) in [
        (Some("STALE_DATA"), "anything"),
        (Some("UNPROCESSABLE"), first),
        (None, first),
        (None, "jules is at 2b but expected base"),
    ] {
        assert_eq!(
            swap(errors(kind, message)).await,
            Attempt::Stale,
            "{message}"
        );
    }
}

#[tokio::test]
async fn what_github_is_unsure_of_is_doubtful() {
    let done = value!({ "data": { "createCommitOnBranch": { "commit": { "oid": "1f" } } },
        "errors": [{ "message": "Something went wrong" }] });
    for doubtful in [
        errors(None, "Something went wrong while executing your query."),
        json(
            200,
            &value!({ "errors": [{ "type": "A_NEW_TYPE", "message": "no" }] }),
        ),
        json(200, &done),
        json(200, &value!({ "data": null })),
        json(200, &value!("?")),
        json(502, &value!({})),
        lost(),
    ] {
        let attempt = swap(doubtful).await;
        assert!(matches!(attempt, Attempt::Doubtful(_)), "{attempt:?}");
    }
}

#[tokio::test]
async fn what_github_refuses_is_not_done() {
    for (outcome, disposition) in [
        (errors(Some("FORBIDDEN"), "no"), Disposition::Denied),
        (errors(Some("NOT_FOUND"), "no"), Disposition::NotFound),
        (
            errors(Some("UNPROCESSABLE"), "bad path"),
            Disposition::Refused,
        ),
        (json(401, &value!({})), Disposition::Denied),
        (
            reply(403, &[("retry-after", "61")], &value!({})),
            Disposition::Retry {
                after: Some(Duration::from_secs(61)),
            },
        ),
        (
            errors(Some("RATE_LIMIT"), "API rate limit already exceeded"),
            Disposition::Retry {
                after: Some(Duration::from_secs(60)),
            },
        ),
        (
            errors(None, "You have exceeded a secondary rate limit."),
            Disposition::Retry {
                after: Some(Duration::from_secs(60)),
            },
        ),
    ] {
        match swap(outcome).await {
            Attempt::Failed(failure) => assert_eq!(failure.disposition, disposition),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn an_orphan_is_written_whole_and_an_empty_repository_says_what_to_do() {
    let made = |sha: &str| json(201, &value!({ "sha": sha }));
    let set = set([made("tree"), made("commit")]);
    let files = BTreeMap::from([("a".to_owned(), Some("text".to_owned()))]);
    let oid = set.client.write_orphan("m", &files).await.unwrap();
    assert_eq!(oid, Oid::from("commit"));
    let seen = set.script.seen();
    assert_eq!(
        seen[0].body,
        value!({ "tree": [{ "path": "a", "mode": "100644", "type": "blob", "content": "text" }] })
    );
    assert_eq!(
        seen[1].body,
        value!({ "message": "m", "tree": "tree", "parents": [] })
    );

    let empty = value!({ "message": "Git Repository is empty." });
    let set = crate::adapters::github::scripted::set([json(409, &empty)]);
    let failure = set.client.write_orphan("m", &files).await.unwrap_err();
    assert_eq!(failure.disposition, Disposition::Refused);
    assert!(failure.detail.contains("repository is empty"), "{failure}");
}

#[tokio::test]
async fn a_branch_that_exists_is_told_from_one_that_may_not_be_made() {
    let at = Oid::from("1f");
    for (message, stale) in [
        ("Reference already exists", true),
        ("Repository rule violations found", false),
    ] {
        let rules = json(200, &value!([{ "type": "creation" }]));
        let set = set([json(422, &value!({ "message": message })), rules]);
        let attempt = set.client.create_branch("jules", &at).await;
        assert_eq!(attempt == Attempt::Stale, stale, "{attempt:?}");
    }
}
