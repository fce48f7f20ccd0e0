//! The shape of `worker-result.json`: the status of the work and the changed files.

use super::attempt::{COST_ESTIMATE, ESCALATION_HISTORY, PRODUCED_BY, SELF_ASSESSMENT, TIER_USED};
use super::kinds::{PASSAGES, PHRASES};
use crate::exchange::shape::{Key, Kind};

pub(in super::super) static WORKER: Kind = Kind::Open(&[
    Key::new(
        "status",
        Kind::Word(&["completed", "blocked", "escalate"]),
        "Whether it is done, cannot be done as planned, or needs a stronger agent.",
    ),
    Key::new(
        "files_changed",
        PHRASES,
        "The files that were changed, from the repository's root.",
    ),
    Key::new(
        "blockers",
        PASSAGES,
        "What stands in the way; empty when nothing does.",
    ),
    Key::new("summary", Kind::Passage, "What was done."),
    Key::new("risk_notes", PASSAGES, "What could go wrong.").or_null(),
    SELF_ASSESSMENT,
    TIER_USED,
    COST_ESTIMATE,
    ESCALATION_HISTORY,
    PRODUCED_BY,
]);
