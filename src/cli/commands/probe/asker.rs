//! Requests exactly as they are said, and answers as they come.

use std::time::{Duration, Instant};

use http::{HeaderMap, Method};
use serde_json::Value;

use super::finding::Evidence;
use crate::adapters::github::{self, Api};
use crate::adapters::jules;
use crate::cli::context::clients::Connection;

/// An answer, or none.
#[derive(Debug, Clone, Default)]
pub(super) struct Reply {
    request: String,
    pub(super) status: Option<u16>,
    pub(super) headers: HeaderMap,
    pub(super) json: Option<Value>,
    pub(super) bytes: usize,
    /// What a refusal says, or why there is no answer; free of secrets. Of a success nothing is kept here, because it
    /// may speak of other repositories.
    said: String,
    pub(super) took: Duration,
}

impl Reply {
    pub(super) fn is_success(&self) -> bool {
        self.status
            .is_some_and(|status| (200..300).contains(&status))
    }

    /// Status and words of a refusal.
    pub(super) fn evidence(&self) -> Evidence {
        Evidence::new(self.request.clone(), self.status, &self.said)
    }

    /// A success in words of our own; a refusal in its own.
    pub(super) fn success_evidence(&self, summary: &str) -> Evidence {
        if self.is_success() {
            Evidence::new(self.request.clone(), self.status, summary)
        } else {
            self.evidence()
        }
    }

    /// What a refusal says of itself: `INVALID_ARGUMENT`, …
    pub(super) fn error_code(&self) -> &str {
        self.json
            .as_ref()
            .and_then(|json| json["error"]["status"].as_str())
            .unwrap_or_default()
    }
}

/// The two services.
pub(super) struct Prober<'a> {
    connection: &'a Connection,
    /// The longest that each took, for the latency of the sandbox.
    pub(super) slowest_jules: Duration,
    pub(super) slowest_github: Duration,
}

impl<'a> Prober<'a> {
    pub(super) fn new(connection: &'a Connection) -> Self {
        Self {
            connection,
            slowest_jules: Duration::ZERO,
            slowest_github: Duration::ZERO,
        }
    }

    /// Asks Jules; `path` stands below the version.
    pub(super) async fn ask_jules(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Reply {
        let reply = ask_jules_with(&self.connection.jules_client, method, path, body).await;
        self.slowest_jules = self.slowest_jules.max(reply.took);
        reply
    }

    /// Asks GitHub over REST; `path` stands below the repository.
    pub(super) async fn ask_github_rest(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Reply {
        self.ask_github(Api::Rest, method, path, body).await
    }

    /// The branches whose names begin so; none where GitHub does not tell.
    pub(super) async fn branches_with_prefix(&self, start: &str) -> Vec<String> {
        let listed = self.connection.github.branches_from(start).await;
        listed.unwrap_or_default()
    }

    /// How a branch that is in the way is moved.
    pub(super) fn rename_command(&self, blocking: &str) -> String {
        self.connection.github.rename_command(blocking)
    }

    /// Asks GitHub over GraphQL.
    pub(super) async fn ask_github_graphql(&mut self, body: &Value) -> Reply {
        self.ask_github(Api::Graph, Method::POST, "", Some(body))
            .await
    }

    async fn ask_github(
        &mut self,
        face: Api,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Reply {
        let request = match face {
            Api::Rest => format!("GitHub {method} …{path}"),
            Api::Graph => "GitHub POST /graphql".to_owned(),
        };
        let begun = Instant::now();
        let answer = self
            .connection
            .github
            .send_verbatim(face, method, path, body)
            .await;
        let took = begun.elapsed();
        self.slowest_github = self.slowest_github.max(took);
        match answer {
            Ok(answer) => {
                let status = Some(answer.status.as_u16());
                let said = if answer.status.is_success() {
                    String::new()
                } else {
                    github::redact_text(&String::from_utf8_lossy(&answer.body))
                };
                Reply {
                    request,
                    status,
                    headers: answer.headers,
                    json: serde_json::from_slice(&answer.body).ok(),
                    bytes: answer.body.len(),
                    said,
                    took,
                }
            }
            Err(failure) => Reply {
                request,
                said: failure.detail,
                took,
                ..Reply::default()
            },
        }
    }
}

/// What a refusal says: the message of Google's envelope, or the body as it came.
fn refusal_text(json: Option<&Value>, body: &[u8]) -> String {
    let error = json.map(|json| &json["error"]);
    let message = error.and_then(|error| error["message"].as_str());
    match (message, error.and_then(|error| error["status"].as_str())) {
        (Some(message), Some(status)) => format!("{status}: {message}"),
        (Some(message), None) => message.to_owned(),
        (None, _) => String::from_utf8_lossy(body).into_owned(),
    }
}

/// Asks Jules through any client.
pub(super) async fn ask_jules_with(
    client: &jules::Client,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> Reply {
    let request = format!("Jules {method} {path}");
    let begun = Instant::now();
    let answer = client.send_verbatim(method, path, body).await;
    let took = begun.elapsed();
    match answer {
        Ok(response) => {
            let json: Option<Value> = serde_json::from_slice(response.body()).ok();
            let said = if response.status().is_success() {
                String::new()
            } else {
                client.redact_text(&refusal_text(json.as_ref(), response.body()))
            };
            Reply {
                request,
                status: Some(response.status().as_u16()),
                headers: response.headers().clone(),
                bytes: response.body().len(),
                json,
                said,
                took,
            }
        }
        Err(error) => Reply {
            request,
            said: error.to_string(),
            took,
            ..Reply::default()
        },
    }
}
