//! One request exactly as it is said, for whoever asks what GitHub answers to it.

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};

use super::budget::Face;
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
    /// Sends one request, once. `path` stands below this repository, `/git/refs` for example; for GraphQL it is empty.
    ///
    /// # Errors
    ///
    /// Only when there was no answer, or no token to ask with.
    pub async fn ask(
        &self,
        face: Face,
        method: Method,
        path: &str,
        body: Option<&serde_json::Value>,
    ) -> Result<Verbatim, Failure> {
        let token = self.current_token().await?;
        let path = match face {
            Face::Rest => format!("{}{path}", self.place.root()),
            Face::Graph => path.to_owned(),
        };
        let body = body.map(|body| Bytes::from(body.to_string()));
        match self.send_once(face, method, &path, body, &token).await {
            Sent::Answer(answer) => Ok(Verbatim {
                status: answer.status,
                headers: answer.headers,
                body: answer.body,
            }),
            Sent::Nothing(failure) => Err(error::plain(
                "a request of its own making",
                &failure.to_string(),
                Disposition::Unknown,
            )),
        }
    }
}

/// A text of the other side in one short line, in which nothing that looks like a secret is left.
#[must_use]
pub fn redacted(text: &str) -> String {
    error::clean(text)
}
