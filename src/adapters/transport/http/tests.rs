//! The transport against loopback servers that behave well, badly, or not at all.

use std::net::SocketAddr;

use axum::Router;
use axum::http::HeaderMap;
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;

fn transport(total: Duration, body: usize) -> HttpTransport {
    let limits = Limits {
        connect: Duration::from_secs(5),
        total,
        body,
    };
    HttpTransport::new(limits, Proxies::no_proxy())
}

fn patient() -> HttpTransport {
    transport(Duration::from_secs(20), 1 << 20)
}

async fn ask(transport: &HttpTransport, url: String) -> Result<Response<Bytes>, TransportError> {
    let request = Request::get(url).body(Bytes::new()).unwrap();
    transport.send(request).await
}

/// Accepts one connection and hands it to `behave`.
async fn once<F, W>(behave: F) -> SocketAddr
where
    F: FnOnce(TcpStream) -> W + Send + 'static,
    W: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        behave(stream).await;
    });
    address
}

async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}

async fn well_behaved() -> SocketAddr {
    let router =
        Router::new()
            .route(
                "/agent",
                get(|headers: HeaderMap| async move {
                    headers[USER_AGENT].to_str().unwrap().to_owned()
                }),
            )
            .route("/echo", post(|body: String| async move { body }))
            .route("/large", get(|| async { "x".repeat(2_000) }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

#[tokio::test]
async fn answers_come_back_whole_and_we_say_who_we_are() {
    let at = well_behaved().await;
    let answer = ask(&patient(), format!("http://{at}/agent")).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.body(), AGENT);

    let request = Request::post(format!("http://{at}/echo"))
        .body(Bytes::from_static(b"said"))
        .unwrap();
    assert_eq!(patient().send(request).await.unwrap().body(), "said");
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_not_read() {
    let at = well_behaved().await;
    let small = transport(Duration::from_secs(20), 1_999);
    assert_eq!(
        ask(&small, format!("http://{at}/large")).await.unwrap_err(),
        TransportError::TooLarge { limit: 1_999 }
    );
    let exact = transport(Duration::from_secs(20), 2_000);
    assert!(ask(&exact, format!("http://{at}/large")).await.is_ok());
}

#[tokio::test]
async fn a_refused_connection_sent_nothing() {
    // Nothing listens there, and no test is given this port meanwhile.
    let at = "127.0.0.1:1";
    let error = ask(&patient(), format!("http://{at}/")).await.unwrap_err();
    assert!(matches!(error, TransportError::NotSent(_)), "{error}");
    assert!(error.to_string().contains(at), "{error}");
}

#[tokio::test]
async fn a_host_without_tls_was_sent_nothing() {
    let at = once(|mut stream| async move {
        let mut hello = [0; 64];
        let _ = stream.read(&mut hello).await;
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    })
    .await;
    let error = ask(&patient(), format!("https://{at}/")).await.unwrap_err();
    assert!(matches!(error, TransportError::NotSent(_)), "{error}");
}

#[tokio::test]
async fn a_handshake_that_never_ends_sent_nothing() {
    let at = once(|stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let limits = Limits {
        connect: Duration::from_millis(50),
        ..Limits::default()
    };
    let transport = HttpTransport::new(limits, Proxies::no_proxy());
    let error = ask(&transport, format!("https://{at}/")).await.unwrap_err();
    assert!(matches!(error, TransportError::NotSent(_)), "{error}");
}

#[tokio::test]
async fn a_server_that_never_answers_leaves_the_effect_unknown() {
    let at = once(|mut stream| async move {
        read_head(&mut stream).await;
        std::future::pending::<()>().await;
    })
    .await;
    // The time to connect is so long that a busy machine does it in that time; both are waited for.
    let limits = Limits {
        connect: Duration::from_secs(5),
        total: Duration::from_millis(100),
        body: 1_000,
    };
    let transport = HttpTransport::new(limits, Proxies::no_proxy());
    let error = ask(&transport, format!("http://{at}/")).await.unwrap_err();
    assert!(matches!(error, TransportError::Lost(_)), "{error}");
}

#[tokio::test]
async fn a_connection_cut_before_the_answer_leaves_the_effect_unknown() {
    let at = once(|mut stream| async move {
        read_head(&mut stream).await;
    })
    .await;
    let error = ask(&patient(), format!("http://{at}/")).await.unwrap_err();
    assert!(matches!(error, TransportError::Lost(_)), "{error}");
}

#[tokio::test]
async fn a_body_cut_short_leaves_the_effect_unknown() {
    let at = once(|mut stream| async move {
        read_head(&mut stream).await;
        let part = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"name\":";
        stream.write_all(part).await.unwrap();
    })
    .await;
    let error = ask(&patient(), format!("http://{at}/")).await.unwrap_err();
    assert!(matches!(error, TransportError::Lost(_)), "{error}");
}

#[tokio::test]
async fn r16_unencrypted_requests_stay_on_this_machine() {
    let error = ask(&patient(), "http://jules.example/v1alpha".to_owned())
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "nothing was sent: `jules.example` is not asked without encryption; use https"
    );
}

#[tokio::test]
async fn a_proxy_is_asked_for_a_tunnel() {
    let (seen, asked) = tokio::sync::oneshot::channel();
    let at = once(|mut stream| async move {
        seen.send(read_head(&mut stream).await).unwrap();
        let refusal = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(refusal).await.unwrap();
    })
    .await;
    let proxies = Proxies::new(&format!("http://user:pass@{at}"), "");
    let transport = HttpTransport::new(Limits::default(), proxies);
    let error = ask(&transport, "https://jules.example/v1alpha".to_owned())
        .await
        .unwrap_err();
    assert!(matches!(error, TransportError::NotSent(_)), "{error}");
    let asked = asked.await.unwrap();
    assert!(
        asked.starts_with("CONNECT jules.example:443 HTTP/1.1\r\n"),
        "{asked}"
    );
    assert!(
        asked.contains("Proxy-Authorization: Basic dXNlcjpwYXNz\r\n"),
        "{asked}"
    );
}

#[tokio::test]
async fn a_proxy_that_we_cannot_speak_to_is_named() {
    let transport = HttpTransport::new(Limits::default(), Proxies::new("socks5://127.0.0.1:1", ""));
    let error = ask(&transport, "https://jules.example/".to_owned())
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("must begin with http://"),
        "{error}"
    );
}
