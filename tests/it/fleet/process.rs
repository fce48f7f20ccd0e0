//! `phileas serve` in a process of its own, against the models on loopback: signed webhooks of the model's App come in,
//! turns go out. The world's time moves only when a test moves it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use phileas_world::github::RepoId;
use serde_json::Value;
use tempfile::TempDir;

use super::stage::{APP, Ground, SECRET, Sessions};
use crate::support::judge::made;
use crate::support::{Phileas, Served, say};

/// How long a condition may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks at a condition of another process.
const LOOK: Duration = Duration::from_millis(1);

/// A world that is served, and a data directory.
struct Rig {
    ground: Ground,
    served: Served,
    data: TempDir,
}

/// The service's process, killed when it is dropped.
struct Process {
    child: Child,
    public: SocketAddr,
}

impl Rig {
    fn new(owners: &[(&str, usize)]) -> Self {
        let sessions = Sessions {
            shortest: 4.0,
            longest: 6.0,
        };
        let ground = Ground::new(Timestamp::now(), owners, &sessions);
        let served = Served::start(&ground.world, None);
        Self {
            ground,
            served,
            data: tempfile::tempdir().unwrap(),
        }
    }

    fn start(&self) -> Process {
        let data = self.data.path().to_str().unwrap();
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
        let mut child = program
            .within(&self.served)
            .without("GITHUB_TOKEN")
            .without("JULES_API_KEY")
            .env("GITHUB_APP_ID", &APP.to_string())
            .env("GITHUB_APP_PRIVATE_KEY", &self.ground.pem)
            .env("PHILEAS_WEBHOOK_SECRET", SECRET)
            .spawn();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let places: Value = serde_json::from_str(&line).unwrap();
        Process {
            public: places["listen"].as_str().unwrap().parse().unwrap(),
            child,
        }
    }

    /// How many sessions each repository has.
    fn sessions(&self) -> BTreeMap<String, usize> {
        let world = self.ground.world.world();
        let mut count = BTreeMap::new();
        for session in &world.books().sessions {
            *count.entry(session.source.clone().unwrap()).or_default() += 1;
        }
        count
    }

    #[track_caller]
    fn wait_until(&self, what: &str, done: impl Fn(&BTreeMap<String, usize>) -> bool) {
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

    fn pass(&self, length: SignedDuration) {
        let mut world = self.ground.world.world();
        let until = world.now() + length;
        world.advance_to(until);
    }

    /// Posts every delivery that is due, and tells the model what was answered. What nobody takes counts as failed.
    fn post(&self, to: SocketAddr) -> usize {
        let due = self.ground.world.world().take_due_deliveries();
        let count = due.len();
        for delivery in due {
            let mut head = format!("POST /webhook HTTP/1.1\r\nhost: {to}\r\nconnection: close\r\n");
            for (name, value) in &delivery.headers {
                head.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap()));
            }
            head.push_str(&format!("content-length: {}\r\n\r\n", delivery.body.len()));
            let answered = post(to, head.as_bytes(), &delivery.body);
            let mut world = self.ground.world.world();
            world.delivery_done(delivery.id, answered);
        }
        count
    }

    /// Lets time pass and things happen until every repository has so many more sessions.
    #[track_caller]
    fn go_on(&self, process: &Process, more: usize) {
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
    fn stir(&self) {
        let mut world = self.ground.world.world();
        let now = world.now();
        let ids: Vec<RepoId> = self.ground.repositories.clone();
        for id in ids {
            world
                .github_mut()
                .open_issue(id, "T", "B", &[], "stranger", now);
        }
    }

    /// No turn has two sessions, and no repository has skipped one.
    #[track_caller]
    fn assert_right(&self) {
        let world = self.ground.world.world();
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
    fn terminate(mut self) -> (Duration, Option<i32>) {
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

    fn kill(mut self) {
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

/// A number below `most` that a seed's steps give.
fn drawn(state: &mut u64, most: u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % most
}

#[test]
fn an_outcome_leads_to_the_next_dispatch() {
    const ROUNDS: usize = 3;
    let owners: Vec<String> = (0..4).map(|n| format!("owner{n}")).collect();
    let owners: Vec<(&str, usize)> = owners.iter().map(|owner| (owner.as_str(), 1)).collect();
    let rig = Rig::new(&owners);
    let process = rig.start();
    rig.wait_until("the first sessions", |sessions| sessions.len() == 4);
    let mut latencies = Vec::new();
    for round in 1..=ROUNDS {
        rig.pass(SignedDuration::from_mins(8));
        // One repository after another, so that each is measured by itself.
        let posted = Instant::now();
        assert!(
            rig.post(process.public) > 0,
            "the model has told of the outcomes"
        );
        let mut waiting: BTreeSet<String> = rig.sessions().into_keys().collect();
        while !waiting.is_empty() {
            assert!(posted.elapsed() < PATIENCE, "{waiting:?} in round {round}");
            let sessions = rig.sessions();
            waiting.retain(|source| {
                let next = sessions[source] > round;
                if next {
                    latencies.push(posted.elapsed());
                }
                !next
            });
            std::thread::sleep(LOOK);
        }
    }
    latencies.sort();
    let at = |share: usize| latencies[(latencies.len() * share / 100).min(latencies.len() - 1)];
    say(&format!(
        "outcome posted to next session, {} samples, four at a time: median {:?}, p95 {:?}",
        latencies.len(),
        at(50),
        at(95)
    ));
    rig.assert_right();
    let (took, code) = process.terminate();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(25), "{took:?}");
    // Every start and every end is written down, with what was said to whom and where it stands.
    let audit = std::fs::read_to_string(rig.data.path().join("audit.jsonl")).unwrap();
    let lines: Vec<Value> = audit
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let started: Vec<_> = lines
        .iter()
        .filter(|line| line["what"] == "dispatched")
        .collect();
    assert_eq!(started.len(), rig.sessions().values().sum::<usize>());
    for line in started {
        assert_eq!(line["reason"], "due.track", "{line}");
        for (key, length) in [("commit", 40), ("prompt_sha256", 64), ("turn", 12)] {
            assert_eq!(line[key].as_str().unwrap().len(), length, "{key}: {line}");
        }
        assert!(line["session"].is_string(), "{line}");
        assert!(line["about"].as_str().unwrap().ends_with("/r0"), "{line}");
    }
    assert!(
        lines.iter().any(|line| line["what"] == "advanced"),
        "{audit}"
    );
}

#[test]
fn ending_at_any_moment_loses_nothing_and_doubles_nothing() {
    const ROUNDS: usize = 9;
    let rig = Rig::new(&[("acme", 2), ("umbrella", 2)]);
    let mut chance = 7;
    let mut slowest = Duration::ZERO;
    for round in 0..ROUNDS {
        let process = rig.start();
        rig.stir();
        rig.pass(SignedDuration::from_mins(8));
        rig.post(process.public);
        if round % 3 == 2 {
            // A repository whose ticks die with the process time and again would be parked, as it should be: so each
            // gets a tick to its end now and then.
            rig.go_on(&process, 1);
            rig.stir();
            rig.pass(SignedDuration::from_mins(1));
            rig.post(process.public);
            let (took, code) = process.terminate();
            assert_eq!(code, Some(0));
            slowest = slowest.max(took);
        } else {
            std::thread::sleep(Duration::from_millis(drawn(&mut chance, 600)));
            process.kill();
        }
    }
    assert!(slowest < Duration::from_secs(25), "{slowest:?}");
    // Left alone, every repository goes on. What was announced when the process died is settled after its grace.
    let process = rig.start();
    rig.go_on(&process, 2);
    rig.assert_right();
    say(&format!(
        "{ROUNDS} ends at random moments, two of three by SIGKILL: {} sessions, none doubled, none lost; slowest SIGTERM {slowest:?}",
        rig.sessions().values().sum::<usize>()
    ));
    drop(process);
    assert!(deliveries(rig.data.path()) > 0);
}

/// How many deliveries a data directory holds.
fn deliveries(data: &Path) -> usize {
    let arguments = ["deliveries", "--data-dir", data.to_str().unwrap(), "--json"];
    Phileas::new(&arguments).run().expect(0).lines().len()
}
