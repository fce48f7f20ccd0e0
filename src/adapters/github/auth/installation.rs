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

use super::token::{App, Signed, Token};
use super::token_source::{Fresh, Minted, Tokens};
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
struct MintedToken {
    token: String,
    expires_at: Timestamp,
}

/// Mints a token with only the permissions that phileas uses, for one repository or for the whole installation.
async fn mint(minted: &Minted, client: &Client) -> Result<Fresh, Failure> {
    let app = &minted.app;
    let (route, id) = match minted.installation {
        Some(id) => (routes::READ_APP_INSTALLATION, Some(id.to_string())),
        None => (routes::READ_INSTALLATION, None),
    };
    let values: Vec<&str> = id.as_deref().into_iter().collect();
    let installation = as_app(app, client, route, &values, "", None).await?;
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
        match client.place.id() {
            Some(id) => request["repository_ids"] = serde_json::json!([id.0]),
            None => request["repositories"] = serde_json::json!([client.place.name().name]),
        }
    }
    let id = installation.id.to_string();
    let route = routes::CREATE_INSTALLATION_TOKEN;
    let request = Some(request.to_string().into());
    let answer = as_app(app, client, route, &[&id], "", request).await?;
    let minted: MintedToken = client.parse(route, &answer)?;
    let token = Token::new(&minted.token)
        .map_err(|error| error::plain(route, &error.to_string(), Disposition::Denied))?;
    Ok(Fresh {
        token,
        expires_at: minted.expires_at,
    })
}

impl Client {
    /// The token for the next request, minted or renewed if necessary.
    pub(crate) async fn current_token(&self) -> Result<Token, Failure> {
        let minted = match &*self.tokens {
            Tokens::Fixed(token) => return Ok(token.clone()),
            Tokens::App(minted) => minted,
        };
        let (failures, _) = minted.failures();
        let mut last = minted.last.lock().await;
        let margin = SignedDuration::try_from(RENEW_BEFORE).unwrap_or(SignedDuration::ZERO);
        if let Some(fresh) = last.as_ref()
            && self.pause.now() + margin < fresh.expires_at
        {
            return Ok(fresh.token.clone());
        }
        if let (now, Some(failure)) = minted.failures()
            && now > failures
        {
            return Err(failure);
        }
        match mint(minted, self).await {
            Ok(fresh) => {
                *last = Some(fresh.clone());
                Ok(fresh.token)
            }
            Err(failure) => {
                minted.fail(&failure);
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
            Tokens::Fixed(_) => Ok(None),
            Tokens::App(_) => Ok(Some(self.current_token().await?.secret().clone())),
        }
    }
}

/// Sends one call with the App's own JSON Web Token. Minting twice does no harm, so every call here may be repeated.
pub(crate) async fn as_app(
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
        let jwt = signed(app, now).map_err(|()| {
            error::plain(route, "the App's key does not sign", Disposition::Denied)
        })?;
        let (method, mut path) = routes::expand(route, &client.place.root(), values);
        path.push_str(query);
        // The App's own limits are not those of its installation.
        let sent = client.send_unnoted(method, &path, body.clone(), &jwt).await;
        let spent = client.pause.now().duration_since(begun).unsigned_abs();
        let is_last = attempt == READ_ATTEMPTS || spent >= LONGEST_CALL;
        let answer = match sent {
            Sent::Answer(answer) => answer,
            Sent::Nothing(failure) => {
                if is_last {
                    return Err(Failure {
                        disposition: Disposition::Retry { after: None },
                        detail: format!("GitHub: {route}: {failure}"),
                    });
                }
                client.pause.pause(client.backoff.wait(attempt)).await;
                continue;
            }
        };
        if answer.status.is_success() {
            return Ok(answer);
        }
        if answer.status == StatusCode::UNAUTHORIZED {
            forget(app, &jwt);
        }
        if let Some(path) = client.redirect_of(&answer)
            && client.place.follow(&path)
        {
            continue;
        }
        // GitHub refuses the token when this machine's clock is wrong. Sign once more with GitHub's time.
        if answer.status == StatusCode::UNAUTHORIZED
            && !corrected
            && let Some(date) = answer.date()
        {
            corrected = true;
            now = date;
            continue;
        }
        if answer.status.is_server_error() && !is_last {
            client.pause.pause(client.backoff.wait(attempt)).await;
            continue;
        }
        return Err(denied(client, route, &answer));
    }
    Err(error::plain(
        route,
        "too many redirects",
        Disposition::Retry { after: None },
    ))
}

fn denied(client: &Client, route: &str, answer: &Answer) -> Failure {
    if let Some(after) = answer.limit(&answer.message(), client.pause.now()) {
        let after = Some(after);
        return error::refused(route, answer, Disposition::Retry { after });
    }
    match answer.status {
        StatusCode::NOT_FOUND if route == routes::READ_INSTALLATION => {
            let said = format!(
                "the App is not installed on {}; install it there",
                client.place.name()
            );
            error::told(route, answer, Disposition::Denied, &said)
        }
        StatusCode::NOT_FOUND => error::refused(route, answer, Disposition::NotFound),
        status if status.is_server_error() => {
            error::refused(route, answer, Disposition::Retry { after: None })
        }
        _ => error::refused(route, answer, Disposition::Denied),
    }
}

/// The App's JSON Web Token of the last minutes, or a new one. Callers that read many pages or ask for a thousand
/// deliveries need not sign each request.
fn signed(app: &App, now: Timestamp) -> Result<Token, ()> {
    let mut last = app.signed.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(signed) = last.as_ref() {
        let age = now.duration_since(signed.at);
        // A negative age means that the clock was set back.
        if !age.is_negative() && age.unsigned_abs() < SIGNED_FOR {
            return Ok(signed.token.clone());
        }
    }
    let token = sign(app, now)?;
    *last = Some(Signed {
        token: token.clone(),
        at: now,
    });
    Ok(token)
}

/// Drops a refused token, so that the next request is signed again.
fn forget(app: &App, token: &Token) {
    let mut last = app.signed.lock().unwrap_or_else(PoisonError::into_inner);
    // Another request may already have signed a new one.
    last.take_if(|signed| signed.token.expose() == token.expose());
}

/// GitHub asks for an `iat` one minute in the past and an `exp` at most ten minutes ahead.
/// <https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app>
fn sign(app: &App, now: Timestamp) -> Result<Token, ()> {
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
