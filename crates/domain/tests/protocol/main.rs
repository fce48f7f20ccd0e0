//! Explores the dispatch protocol exhaustively around the real `decide`: three processes, two turns.
//!
//! The model tries every order in which processes read, decide, commit, call Jules, settle and crash, in which requests
//! arrive, are refused or are lost, listings lag and time passes. It allows two faults (a crash, a lost response, a
//! 429, a stall past a deadline). [`model`] lists what must never happen. The [`window`] that no protocol can close
//! without an idempotency key at Jules is opened on purpose, and the checker must find the result.
//!
//! To keep the space finite, worlds that differ only in what the engine cannot distinguish count as one ([`key`]), and
//! reading, deciding and committing are one step, which may take long. Nothing is lost by that: a commit that loses its
//! race changes nothing, and one that wins proves that the head has not moved since it was read.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod alone;
mod key;
mod ledger;
mod model;
mod observe;
mod steps;
mod think;
mod watch;
mod window;
mod world;

use stateright::{Checker, HasDiscoveries, Model};

use model::DOUBLE;
use steps::Protocol;

/// Both turns start in one commit.
const SIDE_BY_SIDE: &str = "[tracks]\none = [\"a\"]\ntwo = [\"b\"]\n";
/// The second turn starts when the pull request of the first is open.
const ONE_AFTER_ANOTHER: &str = "cycle = [\"a\", \"b\"]\n";

/// Explores a model completely, and prints its size.
#[expect(
    clippy::print_stdout,
    reason = "how large a space was explored is the result"
)]
fn explore(name: &str, model: Protocol) -> impl Checker<Protocol> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let checker = model
        .checker()
        .threads(threads)
        .finish_when(HasDiscoveries::AnyFailures)
        .spawn_bfs()
        .join();
    assert!(checker.is_done());
    println!(
        "{name}: {} different states, {} steps, {} deep, {} different questions to the engine",
        checker.unique_state_count(),
        checker.state_count(),
        checker.max_depth(),
        checker.model().thoughts.lock().unwrap().len(),
    );
    checker
}

#[test]
fn two_turns_side_by_side() {
    let model = Protocol::new(SIDE_BY_SIDE, 2, false, false);
    let checker = explore("side by side", model);
    checker.assert_properties();
    assert!(checker.unique_state_count() > 80_000);
}

#[test]
fn two_turns_one_after_another() {
    let model = Protocol::new(ONE_AFTER_ANOTHER, 2, false, true);
    let checker = explore("one after another", model);
    checker.assert_properties();
    assert!(checker.unique_state_count() > 35_000);
}

#[test]
fn beyond_the_grace_a_double_is_possible_and_is_recorded_and_archived() {
    let model = Protocol::new(ONE_AFTER_ANOTHER, 1, true, true);
    let checker = explore("one after another, beyond the grace", model);
    // Every world settles, also those with duplicates, and there are some.
    checker.assert_properties();
    let states = checker.assert_any_discovery(DOUBLE).into_states();
    let mut world = states.into_iter().next_back().expect("a path has states");
    assert_eq!(world.doubles(), 1);
    let model = checker.model();
    for _ in 0..alone::PATIENCE {
        if model.is_settled(&world) {
            break;
        }
        world = model.left_alone(&world);
    }
    let recorded = world
        .sessions
        .iter()
        .filter(|made| world.is_duplicate(made));
    let archived: Vec<_> = recorded.map(|made| made.session.archived).collect();
    assert!(!archived.is_empty() && archived.iter().all(|archived| *archived));
    assert_eq!(world.doubles(), 0);
}
