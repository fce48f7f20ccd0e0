//! A service under load for long: what it holds on to must not grow with what has passed through it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use jiff::{SignedDuration, Timestamp};
use phileas_world::WebhookDelivery;
use phileas_world::github::RepoId;
use phileas_world::seed::{Files, Seed};
use serde_json::Value;

use super::process::facts;
use super::rig::{LOOK, PATIENCE, Process, Rig, deliver};
use super::stage::{Ground, Sessions};
use crate::service::client::get;
use crate::support::print_line;

/// What a usual test run does; `SOAK_DELIVERIES` and `SOAK_REPOSITORIES` say more, as `scripts/bench soak` does.
const FEW_DELIVERIES: usize = 2_000;
const FEW_REPOSITORIES: usize = 200;
/// How many repositories an owner has; each owner has an installation and a Jules key.
const EACH: usize = 100;
/// How many of them have a plan and sessions. The others have the App and nothing else.
const AT_WORK: usize = 2;
/// How many post at a time.
const CONNECTIONS: usize = 8;
/// How often it is looked at what the service holds on to.
const LOOKS: usize = 10;
/// The look that the others are held against: by then everything has been used once.
const SETTLED: usize = 3;
/// The main thread, the inbox's, four workers and sixteen for what blocks. How many a burst leaves depends on the machine.
const MOST_THREADS: u64 = 22;
/// What a stored id costs in memory, with room for how a set grows.
const BYTES_AN_ID: u64 = 100;

/// What the service's process holds on to.
#[derive(Debug, Clone, Copy)]
struct Held {
    resident_kib: u64,
    handles: usize,
    threads: u64,
}

#[test]
fn what_has_passed_leaves_nothing_behind() {
    let deliveries_in_all = variable("SOAK_DELIVERIES", FEW_DELIVERIES);
    let soak = Soak::new(variable("SOAK_REPOSITORIES", FEW_REPOSITORIES));
    let process = soak.rig.start();
    let begun = Instant::now();
    let (mut answered, mut looks) = (BTreeSet::new(), Vec::new());
    let mut next = 0;
    for _ in 0..LOOKS {
        let until = deliveries_in_all * (looks.len() + 1) / LOOKS;
        while answered.len() < until {
            // One issue in each of some repositories; those at work are told of all that their sessions do, too.
            let some = (until - answered.len()).min(500);
            soak.happen(&mut next, some);
            soak.post(&process, &mut answered);
        }
        soak.rest(&process);
        let look = Held::of(process.child.id());
        print_line(&format!(
            "soak: {} deliveries in {:.0} s: {} MiB, {} handles, {} threads",
            answered.len(),
            begun.elapsed().as_secs_f64(),
            look.resident_kib / 1024,
            look.handles,
            look.threads
        ));
        looks.push((answered.len(), look));
    }
    let seconds = begun.elapsed().as_secs_f64();
    soak.rig.assert_right();
    // Connections that were used just now are kept for some seconds; how many that are depends on the machine.
    let settled = looks[SETTLED - 1].1.handles;
    let rested = Instant::now();
    loop {
        let handles = Held::of(process.child.id()).handles;
        if handles <= settled + CONNECTIONS {
            break;
        }
        assert!(
            rested.elapsed() < PATIENCE,
            "{handles} handles; before: {looks:?}"
        );
        std::thread::sleep(LOOK * 50);
    }
    drop(process);
    let stored = facts(soak.rig.data.path());
    let known: BTreeSet<&str> = stored.iter().map(|fact| text(fact, "guid")).collect();
    let lost = answered.iter().filter(|id| !known.contains(id.as_str()));
    assert_eq!(lost.count(), 0, "answered and not there");
    let open: Vec<&Value> = stored
        .iter()
        .filter(|fact| !matches!(text(fact, "outcome"), "handled" | "noted"))
        .collect();
    assert!(open.is_empty(), "no tick has seen to these: {open:?}");
    let looked_at: BTreeSet<&str> = stored
        .iter()
        .filter(|fact| text(fact, "outcome") == "handled")
        .map(|fact| text(fact, "repository"))
        .collect();
    assert_eq!(looked_at.len(), soak.all.len().min(next));
    let sessions: usize = soak.rig.sessions().values().sum();
    assert!(sessions >= soak.rig.ground.repositories.len(), "{sessions}");
    print_line(&format!(
        "soak: {} deliveries to {} repositories, all answered 202, kept and seen to by a tick, {:.0} a second; \
         {sessions} sessions, none doubled",
        answered.len(),
        looked_at.len(),
        answered.len() as f64 / seconds
    ));
    let (before, settled) = looks[SETTLED - 1];
    let (after, last) = looks[LOOKS - 1];
    let most = looks.iter().map(|(_, look)| look.threads).max();
    assert!(most <= Some(MOST_THREADS), "threads: {looks:?}");
    let ids = (after - before) as u64 * BYTES_AN_ID / 1024;
    assert!(
        last.resident_kib <= settled.resident_kib * 5 / 4 + ids,
        "memory: {looks:?}"
    );
}

/// A field of a fact; nothing where it has none.
fn text<'a>(fact: &'a Value, field: &str) -> &'a str {
    fact[field].as_str().unwrap_or_default()
}

fn variable(name: &str, usual: usize) -> usize {
    std::env::var(name).map_or(usual, |text| {
        text.parse()
            .unwrap_or_else(|error| panic!("{name}={text}: {error}"))
    })
}

struct Soak {
    rig: Rig,
    /// Those at work and those that only have the App.
    all: Vec<RepoId>,
}

impl Soak {
    fn new(repositories: usize) -> Self {
        let owners: Vec<String> = (0..repositories.div_ceil(EACH))
            .map(|n| format!("owner{n}"))
            .collect();
        let at_work: Vec<(&str, usize)> = owners
            .iter()
            .map(|owner| (owner.as_str(), AT_WORK))
            .collect();
        let sessions = Sessions {
            shortest: 20.0,
            longest: 60.0,
        };
        let ground = Ground::tended(Timestamp::now(), &at_work, &sessions);
        let mut all = ground.repositories.clone();
        {
            let mut world = ground.world.lock_world();
            let now = world.now();
            for (owner, installation) in &ground.installations {
                for n in AT_WORK..EACH {
                    let id = world.seed(&Seed::new(owner, &format!("r{n}"), Files::new()));
                    world
                        .github_mut()
                        .add_to_installation(*installation, id, now);
                    all.push(id);
                }
            }
        }
        Self {
            rig: Rig::of(ground),
            all,
        }
    }

    /// Lets some minutes pass, and something happen in so many repositories, one after another.
    fn happen(&self, next: &mut usize, some: usize) {
        self.rig.pass(SignedDuration::from_mins(5));
        let mut world = self.rig.ground.world.lock_world();
        let now = world.now();
        for _ in 0..some {
            // By a stride, so that neighbours are not of one owner.
            let id = self.all[*next * 7_919 % self.all.len()];
            *next += 1;
            world
                .github_mut()
                .open_issue(id, "T", "B", &[], "outsider", now);
        }
    }

    /// Posts what is due, some at a time. Everything is answered 202.
    fn post(&self, process: &Process, answered: &mut BTreeSet<String>) {
        let due = self.rig.ground.world.lock_world().take_due_deliveries();
        let share = due.len().div_ceil(CONNECTIONS).max(1);
        std::thread::scope(|scope| {
            for share in due.chunks(share) {
                scope.spawn(|| share.iter().for_each(|one| self.post_one(process, one)));
            }
        });
        answered.extend(due.into_iter().map(|one| one.guid));
    }

    fn post_one(&self, process: &Process, delivery: &WebhookDelivery) {
        let status = deliver(process.public, delivery);
        assert_eq!(status, Some(202), "{}", delivery.event);
        let mut world = self.rig.ground.world.lock_world();
        world.delivery_done(delivery.id, status);
    }

    /// Waits until no repository is due, looked at, or to be looked at again because its last tick failed.
    fn rest(&self, process: &Process) {
        let begun = Instant::now();
        loop {
            let figures = figures(process);
            let open =
                ["due", "leased", "failing"].map(|name| figures[&format!("phileas_inbox_{name}")]);
            if open == [0; 3] {
                break;
            }
            assert!(begun.elapsed() < PATIENCE, "{figures:?}");
            std::thread::sleep(LOOK * 50);
        }
        // The model would keep them all; what is looked at here is the service.
        self.rig
            .ground
            .world
            .lock_world()
            .books_mut()
            .reset_requests();
    }
}

/// The plain gauges of the service.
pub(super) fn figures(process: &Process) -> BTreeMap<String, u64> {
    let text = get(process.admin, "/metrics").body;
    text.lines()
        .filter_map(|line| {
            let (name, value) = line.split_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        })
        .collect()
}

impl Held {
    fn of(process: u32) -> Self {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let field = |name: &str| -> u64 {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let value = line.and_then(|text| text.split_whitespace().next()?.parse().ok());
            value.unwrap_or_else(|| panic!("{name}: {status}"))
        };
        let handles = std::fs::read_dir(format!("/proc/{process}/fd")).unwrap();
        Self {
            resident_kib: field("VmRSS:"),
            handles: handles.count(),
            threads: field("Threads:"),
        }
    }
}
