//! Everything that `phileas status` shows.

use phileas_domain::engine::{Notice, RepositoryView};

use crate::runtime::TickReport;

/// Everything that `phileas status` shows.
pub(crate) struct Status {
    pub(crate) report: TickReport,
    pub(crate) view: RepositoryView,
    pub(crate) notices: Vec<Notice>,
    /// Whether the key's use was counted without archived sessions.
    pub(crate) key_at_least: bool,
}
