//! Detects that idle layers still have nothing to do, without reading the exchange.
//!
//! A track without a start time is checked at every tick, and so is one whose pass is due and finds nothing. Its layers
//! depend on the default branch, the exchange and the live turns. While none of these has changed since the layers were
//! idle, the exchange is not read again.

use std::fmt::Write as _;

use crate::engine::lookup::in_progress::reopened;
use crate::engine::lookup::policy::policy_of_persona;
use crate::engine::lookup::rest::rest_of;
use crate::engine::lookup::slot::SlotRole;
use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::report::{Line, Reason};
use crate::model::TrackName;
use crate::plan::{StepKind, Track};
use crate::prompt::prompt_sha256;

/// Length of the digest of the layers' inputs.
const DIGEST_CHARS: usize = 16;

/// Another version may know more roles, or decide otherwise.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A digest of everything that the layers of a track depend on. `None`: it has no layers, or an input is unknown.
pub(crate) fn inputs_digest(
    builder: &DecisionBuilder<'_>,
    plan: &Track,
    passes: u64,
) -> Option<String> {
    let layers = |step: &crate::plan::Step| matches!(step.kind, StepKind::Layer(_));
    if !plan.steps.iter().any(layers) || builder.writes_files() {
        return None;
    }
    let snapshot = builder.snapshot;
    let exchange = snapshot.exchange_id.as_ref()?;
    let head = snapshot.repository.default_head.as_ref()?;
    let public = snapshot.repository.public;
    let mut seen = format!("{VERSION}\n{head}\n{exchange}\n{public}\n");
    for (name, track) in &builder.state.tracks {
        let slot_roles = track
            .turns
            .keys()
            .filter(|slot| SlotRole::from_slot(slot).is_some());
        for slot in slot_roles {
            let _infallible = writeln!(seen, "live {name} {slot}");
        }
    }
    let open = builder.state.history.open_entries();
    for (_, entry) in open.chain(reopened(builder)) {
        if let Some(slot) = entry.slot.as_ref()
            && SlotRole::from_slot(slot).is_some()
        {
            let _infallible = writeln!(seen, "open {slot}");
        }
    }
    for (persona, known) in &builder.state.personas {
        let policy = policy_of_persona(&snapshot.plan, &plan.name, persona);
        if known.rested_at.is_some()
            && rest_of(builder, &plan.name, passes, persona, &policy).is_some()
        {
            let _infallible = writeln!(seen, "rests {persona}");
        }
    }
    let mut digest = prompt_sha256(&seen);
    digest.truncate(DIGEST_CHARS);
    Some(digest)
}

/// Records the inputs of a track's layers when none of them had work. Skipped where a person must fix something, so
/// that each tick reports it again.
pub(crate) fn record_idle(
    builder: &mut DecisionBuilder<'_>,
    plan: &Track,
    passes: u64,
    left_out: &[Line],
) {
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
    let Some(digest) = inputs_digest(builder, plan, passes) else {
        return;
    };
    let name: &TrackName = &plan.name;
    let state = builder.state.tracks.entry(name.clone()).or_default();
    state.idle_reason = Some(digest);
    builder.add_headline(format!("nothing to do in {name}"), None);
}
