//! `phileas serve` in processes of their own, against the models on loopback. The world's time moves only when a test
//! moves it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use phileas_world::WebhookDelivery;
use phileas_world::github::RepoId;
use phileas_world::http::Gate;
use serde_json::Value;
use tempfile::TempDir;

use super::stage::{APP, Ground, SECRET, Sessions};
use crate::support::judge::made;
use crate::support::{Phileas, Served};

/// How long a condition may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks at a condition of another process.
pub(crate) const LOOK: Duration = Duration::from_millis(1);

/// A world that is served, and a data directory.
pub(crate) struct Rig {
    pub(crate) ground: Ground,
    pub(crate) served: Served,
    pub(crate) data: TempDir,
}

/// The service's process, killed when it is dropped.
pub(crate) struct Process {
    pub(crate) child: Child,
    pub(crate) public: SocketAddr,
    pub(crate) admin: SocketAddr,
}

impl Rig {
    pub(crate) fn new(owners: &[(&str, usize)]) -> Self {
        Self::behind(owners, None)
    }

    /// With a gate before the models.
    pub(crate) fn behind(owners: &[(&str, usize)], gate: Option<Arc<dyn Gate>>) -> Self {
        let sessions = Sessions {
            shortest: 4.0,
            longest: 6.0,
        };
        Self::gated(Ground::new(Timestamp::now(), owners, &sessions), gate)
    }

    pub(crate) fn of(ground: Ground) -> Self {
        Self::gated(ground, None)
    }

    fn gated(ground: Ground, gate: Option<Arc<dyn Gate>>) -> Self {
        let served = Served::start(&ground.world, gate);
        Self {
            ground,
            served,
            data: tempfile::tempdir().unwrap(),
        }
    }

    /// Where events go.
    pub(crate) fn events(&self) -> PathBuf {
        self.data.path().join("events.jsonl")
    }

    pub(crate) fn start(&self) -> Process {
        self.start_with(&[])
    }

    /// With further options.
    pub(crate) fn start_with(&self, more: &[&str]) -> Process {
        self.launch(self.data.path(), &[], more)
    }

    /// With a token of the admin listener, and further options.
    pub(crate) fn start_with_token(&self, token: &str, more: &[&str]) -> Process {
        self.launch(self.data.path(), &[("PHILEAS_ADMIN_TOKEN", token)], more)
    }

    /// In any data directory, with further variables and options.
    pub(crate) fn launch(&self, data: &Path, variables: &[(&str, &str)], more: &[&str]) -> Process {
        Self::begin(self.program(data, variables, more))
    }

    /// The program that [`Rig::launch`] begins.
    pub(crate) fn program(
        &self,
        data: &Path,
        variables: &[(&str, &str)],
        more: &[&str],
    ) -> Phileas {
        let beside = |file: &str| data.join(file).to_str().unwrap().to_owned();
        let (events, jobs) = (beside("events.jsonl"), beside("jobs.jsonl"));
        let data = data.to_str().unwrap();
        let keys = self.ground.keys.path().to_str().unwrap();
        let program = Phileas::new(&[
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--admin-listen",
            "127.0.0.1:0",
            "--data-dir",
            data,
            "--jules-keys-dir",
            keys,
        ]);
        let program = variables
            .iter()
            .fold(program, |program, (name, value)| program.env(name, value));
        program
            .within(&self.served)
            .without("GITHUB_TOKEN")
            .without("JULES_API_KEY")
            .env("GITHUB_APP_ID", &APP.to_string())
            .env("GITHUB_APP_PRIVATE_KEY", &self.ground.pem)
            .env("PHILEAS_WEBHOOK_SECRET", SECRET)
            .env("PHILEAS_EVENTS_PATH", &events)
            .env("PHILEAS_JOBS_PATH", &jobs)
            .with(more)
    }

    /// Begins it, and waits until it listens.
    pub(crate) fn begin(program: Phileas) -> Process {
        let mut child = program.spawn();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let places: Value = serde_json::from_str(&line).unwrap();
        Process {
            public: places["listen"].as_str().unwrap().parse().unwrap(),
            admin: places["admin_listen"].as_str().unwrap().parse().unwrap(),
            child,
        }
    }

    /// How many sessions each repository has.
    pub(crate) fn sessions(&self) -> BTreeMap<String, usize> {
        let world = self.ground.world.lock_world();
        let mut count = BTreeMap::new();
        for session in &world.books().sessions {
            *count.entry(session.source.clone().unwrap()).or_default() += 1;
        }
        count
    }

    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, done: impl Fn(&BTreeMap<String, usize>) -> bool) {
        let begun = Instant::now();
        while !done(&self.sessions()) {
            assert!(
                begun.elapsed() < PATIENCE,
                "{what}: not within {PATIENCE:?}: {:?}",
                self.sessions()
            );
            std::thread::sleep(LOOK);
        }
    }

    pub(crate) fn pass(&self, length: SignedDuration) {
        let mut world = self.ground.world.lock_world();
        let until = world.now() + length;
        world.advance_to(until);
    }

    /// Posts every delivery that is due, and tells the model the answer. A delivery without an answer has failed.
    pub(crate) fn post(&self, to: SocketAddr) -> usize {
        self.post_to_either(to, to).0
    }

    /// Posts every delivery that is due, and answers with whose each was and how long it waited for its answer.
    pub(crate) fn post_timed(&self, to: SocketAddr) -> Vec<(String, Duration)> {
        let due = self.ground.world.lock_world().take_due_deliveries();
        let mut took = Vec::new();
        for delivery in due {
            let body: Value = serde_json::from_slice(&delivery.body).unwrap_or_default();
            let owner = body["repository"]["owner"]["login"].as_str();
            let begun = Instant::now();
            let answered = deliver(to, &delivery);
            assert_eq!(answered, Some(202));
            took.extend(owner.map(|owner| (owner.to_owned(), begun.elapsed())));
            let mut world = self.ground.world.lock_world();
            world.delivery_done(delivery.id, answered);
        }
        took
    }

    /// The same, as a load balancer does it: what the first does not take, the second may. Answers with how many were
    /// due and with the ids of those that were answered 202.
    pub(crate) fn post_to_either(&self, to: SocketAddr, or: SocketAddr) -> (usize, Vec<String>) {
        let due = self.ground.world.lock_world().take_due_deliveries();
        let count = due.len();
        let mut taken = Vec::new();
        for delivery in due {
            let mut answered = deliver(to, &delivery);
            if or != to && answered.is_none_or(|status| status >= 300) {
                answered = deliver(or, &delivery);
            }
            if answered == Some(202) {
                taken.push(delivery.guid);
            }
            let mut world = self.ground.world.lock_world();
            world.delivery_done(delivery.id, answered);
        }
        (count, taken)
    }

    /// Lets time pass and things happen until every repository has so many more sessions.
    #[track_caller]
    pub(crate) fn pass_until(&self, process: &Process, more: usize) {
        let before = self.sessions();
        let begun = Instant::now();
        loop {
            let now = self.sessions();
            let on =
                |source: &String| now[source] >= before.get(source).copied().unwrap_or(0) + more;
            if now.len() == self.ground.repositories.len() && now.keys().all(on) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "{before:?} {now:?}");
            self.pass(SignedDuration::from_mins(2));
            self.stir();
            self.post(process.public);
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Something happens in every repository that a webhook tells of.
    pub(crate) fn stir(&self) {
        let mut world = self.ground.world.lock_world();
        let now = world.now();
        let ids: Vec<RepoId> = self.ground.repositories.clone();
        for id in ids {
            world
                .github_mut()
                .open_issue(id, "T", "B", &[], "outsider", now);
        }
    }

    /// No turn has two sessions, and no repository has skipped one.
    #[track_caller]
    pub(crate) fn assert_right(&self) {
        let world = self.ground.world.lock_world();
        let sessions = made(&world.books().sessions);
        let turns: BTreeSet<_> = sessions
            .iter()
            .map(|one| (one.turn.clone(), one.attempt))
            .collect();
        assert_eq!(turns.len(), sessions.len(), "a turn has two sessions");
        let sources: BTreeMap<&str, &str> = world
            .books()
            .sessions
            .iter()
            .map(|session| (session.id.as_str(), session.source.as_deref().unwrap()))
            .collect();
        let mut orders: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for one in &sessions {
            let order = orders.entry(sources[one.session.as_str()]).or_default();
            if order.last() != Some(&one.seq) {
                order.push(one.seq);
            }
        }
        for (source, order) in orders {
            let wanted: Vec<u64> = (order[0]..).take(order.len()).collect();
            assert_eq!(order, wanted, "{source} lost a turn");
        }
    }
}

/// Posts a delivery of the model to a service. Returns the status, or `None` without an answer.
pub(crate) fn deliver(to: SocketAddr, delivery: &WebhookDelivery) -> Option<u16> {
    let mut head = format!("POST /webhook HTTP/1.1\r\nhost: {to}\r\nconnection: close\r\n");
    for (name, value) in &delivery.headers {
        head.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap()));
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", delivery.body.len()));
    post(to, head.as_bytes(), &delivery.body)
}

fn post(to: SocketAddr, head: &[u8], body: &[u8]) -> Option<u16> {
    let mut stream = TcpStream::connect(to).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.write_all(head).ok()?;
    stream.write_all(body).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.split(' ').nth(1)?.parse().ok()
}

impl Process {
    /// SIGTERM; answers with how long it took and the exit code.
    pub(crate) fn terminate(mut self) -> (Duration, Option<i32>) {
        let begun = Instant::now();
        let id = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &id])
                .status()
                .unwrap()
                .success()
        );
        let status = self.child.wait().unwrap();
        (begun.elapsed(), status.code())
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has ended already where the test has ended it.
        let _ended = self.child.kill();
        let _ended = self.child.wait();
    }
}
