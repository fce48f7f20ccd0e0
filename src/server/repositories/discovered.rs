//! Remembers the ids of repositories that `phileas.toml` names without one. An id survives a rename
//! and cannot be taken over, but a name can. The first id counts until the process ends.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use phileas_domain::model::{RepositoryId, RepositoryName};

use crate::server::config::RepositoryEntry;

/// The discovered ids, shared by the listing and the webhook. There are no more of them than
/// entries.
#[derive(Debug, Clone, Default)]
pub struct DiscoveredIds(Arc<RwLock<BTreeMap<String, RepositoryId>>>);

impl DiscoveredIds {
    /// The id of the repository that had this name at the first listing.
    #[must_use]
    pub fn id_of(&self, name: &RepositoryName) -> Option<RepositoryId> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(&name_key(name)).copied()
    }

    /// Whether one of the names has this id.
    #[must_use]
    pub fn contains(&self, id: RepositoryId) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.values().any(|known| *known == id)
    }

    /// The id of an entry: its own, or the discovered one.
    #[must_use]
    pub fn meant_by(&self, entry: &RepositoryEntry) -> Option<RepositoryId> {
        entry.id.or_else(|| self.id_of(&entry.name))
    }

    /// Whether an entry means this repository.
    #[must_use]
    pub fn is_meant_by(
        &self,
        entry: &RepositoryEntry,
        id: RepositoryId,
        present: &RepositoryName,
    ) -> bool {
        match self.meant_by(entry) {
            Some(meant) => meant == id,
            None => entry.name == *present,
        }
    }

    /// Records the id of an entry that has none, and logs the id to add. The first one counts.
    pub fn record_id(&self, entry: &RepositoryEntry, id: RepositoryId) {
        if entry.id.is_some() {
            return;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.entry(name_key(&entry.name)).or_insert_with(|| {
            tracing::warn!(
                "phileas.toml names {} without its number, so phileas loses the repository at the next start after a \
                 rename; write `id = {id}` beside its name",
                entry.name
            );
            id
        });
    }
}

/// Names are equal whatever their case.
fn name_key(name: &RepositoryName) -> String {
    name.to_string().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learnt_first_counts_whatever_the_name_becomes() {
        let entry = |id| RepositoryEntry {
            name: "acme/widget".parse().unwrap(),
            id,
        };
        let (old, new) = (
            "Acme/Widget".parse().unwrap(),
            "acme/gadget".parse().unwrap(),
        );
        let learnt = DiscoveredIds::default();
        let (own, other) = (RepositoryId(7), RepositoryId(8));
        assert!(learnt.is_meant_by(&entry(None), own, &old));
        learnt.record_id(&entry(None), own);
        learnt.record_id(&entry(None), other);
        assert!(
            learnt.is_meant_by(&entry(None), own, &new),
            "it was renamed"
        );
        assert!(
            !learnt.is_meant_by(&entry(None), other, &old),
            "another repository took the name over"
        );
        assert!(learnt.contains(own) && !learnt.contains(other));
        // An entry with an id needs no discovery.
        assert!(learnt.is_meant_by(&entry(Some(other)), other, &new));
    }
}
