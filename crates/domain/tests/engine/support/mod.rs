//! The scenario that all tests run in.

pub(crate) mod reading;
pub(crate) mod scenario;
pub(crate) mod subjects;

use std::collections::BTreeMap;

use phileas_domain::engine::{RepositoryView, Snapshot, Yield};
use phileas_domain::model::PersonaId;

/// What became of each persona's work.
pub(crate) fn persona_yields(snapshot: &Snapshot) -> BTreeMap<PersonaId, Yield> {
    let view = RepositoryView::new(snapshot, []);
    view.yields.into_iter().collect()
}

/// What became of all work.
pub(crate) fn total_yield(snapshot: &Snapshot) -> Yield {
    RepositoryView::new(snapshot, []).total
}
