use octocrab::jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use serde_json::json as value;

use super::super::Credential;
use super::super::scripted::{Outcome, Set, app, json, reply, set_as, start};
use super::*;

fn installation() -> Outcome {
    let granted = value!({ "contents": "write", "issues": "read", "metadata": "read",
        "administration": "write" });
    json(200, &value!({ "id": 42, "permissions": granted }))
}

fn minted(token: &str, at: &str) -> Outcome {
    json(201, &value!({ "token": token, "expires_at": at }))
}

fn found() -> Outcome {
    json(200, &value!({ "object": { "sha": "1f" } }))
}

async fn look(set: &Set) -> Result<(), Failure> {
    set.client.branch_head("jules").await.map(drop)
}

#[tokio::test]
async fn an_installation_token_is_narrow_kept_and_renewed_in_time() {
    let (app, public) = app();
    let set = set_as(
        Credential::App(app),
        [
            installation(),
            minted("ghs_one", "2026-01-05T01:00:00Z"),
            found(),
            found(),
            installation(),
            minted("ghs_two", "2026-01-05T02:00:00Z"),
            found(),
        ],
    );
    look(&set).await.unwrap();
    set.clock.pass(Duration::from_secs(55 * 60 - 1));
    look(&set).await.unwrap();
    set.clock.pass(Duration::from_secs(1));
    look(&set).await.unwrap();
    assert!(set.script.is_used_up());

    let seen = set.script.seen();
    assert_eq!(
        seen[1].line,
        "POST https://api.github.com/app/installations/42/access_tokens"
    );
    let wish = value!({ "repositories": ["widget"],
        "permissions": { "contents": "write", "issues": "read", "metadata": "read" } });
    assert_eq!(seen[1].body, wish);
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
    let failure = look(&set).await.unwrap_err();
    assert_eq!(failure.disposition, Disposition::Denied);
    assert!(set.script.is_used_up());
}

#[tokio::test]
async fn a_wrong_clock_is_mended_by_githubs() {
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
            found(),
        ],
    );
    set.clock.pass(Duration::from_secs(3600));
    // The token would have expired by this clock, but it is used for the call at hand.
    look(&set).await.unwrap();
    assert!(set.script.is_used_up());
}

#[tokio::test]
async fn an_app_that_is_not_installed_says_so() {
    let (app, _) = app();
    let set = set_as(
        Credential::App(app),
        [json(404, &value!({ "message": "Not Found" }))],
    );
    let failure = look(&set).await.unwrap_err();
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
    let failure = look(&set).await.unwrap_err();
    let after = Some(Duration::from_secs(70));
    assert_eq!(failure.disposition, Disposition::Retry { after });
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
            found(),
        ],
    );
    look(&set).await.unwrap();
    let wish = &set.script.seen()[2].body;
    assert_eq!(wish["repository_ids"], value!([7]));
    assert_eq!(wish["repositories"], serde_json::Value::Null);
}
