//! The result of `decide`.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::effect::Effect;
use super::report::Report;
use crate::model::Oid;
use crate::state::State;

/// One commit, then effects, a report, and the time of the next check.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a decision that is not executed is a lost turn"]
pub struct Decision {
    /// The commit that must win before any effect is executed. `None`: nothing to write.
    pub change: Option<Change>,
    /// What to do outside git, in order.
    pub effects: Vec<Effect>,
    /// What happens, and why everything else waits.
    pub report: Report,
    /// The time of the next check, if no event arrives before.
    pub wake_at: Option<Timestamp>,
}

/// One commit on the ledger branch.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The head that the commit must have as its parent; `None`: the commit creates the branch.
    pub base: Option<Oid>,
    /// The state after it.
    pub state: Box<State>,
    /// Files to write (`Some`) or remove (`None`) beside the state file: archive segments, exchange files.
    pub files: BTreeMap<String, Option<String>>,
    /// The commit's subject, without the prefix `phileas: `.
    pub headline: String,
    /// Trailers of the commit's message: turn ids.
    pub turns: Vec<String>,
}
