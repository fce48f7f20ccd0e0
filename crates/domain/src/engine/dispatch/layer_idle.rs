//! Whether layers that had nothing to do can have something to do now, told without reading the exchange.
//!
//! A track without a start time comes round at every tick, and so does one whose pass is due and finds nothing. What its
//! layers look at is the default branch, the exchange, and what is in whose hands; while all that is as it was when none
//! of them had anything to do, the exchange is not read again.

use std::fmt::Write as _;

use crate::engine::lookup::policy::policy_of_persona;
use crate::engine::lookup::rest::resting;
use crate::engine::lookup::slot::Seat;
use crate::engine::output::builder::Draft;
use crate::engine::output::report::{Line, Reason};
use crate::model::TrackName;
use crate::plan::{StepKind, Track};
use crate::prompt::sha256;

/// How much of the digest tells one sight from another.
const SIGHT_CHARS: usize = 16;

/// Another version may know more roles, and think otherwise about what is to be done.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Everything that the layers of a track look at, as a digest. `None`: it has no layers, or not all of it is known.
pub(crate) fn sight(draft: &Draft<'_>, plan: &Track, passes: u64) -> Option<String> {
    let layers = |step: &crate::plan::Step| matches!(step.kind, StepKind::Layer(_));
    if !plan.steps.iter().any(layers) || draft.writes_files() {
        return None;
    }
    let snapshot = draft.snapshot;
    let exchange = snapshot.exchange_id.as_ref()?;
    let head = snapshot.repository.default_head.as_ref()?;
    let public = snapshot.repository.public;
    let mut seen = format!("{VERSION}\n{head}\n{exchange}\n{public}\n");
    for (name, track) in &draft.state.tracks {
        let seats = track.turns.keys().filter(|slot| Seat::of(slot).is_some());
        for slot in seats {
            let _infallible = writeln!(seen, "live {name} {slot}");
        }
    }
    for (_, entry) in draft.state.history.open() {
        if let Some(slot) = entry.slot.as_ref()
            && Seat::of(slot).is_some()
        {
            let _infallible = writeln!(seen, "open {slot}");
        }
    }
    for (persona, known) in &draft.state.personas {
        let policy = policy_of_persona(&snapshot.plan, &plan.name, persona);
        if known.rested_at.is_some()
            && resting(draft, &plan.name, passes, persona, &policy).is_some()
        {
            let _infallible = writeln!(seen, "rests {persona}");
        }
    }
    let mut digest = sha256(&seen);
    digest.truncate(SIGHT_CHARS);
    Some(digest)
}

/// Writes down what the layers of a track looked at when none of them had anything to do. What a person has to mend is
/// said at each tick, and is looked at again for that.
pub(crate) fn remember(draft: &mut Draft<'_>, plan: &Track, passes: u64, left_out: &[Line]) {
    let is_quiet = |line: &Line| {
        matches!(
            line.reason,
            Reason::Unchanged
                | Reason::LayerEmpty
                | Reason::PersonaUnscheduled
                | Reason::PersonaSensitive
                | Reason::PersonaResting
        )
    };
    if !left_out.iter().all(is_quiet) {
        return;
    }
    let Some(sight) = sight(draft, plan, passes) else {
        return;
    };
    let name: &TrackName = &plan.name;
    let state = draft.state.tracks.entry(name.clone()).or_default();
    state.idle = Some(sight);
    draft.headline(format!("nothing to do in {name}"), None);
}
