//! Everything that `phileas status` shows.

use std::collections::BTreeMap;

use phileas_domain::engine::{BudgetFigures, Notice, Yield};
use phileas_domain::model::{PersonaId, TrackName};

use crate::runtime::TickReport;

/// Everything that `phileas status` shows.
pub(crate) struct Status {
    pub(crate) report: TickReport,
    pub(crate) yields: Vec<(PersonaId, Yield)>,
    pub(crate) total: Yield,
    pub(crate) budget: BudgetFigures,
    pub(crate) notices: Vec<Notice>,
    /// How many history entries the figures include. `None` if the ledger cannot be read.
    pub(crate) entries: Option<usize>,
    /// The tracks that are paused in the state, with the reasons. For a track with a live turn no other line says so.
    pub(crate) paused: BTreeMap<TrackName, String>,
    /// Whether the key's use was counted without archived sessions.
    pub(crate) key_at_least: bool,
}
