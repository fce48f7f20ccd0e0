//! Mints and renews an App's installation tokens, and signs the App's own JSON Web Tokens.

use std::collections::BTreeMap;
use std::sync::PoisonError;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use octocrab::jsonwebtoken::{Algorithm, Header, encode};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use super::token::{App, SignedJwt, Token};
use super::token_source::{AppTokens, MintedToken, TokenSource};
use crate::adapters::github::client::Client;
use crate::adapters::github::http::answer::Answer;
use crate::adapters::github::http::request::Sent;
use crate::adapters::github::http::retry::{LONGEST_CALL, READ_ATTEMPTS};
use crate::adapters::github::http::{error, routes};
use crate::runtime::ports::{Disposition, Failure};

/// An installation token is renewed this long before it expires.
pub(crate) const RENEW_BEFORE: Duration = Duration::from_secs(5 * 60);
/// How long a JSON Web Token of the App is used. It stays valid for four more minutes, which covers the request and
/// clock skew.
const SIGNED_FOR: Duration = Duration::from_secs(5 * 60);
/// The permissions that phileas requests, as far as the installation has them. None of them allows a change of
/// workflows.
const WANTED: [(&str, &str); 7] = [
    ("actions", "read"),
    ("checks", "read"),
    ("contents", "write"),
    ("issues", "write"),
    ("metadata", "read"),
    ("pull_requests", "write"),
    ("statuses", "read"),
];

#[derive(Serialize)]
struct Claims<'a> {
    iss: &'a str,
    iat: i64,
    exp: i64,
}

#[derive(Deserialize)]
struct Installation {
    id: u64,
    #[serde(default)]
    permissions: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct TokenAnswer {
    token: String,
    expires_at: Timestamp,
}

/// Mints a token with only the permissions that phileas uses, for one repository or for the whole installation.
async fn mint_token(minted: &AppTokens, client: &Client) -> Result<MintedToken, Failure> {
    let app = &minted.app;
    let (route, id) = match minted.installation {
        Some(id) => (routes::READ_APP_INSTALLATION, Some(id.to_string())),
        None => (routes::READ_INSTALLATION, None),
    };
    let values: Vec<&str> = id.as_deref().into_iter().collect();
    let installation = call_as_app(app, client, route, &values, "", None).await?;
    let installation: Installation = client.parse(route, &installation)?;
    let permissions: BTreeMap<&str, &str> = WANTED
        .into_iter()
        .filter_map(|(name, most)| {
            let granted = installation.permissions.get(name)?;
            // Request `read` where only reading was granted; GitHub refuses a request for more.
            Some((name, if granted == "read" { "read" } else { most }))
        })
        .collect();
    let mut request = serde_json::json!({ "permissions": permissions });
    if minted.installation.is_none() {
        // The name may be one from before a rename, which this method does not follow.
        match client.address.known_id() {
            Some(id) => request["repository_ids"] = serde_json::json!([id.0]),
            None => {
                request["repositories"] = serde_json::json!([client.address.current_name().name])
            }
        }
    }
    let id = installation.id.to_string();
    let route = routes::CREATE_INSTALLATION_TOKEN;
    let request = Some(request.to_string().into());
    let answer = call_as_app(app, client, route, &[&id], "", request).await?;
    let minted: TokenAnswer = client.parse(route, &answer)?;
    let token = Token::new(&minted.token)
        .map_err(|error| error::local_failure(route, &error.to_string(), Disposition::Denied))?;
    Ok(MintedToken {
        token,
        expires_at: minted.expires_at,
    })
}

impl Client {
    /// The token for the next request, minted or renewed if necessary.
    pub(crate) async fn current_token(&self) -> Result<Token, Failure> {
        let minted = match &*self.tokens {
            TokenSource::Fixed(token) => return Ok(token.clone()),
            TokenSource::App(minted) => minted,
        };
        let (failures, _) = minted.mint_failures();
        let mut last = minted.last.lock().await;
        let margin = SignedDuration::try_from(RENEW_BEFORE).unwrap_or(SignedDuration::ZERO);
        if let Some(fresh) = last.as_ref()
            && self.pause.now() + margin < fresh.expires_at
        {
            return Ok(fresh.token.clone());
        }
        if let (now, Some(failure)) = minted.mint_failures()
            && now > failures
        {
            return Err(failure);
        }
        match mint_token(minted, self).await {
            Ok(fresh) => {
                *last = Some(fresh.clone());
                Ok(fresh.token)
            }
            Err(failure) => {
                minted.record_failure(&failure);
                Err(failure)
            }
        }
    }

    /// The token that this client has minted, so that the caller can mask it in public logs. `None`: it uses a
    /// configured token.
    ///
    /// # Errors
    ///
    /// When no token can be minted.
    pub async fn minted_token(&self) -> Result<Option<SecretString>, Failure> {
        match &*self.tokens {
            TokenSource::Fixed(_) => Ok(None),
            TokenSource::App(_) => Ok(Some(self.current_token().await?.secret().clone())),
        }
    }
}

/// Sends one call with the App's own JSON Web Token. Minting twice does no harm, so every call here may be repeated.
pub(crate) async fn call_as_app(
    app: &App,
    client: &Client,
    route: &str,
    values: &[&str],
    query: &str,
    body: Option<Bytes>,
) -> Result<Answer, Failure> {
    let begun = client.pause.now();
    let mut now = begun;
    let mut corrected = false;
    for attempt in 1..=READ_ATTEMPTS {
        let jwt = current_jwt(app, now).map_err(|()| {
            error::local_failure(route, "the App's key does not sign", Disposition::Denied)
        })?;
        let (method, mut path) = routes::expand_route(route, &client.address.root_path(), values);
        path.push_str(query);
        // The App's own limits are not those of its installation.
        let sent = client
            .send_outside_budget(method, &path, body.clone(), &jwt)
            .await;
        let spent = client.pause.now().duration_since(begun).unsigned_abs();
        let is_last = attempt == READ_ATTEMPTS || spent >= LONGEST_CALL;
        let answer = match sent {
            Sent::Answer(answer) => answer,
            Sent::Nothing(failure) => {
                if is_last {
                    return Err(Failure {
                        disposition: Disposition::Retry { after: None },
                        detail: format!("{failure} (GitHub: {route})"),
                    });
                }
                client
                    .pause
                    .pause_for(client.backoff.wait_after(attempt))
                    .await;
                continue;
            }
        };
        if answer.status.is_success() {
            return Ok(answer);
        }
        if answer.status == StatusCode::UNAUTHORIZED {
            drop_refused_jwt(app, &jwt);
        }
        if let Some(path) = client.redirect_of(&answer)
            && client.address.follow_redirect(&path)
        {
            continue;
        }
        // GitHub refuses the token when this machine's clock is wrong. Sign once more with GitHub's time.
        if answer.status == StatusCode::UNAUTHORIZED
            && !corrected
            && let Some(date) = answer.date_header()
        {
            corrected = true;
            now = date;
            continue;
        }
        if answer.status.is_server_error() && !is_last {
            client
                .pause
                .pause_for(client.backoff.wait_after(attempt))
                .await;
            continue;
        }
        return Err(app_call_failure(client, route, &answer));
    }
    Err(error::local_failure(
        route,
        "too many redirects",
        Disposition::Retry { after: None },
    ))
}

fn app_call_failure(client: &Client, route: &str, answer: &Answer) -> Failure {
    if let Some(after) = answer.rate_limit_wait(&answer.error_message(), client.pause.now()) {
        let after = Some(after);
        return error::answer_failure(route, answer, Disposition::Retry { after });
    }
    match answer.status {
        StatusCode::NOT_FOUND if route == routes::READ_INSTALLATION => {
            let said = format!(
                "the App is not installed on {}; install it there",
                client.address.current_name()
            );
            error::failure_saying(route, answer, Disposition::Denied, &said)
        }
        StatusCode::NOT_FOUND => error::answer_failure(route, answer, Disposition::NotFound),
        status if status.is_server_error() => {
            error::answer_failure(route, answer, Disposition::Retry { after: None })
        }
        _ => error::answer_failure(route, answer, Disposition::Denied),
    }
}

/// The App's JSON Web Token of the last minutes, or a new one. Callers that read many pages or ask for a thousand
/// deliveries need not sign each request.
fn current_jwt(app: &App, now: Timestamp) -> Result<Token, ()> {
    let mut last = app.signed.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(signed) = last.as_ref() {
        let age = now.duration_since(signed.at);
        // A negative age means that the clock was set back.
        if !age.is_negative() && age.unsigned_abs() < SIGNED_FOR {
            return Ok(signed.token.clone());
        }
    }
    let token = sign_jwt(app, now)?;
    *last = Some(SignedJwt {
        token: token.clone(),
        at: now,
    });
    Ok(token)
}

/// Drops a refused token, so that the next request is signed again.
fn drop_refused_jwt(app: &App, token: &Token) {
    let mut last = app.signed.lock().unwrap_or_else(PoisonError::into_inner);
    // Another request may already have signed a new one.
    last.take_if(|signed| signed.token.expose() == token.expose());
}

/// GitHub asks for an `iat` one minute in the past and an `exp` at most ten minutes ahead.
/// <https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app>
fn sign_jwt(app: &App, now: Timestamp) -> Result<Token, ()> {
    let now = now.as_second();
    let claims = Claims {
        iss: &app.issuer,
        iat: now - 60,
        exp: now + 9 * 60,
    };
    let jwt = encode(&Header::new(Algorithm::RS256), &claims, &app.key).map_err(|_| ())?;
    Token::new(&jwt).map_err(|_| ())
}

#[cfg(test)]
mod tests;
