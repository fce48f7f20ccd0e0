//! HTTP by hand: the bytes that go out are a test's own, and so is how slowly they go.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::hook::{SECRET, sign};

/// A service that is silent for longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at a condition of another process.
const LOOK: Duration = Duration::from_millis(20);

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(super) status: u16,
    /// Names in lower case.
    pub(super) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// A connection that is kept.
pub(super) struct Line(BufReader<TcpStream>);

impl Line {
    pub(super) fn open(address: SocketAddr) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::new(stream)))
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.get_mut().write_all(bytes)
    }

    /// Nothing more will be sent.
    pub(super) fn end(&mut self) {
        self.0
            .get_mut()
            .shutdown(std::net::Shutdown::Write)
            .unwrap();
    }

    /// The next answer; `None` when the connection was closed instead.
    pub(super) fn reply(&mut self) -> std::io::Result<Option<Reply>> {
        let mut line = String::new();
        if self.0.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let status = line.split(' ').nth(1).and_then(|code| code.parse().ok());
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else {
                break;
            };
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length = length.map_or(0, |(_, length)| length.parse().unwrap());
        let mut body = vec![0; length];
        self.0.read_exact(&mut body)?;
        Ok(Some(Reply {
            status: status.unwrap_or_else(|| panic!("no status in {line:?}")),
            headers,
            body: String::from_utf8(body).unwrap(),
        }))
    }

    /// Sends a request and reads its answer.
    pub(super) fn ask(&mut self, request: &[u8]) -> std::io::Result<Option<Reply>> {
        self.send(request)?;
        self.reply()
    }
}

/// One request, one answer.
#[track_caller]
pub(super) fn ask(address: SocketAddr, request: &[u8]) -> Reply {
    let mut line = Line::open(address).unwrap();
    // It may be refused, and the connection be closed, before all of it is sent.
    let sent = line.send(request);
    match line.reply() {
        Ok(Some(reply)) => reply,
        other => panic!("the connection was closed without an answer: {sent:?}, {other:?}"),
    }
}

pub(crate) fn get(address: SocketAddr, path: &str) -> Reply {
    ask(
        address,
        format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n").as_bytes(),
    )
}

/// Waits until a service says that it is ready, or with 503 that it is not. On a busy machine its inbox may answer too late
/// now and then, and what it said last is kept for a second.
#[track_caller]
pub(super) fn until_ready_is(address: SocketAddr, status: u16) {
    until_said(address, "/readyz", |reply| reply.status == status);
}

/// Asks until the answer is as wanted, and gives it.
#[track_caller]
pub(super) fn until_said(
    address: SocketAddr,
    path: &str,
    wanted: impl Fn(&Reply) -> bool,
) -> Reply {
    let begun = Instant::now();
    loop {
        let reply = get(address, path);
        if wanted(&reply) {
            return reply;
        }
        assert!(begun.elapsed() < PATIENCE, "{path}: {reply:?}");
        std::thread::sleep(LOOK);
    }
}

/// A delivery as GitHub would send it, about to be sent.
#[derive(Debug, Clone)]
pub(super) struct Post {
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
}

impl Post {
    pub(super) fn new(guid: &str, event: &str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let headers = vec![
            ("content-type", "application/json".to_owned()),
            ("x-github-event", event.to_owned()),
            ("x-github-delivery", guid.to_owned()),
            ("x-hub-signature-256", sign(SECRET, &body)),
            ("content-length", body.len().to_string()),
        ];
        Self { headers, body }
    }

    /// An event about a repository.
    pub(super) fn about(guid: &str, repository: u64) -> Self {
        let body = format!(
            r#"{{"action":"labeled","issue":{{"node_id":"I_{repository}"}},"sender":{{"id":5}},
                "repository":{{"id":{repository},"full_name":"acme/r{repository}"}}}}"#
        );
        Self::new(guid, "issues", body)
    }

    /// With another value of a header, or, where it is empty, without it.
    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        if !value.is_empty() {
            self.headers.push((name, value.to_owned()));
        }
        self
    }

    /// The head alone.
    pub(super) fn head(&self) -> Vec<u8> {
        let mut head = "POST /webhook HTTP/1.1\r\nhost: test\r\n".to_owned();
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        head.into_bytes()
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        [self.head(), self.body.clone()].concat()
    }
}
