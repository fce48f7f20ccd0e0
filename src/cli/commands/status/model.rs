//! Everything that `phileas status` shows.

use std::collections::BTreeMap;

use phileas_domain::engine::{BudgetFigures, Notice, Yield};
use phileas_domain::model::{PersonaId, TrackName};

use crate::runtime::TickReport;

/// Everything that is shown.
pub(crate) struct Status {
    pub(crate) report: TickReport,
    pub(crate) yields: Vec<(PersonaId, Yield)>,
    pub(crate) total: Yield,
    pub(crate) budget: BudgetFigures,
    pub(crate) notices: Vec<Notice>,
    /// How many entries the figures are made of. `None`: the ledger cannot be read, so nobody knows what was done.
    pub(crate) entries: Option<usize>,
    /// Tracks that are paused in the state, and why. One whose turn is under way says so nowhere else.
    pub(crate) paused: BTreeMap<TrackName, String>,
    /// Whether the key's use was counted without archived sessions.
    pub(crate) key_at_least: bool,
}
