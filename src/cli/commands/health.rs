//! `phileas health`: asks a running service whether it is well, for orchestrators whose image has no other program.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use http::{StatusCode, Uri};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::json;

use crate::cli::arguments::Health;
use crate::cli::context::service_config;
use crate::cli::exit::{Exit, Stopped};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize;
use crate::server::config;
use crate::server::public::health::NOT_READY;

/// How long the service may take to answer. Longer than its own look at the inbox takes at most.
const PATIENCE: Duration = Duration::from_secs(5);
/// How much is read of what it says, in bytes. A service of ours says less.
const MAX_WORDS: usize = 4 << 10;

pub(crate) async fn run(
    arguments: &Health,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    let listen = match arguments.listen {
        Some(listen) => listen,
        None => {
            let file = service_config::file(arguments.config.as_deref())?;
            file.listen.unwrap_or(config::LISTEN)
        }
    };
    let path = if arguments.ready {
        "/readyz"
    } else {
        "/healthz"
    };
    let url = url(listen, path)?;
    let trouble = match answer(&url, PATIENCE).await {
        Ok((StatusCode::OK, _)) => None,
        Ok((status, words)) => Some(match words.strip_prefix(NOT_READY).map(str::trim_end) {
            Some(because) if !because.is_empty() => {
                format!("is {NOT_READY}{}", sanitize::line(because))
            }
            _ => format!(
                "answers {status}; the log of the service says why, and so does `phileas health --ready` of its admin \
                 listener (`--listen`)"
            ),
        }),
        Err(because) => Some(format!(
            "does not answer: {because}; is `phileas serve` running there?"
        )),
    };
    if arguments.json {
        let said = json!({
            "url": url.to_string(), "well": trouble.is_none(), "because": trouble,
        });
        screen.line(&said.to_string())?;
    }
    match trouble {
        Some(trouble) => Err(Stopped::fault(format!("{url} {trouble}"))),
        None => {
            if !arguments.json {
                screen.line(&format!("well: {url}"))?;
            }
            Ok(Exit::Done)
        }
    }
}

/// Where a service that listens there is reached from the same machine.
fn url(listen: SocketAddr, path: &str) -> Result<Uri, Stopped> {
    if listen.port() == 0 {
        return Err(Stopped::usage(format!(
            "--listen {listen}: port 0 is whichever is free; give the one that the service has printed"
        )));
    }
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    format!("http://{}{path}", SocketAddr::new(ip, listen.port()))
        .parse()
        .map_err(|error| Stopped::usage(format!("--listen {listen}: {error}")))
}

/// The status of an answer and what it says, or why there is none.
async fn answer(url: &Uri, patience: Duration) -> Result<(StatusCode, String), String> {
    let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
    let asked = async {
        let reply = client.get(url.clone()).await;
        let (head, body) = reply.map_err(|error| causes(&error))?.into_parts();
        // The status tells enough where the rest does not come, or is nothing of ours.
        let words = Limited::new(body, MAX_WORDS).collect().await;
        let words = words.map_or_else(|_| Bytes::new(), |words| words.to_bytes());
        Ok((head.status, String::from_utf8_lossy(&words).into_owned()))
    };
    match tokio::time::timeout(patience, asked).await {
        Ok(answered) => answered,
        Err(_) => Err(format!("no answer within {patience:?}")),
    }
}

/// An error and what caused it, which alone says what happened to the connection.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url_of(listen: &str) -> String {
        url(listen.parse().unwrap(), "/healthz")
            .unwrap()
            .to_string()
    }

    #[test]
    fn a_listener_on_all_addresses_is_asked_on_loopback() {
        for (listen, url) in [
            ("127.0.0.1:8080", "http://127.0.0.1:8080/healthz"),
            ("0.0.0.0:8080", "http://127.0.0.1:8080/healthz"),
            ("[::]:8080", "http://[::1]:8080/healthz"),
            ("192.0.2.7:80", "http://192.0.2.7:80/healthz"),
        ] {
            assert_eq!(url_of(listen), url);
        }
        let refused = url("127.0.0.1:0".parse().unwrap(), "/healthz").unwrap_err();
        assert_eq!(refused.exit, Exit::Usage);
    }

    #[tokio::test]
    async fn a_service_that_hangs_is_not_waited_for() {
        // The system accepts the connection for it, and nobody ever answers.
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = url(silent.local_addr().unwrap(), "/healthz").unwrap();
        let because = answer(&url, Duration::from_millis(50)).await.unwrap_err();
        assert!(because.contains("no answer within"), "{because}");
    }
}
