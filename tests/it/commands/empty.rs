//! `phileas sandbox --empty`: the README's six commands, from nothing to the pull request of a session that a label started.

use std::io::{BufRead as _, BufReader, Lines, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use super::bench::program;

/// The sandbox, and what it tells.
struct Shown {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    printed: Vec<String>,
}

impl Shown {
    fn open(speed: &str) -> Self {
        let mut child = program(&["sandbox", "--empty", "--speed", speed])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            lines: BufReader::new(child.stdout.take().unwrap()).lines(),
            child,
            printed: Vec::new(),
        }
    }

    /// Reads on until a line has these words, and gives it.
    #[track_caller]
    fn until(&mut self, words: &str) -> String {
        if let Some(line) = self.printed.iter().find(|line| line.contains(words)) {
            return line.clone();
        }
        loop {
            let line = self.lines.next();
            let line = line.unwrap_or_else(|| panic!("{words} never came: {:#?}", self.printed));
            let line = line.unwrap();
            self.printed.push(line.clone());
            if line.contains(words) {
                return line;
            }
        }
    }
}

impl Shown {
    /// What it prints for another shell.
    fn exports(&self) -> Vec<String> {
        let lines = self.printed.iter();
        lines
            .filter(|line| line.starts_with("export "))
            .cloned()
            .collect()
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        let _over = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command of the README in a shell, with the built program on the path.
#[track_caller]
fn shell(line: &str, dir: &Path) {
    let built = Path::new(env!("CARGO_BIN_EXE_phileas")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("sh")
        .args(["-ec", line])
        .current_dir(dir)
        .env("PATH", format!("{}:{path}", built.display()))
        .env("HOME", dir)
        .envs([
            ("GIT_AUTHOR_NAME", "committer"),
            ("GIT_AUTHOR_EMAIL", "committer@example.com"),
            ("GIT_COMMITTER_NAME", "committer"),
            ("GIT_COMMITTER_EMAIL", "committer@example.com"),
        ])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{line}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// What `curl` does with a line of the README, on machines that have none. Answers with the number of what it has made.
#[track_caller]
fn curl(line: &str) -> Option<u64> {
    let mut quoted = line.split('\'');
    let (header, body) = (quoted.nth(1).unwrap(), quoted.nth(1).unwrap());
    let url = line.split_once("http://").unwrap().1;
    let url = url.split_whitespace().next().unwrap();
    let (address, path) = url.split_once('/').unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let request = format!(
        "POST /{path} HTTP/1.1\r\nhost: {address}\r\n{header}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 201"), "{line}: {reply}");
    let number = reply.split_once("\"number\":")?.1.trim_start();
    let end = number.find(|digit: char| !digit.is_ascii_digit())?;
    number[..end].parse().ok()
}

/// At a pace at which the first session, which starts with the push, has not opened its pull request when the label comes.
#[test]
fn six_commands_of_the_readme_lead_to_the_pull_request_of_a_label() {
    assert_eq!(first_session("3", None), 1);
}

/// A user who reads first adds the label later, when schedules have started sessions already.
#[test]
fn so_they_do_at_the_pace_of_a_reader() {
    assert!(first_session("10", Some("Jules opens pull request #2")) > 2);
}

/// Runs them while so many minutes pass in a second, the label when there is a line with these words, and answers with its
/// issue's number.
fn first_session(speed: &str, pause: Option<&str>) -> u64 {
    let mut shown = Shown::open(speed);
    shown.until("What happens follows here");
    shown.until("▶ started  ↺ adopted");
    let port = shown.until("git clone");
    let port = port.split_once("127.0.0.1:").unwrap().1;
    let port = port.split('/').next().unwrap().to_owned();
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/quickstart.md");
    let page = std::fs::read_to_string(page).unwrap();
    let printed = |words: &str| {
        let line = shown
            .printed
            .iter()
            .find(|line| line.contains(words))
            .unwrap();
        let general = line.replace(&port, "PORT");
        assert!(
            page.contains(&general),
            "docs/quickstart.md lacks {general}"
        );
        line.clone()
    };
    let [clone, init, push, label, approve] = [
        "git clone",
        "phileas init",
        "git push",
        "phileas:tester",
        "/phileas approve",
    ]
    .map(printed);
    let dir = tempfile::tempdir().unwrap();
    shell(&clone, dir.path());
    let widget = dir.path().join("widget");
    shell(&init, &widget);
    shell(&push, &widget);
    if let Some(words) = pause {
        shown.until(words);
    }
    let number = curl(&label).unwrap();
    let exports = shown.exports();
    assert_eq!(exports.len(), 4, "{exports:?}");
    for command in ["status", "explain"] {
        shell(
            &format!("{}\nphileas {command}", exports.join("\n")),
            &widget,
        );
    }
    shown.until("waiting   request:1: its plan waits");
    curl(&approve.replace("$n", &number.to_string()));
    let linked = shown.until("`tester`, requested by `maintainer`: pull request #");
    let place = format!("phileas-runner writes on #{number}");
    assert!(linked.contains(&place), "{linked}");
    number
}
