//! An MCP client for tests: it writes and reads single lines of JSON-RPC.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use phileas::jobs::JobPaths;
use phileas::sandbox::{SharedWorld, world_setup};
use phileas_world::jules::Scenario;
use serde_json::{Value, json};

use crate::support::ticks::quiet_world;
use crate::support::{Folder, Phileas, Served};

/// Today's revision.
pub(super) const TODAY: &str = "2026-07-28";
/// The newest one that begins with a handshake.
pub(super) const HANDSHAKE: &str = "2025-11-25";
/// The first one.
pub(super) const FIRST: &str = "2024-11-05";

/// A world on loopback with `acme/widget`, a plan and no reviewer.
pub(super) struct TestService {
    pub(super) shared: SharedWorld,
    pub(super) served: Served,
    /// Where the monitor's files are.
    pub(super) files: tempfile::TempDir,
    _repository: Folder,
}

pub(super) fn place(scenarios: Vec<Scenario>) -> TestService {
    place_with_plan("cycle = [\"curator\"]\n", scenarios)
}

/// The same with another plan.
pub(super) fn place_with_plan(plan: &str, scenarios: Vec<Scenario>) -> TestService {
    let repository = Folder::repository(plan, &["curator"]);
    let shared = quiet_world(&repository, 7, scenarios);
    let served = Served::start(&shared, None);
    TestService {
        shared,
        served,
        files: tempfile::tempdir().unwrap(),
        _repository: repository,
    }
}

impl TestService {
    /// A minute after another goes by.
    pub(super) fn pass(&self, minutes: u32) {
        self.shared.advance_time(Duration::from_secs(60) * minutes);
    }

    /// The program within this world, with files of its own.
    pub(super) fn program(&self, arguments: &[&str]) -> Phileas {
        let words = [&["mcp"], arguments].concat();
        Phileas::new(&words)
            .within(&self.served)
            .env("PHILEAS_PIPELINE_DIR", self.runs().to_str().unwrap())
            .env("PHILEAS_JOBS_PATH", self.paths().jobs.to_str().unwrap())
            .env(
                "PHILEAS_MONITOR_STATE_PATH",
                self.paths().monitor.to_str().unwrap(),
            )
            .env("PHILEAS_EVENTS_PATH", self.paths().events.to_str().unwrap())
    }

    /// Where runs of a pipeline are.
    pub(super) fn runs(&self) -> std::path::PathBuf {
        self.files.path().join(".pipeline")
    }

    pub(super) fn paths(&self) -> JobPaths {
        JobPaths {
            jobs: self.files.path().join("jobs.jsonl"),
            events: self.files.path().join("events.jsonl"),
            monitor: self.files.path().join("monitor.json"),
            ..JobPaths::default()
        }
    }

    /// The program, connected and greeted as a client of this revision.
    pub(super) fn host(&self, revision: &str, arguments: &[&str]) -> Host {
        self.host_that_can(revision, arguments, json!({}))
    }

    pub(super) fn host_that_can(
        &self,
        revision: &str,
        arguments: &[&str],
        capabilities: Value,
    ) -> Host {
        let command = self.program(arguments).into_command();
        let mut host = Host::start(command, revision, capabilities);
        if revision != TODAY {
            host.greet();
        }
        host
    }
}

/// One conversation.
pub(super) struct Host {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    revision: String,
    capabilities: Value,
    id: u64,
    /// The server's own notifications and requests.
    pub(super) notifications: Vec<Value>,
    /// What is answered when the server asks a person.
    pub(super) answers: Vec<Value>,
}

impl Host {
    pub(super) fn start(mut command: Command, revision: &str, capabilities: Value) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            revision: revision.to_owned(),
            capabilities,
            id: 0,
            notifications: Vec::new(),
            answers: Vec::new(),
        }
    }

    /// The handshake; answers with what the server says of itself.
    pub(super) fn greet(&mut self) -> Value {
        let params = json!({
            "protocolVersion": self.revision,
            "capabilities": self.capabilities,
            "clientInfo": {"name": "host", "version": "0"},
        });
        let answer = self.ask("initialize", params);
        self.send_message(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer["result"].clone()
    }

    /// Writes one line.
    pub(super) fn line(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{text}").unwrap();
        input.flush().unwrap();
    }

    /// Writes this and nothing after it.
    pub(super) fn raw(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        input.flush().unwrap();
    }

    pub(super) fn send_message(&mut self, message: &Value) {
        self.line(&message.to_string());
    }

    /// The next message; every line must be one.
    pub(super) fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let length = self.output.read_line(&mut line).unwrap();
        (length > 0).then(|| {
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| {
                panic!("{error}: what is not a message was said: {line}");
            });
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            message
        })
    }

    /// The next notification or request of the server itself.
    pub(super) fn hear(&mut self, method: &str) -> Value {
        loop {
            let place = self
                .notifications
                .iter()
                .position(|told| told["method"] == method);
            if let Some(place) = place {
                return self.notifications.remove(place);
            }
            let message = self
                .next()
                .expect("the server ended and said nothing of it");
            assert!(
                message.get("method").is_some(),
                "{message} was not requested"
            );
            self.notifications.push(message);
        }
    }

    /// Asks what is answered later, or never.
    pub(super) fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.id += 1;
        let (id, params) = (self.id, self.with_meta(params));
        self.send_message(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Asks, and answers what the server asks meanwhile.
    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        loop {
            let message = self.next().expect("the server ended before it answered");
            match (message.get("method"), message.get("id")) {
                (None, Some(answered)) if *answered == id => return message,
                (Some(_), Some(asked)) => {
                    let asked = asked.clone();
                    self.notifications.push(message.clone());
                    let result = self.answers.remove(0);
                    self.send_message(&json!({"jsonrpc": "2.0", "id": asked, "result": result}));
                }
                (Some(_), None) => self.notifications.push(message),
                _ => panic!("{message} was not requested"),
            }
        }
    }

    fn with_meta(&self, mut params: Value) -> Value {
        if self.revision == TODAY {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!(TODAY);
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "host", "version": "0"});
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        params
    }

    /// The result of a tool.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(answer["error"].is_null(), "{tool}: {answer}");
        answer["result"].clone()
    }

    /// What a tool found, as structure, which its text repeats.
    #[track_caller]
    pub(super) fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{tool}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        let structure = result["structuredContent"].clone();
        let said: Value = serde_json::from_str(text).unwrap();
        assert_eq!(said, structure, "{tool}");
        structure
    }

    /// What a tool says when it cannot.
    #[track_caller]
    pub(super) fn refused(&mut self, tool: &str, arguments: Value, word: &str) {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(word), "{word:?} is not in: {text}");
    }

    /// The most memory that the server has had so far, as Linux says.
    pub(super) fn peak_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:"));
        let words = line.unwrap().split_whitespace().nth(1).unwrap();
        words.parse::<u64>().unwrap() * 1024
    }

    /// The input ends; gives what was said after that, and the exit code.
    pub(super) fn leave(mut self) -> (Vec<Value>, i32) {
        drop(self.input.take());
        let mut rest = Vec::new();
        while let Some(message) = self.next() {
            rest.push(message);
        }
        (rest, self.child.wait().unwrap().code().unwrap())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // A test that failed must not leave a server behind; one that has ended is not there any more.
        let _gone = self.child.kill();
        let _waited = self.child.wait();
    }
}

/// A job as most tests want it.
pub(super) fn job(prompt: &str) -> Value {
    json!({"repo": world_setup::repository_name().to_string(), "branch": "main", "prompt": prompt})
}
