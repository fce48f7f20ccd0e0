use std::collections::BTreeSet;
use std::time::Duration;

use phileas_domain::engine::PullState;
use phileas_domain::model::{Mode, PullNumber};
use serde_json::{Value, json as value};

use super::*;
use crate::adapters::github::http::retry::READ_ATTEMPTS;
use crate::adapters::github::scripted::{Outcome, Set, json, reply, set, start};
use crate::adapters::transport::TransportError;

fn file(name: &str, text: &str) -> Value {
    value!({ "name": name, "mode": 33188, "oid": "b1", "size": text.len(), "object": {
        "text": text, "byteSize": text.len(), "isTruncated": false, "isBinary": false } })
}

fn folder(name: &str, entries: &[Value]) -> Value {
    value!({ "name": name, "mode": 16384, "oid": "d1", "size": 0, "object": { "entries": entries } })
}

fn pull(number: u64, state: &str) -> Value {
    value!({ "number": number, "state": state, "isDraft": false, "title": "t", "body": "b",
        "author": { "login": "ada" }, "headRefName": "h", "headRefOid": "1f",
        "isCrossRepository": false, "baseRefName": "main", "createdAt": "2026-01-04T00:00:00Z",
        "closedAt": null, "mergedAt": null, "mergeable": "UNKNOWN", "mergeStateStatus": "UNKNOWN",
        "statusCheckRollup": null, "labels": { "nodes": [{ "name": "Phileas:Curator" }, { "name": "bug" }] }, "reviews": { "nodes": [] } })
}

/// The same with a command and another comment on it, of so many in all.
fn with_comments(mut on: Value, total: usize) -> Value {
    let comment = |body: &str| {
        value!({ "id": format!("IC_{}", on["number"]), "fullDatabaseId": "4000000001", "createdAt": start().to_string(),
            "lastEditedAt": null, "author": { "__typename": "User", "login": "ada", "databaseId": 5 }, "body": body })
    };
    let nodes = [comment("/phileas run curator"), comment("> /phileas stop")];
    on["updatedAt"] = "2026-01-04T12:00:00Z".into();
    on["comments"] = value!({ "totalCount": total, "nodes": nodes });
    on
}

fn answer() -> Value {
    let journal = value!({ "name": "2026-01-04.md", "mode": 33188, "oid": "b2", "size": 9 });
    let link = value!({ "name": "prompt.md", "mode": 40960, "oid": "b3", "size": 4, "object": {
        "text": "../x", "byteSize": 4, "isTruncated": false, "isBinary": false } });
    let personas = folder(
        "personas",
        &[
            folder(
                "curator",
                &[file("prompt.md", "Hi"), folder("journals", &[journal])],
            ),
            folder("sly", &[link]),
        ],
    );
    value!({ "data": { "rateLimit": { "cost": 2 }, "repository": {
        "databaseId": 7, "nameWithOwner": "acme/widget", "isPrivate": true, "isArchived": false,
        "defaultBranchRef": { "name": "main", "target": {
            "oid": "aa", "statusCheckRollup": { "state": "SUCCESS" },
            "schedules": file("schedules.toml", "cycle = []\n"),
            "blocks": folder("blocks", &[file("a.md", "x")]), "partials": null,
            "config": null,
            "jules": null,
            "tasks": folder("tasks", &[]), "sprints": null,
            "roles": null,
            "personas": personas,
        } },
        "ledger": { "target": { "oid": "bb",
            "folder": { "name": ".jules", "mode": 16384, "oid": "d2", "size": 0 },
            "exchange": { "name": "exchange", "mode": 16384, "oid": "e1", "size": 0 },
            "workstations": null, "workstreams": null, "changes": null,
            "state": file("cycle_state.json", "{\"version\":5}") } },
        "open": { "pageInfo": { "hasNextPage": false, "endCursor": null }, "nodes": [pull(3, "OPEN")] },
        "recent": { "pageInfo": { "hasNextPage": false, "endCursor": null }, "nodes": [with_comments(pull(3, "OPEN"), 1), with_comments(pull(2, "CLOSED"), 1), null] },
        "notices": { "nodes": [
            { "number": 5, "title": "Issue 5", "body": "x <!-- phileas:notice:jules_credential -->", "lastEditedAt": null,
                "author": { "__typename": "User" }, "authorAssociation": "NONE", "viewerDidAuthor": true },
            { "number": 6, "title": "Issue 6", "body": "a user's own", "lastEditedAt": null, "author": null, "authorAssociation": "NONE", "viewerDidAuthor": false },
            { "number": 10, "title": "Issue 10", "body": "<!-- phileas:notice:ledger_corrupt -->", "lastEditedAt": null,
                "author": { "__typename": "User" }, "authorAssociation": "CONTRIBUTOR", "viewerDidAuthor": false },
            { "number": 7, "title": "Issue 7", "body": "<!-- phileas:notice:dashboard -->", "viewerDidAuthor": true, "author": null, "authorAssociation": "NONE",
                "lastEditedAt": "2026-01-05T01:00:00Z" } ] },
        "paused": { "nodes": [{ "number": 8 }] },
        "active": { "pageInfo": { "hasNextPage": false, "endCursor": null }, "nodes": [
            with_comments(value!({ "number": 8, "labels": { "nodes": [{ "name": "phileas:pause" }, { "name": "phileas" }] } }), 1),
            with_comments(value!({ "number": 9, "labels": null }), 99) ] },
    } } })
}

fn repository(answer: &mut Value) -> &mut Value {
    &mut answer["data"]["repository"]
}

async fn observe(
    outcomes: impl IntoIterator<Item = Outcome>,
) -> (Set, Result<GitHubObservation, Failure>) {
    let set = set(outcomes);
    let seen = set.client.observe_once().await;
    assert!(set.script.is_used_up());
    (set, seen)
}

async fn ledger(state: Value, more: impl IntoIterator<Item = Outcome>) -> LedgerRead {
    let mut answer = answer();
    repository(&mut answer)["ledger"]["target"]["state"] = state;
    let outcomes = std::iter::once(json(200, &answer)).chain(more);
    observe(outcomes).await.1.unwrap().ledger
}

#[tokio::test]
async fn one_request_tells_everything() {
    let (set, seen) = observe([json(200, &answer())]).await;
    let seen = seen.unwrap();
    assert_eq!(seen.now, start());
    assert_eq!(seen.repository.id, RepositoryId(7));
    assert!(!seen.repository.public);
    assert_eq!(seen.repository.default_head, Some("aa".into()));
    assert_eq!(seen.repository.default_checks, Checks::Passed);
    let state = LedgerRead::State {
        head: "bb".into(),
        text: "{\"version\":5}".to_owned(),
    };
    assert_eq!(seen.ledger, state);
    let shown: Vec<(&str, Mode, Option<&str>)> = seen
        .tree
        .iter()
        .map(|(path, entry)| (path, entry.mode, entry.text.as_deref()))
        .collect();
    assert_eq!(
        shown,
        [
            (".jules/blocks/a.md", Mode::File, Some("x")),
            (
                ".jules/personas/curator/journals/2026-01-04.md",
                Mode::File,
                None
            ),
            (".jules/personas/curator/prompt.md", Mode::File, Some("Hi")),
            (".jules/personas/sly/prompt.md", Mode::Link, None),
            (".jules/schedules.toml", Mode::File, Some("cycle = []\n")),
        ]
    );
    let states: Vec<(u64, PullState)> = seen
        .pulls
        .values()
        .map(|pull| (pull.number.0, pull.state))
        .collect();
    assert_eq!(states, [(2, PullState::Closed), (3, PullState::Open)]);
    let key = "jules_credential".to_owned();
    let title = "Issue 5".to_owned();
    let number = 5;
    assert_eq!(seen.notices, [Notice { number, key, title }]);
    assert_eq!(seen.paused_by_label, Some(8));
    // `phileas:` labels of any case on open entries; closed pull requests do not count.
    let words = |word: &str| BTreeSet::from([word.to_owned()]);
    let labelled = [(3, words("curator")), (8, words("pause"))];
    assert_eq!(seen.labelled, labelled.into());
    let heard: Vec<_> = seen
        .comments
        .iter()
        .map(|one| (one.thread, one.number))
        .collect();
    assert_eq!(
        heard,
        [(8, 4_000_000_001), (9, 4_000_000_001), (3, 4_000_000_001)]
    );
    // One has more comments than are shown.
    assert_eq!(seen.comment_coverage.cut, [(9, start())].into());
    assert_eq!(seen.comment_coverage.issues_after, None);
    assert_eq!(seen.comment_coverage.pulls_after, None);
    let usage = set.client.usage();
    assert_eq!((usage.requests, usage.points), (1, 2));
    assert_eq!(set.script.lines(), ["POST https://api.github.com/graphql"]);
}

#[tokio::test]
async fn r28_the_label_that_pauses_counts_on_a_pull_request_as_well() {
    for (state, paused) in [("OPEN", Some(3)), ("CLOSED", None)] {
        let mut shown = answer();
        let mut labelled = pull(3, state);
        labelled["labels"]["nodes"][0]["name"] = "Phileas:Pause".into();
        let repository = repository(&mut shown);
        repository["paused"]["nodes"] = value!([]);
        repository["active"]["nodes"] = value!([]);
        repository["open"]["nodes"] = value!([labelled]);
        repository["recent"]["nodes"] = value!([]);
        let (_, seen) = observe([json(200, &shown)]).await;
        assert_eq!(seen.unwrap().paused_by_label, paused, "{state}");
    }
}

#[tokio::test]
async fn an_absent_ledger_is_only_what_github_says_is_absent() {
    let mut absent = answer();
    repository(&mut absent)["ledger"] = Value::Null;
    let (_, seen) = observe([json(200, &absent)]).await;
    assert_eq!(seen.unwrap().ledger, LedgerRead::NoBranch);

    // The same null, because its resolver failed.
    absent["errors"] = value!([{ "message": "timeout", "path": ["repository", "ledger"] }]);
    let failing = || json(200, &absent);
    let (_, seen) = observe([failing(), failing(), failing(), failing()]).await;
    let after = None;
    assert_eq!(seen.unwrap_err().disposition, Disposition::Retry { after });

    // No such key at all.
    let mut missing = answer();
    repository(&mut missing)
        .as_object_mut()
        .unwrap()
        .remove("ledger");
    let missing = || json(200, &missing);
    let (_, seen) = observe([missing(), missing(), missing(), missing()]).await;
    assert!(seen.is_err());
}

#[tokio::test]
async fn hidden_checks_are_no_checks_and_nothing_else_may_be_hidden() {
    let forbidden = |place: &str| {
        let mut answer = answer();
        repository(&mut answer)["defaultBranchRef"]["target"]["statusCheckRollup"] = Value::Null;
        answer["errors"] = value!([{ "type": "FORBIDDEN",
            "message": "Resource not accessible by integration",
            "path": ["repository", "defaultBranchRef", "target", place] }]);
        json(200, &answer)
    };
    let (_, seen) = observe([forbidden("statusCheckRollup")]).await;
    let seen = seen.unwrap();
    assert_eq!(seen.repository.default_checks, Checks::None);
    assert!(seen.checks_hidden);
    let (_, whole) = observe([json(200, &answer())]).await;
    assert!(!whole.unwrap().checks_hidden);
    let (_, seen) = observe([forbidden("personas")]).await;
    assert_eq!(seen.unwrap_err().disposition, Disposition::Denied);
}

#[tokio::test]
async fn a_state_file_that_is_not_shown_whole_is_read_as_a_blob() {
    let truncated = value!({ "name": "cycle_state.json", "mode": 33188, "oid": "b9", "size": 4,
        "object": { "text": "{\"", "byteSize": 4, "isTruncated": true, "isBinary": false } });
    let blob = |content: &str| json(200, &value!({ "content": content, "encoding": "base64" }));
    let text = "{ä".to_owned();
    let whole = LedgerRead::State {
        head: "bb".into(),
        text,
    };
    assert_eq!(ledger(truncated.clone(), [blob("e8O\nk\n")]).await, whole);
    // Not UTF-8.
    let read = ledger(truncated, [blob("/w==")]).await;
    assert!(matches!(read, LedgerRead::Unreadable { .. }), "{read:?}");
}

#[tokio::test]
async fn what_is_no_text_is_unreadable_and_never_absent() {
    let state = |mode: u32, size: u64, binary: bool| {
        value!({ "name": "cycle_state.json", "mode": mode, "oid": "b9", "size": size, "object": {
            "text": null, "byteSize": size, "isTruncated": false, "isBinary": binary } })
    };
    for (file, word) in [
        (state(40960, 4, false), "link"),
        (state(16384, 0, false), "folder"),
        (state(57344, 0, false), "submodule"),
        (state(33188, 4, true), "binary"),
        (state(33188, STATE_LIMIT_BYTES + 1, false), "more than"),
    ] {
        match ledger(file, []).await {
            LedgerRead::Unreadable { what, .. } => assert!(what.contains(word), "{what}"),
            other => panic!("{other:?}"),
        }
    }
    let head = "bb".into();
    assert_eq!(ledger(Value::Null, []).await, LedgerRead::NoState { head });

    let mut answer = answer();
    let target = &mut repository(&mut answer)["ledger"]["target"];
    target["state"] = Value::Null;
    target["folder"]["mode"] = 40960.into();
    let (_, seen) = observe([json(200, &answer)]).await;
    let seen = seen.unwrap().ledger;
    assert!(matches!(seen, LedgerRead::Unreadable { .. }), "{seen:?}");
}

/// How many entries of each list a query asks for.
fn sizes(asked: &Value) -> [u64; 3] {
    ["open", "recent", "active"].map(|list| asked["variables"][list].as_u64().unwrap())
}

/// A quiet repository costs one point; a busy one is read with all entries at once, until it is quiet again.
#[tokio::test]
async fn where_more_is_going_on_more_is_asked_for() {
    const FEW: [u64; 3] = [20, 14, 30];
    const MANY: [u64; 3] = [100, 50, 100];
    let mut more = answer();
    repository(&mut more)["active"]["pageInfo"] =
        value!({ "hasNextPage": true, "endCursor": "c9" });
    let set = set([&more, &more, &more, &answer(), &answer()].map(|one| json(200, one)));
    for _ in 0..4 {
        let seen = set.client.observe_once().await.unwrap();
        let after = seen.comment_coverage.issues_after;
        assert!(after.is_none() || after == "2026-01-04T12:00:00Z".parse().ok());
    }
    let asked: Vec<_> = set
        .script
        .seen()
        .iter()
        .map(|one| sizes(&one.body))
        .collect();
    assert_eq!(asked, [FEW, MANY, MANY, MANY, FEW]);
    assert!(set.script.is_used_up());
}

/// Pull requests that were touched a week ago do not matter, however many there are.
#[tokio::test]
async fn old_pull_requests_are_not_asked_for_all_the_time() {
    for (touched, questions) in [("2025-12-28T00:00:00Z", 1), ("2026-01-04T00:00:00Z", 2)] {
        let mut answer = answer();
        let pulls: Vec<Value> = (0..14)
            .map(|number| {
                let mut pull = with_comments(pull(100 + number, "CLOSED"), 1);
                pull["updatedAt"] = touched.into();
                pull
            })
            .collect();
        repository(&mut answer)["recent"] = value!({
            "pageInfo": { "hasNextPage": true, "endCursor": "c9" }, "nodes": pulls });
        let (set, seen) = observe((0..questions).map(|_| json(200, &answer))).await;
        assert_eq!(
            seen.unwrap().comment_coverage.pulls_after,
            touched.parse().ok()
        );
        assert_eq!(set.script.seen().len(), questions);
    }
}

#[tokio::test]
async fn further_pages_of_open_pulls_are_read() {
    let mut first = answer();
    repository(&mut first)["open"]["pageInfo"] = value!({ "hasNextPage": true, "endCursor": "c1" });
    let page = value!({ "data": { "repository": { "open": {
        "pageInfo": { "hasNextPage": false, "endCursor": null }, "nodes": [pull(1, "OPEN")] } } } });
    let again = json(200, &first);
    let (set, seen) = observe([json(200, &first), again, json(200, &page)]).await;
    assert!(seen.unwrap().pulls.contains_key(&PullNumber(1)));
    assert_eq!(set.script.seen()[2].body["variables"]["after"], "c1");
}

/// Many long pull requests must not keep phileas from reading.
#[tokio::test]
async fn pull_requests_that_are_too_much_for_one_answer_come_without_their_texts() {
    let mut first = answer();
    repository(&mut first)["open"]["pageInfo"] = value!({ "hasNextPage": true, "endCursor": "c1" });
    let mut long = pull(1, "OPEN");
    long.as_object_mut().unwrap().remove("body");
    let page = value!({ "data": { "repository": { "open": {
        "pageInfo": { "hasNextPage": false, "endCursor": null }, "nodes": [long] } } } });
    let too_large = Err(TransportError::TooLarge { limit: 32 << 20 });
    let again = json(200, &first);
    let (set, seen) = observe([json(200, &first), again, too_large, json(200, &page)]).await;
    assert!(seen.unwrap().pulls.contains_key(&PullNumber(1)));
    let seen = set.script.seen();
    let asked: Vec<_> = seen.iter().map(|one| &one.body["variables"]).collect();
    assert_eq!([&asked[2]["after"], &asked[3]["after"]], ["c1", "c1"]);
    assert_eq!(asked[3]["bodies"], false);
}

/// The fields that GitHub computes for many pull requests may exceed its time limit for a query.
#[tokio::test]
async fn what_takes_github_too_long_is_left_out_and_an_outage_is_not_asked_for_less() {
    let slow = || json(502, &value!({}));
    let mut light = answer();
    for place in ["open", "recent"] {
        for one in repository(&mut light)[place]["nodes"]
            .as_array_mut()
            .unwrap()
        {
            if let Some(one) = one.as_object_mut() {
                for costly in ["mergeable", "mergeStateStatus", "statusCheckRollup"] {
                    one.remove(costly);
                }
            }
        }
    }
    let (set, seen) = observe([slow(), slow(), slow(), slow(), json(200, &light)]).await;
    let seen = seen.unwrap();
    assert!(!seen.pulls.is_empty());
    assert!(
        seen.pulls
            .values()
            .all(|pull| pull.checks == Checks::Pending)
    );
    let asked: Vec<_> = set
        .script
        .seen()
        .iter()
        .map(|one| one.body["variables"]["costly"].clone())
        .collect();
    assert_eq!(asked, [true, true, true, true, false]);

    let away = || json(503, &value!({}));
    let (set, seen) = observe([away(), away(), away(), away()]).await;
    assert_eq!(
        seen.unwrap_err().disposition,
        Disposition::Retry { after: None }
    );
    assert_eq!(set.script.lines().len(), 4);
}

/// A part of the data, and the error beside it.
fn too_costly() -> Outcome {
    let error = value!({ "type": "RESOURCE_LIMITS_EXCEEDED", "path": ["repository", "recent"],
        "message": "Resource limits for this query exceeded." });
    json(
        200,
        &value!({ "data": { "repository": null }, "errors": [error] }),
    )
}

/// The same query would need as much again, so it is not repeated.
#[tokio::test]
async fn what_needs_too_much_of_github_is_read_with_shorter_lists_and_then_without_checks() {
    let mut more = answer();
    repository(&mut more)["active"]["pageInfo"] =
        value!({ "hasNextPage": true, "endCursor": "c9" });
    let asked = |set: &Set| -> Vec<(u64, bool)> {
        let seen = set.script.seen();
        let variables = seen.iter().map(|one| &one.body["variables"]);
        variables
            .map(|asked| {
                (
                    asked["open"].as_u64().unwrap(),
                    asked["costly"].as_bool().unwrap(),
                )
            })
            .collect()
    };
    let more = || json(200, &more);
    let (set, seen) = observe([more(), too_costly(), more()]).await;
    assert!(!seen.unwrap().pulls.is_empty());
    assert_eq!(asked(&set), [(20, true), (100, true), (20, true)]);

    let (set, seen) = observe([too_costly(), json(200, &answer())]).await;
    assert!(!seen.unwrap().pulls.is_empty());
    assert_eq!(asked(&set), [(20, true), (20, false)]);

    let (set, seen) = observe([too_costly(), too_costly()]).await;
    let retry = Disposition::Retry { after: None };
    assert_eq!(seen.unwrap_err().disposition, retry);
    assert_eq!(asked(&set), [(20, true), (20, false)]);
}

#[tokio::test]
async fn pull_requests_that_need_too_much_of_github_come_without_checks_or_on_shorter_pages() {
    let found = value!({ "data": { "repository": { "p0": pull(3, "OPEN") } } });
    let set = set([too_costly(), json(200, &found)]);
    let numbers = [PullNumber(3)].into();
    let pulls = set.client.pulls_by_number(&numbers).await.unwrap();
    assert_eq!(pulls.len(), 1);
    let seen = set.script.seen();
    let costly = seen
        .iter()
        .map(|one| one.body["variables"]["costly"] == true);
    assert_eq!(costly.collect::<Vec<_>>(), [true, false]);

    let empty = value!({ "data": { "repository": { "pullRequests": {
        "pageInfo": { "hasNextPage": false, "endCursor": null }, "nodes": [] } } } });
    let set = crate::adapters::github::scripted::set([too_costly(), json(200, &empty)]);
    let mut size = 100;
    set.client.pull_history_page(None, &mut size).await.unwrap();
    assert_eq!(size, 20);
}

#[tokio::test]
async fn an_unknown_repository_and_a_spent_limit_are_told() {
    let error = |kind: &str| {
        value!({ "data": { "repository": null },
            "errors": [{ "type": kind, "message": "no", "path": ["repository"] }] })
    };
    let (_, seen) = observe([json(200, &error("NOT_FOUND"))]).await;
    assert_eq!(seen.unwrap_err().disposition, Disposition::NotFound);

    let spent = [
        ("x-ratelimit-remaining", "0"),
        ("x-ratelimit-reset", "1767571800"),
    ];
    let (set, seen) = observe([reply(200, &spent, &error("RATE_LIMITED"))]).await;
    let after = Some(Duration::from_secs(601));
    assert_eq!(seen.unwrap_err().disposition, Disposition::Retry { after });
    // And it is not read again earlier.
    let again = set.client.observe_once().await.unwrap_err();
    assert_eq!(again.disposition, Disposition::Retry { after });
}

/// GitHub has two types for a spent limit, and its headers may say that something is left.
#[tokio::test]
async fn a_spent_limit_is_known_by_either_type_and_by_its_code() {
    let said = "API rate limit already exceeded for user ID 7.";
    let reset = ("x-ratelimit-reset", "1767571800");
    let (left, none) = (
        [("x-ratelimit-remaining", "4"), reset],
        [("x-ratelimit-remaining", "0"), reset],
    );
    let asked = [("retry-after", "90"), reset];
    for (kind, code, headers, seconds) in [
        ("RATE_LIMIT", "graphql_rate_limit", &left, 60),
        ("RATE_LIMIT", "graphql_rate_limit", &none, 601),
        ("RATE_LIMIT", "graphql_rate_limit", &asked, 90),
        ("RATE_LIMITED", "", &left, 60),
        ("A_NEW_TYPE", "graphql_rate_limit", &left, 60),
    ] {
        let spent = value!({ "errors": [{ "type": kind, "code": code, "message": said }] });
        let (set, seen) = observe([reply(200, headers, &spent)]).await;
        let after = Some(Duration::from_secs(seconds));
        assert_eq!(seen.unwrap_err().disposition, Disposition::Retry { after });
        let again = set.client.observe_once().await.unwrap_err();
        assert_eq!(again.disposition, Disposition::Retry { after });
    }
}

/// GitHub's trouble suspends no repository. What it says about one field is about this repository.
#[tokio::test]
async fn an_unknown_error_of_the_whole_query_is_an_outage() {
    let wrong = |path: Value| {
        value!({ "data": null,
            "errors": [{ "type": "A_NEW_TYPE", "message": "no", "path": path }] })
    };
    let whole = || json(200, &wrong(value!([])));
    let (_, seen) = observe((0..READ_ATTEMPTS).map(|_| whole())).await;
    let retry = Disposition::Retry { after: None };
    assert_eq!(seen.unwrap_err().disposition, retry);
    let (_, seen) = observe([json(200, &wrong(value!(["repository", "open"])))]).await;
    assert_eq!(seen.unwrap_err().disposition, Disposition::Refused);
}

/// GitHub gives a name that a repository has lost to another one.
#[tokio::test]
async fn another_repository_under_the_name_is_not_read_for_the_one_before() {
    let mut set = set([json(200, &answer()), json(200, &answer())]);
    set.client = set.client.with_id(RepositoryId(7));
    assert!(set.client.observe_once().await.is_ok());
    set.client = set.client.with_id(RepositoryId(6));
    let failure = set.client.observe_once().await.unwrap_err();
    assert_eq!(failure.disposition, Disposition::NotFound);
    assert!(failure.detail.contains("acme/widget"), "{failure}");
}

#[tokio::test]
async fn a_wrong_document_is_not_sent_again() {
    let wrong = value!({ "errors": [{ "message": "Field 'x' doesn't exist",
        "extensions": { "code": "undefinedField" } }] });
    let (_, seen) = observe([json(200, &wrong)]).await;
    assert_eq!(seen.unwrap_err().disposition, Disposition::Refused);
}

#[tokio::test]
async fn texts_and_pulls_are_asked_for_in_chunks() {
    let paths: BTreeSet<String> = (0..51).map(|index| format!("f{index:02}")).collect();
    let found = |files: Value| {
        json(
            200,
            &value!({ "data": { "repository": { "object": files } } }),
        )
    };
    let binary = value!({ "name": "b", "mode": 33188, "oid": "1", "size": 1,
        "object": { "text": null, "byteSize": 1, "isTruncated": false, "isBinary": true } });
    let set = set([
        found(value!({ "f0": file("f00", "zero"), "f1": null, "f2": binary })),
        found(value!({ "f0": file("f50", "fifty") })),
    ]);
    let texts = set.client.texts_at(&"aa".into(), &paths).await.unwrap();
    let texts: Vec<(&str, &str)> = texts
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    assert_eq!(texts, [("f00", "zero"), ("f50", "fifty")]);

    let answer = value!({ "data": { "repository": { "p0": pull(3, "OPEN"), "p1": null } },
        "errors": [{ "type": "NOT_FOUND", "message": "no", "path": ["repository", "p1"] }] });
    let set = crate::adapters::github::scripted::set([json(200, &answer)]);
    let numbers = [PullNumber(3), PullNumber(4)].into();
    let pulls = set.client.pulls_by_number(&numbers).await.unwrap();
    assert_eq!(pulls.keys().collect::<Vec<_>>(), [&PullNumber(3)]);
    assert_eq!(set.script.seen()[0].body["variables"]["n1"], 4);
}

#[tokio::test]
async fn the_age_of_the_first_answer_is_told() {
    let mut first = answer();
    repository(&mut first)["open"]["pageInfo"] = value!({ "hasNextPage": true, "endCursor": "c1" });
    let page = value!({ "data": { "repository": { "open": {
        "pageInfo": { "hasNextPage": false, "endCursor": null }, "nodes": [pull(1, "OPEN")] } } } });
    let busy = || json(503, &value!({}));
    let again = json(200, &first);
    let (set, seen) = observe([busy(), json(200, &first), again, busy(), json(200, &page)]).await;
    let [before, after] = set.clock.waits()[..] else {
        panic!("{:?}", set.clock.waits());
    };
    assert!(!before.is_zero() && !after.is_zero());
    assert_eq!(
        seen.unwrap().age,
        after,
        "what passed before the answer is no part of its age"
    );
}

/// Long comments must not keep phileas from reading.
#[tokio::test]
async fn comments_that_are_too_much_for_one_answer_are_read_in_parts() {
    let mut short = answer();
    for place in ["active", "recent"] {
        for one in repository(&mut short)[place]["nodes"]
            .as_array_mut()
            .unwrap()
        {
            // A place that GitHub left empty stays empty.
            let nodes = one.pointer_mut("/comments/nodes");
            for comment in nodes.and_then(Value::as_array_mut).into_iter().flatten() {
                comment.as_object_mut().unwrap().remove("body");
            }
        }
    }
    let bodies = value!({ "data": { "rateLimit": { "cost": 1 }, "nodes": [
        { "id": "IC_8", "body": "/phileas run curator" }, null, {} ] } });
    let too_large = Err(TransportError::TooLarge { limit: 32 << 20 });
    let (set, seen) = observe([too_large, json(200, &short), json(200, &bodies)]).await;
    let seen = seen.unwrap();
    let heard: Vec<_> = seen.comments.iter().map(|one| one.thread).collect();
    assert!(
        heard.iter().all(|thread| *thread == 8) && !heard.is_empty(),
        "{heard:?}"
    );
    assert!(
        seen.comment_coverage.cut.contains_key(&3),
        "what could not be read is owned up to"
    );
    let asked: Vec<_> = set
        .script
        .seen()
        .iter()
        .map(|one| one.body["variables"]["bodies"].clone())
        .collect();
    assert_eq!(asked, [true.into(), false.into(), Value::Null]);
}
