//! What the service tells the people who run it, line by line, and what it keeps for itself.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::{TempDir, tempdir};

use super::client::{Post, ask, get};
use super::served::Service;

/// How long a condition may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at what another process logs.
const LOOK: Duration = Duration::from_millis(20);

struct Stand {
    folder: TempDir,
    log: PathBuf,
}

impl Stand {
    fn new() -> Self {
        let folder = tempdir().unwrap();
        let log = folder.path().join("log");
        Self { folder, log }
    }

    fn start(&self, variables: &[(&str, &str)]) -> Service {
        Service::start_with(&self.data(), &[], |program| {
            let file = std::fs::File::create(&self.log).unwrap();
            variables
                .iter()
                .fold(program.logging_to(file), |program, (name, value)| {
                    program.env(name, value)
                })
        })
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    /// Waits for a line with this text, and answers with it.
    #[track_caller]
    fn line(&self, text: &str) -> String {
        let begun = Instant::now();
        loop {
            let said = self.text();
            if let Some(line) = said.lines().find(|line| line.contains(text)) {
                return line.to_owned();
            }
            assert!(begun.elapsed() < PATIENCE, "no line says {text}: {said}");
            std::thread::sleep(LOOK);
        }
    }
}

fn all_json(text: &str) -> Vec<Value> {
    let read = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(read).collect()
}

#[test]
fn without_a_terminal_each_line_is_an_object_with_its_time() {
    let stand = Stand::new();
    let service = stand.start(&[]);
    let begun = stand.line("the service listens");
    let line: Value = serde_json::from_str(&begun).unwrap();
    assert_eq!(line["level"], "INFO");
    assert_eq!(line["listen"], service.public.to_string());
    let file = stand.data().join("inbox.sqlite3");
    assert_eq!(line["inbox"], format!("SQLite, {}", file.display()));
    let at: Result<jiff::Timestamp, _> = line["timestamp"].as_str().unwrap().parse();
    assert!(at.is_ok(), "{line}");
    assert_eq!(service.terminate().code(), Some(0));
    let lines = all_json(&stand.text());
    let last = lines.last().unwrap();
    assert_eq!(last["message"], "the service has ended");

    let service = stand.start(&[
        ("PHILEAS_LOG_FORMAT", "text"),
        ("PHILEAS_LOG", "phileas=debug"),
    ]);
    ask(service.public, &Post::about("in-words", 7).bytes());
    let accepted = stand.line("in-words");
    assert!(
        accepted.contains("DEBUG") && accepted.contains("accepted"),
        "{accepted}"
    );
}

#[test]
fn r2_a_wrong_secret_leaves_a_trace_that_cannot_fill_the_log() {
    let stand = Stand::new();
    let service = stand.start(&[]);
    let good = Post::about("canary", 7);
    for _ in 0..20 {
        let wrong = good
            .clone()
            .with("x-hub-signature-256", &format!("sha256={}", "0".repeat(64)));
        assert_eq!(ask(service.public, &wrong.bytes()).status, 401);
        let absent = good.clone().with("x-hub-signature-256", "");
        assert_eq!(ask(service.public, &absent.bytes()).status, 401);
        let form = good
            .clone()
            .with("content-type", "application/x-www-form-urlencoded");
        assert_eq!(ask(service.public, &form.bytes()).status, 415);
    }
    let page = get(service.admin, "/deliveries").body;
    assert!(
        page.contains("20 refused since the start: signed with another secret"),
        "{page}"
    );
    let figures = get(service.admin, "/metrics").body;
    for outcome in ["wrong_signature", "unsigned", "content_type"] {
        let line = format!("phileas_deliveries_total{{outcome=\"{outcome}\"}} 20");
        assert!(figures.contains(&line), "{figures}");
    }
    assert_eq!(service.terminate().code(), Some(0));
    let said = stand.text();
    let told = |text: &str| said.lines().filter(|line| line.contains(text)).count();
    assert_eq!(told("wrong signature"), 1, "{said}");
    assert_eq!(told("PHILEAS_WEBHOOK_SECRET (or with"), 1, "{said}");
    assert_eq!(told("without a signature"), 1, "{said}");
    assert_eq!(told("content type to application/json"), 1, "{said}");
    // An unauthorized user writes nothing of their own into it.
    assert_eq!(told("canary"), 0, "{said}");
}

#[test]
fn a_token_without_repositories_is_told() {
    let stand = Stand::new();
    let service = stand.start(&[
        ("GITHUB_TOKEN", "test-token"),
        ("JULES_API_KEY", "test-key"),
        ("GITHUB_API_URL", "http://127.0.0.1:1"),
    ]);
    let line = stand.line("[[repository]]");
    assert!(line.contains("WARN"), "{line}");
    drop(service);
}

/// With several machines it mostly means that their lists differ.
#[test]
fn deliveries_of_a_repository_that_is_on_no_list_are_told_once() {
    let stand = Stand::new();
    let config = stand.folder.path().join("phileas.toml");
    std::fs::write(&config, "[[repository]]\nname = \"acme/r7\"\nid = 7\n").unwrap();
    let service = stand.start(&[("PHILEAS_CONFIG", config.to_str().unwrap())]);
    for n in 0..5 {
        let listed = ask(
            service.public,
            &Post::about(&format!("ours-{n}"), 7).bytes(),
        );
        assert_eq!(listed.body, "accepted\n");
        for id in [8, 9] {
            let post = Post::about(&format!("theirs-{id}-{n}"), id);
            let ignored = ask(service.public, &post.bytes());
            assert!(ignored.body.starts_with("ignored: "), "{ignored:?}");
        }
    }
    assert_eq!(service.terminate().code(), Some(0));
    let said = stand.text();
    for (name, times) in [("acme/r7", 0), ("acme/r8", 1), ("acme/r9", 1)] {
        let words = format!("ignores deliveries of {name}");
        assert_eq!(said.matches(&words).count(), times, "{said}");
    }
}

#[test]
fn an_app_that_is_passed_over_is_told() {
    let stand = Stand::new();
    let data = stand.data();
    keep_app(&data);
    let service = stand.start(&[
        ("GH_TOKEN", "test-token"),
        ("GITHUB_API_URL", "http://127.0.0.1:1"),
    ]);
    let line = stand.line("GH_TOKEN counts before it");
    assert!(line.contains("app.json"), "{line}");
    drop(service);
}

/// As the set-up page keeps one.
fn keep_app(data: &Path) {
    std::fs::create_dir(data).unwrap();
    let kept = serde_json::json!({
        "id": 7, "slug": "phileas", "private_key": "test-key",
        "webhook_secret": "0123456789abcdef0123456789abcdef",
    });
    std::fs::write(data.join("app.json"), kept.to_string()).unwrap();
}
