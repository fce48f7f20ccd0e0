use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::Request;
use phileas_world::World;
use phileas_world::http::{Face, Gate, Verdict, lock, serve};
use tokio::net::TcpListener;

use crate::stage::Stage;

fn git(folder: &Path, arguments: &[&str]) -> Output {
    Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "Walter")
        .env("GIT_AUTHOR_EMAIL", "walter@example.com")
        .env("GIT_COMMITTER_NAME", "Walter")
        .env("GIT_COMMITTER_EMAIL", "walter@example.com")
        .output()
        .unwrap()
}

fn good(folder: &Path, arguments: &[&str]) -> String {
    let output = git(folder, arguments);
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

async fn served(
    world: &Arc<Mutex<World>>,
    gate: Option<Arc<dyn Gate>>,
) -> (u16, tokio::task::JoinHandle<std::io::Result<()>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (
        port,
        tokio::spawn(serve(Arc::clone(world), listener, Face::Github, gate)),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_real_git_clones_and_pushes() {
    let stage = Stage::new();
    let repo = stage.repo;
    let world = Arc::new(Mutex::new(stage.world));
    let (port, server) = served(&world, None).await;
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_path_buf();
    tokio::task::spawn_blocking(move || {
        let url = |token: &str| {
            format!("http://x-access-token:{token}@127.0.0.1:{port}/olivia/garden.git")
        };
        good(&place, &["clone", "-q", &url("token-walter"), "one"]);
        good(
            &place,
            &[
                "clone",
                "-q",
                &format!("http://127.0.0.1:{port}/olivia/garden"),
                "two",
            ],
        );
        let one = place.join("one");
        std::fs::create_dir_all(one.join("deep/er")).unwrap();
        std::fs::write(one.join("deep/er/file.txt"), "pushed\n".repeat(2_000)).unwrap();
        good(&one, &["add", "."]);
        good(&one, &["commit", "-q", "-m", "Push this\n\nWith a body"]);
        good(&one, &["push", "-q", "origin", "main"]);
        good(&one, &["push", "-q", "origin", "main:topic"]);
        // Somebody who read the head before may not overwrite it.
        let two = place.join("two");
        std::fs::write(two.join("other.txt"), "x\n").unwrap();
        good(&two, &["add", "."]);
        good(&two, &["commit", "-q", "-m", "Late"]);
        good(&two, &["remote", "set-url", "origin", &url("token-walter")]);
        assert!(
            !git(&two, &["push", "-q", "origin", "main"])
                .status
                .success()
        );
        // A reader may not push.
        good(
            &two,
            &["remote", "set-url", "origin", &url("token-stranger")],
        );
        assert!(
            !git(&two, &["push", "-q", "origin", "main:elsewhere"])
                .status
                .success()
        );
    })
    .await
    .unwrap();
    server.abort();
    let world = lock(&world);
    let head = world.github().branch_head(repo, "main").unwrap();
    let content = world
        .github()
        .read_file(repo, head, "deep/er/file.txt")
        .unwrap();
    assert_eq!(content.len(), 14_000);
    assert_eq!(world.github().branch_head(repo, "topic"), Some(head));
    assert!(world.github().branch_head(repo, "elsewhere").is_none());
    assert_eq!(
        head.to_string(),
        good(&folder.path().join("one"), &["rev-parse", "HEAD"])
    );
}

#[test]
fn the_export_is_a_sound_repository() {
    let mut stage = Stage::new();
    let (repo, now) = (stage.repo, stage.world.now());
    let github = stage.world.github_mut();
    let main = github.branch_head(repo, "main").unwrap();
    let files = [
        ("a/b/c.txt".to_owned(), Some(Bytes::from_static(b"1\n"))),
        ("README.md".to_owned(), None),
    ];
    let commit = github.commit_files(
        repo,
        Some(main),
        &files,
        "google-labs-jules[bot]",
        "Change",
        now,
    );
    github.move_branch(repo, "main", commit, "olivia", now);
    let folder = tempfile::tempdir().unwrap();
    stage.world.export(folder.path()).unwrap();
    let bare = folder.path().join("git");
    good(&bare, &["fsck", "--full", "--strict"]);
    assert_eq!(good(&bare, &["rev-parse", "main"]), commit.to_string());
    assert_eq!(
        good(&bare, &["ls-tree", "-r", "--name-only", "main"]),
        "a/b/c.txt\nsrc/lib.rs"
    );
    assert_eq!(
        std::fs::read_to_string(folder.path().join("branches/main/a/b/c.txt")).unwrap(),
        "1\n"
    );
    assert!(
        folder
            .path()
            .join("branches/jules/.jules/cycle_state.json")
            .is_file()
    );
    let books: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("world.json")).unwrap()).unwrap();
    assert_eq!(
        books["github_writes"].as_array().unwrap().last().unwrap()["what"],
        "ref.moved"
    );
}

struct CutAt {
    before: u64,
    after: u64,
    seen: AtomicU64,
}

impl Gate for CutAt {
    fn before(&self, n: u64, _: Face, _: &Request<Bytes>) -> Verdict {
        self.seen.store(n, Ordering::SeqCst);
        if n == self.before {
            Verdict::Cut
        } else {
            Verdict::Pass
        }
    }

    fn after(&self, n: u64, _: Face, _: &Request<Bytes>) -> Verdict {
        if n == self.after {
            Verdict::Cut
        } else {
            Verdict::Pass
        }
    }
}

async fn post(port: u16, path: &str, body: &str) -> String {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port))
        .await
        .unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer token-olivia\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut reply = String::new();
    // A cut connection ends the reading, with or without an error.
    let _ = stream.read_to_string(&mut reply).await;
    reply
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gate_cuts_before_or_after_the_effect() {
    let stage = Stage::new();
    let repo = stage.repo;
    let world = Arc::new(Mutex::new(stage.world));
    let gate = Arc::new(CutAt {
        before: 1,
        after: 2,
        seen: AtomicU64::new(0),
    });
    let (port, server) = served(&world, Some(Arc::clone(&gate) as Arc<dyn Gate>)).await;
    let issues = |world: &Arc<Mutex<World>>| lock(world).github().issues(repo).count();
    let path = "/repos/olivia/garden/issues";
    assert_eq!(
        (post(port, path, r#"{"title":"1"}"#).await, issues(&world)),
        (String::new(), 0)
    );
    assert_eq!(
        (post(port, path, r#"{"title":"2"}"#).await, issues(&world)),
        (String::new(), 1)
    );
    assert!(
        post(port, path, r#"{"title":"3"}"#)
            .await
            .starts_with("HTTP/1.1 201")
    );
    let clock = post(port, "/__world/advance", r#"{"by": 90}"#).await;
    assert!(clock.contains("2026-01-05T00:01:30Z"), "{clock}");
    let played = post(
        port,
        "/__world/scenario",
        r#"{"acts":[{"do":"add-label","number":1,"label":"bug","by":"walter"}]}"#,
    )
    .await;
    assert!(played.starts_with("HTTP/1.1 200"), "{played}");
    assert_eq!(
        lock(&world).github().issue(repo, 1).unwrap().labels,
        ["bug"]
    );
    assert_eq!(
        gate.seen.load(Ordering::SeqCst),
        3,
        "control routes do not count"
    );
    server.abort();
}
