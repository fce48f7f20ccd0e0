//! A served world, a plain HTTP client, and git without the machine's configuration.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use phileas_world::github::Role;
use phileas_world::http::{ClockMode, Gate, serve};
use phileas_world::seed::{Seed, files};
use phileas_world::{Face, World, WorldConfig, github::RepoId};
use tokio::sync::oneshot;

/// The longest that a test waits for the server.
const PATIENCE: Duration = Duration::from_secs(60);

/// A public repository `octo/garden` with a branch `jules`; `octo` owns it, `gale` may write, `eve` may read.
pub(crate) fn seeded_world() -> (World, RepoId) {
    let mut world = World::new(WorldConfig::default());
    let mut seed = Seed::new(
        "octo",
        "garden",
        files(&[("README.md", "# Garden\n"), ("src/lib.rs", "// empty\n")]),
    );
    seed.ledger = Some(files(&[(".jules/state.json", "{}\n")]));
    seed.people = vec![("gale".to_owned(), Role::Write)];
    let repo = world.seed(&seed);
    for login in ["octo", "gale", "eve"] {
        world
            .github_mut()
            .add_person_token(&format!("{login}-token"), login);
    }
    (world, repo)
}

/// A face on loopback that ends with its test.
pub(crate) struct Served {
    pub(crate) world: Arc<Mutex<World>>,
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Served {
    pub(crate) fn serve_world(world: World) -> Self {
        Self::serve_with(
            Arc::new(Mutex::new(world)),
            Face::Github,
            ClockMode::Manual,
            None,
        )
    }

    pub(crate) fn serve_with(
        world: Arc<Mutex<World>>,
        face: Face,
        clock: ClockMode,
        gate: Option<Arc<dyn Gate>>,
    ) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let shared = Arc::clone(&world);
        let thread = std::thread::spawn(move || {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap()
                .block_on(async {
                    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                    serve(shared, listener, face, clock, gate, stopped).await;
                });
        });
        Self {
            world,
            address,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// The address of a repository with credentials, or without for an empty text.
    pub(crate) fn repository_url(&self, credentials: &str, name: &str) -> String {
        let at = if credentials.is_empty() { "" } else { "@" };
        format!("http://{credentials}{at}{}/{name}", self.address)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends one request on a connection of its own; `None` when it was closed without a reply.
    pub(crate) fn send_request(
        &self,
        method: &str,
        path: &str,
        headers: &str,
        body: &[u8],
    ) -> Option<Reply> {
        let mut stream = self.connect();
        write_request(&mut stream, method, path, headers, body);
        read_reply(&mut stream, method == "HEAD")
    }

    pub(crate) fn post_control(&self, path: &str, body: &str) -> Reply {
        let method = if body.is_empty() && matches!(path, "books" | "now") {
            "GET"
        } else {
            "POST"
        };
        self.send_request(method, &format!("/__world/{path}"), "", body.as_bytes())
            .unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(
                ended.is_ok() || std::thread::panicking(),
                "the server panicked"
            );
        }
    }
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {:?}", String::from_utf8_lossy(&self.body)))
    }
}

pub(crate) fn write_request(
    stream: &mut TcpStream,
    method: &str,
    path: &str,
    headers: &str,
    body: &[u8],
) {
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: world\r\ncontent-length: {length}\r\n{headers}\r\n"
    )
    .unwrap();
    // A server that refuses a long body may close before it has read all of it.
    let _ = stream.write_all(body);
}

/// Reads exactly one reply; `None` when the connection ends before its first byte.
pub(crate) fn read_reply(stream: &mut TcpStream, head_only: bool) -> Option<Reply> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).unwrap() == 0 {
            assert!(head.is_empty(), "half a reply: {head:?}");
            return None;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.lines();
    let status: u16 = lines
        .next()
        .unwrap()
        .split(' ')
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    let headers: Vec<_> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let mut reply = Reply {
        status,
        headers,
        body: Vec::new(),
    };
    let length = reply
        .header("content-length")
        .map_or(0, |n| n.parse().unwrap());
    if !head_only {
        reply.body = vec![0; length];
        stream.read_exact(&mut reply.body).unwrap();
    }
    Some(reply)
}

/// Waits until something holds, and fails when it does not within the tests' patience.
pub(crate) fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < PATIENCE, "never: {what}");
        std::thread::yield_now();
    }
}

/// Runs git in a folder.
pub(crate) fn run_git(folder: &Path, arguments: &[&str]) -> Output {
    Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder)
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_AUTHOR_NAME", "Gale")
        .env("GIT_AUTHOR_EMAIL", "gale@example.com")
        .env("GIT_COMMITTER_NAME", "Gale")
        .env("GIT_COMMITTER_EMAIL", "gale@example.com")
        .output()
        .unwrap()
}

/// Runs git, which must succeed, and gives what it prints.
pub(crate) fn git_ok(folder: &Path, arguments: &[&str]) -> String {
    let output = run_git(folder, arguments);
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Runs git, which must fail, and gives its complaint.
pub(crate) fn git_fails(folder: &Path, arguments: &[&str]) -> String {
    let output = run_git(folder, arguments);
    assert!(!output.status.success(), "git {arguments:?} succeeded");
    String::from_utf8(output.stderr).unwrap()
}

/// Writes a file and commits it.
pub(crate) fn commit_file(folder: &Path, path: &str, text: &str, message: &str) {
    let file = folder.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
    git_ok(folder, &["add", "-A"]);
    git_ok(folder, &["commit", "-qm", message]);
}
