//! Services in processes of their own that share a database.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use jiff::SignedDuration;
use phileas_world::http::Gate;
use serde_json::Value;
use tempfile::TempDir;

use crate::fleet::rig::{LOOK, PATIENCE, Process, Rig};
use crate::server::Database;
use crate::support::{Phileas, print_line};

/// Services that share a database. Each has a data directory of its own.
pub(crate) struct Replicas {
    pub(crate) rig: Rig,
    pub(crate) database: Arc<Database>,
    address: String,
}

/// What lies beside a service: its data directory, with what it has said.
pub(crate) struct Beside(TempDir);

impl Replicas {
    pub(crate) fn new(owners: &[(&str, usize)]) -> Self {
        Self::on(Arc::new(Database::new()), owners, None)
    }

    /// On a database, with a gate before the models.
    pub(crate) fn on(
        database: Arc<Database>,
        owners: &[(&str, usize)],
        gate: Option<Arc<dyn Gate>>,
    ) -> Self {
        Self {
            rig: Rig::behind(owners, gate),
            address: database.address(),
            database,
        }
    }

    /// Starts a service, and waits until it listens.
    pub(crate) fn start(&self) -> (Process, Beside) {
        let beside = Beside(tempfile::tempdir().unwrap());
        let variables = [("PHILEAS_DATABASE_URL", self.address.as_str())];
        let program = self.rig.program(beside.0.path(), &variables, &[]);
        let log = File::create(beside.log()).unwrap();
        (Rig::begin(program.logging_to(log)), beside)
    }

    /// Waits until a service knows its repositories, and so can tick them.
    pub(crate) fn wait_until_up(&self, service: &Process) {
        let wanted = self.rig.ground.repositories.len().to_string();
        let begun = Instant::now();
        while figures(service).get("phileas_repositories") != Some(&wanted) {
            assert!(begun.elapsed() < PATIENCE);
            std::thread::sleep(LOOK);
        }
    }

    /// Something happens in every repository, and a service is told of it.
    pub(crate) fn stir_and_post(&self, service: &Process) -> usize {
        self.rig.stir();
        self.post_due(service)
    }

    /// A service is told of all that has happened, what its ticks lead to included, until nothing is left to be told.
    /// `rests`: the statement that is true while no tick is due, which could lead to more.
    pub(crate) fn tell_the_rest(&self, service: &Process, rests: &str) {
        let begun = Instant::now();
        loop {
            self.all_handled();
            self.wait_for(rests);
            if self.post_due(service) == 0 {
                return;
            }
            assert!(begun.elapsed() < PATIENCE);
        }
    }

    fn post_due(&self, service: &Process) -> usize {
        self.rig.pass(SignedDuration::from_secs(20));
        self.rig.post(service.public)
    }

    /// Waits until a statement answers with `true`.
    pub(crate) fn wait_for(&self, statement: &str) {
        let begun = Instant::now();
        while self.database.sql(statement) != "t\n" {
            assert!(
                begun.elapsed() < PATIENCE,
                "{statement}: {}",
                self.database.sql("SELECT * FROM phileas.wake")
            );
        }
    }

    /// All deliveries, as a command beside the services lists them.
    pub(crate) fn deliveries(&self) -> Vec<Value> {
        let arguments = [
            "service",
            "deliveries",
            "--database-url",
            &self.address,
            "--json",
        ];
        let told = Phileas::new(&arguments).run().expect(0);
        told.lines()
    }

    /// Waits until all that was heard was handled.
    pub(crate) fn all_handled(&self) {
        let begun = Instant::now();
        loop {
            let all = self.deliveries();
            let pending = all.iter().filter(|one| one["outcome"] == "pending").count();
            if pending == 0 {
                return;
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "{pending} of {} wait",
                all.len()
            );
        }
    }
}

impl Beside {
    fn log(&self) -> PathBuf {
        self.0.path().join("log")
    }

    /// Whether the service has said this.
    pub(crate) fn log_contains(&self, words: &str) -> bool {
        fs::read_to_string(self.log()).unwrap().contains(words)
    }

    /// Waits until the service says this.
    pub(crate) fn wait_until_says(&self, words: &str) {
        let begun = Instant::now();
        while !self.log_contains(words) {
            assert!(begun.elapsed() < PATIENCE, "{words}");
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for Beside {
    /// Where the test has failed, what the service has said is worth reading.
    fn drop(&mut self) {
        if std::thread::panicking() {
            print_line(&fs::read_to_string(self.log()).unwrap_or_default());
        }
    }
}

/// The plain figures of a service.
fn figures(service: &Process) -> BTreeMap<String, String> {
    let mut stream = TcpStream::connect(service.admin).unwrap();
    let head = format!(
        "GET /metrics HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
        service.admin
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let figures = text.lines().filter_map(|line| line.split_once(' '));
    figures
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect()
}
