//! Which roles take part, and which work goes to implementers by itself.

use std::collections::BTreeMap;

use super::super::draft::Draft;
use super::picture;
use crate::exchange::FLAT_STREAM;

/// Who takes part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Cast {
    /// The streams by name, with the roles of their observers. The flat layout has one.
    pub(super) streams: BTreeMap<String, Vec<String>>,
    /// The roles of the innovators.
    pub(super) innovators: Vec<String>,
    /// The labels of work that goes to implementers by itself; `None`: all.
    pub(super) labels: Option<Vec<String>>,
}

/// Who takes part, by the default branch and the catalogue.
pub(super) fn cast(draft: &Draft<'_>) -> Cast {
    let tree = &draft.snapshot.tree;
    let roles = |layer: &str| -> Vec<String> {
        let folder = format!(".jlo/roles/{layer}");
        let found = tree.below(&folder);
        let found = found.filter_map(|(path, _)| {
            let rest = path.strip_prefix(&folder)?.strip_prefix('/')?;
            let (role, file) = rest.split_once('/')?;
            (file == "role.yml").then(|| role.to_owned())
        });
        found.collect()
    };
    let exchange = picture::exchange(draft);
    let rosters = exchange.iter().flat_map(|exchange| &exchange.streams);
    let rosters = rosters.filter_map(|(name, stream)| Some((name, stream.roster.as_ref()?)));
    let enabled = rosters.filter(|(_, roster)| roster.enabled);
    let mut streams: BTreeMap<String, Vec<String>> = enabled
        .map(|(name, roster)| (name.clone(), roster.observers.clone()))
        .collect();
    let is_flat = exchange
        .is_none_or(|exchange| exchange.streams.contains_key(FLAT_STREAM) && streams.is_empty());
    if is_flat {
        streams.insert(FLAT_STREAM.to_owned(), roles("observers"));
    }
    Cast {
        streams,
        innovators: roles("innovators"),
        labels: None,
    }
}
