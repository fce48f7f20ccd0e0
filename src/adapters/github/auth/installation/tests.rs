use octocrab::jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use serde_json::json as value;

use super::*;
use crate::adapters::github::auth::account::Credential;
use crate::adapters::github::scripted::{Outcome, Set, app, json, lost, reply, set_as, start};

fn installation() -> Outcome {
    let granted = value!({ "contents": "write", "issues": "read", "metadata": "read",
        "administration": "write" });
    json(200, &value!({ "id": 42, "permissions": granted }))
}

fn minted(token: &str, at: &str) -> Outcome {
    json(201, &value!({ "token": token, "expires_at": at }))
}

fn branch_answer() -> Outcome {
    json(200, &value!({ "object": { "sha": "1f" } }))
}

async fn read_head(set: &Set) -> Result<(), Failure> {
    set.client.branch_head("jules").await.map(drop)
}

#[tokio::test]
async fn r17_an_installation_token_is_narrow_kept_and_renewed_in_time() {
    let (app, public) = app();
    let set = set_as(
        Credential::App(app),
        [
            installation(),
            minted("ghs_one", "2026-01-05T01:00:00Z"),
            branch_answer(),
            branch_answer(),
            installation(),
            minted("ghs_two", "2026-01-05T02:00:00Z"),
            branch_answer(),
        ],
    );
    read_head(&set).await.unwrap();
    set.clock.pass(Duration::from_secs(55 * 60 - 1));
    read_head(&set).await.unwrap();
    set.clock.pass(Duration::from_secs(1));
    read_head(&set).await.unwrap();
    assert!(set.script.is_used_up());

    let seen = set.script.seen();
    assert_eq!(
        seen[1].line,
        "POST https://api.github.com/app/installations/42/access_tokens"
    );
    let expected = value!({ "repositories": ["widget"],
        "permissions": { "contents": "write", "issues": "read", "metadata": "read" } });
    assert_eq!(seen[1].body, expected);
    let shown: Vec<&str> = [2, 3, 6]
        .map(|at: usize| seen[at].authorization.as_str())
        .to_vec();
    assert_eq!(
        shown,
        ["Bearer ghs_one", "Bearer ghs_one", "Bearer ghs_two"]
    );

    let jwt = seen[0].authorization.strip_prefix("Bearer ").unwrap();
    let mut rules = Validation::new(Algorithm::RS256);
    rules.validate_exp = false;
    let claims = decode::<serde_json::Value>(jwt, &DecodingKey::from_rsa_der(&public), &rules)
        .unwrap()
        .claims;
    let now = start().as_second();
    assert_eq!(
        claims,
        value!({ "iss": "Iv1.test", "iat": now - 60, "exp": now + 540 })
    );
    assert!(!format!("{:?}", set.client).contains("ghs_"));
}

#[tokio::test]
async fn a_refused_installation_token_is_renewed_once() {
    let no = || json(401, &value!({ "message": "Bad credentials" }));
    let (app, _) = app();
    let set = set_as(
        Credential::App(app),
        [
            installation(),
            minted("ghs_one", "2026-01-05T01:00:00Z"),
            no(),
            installation(),
            minted("ghs_two", "2026-01-05T01:00:00Z"),
            no(),
        ],
    );
    let failure = read_head(&set).await.unwrap_err();
    assert_eq!(failure.disposition, Disposition::Denied);
    assert!(set.script.is_used_up());
}

#[tokio::test]
async fn a_wrong_clock_is_fixed_by_githubs() {
    let (app, _) = app();
    let set = set_as(
        Credential::App(app),
        [
            json(
                401,
                &value!({ "message": "'Expiration time' claim is too far" }),
            ),
            installation(),
            minted("ghs_one", "2026-01-05T01:00:00Z"),
            branch_answer(),
        ],
    );
    set.clock.pass(Duration::from_secs(3600));
    // The token would have expired by this clock, but it is used for the call at hand.
    read_head(&set).await.unwrap();
    assert!(set.script.is_used_up());
}

#[tokio::test]
async fn an_app_that_is_not_installed_says_so() {
    let (app, _) = app();
    let set = set_as(
        Credential::App(app),
        [json(404, &value!({ "message": "Not Found" }))],
    );
    let failure = read_head(&set).await.unwrap_err();
    assert_eq!(failure.disposition, Disposition::Denied);
    assert!(failure.detail.contains("not installed on acme/widget"));
}

#[tokio::test]
async fn a_limit_while_minting_is_a_limit() {
    let (app, _) = app();
    let set = set_as(
        Credential::App(app),
        [reply(403, &[("retry-after", "70")], &value!({}))],
    );
    let failure = read_head(&set).await.unwrap_err();
    let after = Some(Duration::from_secs(70));
    assert_eq!(failure.disposition, Disposition::Retry { after });
}

/// Twelve repositories wait for a token while GitHub is down: one of them asks, and all get its answer.
#[tokio::test]
async fn a_failed_minting_answers_all_who_waited_for_it() {
    let out = || json(502, &value!({ "message": "Server Error" }));
    let (app, _) = app();
    let attempts = (0..READ_ATTEMPTS).map(|_| out());
    let set = set_as(Credential::App(app), attempts);
    let looks: Vec<_> = (0..12).map(|_| Box::pin(read_head(&set))).collect();
    for looked in all_at_once(looks).await {
        let failure = looked.unwrap_err();
        assert_eq!(failure.disposition, Disposition::Retry { after: None });
    }
    assert!(set.script.is_used_up());
    // A later request mints again.
    set.script.push(installation());
    set.script.push(minted("ghs_one", "2026-01-05T01:00:00Z"));
    set.script.push(branch_answer());
    read_head(&set).await.unwrap();
}

/// Polls all of them by turns until each is done.
async fn all_at_once<F: Future + Unpin>(mut running: Vec<F>) -> Vec<F::Output> {
    let mut done = Vec::new();
    std::future::poll_fn(move |context| {
        running.retain_mut(|one| match std::pin::Pin::new(one).poll(context) {
            std::task::Poll::Ready(value) => {
                done.push(value);
                false
            }
            std::task::Poll::Pending => true,
        });
        if running.is_empty() {
            std::task::Poll::Ready(std::mem::take(&mut done))
        } else {
            std::task::Poll::Pending
        }
    })
    .await
}

#[tokio::test]
async fn minting_is_not_tried_for_ever_at_a_github_that_hangs() {
    let (app, _) = app();
    let set = set_as(Credential::App(app), [lost()]);
    set.script.slow(LONGEST_CALL, &set.clock);
    read_head(&set).await.unwrap_err();
    assert!(set.script.is_used_up());
}

#[tokio::test]
async fn a_renamed_repository_is_named_by_its_id() {
    let (app, _) = app();
    let moved = "https://api.github.com/repositories/7/installation";
    let set = set_as(
        Credential::App(app),
        [
            reply(301, &[("location", moved)], &value!({})),
            installation(),
            minted("ghs_one", "2026-01-05T01:00:00Z"),
            branch_answer(),
        ],
    );
    read_head(&set).await.unwrap();
    let expected = &set.script.seen()[2].body;
    assert_eq!(expected["repository_ids"], value!([7]));
    assert_eq!(expected["repositories"], serde_json::Value::Null);
}

#[tokio::test]
async fn one_signature_serves_many_requests_until_it_is_refused_or_old() {
    let (app, _) = app();
    let good = || json(200, &value!({}));
    let refused = || {
        json(
            401,
            &value!({ "message": "A JSON web token could not be decoded" }),
        )
    };
    let answers = [
        good(),
        good(),
        good(),
        good(),
        refused(),
        good(),
        good(),
        good(),
    ];
    let set = set_as(Credential::App(app.clone()), answers);
    let ask = async || {
        call_as_app(&app, &set.client, routes::READ_APP, &[], "", None)
            .await
            .unwrap()
    };
    ask().await;
    set.clock.pass(SIGNED_FOR - Duration::from_secs(1));
    ask().await;
    set.clock.pass(Duration::from_secs(1));
    ask().await;
    // The refusal has the time of the world's start.
    ask().await;
    ask().await;
    ask().await;
    ask().await;
    assert!(set.script.is_used_up());
    let seen = set.script.seen();
    let shown: Vec<&str> = seen.iter().map(|one| one.authorization.as_str()).collect();
    assert_eq!(shown[0], shown[1], "it is used again");
    assert_ne!(shown[1], shown[2], "five minutes later it is not");
    assert_eq!(shown[2], shown[3]);
    assert_eq!(shown[3], shown[4]);
    assert_ne!(shown[4], shown[5], "what was refused is not shown again");
    // GitHub's time, by which the token was corrected, is earlier than this clock by more than a token's use.
    assert_ne!(shown[5], shown[6]);
    assert_eq!(shown[6], shown[7]);
}
