//! Runs octocrab over any [`Transport`], so that the real network, the models and the tests share one path.
//!
//! octocrab adds headers, addresses and authentication. Its retries and redirects are left out: they would repeat
//! writes, and follow a redirect without knowing whose repository it leads to.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::{HeaderName, HeaderValue, Method, Request, Response, Uri};
use http_body_util::{BodyExt as _, Full};
use octocrab::service::middleware::base_uri::BaseUriLayer;
use octocrab::service::middleware::extra_headers::ExtraHeadersLayer;
use octocrab::{AuthState, OctoBody, Octocrab, OctocrabBuilder};
use tower::{BoxError, Service};

use super::answer::Answer;
use super::api_url::Address;
use crate::adapters::github::auth::token::Token;
use crate::adapters::transport::{BoxFuture, Transport, TransportError};

/// The user agent of phileas.
const AGENT: &str = concat!("phileas/", env!("CARGO_PKG_VERSION"));
/// The version of GitHub's REST API that this client is written against.
const API_VERSION: &str = "2022-11-28";

/// One address of GitHub, reached through octocrab.
#[derive(Clone)]
pub(crate) struct Channel {
    client: Octocrab,
    path: String,
}

impl Channel {
    /// Must be called within a Tokio runtime, because octocrab starts a task for its queue.
    pub(crate) fn new(transport: Arc<dyn Transport>, address: &Address) -> Self {
        let headers = vec![
            (USER_AGENT, HeaderValue::from_static(AGENT)),
            (
                ACCEPT,
                HeaderValue::from_static("application/vnd.github+json"),
            ),
            (
                HeaderName::from_static("x-github-api-version"),
                HeaderValue::from_static(API_VERSION),
            ),
        ];
        let built = OctocrabBuilder::new_empty()
            .with_service(Adapter(transport))
            .with_layer(&BaseUriLayer::new(address.origin.clone()))
            .with_layer(&ExtraHeadersLayer::new(Arc::new(headers)))
            .with_auth(AuthState::None)
            .build();
        let client = match built {
            Ok(client) => client,
            Err(never) => match never {},
        };
        Self {
            client,
            path: address.path.clone(),
        }
    }

    /// Sends one request, once. `path` is below the address and includes the query.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
        token: &Token,
    ) -> Result<Answer, TransportError> {
        // octocrab adds its authentication only to requests without a host.
        let uri: Uri = format!("{}{path}", self.path)
            .parse()
            .map_err(|_| not_sent("the path cannot stand in a URL"))?;
        let mut request = Request::new(match body {
            Some(ref body) => OctoBody::from(body.clone()),
            None => OctoBody::empty(),
        });
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        if body.is_some() {
            request
                .headers_mut()
                .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let client = self
            .client
            .user_access_token(token.secret().clone())
            .map_err(|_| not_sent("the token cannot be used"))?;
        let response = client
            .execute(request)
            .await
            .map_err(|error| transport_error(&error, token))?;
        let (parts, body) = response.into_parts();
        let body = body
            .collect()
            .await
            .map_err(|error| transport_error(&error, token))?
            .to_bytes();
        Ok(Answer::new(parts.status, parts.headers, body, token))
    }
}

fn not_sent(text: &str) -> TransportError {
    TransportError::NotSent(text.to_owned())
}

/// Finds the transport's own error below octocrab's. Any other error counts as lost, the weakest claim.
fn transport_error(error: &(dyn std::error::Error + 'static), token: &Token) -> TransportError {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<TransportError>() {
            return match found {
                TransportError::NotSent(text) => TransportError::NotSent(token.redact_in(text)),
                TransportError::Lost(text) => TransportError::Lost(token.redact_in(text)),
                other => other.clone(),
            };
        }
        next = error.source();
    }
    TransportError::Lost("the client gave up".to_owned())
}

/// Makes a transport the service that octocrab is built on.
#[derive(Clone)]
struct Adapter(Arc<dyn Transport>);

impl Service<Request<OctoBody>> for Adapter {
    type Response = Response<Full<Bytes>>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<OctoBody>) -> Self::Future {
        let transport = Arc::clone(&self.0);
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body
                .collect()
                .await
                .map_err(|_| not_sent("the request's body cannot be read"))?
                .to_bytes();
            let response = transport.send(Request::from_parts(parts, body)).await?;
            Ok(response.map(Full::new))
        })
    }
}
