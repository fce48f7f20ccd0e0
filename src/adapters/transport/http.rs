//! Sends requests over the network.

use std::time::Duration;

use bytes::Bytes;
use http::header::USER_AGENT;
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited as LimitedBody};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::connector::{Dialer, Proxies, WithTimeout, is_loopback};
use super::interface::{BoxFuture, Transport, TransportError};
use crate::adapters::trust;

/// The user agent of phileas.
const AGENT: &str = concat!("phileas/", env!("CARGO_PKG_VERSION"));

/// How long an idle connection is kept. Short, because a connection that the server closes while a request is sent
/// leaves its effect unknown.
const IDLE_LIMIT: Duration = Duration::from_secs(20);

/// How many idle connections are kept for a host.
const IDLE_CONNECTIONS: usize = 8;

/// The limits of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The time to connect: address, TCP, proxy, TLS.
    pub connect: Duration,
    /// The time from the connection to the last byte of the answer.
    pub total: Duration,
    /// The size of an answer's body in bytes.
    pub body: usize,
}

impl Default for Limits {
    /// 10 s to connect, 60 s for the answer (creating a session can take more than 30 s), 32 MiB.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            total: Duration::from_secs(60),
            body: 32 << 20,
        }
    }
}

/// HTTP/1.1 over TLS 1.2 or later with the authorities of [`trust`]; unencrypted only to this machine.
#[derive(Debug, Clone)]
pub struct HttpTransport {
    client: Client<WithTimeout<HttpsConnector<Dialer>>, Full<Bytes>>,
    limits: Limits,
}

impl HttpTransport {
    /// A transport with its own pool of connections.
    #[must_use]
    pub fn new(limits: Limits, proxies: Proxies) -> Self {
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(trust::client_config())
            .https_or_http()
            .enable_http1()
            .wrap_connector(Dialer::new(proxies));
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_LIMIT)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .build(WithTimeout::new(connector, limits.connect));
        Self { client, limits }
    }

    async fn send_once(
        &self,
        mut request: Request<Bytes>,
    ) -> Result<Response<Bytes>, TransportError> {
        check_target(request.uri())?;
        request
            .headers_mut()
            .entry(USER_AGENT)
            .or_insert(HeaderValue::from_static(AGENT));
        // A connection that takes too long is reported as not sent; any later time-out means that the request was
        // sent.
        let limit = self.limits.connect + self.limits.total;
        match tokio::time::timeout(limit, self.read_whole_body(request.map(Full::new))).await {
            Ok(answer) => answer,
            Err(_) => Err(TransportError::Lost(format!("no answer within {limit:?}"))),
        }
    }

    async fn read_whole_body(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Bytes>, TransportError> {
        let host = request
            .uri()
            .authority()
            .map_or_else(String::new, |host| host.as_str().to_owned());
        let response = self.client.request(request).await.map_err(|error| {
            let text = error_chain(&error);
            if error.is_connect() {
                let help = if text.contains("UnknownIssuer") {
                    format!("; {}", trust::HELP)
                } else {
                    String::new()
                };
                TransportError::NotSent(format!(
                    "no connection to {host} (network, name service, proxy or TLS): {text}{help}"
                ))
            } else {
                TransportError::Lost(text)
            }
        })?;
        let (parts, body) = response.into_parts();
        let limit = self.limits.body;
        let body = LimitedBody::new(body, limit)
            .collect()
            .await
            .map_err(|error| {
                if error.is::<LengthLimitError>() {
                    TransportError::TooLarge { limit }
                } else {
                    TransportError::Lost(error_chain(error.as_ref()))
                }
            })?;
        Ok(Response::from_parts(parts, body.to_bytes()))
    }
}

impl Default for HttpTransport {
    /// Default limits, proxies of the environment.
    fn default() -> Self {
        Self::new(Limits::default(), Proxies::from_env())
    }
}

impl Transport for HttpTransport {
    fn send(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>> {
        Box::pin(self.send_once(request))
    }
}

/// Refuses unencrypted requests to other machines, because they carry a credential.
fn check_target(target: &Uri) -> Result<(), TransportError> {
    let host = target.host().unwrap_or_default();
    match target.scheme_str() {
        Some("https") => Ok(()),
        Some("http") if is_loopback(host) => Ok(()),
        _ => Err(TransportError::NotSent(format!(
            "`{host}` is not asked without encryption; use https"
        ))),
    }
}

/// An error with its causes in one line.
fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text.push_str(": ");
            text.push_str(&inner_text);
        }
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests;
