//! Keys, quotas and refusals.

use super::*;

#[test]
fn limits_are_those_of_the_tier() {
    let mut bench = scripted_bench(Ending::Changes);
    bench.jules.account_mut("octocat").unwrap().tier = Tier::Free;
    let mut ids = Vec::new();
    for n in 0..3 {
        ids.push(bench.create_session(&format!("t{n}"), json!({})));
    }
    let (status, body) = bench.try_create("t", json!({}));
    assert_eq!(
        (status, body["error"]["status"].as_str()),
        (429, Some("RESOURCE_EXHAUSTED"))
    );
    assert_eq!(
        body["error"]["message"],
        "Resource has been exhausted (e.g. check quota)."
    );
    for _ in 0..12 {
        bench.pass_time(3600);
        bench.create_session("t", json!({}));
    }
    bench.pass_time(3600);
    assert_eq!(bench.try_create("t", json!({})).0, 429);
    bench.pass_time(11 * 3600);
    assert_eq!(bench.try_create("t", json!({})).0, 200);
    assert_eq!(bench.jules.records().count(), 16);
}

#[test]
fn above_the_concurrent_limit_a_session_may_be_held_instead() {
    let mut bench = scripted_bench(Ending::Changes);
    bench.knobs.over_concurrency_queued = true;
    bench.jules.account_mut("octocat").unwrap().concurrent = Some(1);
    let first = bench.create_session("a", json!({}));
    let second = bench.create_session("b", json!({}));
    bench.wait_for_state(&first, "COMPLETED");
    assert_eq!(bench.get_state(&second), "QUEUED");
    bench.wait_for_state(&second, "COMPLETED");
}

#[test]
fn a_burst_fails_reads_too() {
    let mut bench = scripted_bench(Ending::Changes);
    bench.knobs.create_burst = 5;
    let statuses: Vec<u16> = (0..7)
        .map(|n| bench.try_create(&format!("t{n}"), json!({})).0)
        .collect();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429, 429]);
    assert_eq!(bench.get_status("/v1alpha/sources/github/acme/widget"), 429);
    bench.pass_time(2);
    assert_eq!(bench.get_status("/v1alpha/sources/github/acme/widget"), 200);
}

#[test]
fn a_create_may_take_effect_and_be_refused() {
    let mut bench = scripted_bench(Ending::Changes);
    bench.knobs.create_refused_after_effect = 1.0;
    let (status, body) = bench.try_create("t [phileas:x.1]", json!({}));
    assert_eq!(
        (status, body["error"]["status"].as_str()),
        (503, Some("UNAVAILABLE"))
    );
    assert_eq!(bench.jules.created_with("[phileas:x.1]"), 1);
    assert!(bench.books.sessions[0].reply_lost);
    assert_eq!(
        bench.get("/v1alpha/sessions")["sessions"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn keys_are_checked() {
    let mut bench = scripted_bench(Ending::Changes);
    let mut ask = |key: Option<&str>, knobs: &Knobs| {
        let mut request = Request::builder().uri("/v1alpha/sessions");
        if let Some(key) = key {
            request = request.header("x-goog-api-key", key);
        }
        let request = request.body(Bytes::new()).unwrap();
        bench
            .jules
            .handle_request(
                &request,
                bench.now,
                &mut bench.github,
                knobs,
                &mut bench.books,
            )
            .status()
            .as_u16()
    };
    let knobs = Knobs::documented();
    assert_eq!(
        (
            ask(None, &knobs),
            ask(Some("wrong"), &knobs),
            ask(Some(KEY), &knobs)
        ),
        (401, 401, 200)
    );
    assert_eq!(
        ask(
            Some("wrong"),
            &Knobs {
                bad_key_is_400: true,
                ..knobs.clone()
            }
        ),
        400
    );
    bench
        .jules
        .account_mut("octocat")
        .unwrap()
        .disabled_keys
        .push(KEY.to_owned());
    assert_eq!(bench.get_status("/v1alpha/sessions"), 403);
}

#[test]
fn creates_are_checked_against_the_repository() {
    let mut bench = scripted_bench(Ending::Changes);
    let context = |source: &str, branch: &str| json!({"sourceContext": {"source": source, "githubRepoContext": {"startingBranch": branch}}});
    assert_eq!(
        bench
            .try_create("t", context("sources/github/acme/none", "main"))
            .0,
        404
    );
    assert_eq!(
        bench
            .try_create("t", context("sources/github/acme/widget", "none"))
            .0,
        400
    );
    assert_eq!(
        bench
            .try_create("t", context("sources/github/ACME/Widget", "main"))
            .0,
        200
    );
    bench.knobs.prompt_limit = 5;
    assert_eq!(bench.try_create("long", json!({})).0, 400);
}

#[test]
fn an_exhausted_quota_is_answered_in_four_forms() {
    let mut bench = scripted_bench(Ending::Changes);
    bench.jules.account_mut("octocat").unwrap().daily = Some(0);
    for (form, status, retry_after) in [
        (QuotaReply::TooManyRequests, 429, false),
        (QuotaReply::TooManyRequestsWithRetryAfter, 429, true),
        (QuotaReply::FailedPrecondition, 400, false),
        (QuotaReply::CouldNotGetSource, 404, false),
    ] {
        bench.knobs.quota_reply = form;
        let request = Request::post("/v1alpha/sessions")
            .header("x-goog-api-key", KEY)
            .body(Bytes::from_static(b"{\"prompt\":\"p\"}"))
            .unwrap();
        let reply = bench.jules.handle_request(
            &request,
            bench.now,
            &mut bench.github,
            &bench.knobs,
            &mut bench.books,
        );
        assert_eq!(
            (
                reply.status().as_u16(),
                reply.headers().contains_key("retry-after")
            ),
            (status, retry_after)
        );
    }
    assert_eq!(bench.jules.records().count(), 0);
}
