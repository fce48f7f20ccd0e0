use serde_json::{Value, json as value};

use super::*;
use crate::adapters::github::scripted::{Set, json, lost, set};

fn issue(number: u64, key: &str, label: &str) -> Value {
    value!({ "number": number, "state": "open", "body": format!("text\n\n{}\n", notice_marker(key)),
        "labels": [{ "name": label }] })
}

/// The open issues with the label, with the kind of the account that opened each, or a person's association with the
/// repository.
fn listed(issues: &[(u64, &str, bool, &str)]) -> Value {
    let nodes: Vec<_> = issues
        .iter()
        .map(|(number, key, ours, kind)| {
            value!({ "number": number, "viewerDidAuthor": ours, "author": { "__typename": if *kind == "Bot" { "Bot" } else { "User" } },
                "authorAssociation": kind,
                "body": format!("text\n\n{}\n", notice_marker(key)) })
        })
        .collect();
    value!({ "data": { "repository": { "issues": {
        "pageInfo": { "hasNextPage": false, "endCursor": null }, "nodes": nodes } } } })
}

async fn open(set: &Set) -> Result<u64, Failure> {
    set.client
        .open_notice_once("ledger_corrupt", "title", "body")
        .await
}

#[tokio::test]
async fn an_open_notice_is_not_opened_again() {
    for (ours, kind, opens) in [
        (true, "NONE", false),
        (false, "Bot", false),
        (false, "COLLABORATOR", false),
        (false, "CONTRIBUTOR", true),
    ] {
        let issues = [
            (2, "turn:x", true, "NONE"),
            (3, "ledger_corrupt", ours, kind),
        ];
        let mut replies = vec![json(200, &listed(&issues))];
        if opens {
            replies.push(json(200, &value!({})));
            replies.push(json(201, &issue(9, "ledger_corrupt", NOTICE_LABEL)));
        } else {
            replies.push(json(200, &issue(3, "ledger_corrupt", NOTICE_LABEL)));
        }
        let set = set(replies);
        assert_eq!(
            open(&set).await.unwrap(),
            if opens { 9 } else { 3 },
            "{kind}"
        );
    }
}

/// A listing lags: an issue in it may have just been closed, and does not replace a new one.
#[tokio::test]
async fn a_notice_that_only_a_late_list_shows_as_open_is_opened() {
    let mut closed = issue(3, "ledger_corrupt", NOTICE_LABEL);
    closed["state"] = "closed".into();
    let set = set([
        json(200, &listed(&[(3, "ledger_corrupt", true, "NONE")])),
        json(200, &closed),
        json(200, &value!({})),
        json(201, &issue(9, "ledger_corrupt", NOTICE_LABEL)),
    ]);
    assert_eq!(open(&set).await.unwrap(), 9);
}

#[tokio::test]
async fn the_label_is_made_and_must_stick() {
    let set = set([
        json(200, &listed(&[])),
        json(404, &value!({})),
        json(422, &value!({ "message": "already_exists" })),
        json(201, &value!({ "number": 9, "state": "open", "labels": [] })),
        json(200, &value!([])),
    ]);
    assert_eq!(open(&set).await.unwrap(), 9);
    let seen = set.script.seen();
    assert_eq!(seen[3].body["labels"], value!(["phileas"]));
    assert_eq!(
        seen[3].body["body"],
        "body\n\n<!-- phileas:notice:ledger_corrupt -->\n"
    );
    assert!(seen[4].line.ends_with("/issues/9/labels"));
}

#[tokio::test]
async fn a_lost_answer_is_looked_up_and_never_repeated() {
    let found = || json(200, &listed(&[(4, "ledger_corrupt", true, "NONE")]));
    let nothing = || json(200, &listed(&[]));
    let label = || json(200, &value!({}));
    let set = set([nothing(), label(), lost(), nothing(), found()]);
    assert_eq!(open(&set).await.unwrap(), 4);

    let set = crate::adapters::github::scripted::set([
        nothing(),
        label(),
        json(502, &value!({})),
        nothing(),
        nothing(),
    ]);
    let failure = open(&set).await.unwrap_err();
    assert_eq!(failure.disposition, Disposition::Unknown);
    let posts = set.script.lines();
    let is_write = |line: &&String| line.starts_with("POST") && line.ends_with("/issues");
    let posts = posts.iter().filter(is_write);
    assert_eq!(posts.count(), 1);
}

#[tokio::test]
async fn closing_says_its_word_once() {
    let open = || json(200, &issue(4, "turn:x", NOTICE_LABEL));
    let said = value!([{ "body": format!("done\n\n{CLOSING_MARKER}\n") }]);
    let first = set([
        open(),
        json(200, &value!([{ "body": null }])),
        json(201, &value!({})),
        lost(),
    ]);
    let failure = first.client.close_notice_once(4, "done").await.unwrap_err();
    assert_eq!(failure.disposition, Disposition::Unknown);
    let second = set([open(), json(200, &said), json(200, &value!({}))]);
    second.client.close_notice_once(4, "done").await.unwrap();
    assert_eq!(second.script.seen()[2].body["state"], "closed");
    let closed = value!({ "number": 4, "state": "closed" });
    let third = set([json(200, &closed)]);
    third.client.close_notice_once(4, "done").await.unwrap();
}

#[tokio::test]
async fn a_locked_issue_is_closed_without_the_comment() {
    let denied = || {
        let said = "Unable to create comment because issue is locked.";
        json(403, &value!({ "message": said }))
    };
    let mut locked = issue(4, "turn:x", NOTICE_LABEL);
    locked["locked"] = true.into();
    let open = json(200, &locked);
    let set = set([
        open,
        json(200, &value!([])),
        denied(),
        json(200, &value!({})),
    ]);
    set.client.close_notice_once(4, "done").await.unwrap();
    assert_eq!(set.script.seen()[3].body["state"], "closed");
    // Where it is not locked, the credential may not comment, and nothing is hidden.
    let open = json(200, &issue(4, "turn:x", NOTICE_LABEL));
    let set = crate::adapters::github::scripted::set([open, json(200, &value!([])), denied()]);
    let failure = set.client.close_notice_once(4, "done").await.unwrap_err();
    assert_eq!(failure.disposition, Disposition::Denied);
}

#[tokio::test]
async fn an_issue_of_others_is_left_alone() {
    let theirs = value!({ "number": 4, "state": "open", "body": "help" });
    let set = set([json(200, &theirs)]);
    let failure = set.client.close_notice_once(4, "done").await.unwrap_err();
    assert_eq!(failure.disposition, Disposition::Refused);
}

#[test]
fn markers_are_read_as_they_are_written() {
    let body = format!("a {} b", notice_marker("turn:k3v9w2m1q8zt.1"));
    assert_eq!(notice_key_in(&body), Some("turn:k3v9w2m1q8zt.1"));
    assert_eq!(notice_key_in("<!-- phileas:notice:open"), None);
    assert_eq!(notice_key_in(""), None);
}
