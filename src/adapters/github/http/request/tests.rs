use std::time::Duration;

use serde_json::json as value;

use super::*;
use crate::adapters::github::http::budget::Usage;
use crate::adapters::github::http::routes::{CREATE_ISSUE, LIST_ISSUES};
use crate::adapters::github::scripted::{TEST_TOKEN, json, lost, not_sent, reply, set};
use crate::adapters::log_capture::LogCapture;

fn retry(after: Option<u64>) -> Disposition {
    let after = after.map(Duration::from_secs);
    Disposition::Retry { after }
}

#[tokio::test]
async fn a_request_says_who_asks_and_how() {
    let set = set([json(200, &value!([]))]);
    set.client
        .read_route(LIST_ISSUES, &[], "?page=1")
        .await
        .unwrap();
    let seen = &set.script.seen()[0];
    assert_eq!(
        seen.line,
        "GET https://api.github.com/repos/acme/widget/issues?page=1"
    );
    assert_eq!(seen.authorization, format!("Bearer {TEST_TOKEN}"));
    assert_eq!(seen.headers["accept"], "application/vnd.github+json");
    assert_eq!(seen.headers["x-github-api-version"], "2022-11-28");
    assert!(
        seen.headers["user-agent"]
            .to_str()
            .unwrap()
            .starts_with("phileas/")
    );
    let usage = Usage {
        requests: 1,
        points: 0,
    };
    assert_eq!(set.client.usage(), usage);
}

#[tokio::test]
async fn reads_are_repeated_with_growing_waits_and_not_for_ever() {
    let bad = || json(502, &value!({}));
    let set = set([bad(), lost(), not_sent(), json(200, &value!([]))]);
    set.client.read_route(LIST_ISSUES, &[], "").await.unwrap();
    let waits = set.clock.waits();
    assert_eq!(waits.len(), 3);
    assert!(waits.iter().all(|wait| *wait <= LONGEST_WAIT));

    let set = crate::adapters::github::scripted::set([bad(), bad(), bad(), bad()]);
    let failure = set
        .client
        .read_route(LIST_ISSUES, &[], "")
        .await
        .unwrap_err();
    assert_eq!(failure.disposition, retry(None));
    assert!(set.script.is_used_up());
}

#[tokio::test]
async fn writes_are_sent_once_unless_nothing_was_sent() {
    for doubtful in [json(502, &value!({})), lost()] {
        let set = set([doubtful]);
        let failure = set
            .client
            .write_route(CREATE_ISSUE, &[], &value!({}))
            .await
            .unwrap_err();
        assert_eq!(failure.disposition, Disposition::Unknown);
        assert_eq!(set.script.lines().len(), 1);
    }
    let set = set([not_sent(), json(201, &value!({}))]);
    let answer = set.client.write_route(CREATE_ISSUE, &[], &value!({})).await;
    assert_eq!(answer.unwrap().status, 201);
}

#[tokio::test]
async fn a_short_limit_is_waited_for_and_a_long_one_is_told() {
    let set = set([
        reply(429, &[("retry-after", "2")], &value!({})),
        json(200, &value!([])),
        reply(403, &[("retry-after", "90")], &value!({})),
    ]);
    set.client.read_route(LIST_ISSUES, &[], "").await.unwrap();
    assert_eq!(set.clock.waits(), [Duration::from_secs(2)]);
    let failure = set
        .client
        .read_route(LIST_ISSUES, &[], "")
        .await
        .unwrap_err();
    assert_eq!(failure.disposition, retry(Some(90)));

    // Until then no request is sent, by neither API.
    set.clock.pass(Duration::from_secs(30));
    let failure = set
        .client
        .read_route(LIST_ISSUES, &[], "")
        .await
        .unwrap_err();
    assert_eq!(failure.disposition, retry(Some(60)));
    let failure = set.client.observe_once().await.unwrap_err();
    assert_eq!(failure.disposition, retry(Some(60)));
    assert_eq!(set.script.lines().len(), 3);
    set.clock.pass(Duration::from_secs(60));
    set.script.push(json(200, &value!([])));
    set.client.read_route(LIST_ISSUES, &[], "").await.unwrap();
}

#[tokio::test]
async fn a_spent_primary_limit_closes_its_own_face_only() {
    let spent = [
        ("x-ratelimit-limit", "5000"),
        ("x-ratelimit-remaining", "0"),
        ("x-ratelimit-reset", "1767571800"),
    ];
    let set = set([
        reply(403, &spent, &value!({})),
        json(502, &value!({})),
        lost(),
        lost(),
        lost(),
    ]);
    let failure = set
        .client
        .write_route(CREATE_ISSUE, &[], &value!({}))
        .await
        .unwrap_err();
    assert_eq!(failure.disposition, retry(Some(601)));
    let quota = set.client.budget.quota(Api::Rest).unwrap();
    assert_eq!((quota.limit, quota.remaining), (5000, 0));
    // GraphQL requests are still sent.
    let failure = set.client.observe_once().await.unwrap_err();
    assert_eq!(failure.disposition, retry(None));
    assert_eq!(set.script.lines().len(), 5);
}

#[tokio::test]
async fn words_about_limits_in_a_success_are_only_words() {
    let commit = value!({ "message": "avoid the secondary rate limit", "errors": ["x"] });
    let set = set([json(200, &commit)]);
    set.client.read_route(LIST_ISSUES, &[], "").await.unwrap();
}

#[tokio::test]
async fn r16_a_rename_is_followed_and_remembered() {
    let moved = |path: &str| {
        reply(
            301,
            &[("location", &format!("https://api.github.com{path}"))],
            &value!({}),
        )
    };
    let set = set([
        moved("/repositories/7/issues?page=2"),
        json(200, &value!([])),
        json(201, &value!({})),
        moved("/repositories/8/issues"),
    ]);
    set.client
        .read_route(LIST_ISSUES, &[], "?page=2")
        .await
        .unwrap();
    set.client
        .write_route(CREATE_ISSUE, &[], &value!({}))
        .await
        .unwrap();
    // A redirect to another repository is refused.
    let failure = set
        .client
        .write_route(CREATE_ISSUE, &[], &value!({}))
        .await
        .unwrap_err();
    assert_eq!(failure.disposition, Disposition::NotFound);
    assert_eq!(
        set.script.lines()[1..],
        [
            "GET https://api.github.com/repositories/7/issues?page=2",
            "POST https://api.github.com/repositories/7/issues",
            "POST https://api.github.com/repositories/7/issues",
        ]
    );
}

#[tokio::test]
async fn r16_a_redirect_to_another_host_or_in_a_circle_ends() {
    let elsewhere = [("location", "https://evil.example/repositories/7/issues")];
    let set = set([reply(302, &elsewhere, &value!({}))]);
    let failure = set
        .client
        .read_route(LIST_ISSUES, &[], "")
        .await
        .unwrap_err();
    assert_eq!(failure.disposition, Disposition::NotFound);
    assert_eq!(set.script.lines().len(), 1);

    let circle = || reply(307, &[("location", "/repositories/7/issues")], &value!({}));
    let set = crate::adapters::github::scripted::set([circle(), circle(), circle(), circle()]);
    let failure = set
        .client
        .read_route(LIST_ISSUES, &[], "")
        .await
        .unwrap_err();
    assert_eq!(failure.disposition, Disposition::Refused);
    assert!(set.script.is_used_up());
}

#[tokio::test]
async fn refusals_are_told_from_each_other() {
    for (status, disposition) in [
        (401, Disposition::Denied),
        (403, Disposition::Denied),
        (400, Disposition::Refused),
        (451, Disposition::Refused),
    ] {
        let set = set([json(status, &value!({ "message": "no" }))]);
        let failure = set
            .client
            .read_route(LIST_ISSUES, &[], "")
            .await
            .unwrap_err();
        assert_eq!(failure.disposition, disposition, "{status}");
        assert_eq!(set.script.lines().len(), 1);
    }
    let answered = |status| json(status, &value!({}));
    for status in [404, 409, 410, 422] {
        let set = set([answered(status)]);
        let answer = set.client.read_route(LIST_ISSUES, &[], "").await.unwrap();
        assert_eq!(answer.status, status);
    }
}

#[tokio::test]
async fn r15_the_token_is_shown_nowhere() {
    let log = LogCapture::begin();
    let echo = value!({ "message": format!("who is {TEST_TOKEN}?") });
    let id = [
        ("x-github-request-id", "AB:1"),
        ("authorization", TEST_TOKEN),
    ];
    let set = set([reply(403, &id, &echo), json(200, &echo), lost()]);
    let failure = set
        .client
        .read_route(LIST_ISSUES, &[], "")
        .await
        .unwrap_err();
    assert_eq!(
        failure.detail,
        "who is [hidden]? (GitHub: GET /repos/{owner}/{repo}/issues: 403, request AB:1)"
    );
    set.client.read_route(LIST_ISSUES, &[], "").await.unwrap();
    let failure = set
        .client
        .write_route(CREATE_ISSUE, &[], &value!({}))
        .await
        .unwrap_err();
    let shown = format!("{:?} {failure:?} {}", set.client, log.end());
    assert!(shown.contains("GitHub answered"), "{shown}");
    assert!(!shown.contains("canary"), "{shown}");
}
