//! Requests exactly as they are written here, and answers as they come.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, Method, Request};
use phileas::adapters::github;
use phileas::adapters::transport::{HttpTransport, Limits, Proxies, Transport};
use phileas::runtime::ports::ReadGitHub as _;
use phileas_domain::engine::{Pull, Repository};
use phileas_domain::model::RepositoryName;
use serde_json::Value;

use super::Error;
use super::finding::Evidence;

/// Where the services are, and the credentials for them.
pub(crate) struct Services {
    pub(crate) repository: RepositoryName,
    /// The base URL of GitHub's REST API.
    pub(crate) github: String,
    /// The URL of GitHub's GraphQL API.
    pub(crate) graphql: String,
    pub(crate) github_token: String,
    /// The base URL of Jules, with the version.
    pub(crate) jules: String,
    pub(crate) jules_key: String,
}

impl Services {
    /// What a tick of phileas sees of the repository and its pull requests.
    pub(super) async fn observe(&self) -> Result<(Repository, Vec<Pull>), Error> {
        let client = github::Client::new(github::Settings {
            repository: self.repository.clone(),
            credential: github::Credential::Token(github::Token::new(&self.github_token)?),
            base: github::Base::from_values(Some(&self.github), Some(&self.graphql))?,
            transport: Arc::new(transport()),
            pause: Arc::new(github::SystemPause),
            seed: 0,
        });
        let seen = client.observe_repository().await?;
        Ok((seen.repository, seen.pulls.into_values().collect()))
    }

    /// One line without the credentials.
    fn redact(&self, text: &str) -> String {
        text.replace(&self.github_token, "[redacted]")
            .replace(&self.jules_key, "[redacted]")
    }
}

fn transport() -> HttpTransport {
    HttpTransport::new(Limits::default(), Proxies::from_env())
}

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
pub(super) struct Prober {
    services: Services,
    transport: HttpTransport,
    /// The longest that each took, for the latency of the sandbox.
    pub(super) slowest_jules: Duration,
    pub(super) slowest_github: Duration,
}

impl Prober {
    pub(super) fn new(services: Services) -> Self {
        Self {
            services,
            transport: transport(),
            slowest_jules: Duration::ZERO,
            slowest_github: Duration::ZERO,
        }
    }

    pub(super) fn repository(&self) -> &RepositoryName {
        &self.services.repository
    }

    /// Asks Jules; `path` stands below the version.
    pub(super) async fn ask_jules(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Reply {
        let key = self.services.jules_key.clone();
        let (reply, took) = self.ask_jules_with(&key, method, path, body).await;
        self.slowest_jules = self.slowest_jules.max(took);
        reply
    }

    /// Asks Jules with any key.
    pub(super) async fn ask_jules_with(
        &self,
        key: &str,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> (Reply, Duration) {
        let said = format!("Jules {method} {path}");
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.services.jules))
            .header("x-goog-api-key", key);
        self.send(said, request, body).await
    }

    /// Asks GitHub over REST; `path` stands below the repository.
    pub(super) async fn ask_github_rest(
        &mut self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Reply {
        let said = format!("GitHub {method} …{path}");
        let services = &self.services;
        let uri = format!("{}/repos/{}{path}", services.github, services.repository);
        self.ask_github(said, method, uri, body).await
    }

    /// Asks GitHub over GraphQL.
    pub(super) async fn ask_github_graphql(&mut self, body: &Value) -> Reply {
        let said = "GitHub POST /graphql".to_owned();
        let uri = self.services.graphql.clone();
        self.ask_github(said, Method::POST, uri, Some(body)).await
    }

    async fn ask_github(
        &mut self,
        said: String,
        method: Method,
        uri: String,
        body: Option<&Value>,
    ) -> Reply {
        let token = format!("Bearer {}", self.services.github_token);
        let request = Request::builder()
            .method(method)
            .uri(uri)
            .header(AUTHORIZATION, token);
        let (reply, took) = self.send(said, request, body).await;
        self.slowest_github = self.slowest_github.max(took);
        reply
    }

    /// Sends one request, once. The second value is how long the answer took.
    async fn send(
        &self,
        request: String,
        builder: http::request::Builder,
        body: Option<&Value>,
    ) -> (Reply, Duration) {
        let bytes = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
        let built = builder
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/json")
            .body(bytes);
        let begun = Instant::now();
        let answer = match built {
            Ok(built) => self
                .transport
                .send(built)
                .await
                .map_err(|no| no.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let took = begun.elapsed();
        let reply = match answer {
            Ok(answer) => self.reply(request, &answer),
            Err(error) => Reply {
                request,
                said: self.services.redact(&error),
                ..Reply::default()
            },
        };
        (reply, took)
    }

    fn reply(&self, request: String, answer: &http::Response<Bytes>) -> Reply {
        let json: Option<Value> = serde_json::from_slice(answer.body()).ok();
        let said = if answer.status().is_success() {
            String::new()
        } else {
            let text = refusal_text(json.as_ref(), answer.body());
            self.services.redact(&text)
        };
        Reply {
            request,
            status: Some(answer.status().as_u16()),
            headers: answer.headers().clone(),
            bytes: answer.body().len(),
            json,
            said,
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
