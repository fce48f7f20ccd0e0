//! Sends one request exactly as the caller wrote it, for `phileas probe`.

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};

use super::budget::Api;
use super::error;
use super::request::Sent;
use crate::adapters::github::client::Client;
use crate::runtime::ports::{Disposition, Failure};

/// An answer of GitHub, refusals included.
#[derive(Debug, Clone)]
pub struct Verbatim {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Client {
    /// Sends one request, once. `path` is below this repository, such as `/git/refs`; for GraphQL it is empty.
    ///
    /// # Errors
    ///
    /// When there is no answer, or no token.
    pub async fn send_verbatim(
        &self,
        face: Api,
        method: Method,
        path: &str,
        body: Option<&serde_json::Value>,
    ) -> Result<Verbatim, Failure> {
        let token = self.current_token().await?;
        let path = match face {
            Api::Rest => format!("{}{path}", self.address.root_path()),
            Api::Graph => path.to_owned(),
        };
        let body = body.map(|body| Bytes::from(body.to_string()));
        match self.send_once(face, method, &path, body, &token).await {
            Sent::Answer(answer) => Ok(Verbatim {
                status: answer.status,
                headers: answer.headers,
                body: answer.body,
            }),
            Sent::Nothing(failure) => Err(error::local_failure(
                "a request of its own making",
                &failure.to_string(),
                Disposition::Unknown,
            )),
        }
    }
}

/// One short line of a text from the other side, without anything that looks like a secret.
#[must_use]
pub fn redact_text(text: &str) -> String {
    error::sanitize(text)
}
