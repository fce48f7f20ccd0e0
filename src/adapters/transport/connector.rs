//! Opens connections, directly or through a proxy, within a time limit.

use std::env;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower::Service;

use super::interface::BoxFuture;

pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The proxy for each host. Requests over `https` use it by `CONNECT`; loopback never does.
#[derive(Clone)]
pub struct Proxies(Arc<Matcher>);

impl Proxies {
    /// No proxy at all.
    #[cfg(test)]
    pub(super) fn no_proxy() -> Self {
        Self(Arc::new(Matcher::builder().build()))
    }

    /// The proxies in `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` (lower case too), read as curl reads them.
    #[must_use]
    pub fn from_env() -> Self {
        let read = |upper: &str, lower: &str| {
            env::var(upper)
                .or_else(|_| env::var(lower))
                .unwrap_or_default()
        };
        let https = read("HTTPS_PROXY", "https_proxy");
        let all = read("ALL_PROXY", "all_proxy");
        let proxy = if https.is_empty() { all } else { https };
        Self::new(&proxy, &read("NO_PROXY", "no_proxy"))
    }

    /// One proxy for all `https` requests, except for the hosts in the comma-separated list.
    #[must_use]
    pub fn new(proxy: &str, except: &str) -> Self {
        Self(Arc::new(Matcher::builder().https(proxy).no(except).build()))
    }
}

impl fmt::Debug for Proxies {
    // A proxy's address may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proxies")
    }
}

/// Whether a host in a URL is always this machine.
#[must_use]
pub fn is_loopback(host: &str) -> bool {
    let bare = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(host);
    bare.eq_ignore_ascii_case("localhost")
        || bare
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// The port of an authority, such as `host:99999`, if it is a number above the highest port.
#[must_use]
pub fn excessive_port(authority: &str) -> Option<&str> {
    let (_, port) = authority.rsplit_once(':')?;
    let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && port.parse::<u16>().is_err()).then_some(port)
}

/// Opens TCP connections, through a proxy's tunnel if the host has one.
#[derive(Debug, Clone)]
pub(super) struct Dialer {
    direct: HttpConnector,
    proxies: Proxies,
}

impl Dialer {
    pub(super) fn new(proxies: Proxies) -> Self {
        let mut direct = HttpConnector::new();
        direct.enforce_http(false);
        direct.set_nodelay(true);
        Self { direct, proxies }
    }
}

impl Service<Uri> for Dialer {
    type Response = TokioIo<TcpStream>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.direct.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, target: Uri) -> Self::Future {
        let proxy = if target.host().is_some_and(is_loopback) {
            None
        } else {
            self.proxies.0.intercept(&target)
        };
        let Some(proxy) = proxy else {
            let connecting = self.direct.call(target);
            return Box::pin(async move { connecting.await.map_err(Into::into) });
        };
        if proxy.uri().scheme_str() != Some("http") {
            return Box::pin(async {
                Err("the proxy's address must begin with http:// (its tunnel carries TLS)".into())
            });
        }
        let mut tunnel = Tunnel::new(proxy.uri().clone(), self.direct.clone());
        if let Some(credentials) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(credentials.clone());
        }
        let connecting = tunnel.call(target);
        Box::pin(async move { connecting.await.map_err(Into::into) })
    }
}

/// Limits the time of a connector, TLS included, so that a request without a connection surely was not sent.
#[derive(Debug, Clone)]
pub(super) struct WithTimeout<C> {
    inner: C,
    limit: Duration,
}

impl<C> WithTimeout<C> {
    pub(super) fn new(inner: C, limit: Duration) -> Self {
        Self { inner, limit }
    }
}

impl<C> Service<Uri> for WithTimeout<C>
where
    C: Service<Uri>,
    C::Error: Into<BoxError>,
    C::Future: Send + 'static,
{
    type Response = C::Response;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<C::Response, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, target: Uri) -> Self::Future {
        let connecting = self.inner.call(target);
        let limit = self.limit;
        Box::pin(async move {
            match tokio::time::timeout(limit, connecting).await {
                Ok(connected) => connected.map_err(Into::into),
                Err(_) => Err(format!("no connection within {limit:?}").into()),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loopback() {
        for here in ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "[::1]"] {
            assert!(is_loopback(here), "{here}");
        }
        for there in [
            "jules.googleapis.com",
            "127.0.0.1.example.com",
            "10.0.0.1",
            "localhost.example",
            "",
        ] {
            assert!(!is_loopback(there), "{there}");
        }
    }

    #[test]
    fn a_proxys_password_is_not_shown() {
        let proxies = Proxies::new("http://user:hidden@proxy.example:3128", "");
        assert!(!format!("{proxies:?}").contains("hidden"));
        assert!(!format!("{:?}", Dialer::new(proxies)).contains("hidden"));
    }

    #[test]
    fn hosts_can_be_excepted_from_the_proxy() {
        let proxies = Proxies::new("http://proxy.example:3128", "api.example");
        let target = |text: &str| text.parse::<Uri>().unwrap();
        assert!(
            proxies
                .0
                .intercept(&target("https://other.example/"))
                .is_some()
        );
        assert!(
            proxies
                .0
                .intercept(&target("https://api.example/"))
                .is_none()
        );
        assert!(
            Proxies::no_proxy()
                .0
                .intercept(&target("https://other.example/"))
                .is_none()
        );
    }
}
