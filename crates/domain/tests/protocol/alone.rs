//! Checks that a world settles once nothing goes wrong any more: every process takes its steps, listings are current,
//! and time passes.

use phileas_domain::state::Turn;

use crate::key::fingerprint;
use crate::steps::{Protocol, Step};
use crate::world::{Phase, World};

/// How many steps a world may take before it counts as stuck.
pub(crate) const PATIENCE: usize = 400;
/// How many late sessions suspend a turn until a person decides.
const HELD: u32 = 2;

impl Protocol {
    /// Whether a world settles by itself: every turn is settled or suspended, the ledger knows every session of Jules,
    /// and duplicates are archived.
    pub(crate) fn settles(&self, world: &World) -> bool {
        let mut passed = Vec::new();
        let mut world = world.clone();
        for _ in 0..PATIENCE {
            let key = fingerprint(&world);
            if self.settling.lock().unwrap().contains(&key) || self.is_settled(&world) {
                passed.push(key);
                self.settling.lock().unwrap().extend(passed);
                return true;
            }
            passed.push(key);
            world = self.left_alone(&world);
        }
        false
    }

    /// The next step if nothing goes wrong.
    pub(crate) fn left_alone(&self, world: &World) -> World {
        if !world.wire.is_empty() {
            return self
                .after(world, Step::Arrive(0))
                .expect("a request arrives");
        }
        let at_work = world
            .actors
            .iter()
            .enumerate()
            .find_map(|(actor, one)| match one.phase {
                Phase::Asleep => None,
                Phase::Beaten { .. } => Some(Step::tick(actor)),
                Phase::Informed { .. } => Some(Step::Settle(actor)),
                Phase::Executing { .. } => Some(Step::Next(actor)),
            });
        if let Some(step) = at_work {
            return self.after(world, step).expect("who is at work goes on");
        }
        if let Some(next) = self.after(world, Step::tick(0)) {
            return next;
        }
        // No process has anything to do until the world changes.
        let live = world.sessions.iter().position(|made| made.is_live());
        let step = match live.filter(|_| self.sessions_end) {
            Some(index) => Step::End(index),
            None => Step::Pass,
        };
        let mut next = self.after(world, step).expect("time passes");
        if step == Step::Pass && turns_are_settled(world, self.sessions_end) {
            // All turns are settled and a session is still unknown: the next turn will find it.
            next.pushes += 1;
        }
        next
    }

    /// Whether nothing is left to do.
    pub(crate) fn is_settled(&self, world: &World) -> bool {
        world.wire.is_empty()
            && world
                .actors
                .iter()
                .all(|actor| matches!(actor.phase, Phase::Asleep))
            && turns_are_settled(world, self.sessions_end)
            && everything_is_known(world)
    }
}

/// Whether both turns are settled: their session is known, or has ended if sessions end; or a notice is open.
fn turns_are_settled(world: &World, sessions_end: bool) -> bool {
    let Some(state) = world.head.state() else {
        return false;
    };
    let mut live = state.tracks.values().flat_map(|track| track.turns.values());
    let held = |turn: &Turn| turn.late_finds >= HELD && turn.warned_at.is_some();
    if sessions_end {
        let ended = state
            .history
            .values()
            .filter(|entry| entry.outcome.is_some());
        live.clone().any(held) || (live.next().is_none() && ended.count() >= 2)
    } else {
        let turns: u64 = state.tracks.values().map(|track| track.seq).sum();
        turns >= 2 && live.all(|turn| turn.session_id.is_some() || held(turn))
    }
}

/// Whether the ledger knows all sessions, and no duplicate stays.
fn everything_is_known(world: &World) -> bool {
    world.doubles() == 0
        && world
            .sessions
            .iter()
            .all(|made| world.is_known(made) && !(world.is_duplicate(made) && made.is_live()))
}
