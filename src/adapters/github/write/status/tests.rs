use serde_json::{Value, json as value};

use super::candidate::JULES;
use super::*;
use crate::adapters::github::scripted::{Set, json, lost, set};

mod copies;

const MARKER: &str = "<!-- phileas:status -->";

const TEXT: &str = "**phileas**\n\nIt runs.\n\n<!-- phileas:status -->\n";
/// A comment that another of our accounts wrote before.
const BEFORE: &str = "**phileas**\r\n\r\nIt waits.\n\n<!-- phileas:status -->\n";

fn comment(id: u64, ours: bool, author: Value, standing: &str, body: &str) -> Value {
    value!({ "fullDatabaseId": id.to_string(), "viewerDidAuthor": ours, "author": author,
        "authorAssociation": standing, "createdAt": "2026-01-05T00:00:00Z", "lastEditedAt": null,
        "editor": null, "body": body })
}

fn by(kind: &str, login: &str) -> Value {
    value!({ "__typename": kind, "login": login })
}

fn page(nodes: &[Value]) -> Value {
    value!({ "data": { "repository": { "thread": { "comments": {
        "pageInfo": { "hasPreviousPage": false, "startCursor": null }, "nodes": nodes } } } } })
}

fn listed(comments: &[(u64, bool, &str)]) -> Value {
    let nodes = comments
        .iter()
        .map(|(id, ours, body)| comment(*id, *ours, by("User", "mia"), "NONE", body));
    page(&Vec::from_iter(nodes))
}

async fn write_status(set: &Set, known: Option<u64>) -> Result<u64, Failure> {
    set.client.write_status_once(7, known, MARKER, TEXT).await
}

/// What is written where these are the comments, and a person's permission is this word: the requests' lines behind
/// the listing.
async fn written(comments: &[Value], known: Option<u64>, permission: Option<&str>) -> Vec<String> {
    let mut answers = vec![json(200, &page(comments))];
    answers.extend(
        permission.map(|word| json(200, &value!({ "permission": word, "user": { "id": 5 } }))),
    );
    answers.push(json(200, &value!({ "id": 9 })));
    let set = set(answers);
    write_status(&set, known).await.unwrap();
    set.script.lines().split_off(1)
}

#[tokio::test]
async fn r22_a_forged_marker_is_ignored_and_no_other_comment_edited() {
    let forged = [
        listed(&[(4_000_000_001, false, MARKER), (5, true, "something else")]),
        listed(&[(4_000_000_001, false, BEFORE), (5, false, BEFORE)]),
    ];
    for forged in forged {
        for known in [None, Some(4_000_000_001), Some(5)] {
            let set = set([json(200, &forged), json(201, &value!({ "id": 9 }))]);
            assert_eq!(write_status(&set, known).await.unwrap(), 9);
            let seen = set.script.seen();
            assert!(seen[1].line.starts_with("POST"), "{}", seen[1].line);
            assert!(seen[1].line.ends_with("/issues/7/comments"));
        }
    }
}

/// Whatever the ledger says: it may hold the id of an unauthorized user's comment.
#[tokio::test]
async fn r22_whose_words_only_contain_the_marker_is_not_taken_for_another_of_us() {
    let quoted = BEFORE.replace('\n', "\n> ");
    let more = format!("{BEFORE}\nSo it says.\n");
    let twice = BEFORE.replace("It waits.", MARKER);
    let unheaded = format!("It waits.\n\n{MARKER}\n");
    let bot = || by("Bot", "phileas-test");
    for body in [&quoted, &more, &twice, &unheaded, MARKER] {
        for known in [None, Some(5)] {
            let lines = written(&[comment(5, false, bot(), "NONE", body)], known, None).await;
            assert!(lines[0].starts_with("POST"), "{body}: {}", lines[0]);
        }
    }
    let others = [
        (by("Bot", JULES), "CONTRIBUTOR"),
        (by("Mannequin", "old"), "MEMBER"),
        (by("User", "ada"), "CONTRIBUTOR"),
        (Value::Null, "NONE"),
    ];
    for (author, standing) in others {
        for known in [None, Some(5)] {
            let told = author.to_string();
            let theirs = comment(5, false, author.clone(), standing, BEFORE);
            let lines = written(&[theirs], known, None).await;
            assert!(lines[0].starts_with("POST"), "{told}: {}", lines[0]);
        }
    }
}

#[tokio::test]
async fn r22_a_member_who_may_not_write_is_not_one_of_us() {
    for (word, method) in [
        ("read", "POST"),
        ("none", "POST"),
        ("write", "PATCH"),
        ("admin", "PATCH"),
    ] {
        let member = || comment(5, false, by("User", "ada"), "MEMBER", BEFORE);
        for known in [None, Some(5)] {
            let lines = written(&[member(), member()], known, Some(word)).await;
            assert_eq!(lines.len(), 2, "{lines:?}");
            assert!(
                lines[0].ends_with("/collaborators/ada/permission"),
                "{}",
                lines[0]
            );
            assert!(lines[1].starts_with(method), "{word}: {}", lines[1]);
        }
    }
}

#[tokio::test]
async fn another_of_us_is_taken_over_the_known_one_first() {
    let bot = |id| comment(id, false, by("Bot", "phileas-test"), "NONE", BEFORE);
    let own = comment(8, true, by("Bot", "github-actions"), "NONE", MARKER);
    for (known, edited) in [(None, 6), (Some(8), 8), (Some(7), 7), (Some(99), 6)] {
        let lines = written(&[bot(7), bot(6), own.clone()], known, None).await;
        assert!(lines[0].starts_with("PATCH"), "{}", lines[0]);
        let end = format!("/issues/comments/{edited}");
        assert!(lines[0].ends_with(&end), "{known:?}: {}", lines[0]);
    }
}

#[tokio::test]
async fn where_the_others_may_not_be_edited_ones_own_is_written() {
    let bot = comment(6, false, by("Bot", "phileas-test"), "NONE", BEFORE);
    let own = comment(8, true, by("User", "ada"), "OWNER", BEFORE);
    let refused = || {
        json(
            403,
            &value!({ "message": "Must have push access to repository" }),
        )
    };
    for (comments, method) in [(vec![bot.clone()], "POST"), (vec![bot, own], "PATCH")] {
        let listed = || json(200, &page(&comments));
        let set = set([
            listed(),
            refused(),
            listed(),
            json(200, &value!({ "id": 8 })),
        ]);
        assert_eq!(write_status(&set, Some(6)).await.unwrap(), 8);
        let line = set.script.lines().remove(3);
        assert!(line.starts_with(method), "{line}");
    }
}

/// The token was refused for a moment; found by the simulation, seed 865.
#[tokio::test]
async fn a_token_that_is_refused_is_no_reason_for_a_second_comment() {
    let bot = comment(6, false, by("Bot", "phileas-test"), "NONE", BEFORE);
    let set = set([
        json(200, &page(&[bot])),
        json(401, &value!({ "message": "Bad credentials" })),
    ]);
    let failure = write_status(&set, Some(6)).await.unwrap_err();
    assert_eq!(failure.disposition, Disposition::Denied);
    assert!(
        set.script
            .lines()
            .iter()
            .all(|line| !line.starts_with("POST") || line.ends_with("/graphql"))
    );
}

#[tokio::test]
async fn r22_the_one_that_is_ours_is_edited() {
    let ours = listed(&[(4_000_000_001, true, MARKER), (4_000_000_002, true, MARKER)]);
    for (known, edited) in [(None, 4_000_000_001), (Some(4_000_000_002), 4_000_000_002)] {
        let set = set([json(200, &ours), json(200, &value!({ "id": edited }))]);
        assert_eq!(write_status(&set, known).await.unwrap(), edited);
        let line = set.script.lines().remove(1);
        assert!(line.starts_with("PATCH"), "{line}");
        assert!(
            line.ends_with(&format!("/issues/comments/{edited}")),
            "{line}"
        );
    }
}

/// A listing that is some seconds old does not show what was written a moment before.
#[tokio::test]
async fn a_known_one_that_is_not_listed_yet_is_looked_for_again() {
    let none = || json(200, &listed(&[(5, true, "something else")]));
    let there = listed(&[(5, true, "something else"), (6, true, BEFORE)]);
    let late = [none(), none(), json(200, &there), json(200, &value!({}))];
    let late = set(late);
    assert_eq!(write_status(&late, Some(6)).await.unwrap(), 6);
    let lines = late.script.lines();
    assert!(lines[3].starts_with("PATCH"), "{lines:?}");
    assert!(lines[3].ends_with("/issues/comments/6"), "{lines:?}");

    // The comment was deleted: a new one is written.
    let deleted = [
        none(),
        none(),
        none(),
        none(),
        json(201, &value!({ "id": 9 })),
    ];
    let deleted = set(deleted);
    assert_eq!(write_status(&deleted, Some(6)).await.unwrap(), 9);
    assert!(deleted.script.lines()[4].starts_with("POST"));
}

#[tokio::test]
async fn a_lost_answer_is_looked_up_and_never_repeated() {
    let none = || json(200, &listed(&[]));
    let found = || json(200, &listed(&[(9, true, TEXT)]));
    let set = set([none(), lost(), none(), found()]);
    assert_eq!(write_status(&set, None).await.unwrap(), 9);
    let set =
        crate::adapters::github::scripted::set([none(), json(502, &value!({})), none(), none()]);
    let failure = write_status(&set, None).await.unwrap_err();
    assert_eq!(failure.disposition, Disposition::Unknown);
    let lines = set.script.lines();
    let posts = lines.iter().filter(|line| line.ends_with("/comments"));
    assert_eq!(posts.count(), 1);
}

#[tokio::test]
async fn a_label_that_is_off_is_off_and_others_are_left_alone() {
    let set = set([json(404, &value!({ "message": "Label does not exist" }))]);
    set.client.remove_label(7, "phileas:a").await.unwrap();
    let line = set.script.lines().remove(0);
    assert!(line.starts_with("DELETE"), "{line}");
    assert!(line.ends_with("/issues/7/labels/phileas%3Aa"), "{line}");
    let refused = set.client.remove_label(7, "bug").await.unwrap_err();
    assert_eq!(refused.disposition, Disposition::Refused);
}
