//! Remembers the ids of repositories that `phileas.toml` names without one. An id survives a rename
//! and cannot be taken over, but a name can. The first id counts until the process ends.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use phileas_domain::model::{RepositoryId, RepositoryName};

use crate::server::config::RepositoryEntry;

/// The discovered ids, shared by the listing and the webhook. Bounded by the number of entries.
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
    pub fn resolve_id(&self, entry: &RepositoryEntry) -> Option<RepositoryId> {
        entry.id.or_else(|| self.id_of(&entry.name))
    }

    /// Whether an entry names this repository.
    #[must_use]
    pub fn matches_entry(
        &self,
        entry: &RepositoryEntry,
        id: RepositoryId,
        name: &RepositoryName,
    ) -> bool {
        match self.resolve_id(entry) {
            Some(known) => known == id,
            None => entry.name == *name,
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
                "phileas.toml names {} without its id, so phileas loses the repository at the next start after a \
                 rename; write `id = {id}` beside its name",
                entry.name
            );
            id
        });
    }
}

/// GitHub's names ignore case.
fn name_key(name: &RepositoryName) -> String {
    name.to_string().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_id_wins_after_a_rename() {
        let entry = |id| RepositoryEntry {
            name: "acme/widget".parse().unwrap(),
            id,
        };
        let (old, new) = (
            "Acme/Widget".parse().unwrap(),
            "acme/gadget".parse().unwrap(),
        );
        let discovered = DiscoveredIds::default();
        let (own, other) = (RepositoryId(7), RepositoryId(8));
        assert!(discovered.matches_entry(&entry(None), own, &old));
        discovered.record_id(&entry(None), own);
        discovered.record_id(&entry(None), other);
        assert!(
            discovered.matches_entry(&entry(None), own, &new),
            "it was renamed"
        );
        assert!(
            !discovered.matches_entry(&entry(None), other, &old),
            "another repository took the name over"
        );
        assert!(discovered.contains(own) && !discovered.contains(other));
        // An entry with an id needs no discovery.
        assert!(discovered.matches_entry(&entry(Some(other)), other, &new));
    }
}
