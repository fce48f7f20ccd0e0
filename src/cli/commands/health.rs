//! `phileas service health`: asks a running service whether it is healthy, for orchestrators whose image has no other program.

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
use crate::cli::exit::{CliError, Exit};
use crate::cli::terminal::output::Screen;
use crate::cli::terminal::sanitize;
use crate::server::config;
use crate::server::public::health::NOT_READY;

/// The time limit for the answer. The service's own check of the inbox takes less.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// The most bytes of the answer that are read. A phileas service sends fewer.
const MAX_BODY_BYTES: usize = 4 << 10;

pub(crate) async fn run(
    arguments: &Health,
    screen: &mut Screen<impl Write>,
) -> Result<Exit, CliError> {
    let listen = match arguments.listen {
        Some(listen) => listen,
        None => {
            let file = service_config::config_file(arguments.config.as_deref())?;
            file.listen.unwrap_or(config::LISTEN)
        }
    };
    let path = if arguments.ready {
        "/readyz"
    } else {
        "/healthz"
    };
    let url = health_url(listen, path)?;
    let trouble = match fetch_answer(&url, ANSWER_TIMEOUT).await {
        Ok((StatusCode::OK, _)) => None,
        Ok((status, words)) => Some(match words.strip_prefix(NOT_READY).map(str::trim_end) {
            Some(because) if !because.is_empty() => {
                format!("is {NOT_READY}{}", sanitize::sanitize_line(because))
            }
            _ => format!(
                "answers {status}; the log of the service says why, and so does `phileas service health --ready` of its admin \
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
        screen.print_line(&said.to_string())?;
    }
    match trouble {
        Some(trouble) => Err(CliError::finding(format!("{url} {trouble}"))),
        None => {
            if !arguments.json {
                screen.print_line(&format!("well: {url}"))?;
            }
            Ok(Exit::Done)
        }
    }
}

/// The address of a service on the same machine that listens there.
fn health_url(listen: SocketAddr, path: &str) -> Result<Uri, CliError> {
    if listen.port() == 0 {
        return Err(CliError::usage(format!(
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
        .map_err(|error| CliError::usage(format!("--listen {listen}: {error}")))
}

/// The status and body of the answer, or why there is none.
async fn fetch_answer(url: &Uri, patience: Duration) -> Result<(StatusCode, String), String> {
    let client = Client::builder(TokioExecutor::new()).build_http::<Empty<Bytes>>();
    let asked = async {
        let reply = client.get(url.clone()).await;
        let (head, body) = reply
            .map_err(|error| error_chain_text(&error))?
            .into_parts();
        // The status is sufficient if the body is missing or is not from phileas.
        let words = Limited::new(body, MAX_BODY_BYTES).collect().await;
        let words = words.map_or_else(|_| Bytes::new(), |words| words.to_bytes());
        Ok((head.status, String::from_utf8_lossy(&words).into_owned()))
    };
    match tokio::time::timeout(patience, asked).await {
        Ok(answered) => answered,
        Err(_) => Err(format!("no answer within {patience:?}")),
    }
}

/// An error with its causes. Only they say what happened to the connection.
fn error_chain_text(error: &dyn std::error::Error) -> String {
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
        health_url(listen.parse().unwrap(), "/healthz")
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
        let refused = health_url("127.0.0.1:0".parse().unwrap(), "/healthz").unwrap_err();
        assert_eq!(refused.exit, Exit::Usage);
    }

    #[tokio::test]
    async fn a_service_that_hangs_is_not_waited_for() {
        // The system accepts the connection, but no program answers.
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = health_url(silent.local_addr().unwrap(), "/healthz").unwrap();
        let because = fetch_answer(&url, Duration::from_millis(50))
            .await
            .unwrap_err();
        assert!(because.contains("no answer within"), "{because}");
    }
}
