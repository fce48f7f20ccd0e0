//! Exchanges a manifest's code for an App, the last step of registering one from a form.
//! <https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest>

use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use http::header::{ACCEPT, USER_AGENT};
use secrecy::SecretString;
use serde::Deserialize;

use crate::adapters::github::http::api_url::Base;
use crate::adapters::github::http::{error, routes};
use crate::adapters::transport::Transport;
use crate::runtime::ports::{Disposition, Failure};

/// The user agent of phileas.
const AGENT: &str = concat!("phileas/", env!("CARGO_PKG_VERSION"));

/// An App that was just registered, with all its secrets. GitHub shows them only once.
#[derive(Debug, Deserialize)]
pub struct Conversion {
    /// Its number.
    pub id: u64,
    /// The last part of its page's address.
    pub slug: String,
    /// Its page, from which it is installed.
    pub html_url: String,
    /// Its private key, PEM.
    pub pem: SecretString,
    /// The secret of its webhook; `None` where the manifest has none.
    pub webhook_secret: Option<SecretString>,
}

/// Exchanges the code that GitHub passed to the browser. A code works once, within an hour, and needs no credential.
///
/// # Errors
///
/// [`Disposition::NotFound`] for a code that GitHub does not know, has already exchanged, or that has expired.
pub async fn convert_manifest(
    transport: &Arc<dyn Transport>,
    base: &Base,
    code: &str,
) -> Result<Conversion, Failure> {
    let route = routes::CONVERT_MANIFEST;
    let (method, path) = routes::expand_route(route, "", &[code]);
    let rest = base.rest_address();
    let origin = rest.origin.to_string();
    let address = format!("{}{}{path}", origin.trim_end_matches('/'), rest.path);
    let request = Request::builder()
        .method(method)
        .uri(address)
        .header(USER_AGENT, AGENT)
        .header(ACCEPT, "application/vnd.github+json")
        .body(Bytes::new())
        .map_err(|_| error::local_failure(route, "this is not a code", Disposition::Refused))?;
    let retry = || Disposition::Retry { after: None };
    let response = transport
        .send(request)
        .await
        .map_err(|failure| error::local_failure(route, &failure.to_string(), retry()))?;
    match response.status().as_u16() {
        200..=299 => serde_json::from_slice(response.body()).map_err(|problem| {
            // The position only: the text holds secrets.
            let said = format!(
                "the answer is not understood (line {}, column {})",
                problem.line(),
                problem.column()
            );
            error::local_failure(route, &said, Disposition::Unknown)
        }),
        404 => {
            let said = "GitHub does not know this code; a code works once, within an hour";
            Err(error::local_failure(route, said, Disposition::NotFound))
        }
        422 => {
            let said = format!(
                "GitHub refuses the App: {}",
                refusal_message(response.body())
            );
            Err(error::local_failure(route, &said, Disposition::Refused))
        }
        status => {
            let said = format!("GitHub answered {status}");
            Err(error::local_failure(route, &said, retry()))
        }
    }
}

/// The reason that GitHub gives for a refusal. Such an answer holds no secret.
fn refusal_message(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Said {
        message: String,
    }
    let said = serde_json::from_slice(body).map(|said: Said| said.message);
    said.unwrap_or_else(|_| "it does not say why".to_owned())
}
