//! Two services on one database: one dies, stands still, loses its connection, or is replaced.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::SignedDuration;
use phileas_world::http::Gate;
use serde_json::Value;
use tempfile::TempDir;

use crate::fleet::rig::{PATIENCE, Process, Rig};
use crate::server::Database;
use crate::stalled::{Fate, Stalled, signal};
use crate::support::{Phileas, say};

/// A service whose process is gone is taken over within this.
const TAKE_OVER: Duration = Duration::from_secs(20);

/// Services that share a database. Each has a data directory of its own.
struct Replicas {
    rig: Rig,
    database: Database,
    address: String,
}

impl Replicas {
    fn new(owners: &[(&str, usize)], gate: Option<Arc<dyn Gate>>) -> Self {
        let database = Database::new();
        Self {
            rig: Rig::behind(owners, gate),
            address: database.address(),
            database,
        }
    }

    fn start(&self) -> (Process, TempDir) {
        let data = tempfile::tempdir().unwrap();
        let variables = [("PHILEAS_DATABASE_URL", self.address.as_str())];
        (self.rig.launch(data.path(), &variables, &[]), data)
    }

    /// All deliveries, as a command beside the services lists them.
    fn deliveries(&self) -> Vec<Value> {
        let arguments = ["deliveries", "--database-url", &self.address, "--json"];
        let told = Phileas::new(&arguments).run().expect(0);
        told.lines()
    }

    /// Waits until all that was heard was handled.
    fn all_handled(&self) {
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

#[test]
fn a_service_that_dies_is_taken_over_in_time() {
    let gate = Arc::new(Stalled::new(Fate::Dies));
    let both = Replicas::new(&[("acme", 1)], Some(Arc::clone(&gate) as _));
    let (mut first, _data) = both.start();
    gate.victim(first.child.id());
    let died = gate.struck();
    let (second, _other) = both.start();
    let ended = first.child.wait().unwrap();
    assert!(!ended.success());
    let taken = gate.looked_after(died + Duration::from_millis(500));
    let took = taken.duration_since(died);
    say(&format!(
        "a service killed in the middle of a tick was taken over after {took:?}"
    ));
    assert!(took < TAKE_OVER, "{took:?}");
    both.rig.go_on(&second, 2);
    both.rig.assert_right();
    both.all_handled();
}

#[test]
fn a_service_that_stood_still_swallows_nothing_when_it_goes_on() {
    let gate = Arc::new(Stalled::new(Fate::StandsStill));
    let both = Replicas::new(&[("acme", 1)], Some(Arc::clone(&gate) as _));
    let (first, _data) = both.start();
    gate.victim(first.child.id());
    let stopped = gate.struck();
    let (second, _other) = both.start();
    // It hears of something while the other one holds the lease.
    both.rig.stir();
    both.rig.pass(SignedDuration::from_mins(1));
    assert!(both.rig.post(second.public) > 0);
    let taken = gate.looked_after(stopped + Duration::from_secs(1));
    let took = taken.duration_since(stopped);
    assert!(took < TAKE_OVER + Duration::from_secs(5), "{took:?}");
    both.rig.go_on(&second, 1);
    signal("CONT", first.child.id());
    // It goes on in the middle of its tick, with a lease that counts no more and a ledger that has moved on.
    both.rig.go_on(&second, 1);
    both.rig.go_on(&first, 1);
    both.rig.assert_right();
    both.all_handled();
    let (_, code) = first.terminate();
    assert_eq!(code, Some(0));
}

#[test]
fn a_lost_database_in_the_middle_of_a_tick_loses_nothing() {
    let gate = Arc::new(Stalled::new(Fate::Waits));
    let one = Replicas::new(&[("acme", 1)], Some(Arc::clone(&gate) as _));
    let (service, _data) = one.start();
    gate.victim(service.child.id());
    gate.struck();
    one.database.cut();
    gate.go_on();
    one.rig
        .wait_until("the session", |sessions| sessions.len() == 1);
    one.rig.go_on(&service, 2);
    one.rig.assert_right();
    one.all_handled();
}

#[test]
fn replacing_services_one_after_the_other_loses_nothing() {
    const ROLLS: usize = 4;
    let both = Replicas::new(&[("acme", 2), ("umbrella", 2)], None);
    let mut running: VecDeque<(Process, TempDir)> = VecDeque::new();
    running.push_back(both.start());
    running.push_back(both.start());
    let mut answered: BTreeSet<String> = BTreeSet::new();
    let mut slowest = Duration::ZERO;
    for roll in 0..ROLLS {
        let (leaving, _data) = running.pop_front().unwrap();
        let staying = running[0].0.public;
        let leaving_to = leaving.public;
        // Deliveries come all the while; what one service does not take, the other does.
        let ending = std::thread::scope(|scope| {
            let ending = scope.spawn(move || leaving.terminate());
            let mut rounds = 0;
            while !ending.is_finished() || rounds < 20 {
                both.rig.stir();
                both.rig.pass(SignedDuration::from_secs(20));
                answered.extend(both.rig.post_to_either(leaving_to, staying).1);
                rounds += 1;
            }
            ending.join().unwrap()
        });
        let (took, code) = ending;
        assert_eq!(code, Some(0));
        slowest = slowest.max(took);
        running.push_back(both.start());
        if roll == ROLLS / 2 {
            both.rig.go_on(&running[0].0, 1);
        }
    }
    both.rig.go_on(&running[0].0, 1);
    both.rig.assert_right();
    both.all_handled();
    let stored: BTreeSet<String> = both
        .deliveries()
        .iter()
        .map(|one| one["guid"].as_str().unwrap().to_owned())
        .collect();
    let lost: Vec<&String> = answered.difference(&stored).collect();
    assert!(lost.is_empty(), "{lost:?}");
    say(&format!(
        "{ROLLS} services replaced under load: {} deliveries answered, none lost; the slowest end took {slowest:?}",
        answered.len()
    ));
}
