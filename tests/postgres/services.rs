//! Two services on one database: one dies, stands still, loses its connection, or is replaced.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::SignedDuration;

use crate::fleet::rig::{PATIENCE, Process};
use crate::replicas::{Beside, Replicas};
use crate::server::Database;
use crate::stalled::{Stalled, signal};
use crate::support::print_line;

/// A service whose process is gone or stands still is taken over within this: a lease of 15 s, and some for a busy machine.
const TAKE_OVER: Duration = Duration::from_secs(60);
/// A repository that no service looks at by itself rests for this long at least.
const REST: Duration = Duration::from_secs(30);
/// What a service says whose lease counts no more when it ends its tick.
const LOST: &str = "the lease was lost before the tick ended";

/// Two services that have been running, and a gate at which one of them is caught in the middle of a tick. It has heard of
/// something since its tick began, and has extended its lease since anybody has heard of anything: the other one is told
/// nothing more, and knows of a lease that ends earlier than it does.
struct Two {
    both: Replicas,
    gate: Arc<Stalled>,
    caught: (Process, Beside),
    other: (Process, Beside),
}

impl Two {
    fn begin() -> Self {
        let database = Arc::new(Database::new());
        let gate = Arc::new(Stalled::new(&database));
        let both = Replicas::on(database, &[("acme", 1)], Some(Arc::clone(&gate) as _));
        let (one, two) = (both.start(), both.start());
        both.wait_until_up(&one.0);
        both.wait_until_up(&two.0);
        gate.catch_next();
        let begun = Instant::now();
        let (mut first, mut second) = (one.0.public, two.0.public);
        let caught = loop {
            if let Some(caught) = gate.caught_within(Duration::from_millis(100)) {
                break caught;
            }
            assert!(begun.elapsed() < PATIENCE);
            both.rig.pass(SignedDuration::from_mins(2));
            both.rig.stir();
            both.rig.post_to_either(first, second);
            std::mem::swap(&mut first, &mut second);
        };
        let (caught, other) = if one.0.child.id() == caught {
            (one, two)
        } else {
            assert_eq!(two.0.child.id(), caught);
            (two, one)
        };
        both.stir_and_post(&other.0);
        let until = both.database.sql("SELECT lease_until FROM phileas.wake");
        both.wait_for(&format!("SELECT lease_until > {until} FROM phileas.wake"));
        Self {
            both,
            gate,
            caught,
            other,
        }
    }

    /// Waits until the other one has seen to the repository, and says after how long.
    fn taken_over(&self, struck: Instant, what: &str) {
        let taken = self.gate.looked_after(struck, self.other.0.child.id());
        let took = taken.duration_since(struck);
        print_line(&format!(
            "a service {what} in the middle of a tick was taken over by one that was running after {took:?}"
        ));
        assert!(took < TAKE_OVER, "{took:?}");
    }
}

#[test]
fn a_service_that_dies_is_taken_over_in_time() {
    let mut two = Two::begin();
    let died = two.gate.kill();
    two.taken_over(died, "killed");
    assert!(!two.caught.0.child.wait().unwrap().success());
    two.both.rig.pass_until(&two.other.0, 2);
    two.both.rig.assert_right();
    two.both.all_handled();
}

#[test]
fn a_service_that_stood_still_swallows_nothing_when_it_goes_on() {
    let two = Two::begin();
    let stopped = two.gate.stop();
    two.taken_over(stopped, "stopped");
    let rests = format!(
        "SELECT lease_owner IS NULL AND next_at > (extract(epoch FROM clock_timestamp()) + {}) * 1000000 \
         FROM phileas.wake",
        REST.as_secs()
    );
    two.both.tell_the_rest(&two.other.0, &rests);
    let (both, (other, beside)) = (&two.both, &two.other);
    // One thing is heard, and while it is looked at the process of before goes on: in the middle of its tick, with a lease
    // that counts no more. It ends neither the lease of the other nor what that was told.
    two.gate.hold_looks(other.child.id());
    let rest = both.database.sql(
        "SELECT next_at / 1000000.0 - extract(epoch FROM clock_timestamp()) FROM phileas.wake",
    );
    let rest = Duration::from_secs_f64(rest.trim().parse().unwrap());
    let told = Instant::now();
    assert_eq!(both.stir_and_post(other), 1);
    two.gate.looked_after(told, other.child.id());
    signal("CONT", two.caught.0.child.id());
    two.caught.1.wait_until_says(LOST);
    two.gate.let_looks_go();
    both.all_handled();
    assert!(told.elapsed() < rest, "it may have looked by itself");
    assert!(!beside.log_contains(LOST));

    both.rig.pass_until(other, 1);
    both.rig.pass_until(&two.caught.0, 1);
    both.rig.assert_right();
    both.all_handled();
    let (_, code) = two.caught.0.terminate();
    assert_eq!(code, Some(0));
}

#[test]
fn a_lost_database_in_the_middle_of_a_tick_loses_nothing() {
    let database = Arc::new(Database::new());
    let gate = Arc::new(Stalled::new(&database));
    let one = Replicas::on(database, &[("acme", 1)], Some(Arc::clone(&gate) as _));
    gate.catch_next();
    let (service, _beside) = one.start();
    assert_eq!(gate.caught(), service.child.id());
    one.database.cut();
    gate.let_go();
    one.rig
        .wait_until("the session", |sessions| sessions.len() == 1);
    one.rig.pass_until(&service, 2);
    one.rig.assert_right();
    one.all_handled();
}

#[test]
fn replacing_services_one_after_the_other_loses_nothing() {
    const ROLLS: usize = 4;
    let both = Replicas::new(&[("acme", 2), ("umbrella", 2)]);
    let mut running: VecDeque<(Process, Beside)> = VecDeque::new();
    running.push_back(both.start());
    running.push_back(both.start());
    let mut answered: BTreeSet<String> = BTreeSet::new();
    let mut slowest = Duration::ZERO;
    for roll in 0..ROLLS {
        let (leaving, _beside) = running.pop_front().unwrap();
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
            both.rig.pass_until(&running[0].0, 1);
        }
    }
    both.rig.pass_until(&running[0].0, 1);
    both.rig.assert_right();
    both.all_handled();
    let stored: BTreeSet<String> = both
        .deliveries()
        .iter()
        .map(|one| one["guid"].as_str().unwrap().to_owned())
        .collect();
    let lost: Vec<&String> = answered.difference(&stored).collect();
    assert!(lost.is_empty(), "{lost:?}");
    print_line(&format!(
        "{ROLLS} services replaced under load: {} deliveries answered, none lost; the slowest end took {slowest:?}",
        answered.len()
    ));
}
