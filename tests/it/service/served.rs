//! A service in a process of its own.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus};

use serde_json::Value;

use super::hook::SECRET;
use crate::support::Phileas;

/// A running service, killed when it is dropped.
pub(super) struct Service {
    child: Child,
    _out: BufReader<ChildStdout>,
    pub(super) public: SocketAddr,
    pub(super) admin: SocketAddr,
}

impl Service {
    /// Starts a service on ports of its own and waits until it listens.
    pub(super) fn start(data: &Path) -> Self {
        Self::start_with(data, &[], |program| program)
    }

    pub(super) fn start_with(
        data: &Path,
        more: &[&str],
        set: impl FnOnce(Phileas) -> Phileas,
    ) -> Self {
        let mut arguments = arguments(data);
        arguments.extend(more);
        let program = Phileas::new(&arguments).env("PHILEAS_WEBHOOK_SECRET", SECRET);
        let mut child = set(program).spawn();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let places: Value = serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("{error}: {line:?}; {:?}", child.wait()));
        let address = |name: &str| places[name].as_str().unwrap().parse().unwrap();
        Self {
            public: address("listen"),
            admin: address("admin_listen"),
            child,
            _out: out,
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to end, and waits until it has.
    pub(super) fn terminate(mut self) -> ExitStatus {
        self.ask_to_end();
        self.child.wait().unwrap()
    }

    pub(super) fn ask_to_end(&self) {
        let id = self.child.id().to_string();
        let asked = Command::new("kill").args(["-TERM", &id]).status().unwrap();
        assert!(asked.success());
    }

    pub(super) fn wait(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// SIGKILL.
    pub(super) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// The most memory that it had at any time, and the files it has open now: (KiB, number).
    pub(super) fn load(&self) -> (u64, usize) {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|text| text.split_whitespace().next()?.parse().ok());
        let files = std::fs::read_dir(format!("/proc/{}/fd", self.id())).unwrap();
        (peak.unwrap(), files.count())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It has ended already where the test has ended it.
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}

pub(super) fn arguments(data: &Path) -> Vec<&str> {
    let data = data.to_str().unwrap();
    vec![
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--admin-listen",
        "127.0.0.1:0",
        "--data-dir",
        data,
    ]
}

/// What `phileas service deliveries` tells of a data directory.
pub(super) fn deliveries(data: &Path) -> Vec<Value> {
    let arguments = [
        "service",
        "deliveries",
        "--data-dir",
        data.to_str().unwrap(),
        "--json",
    ];
    Phileas::new(&arguments).run().expect(0).lines()
}
