//! The numbers of repositories that `phileas.toml` names without one. A number outlives a rename and cannot be taken
//! over; a name is what it is at the moment. What GitHub once told counts until the process ends.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use phileas_domain::model::{RepositoryId, RepositoryName};

use crate::server::config::RepositoryEntry;

/// The ids that are known by now, shared by the listing and the webhook. There are no more of them than entries.
#[derive(Debug, Clone, Default)]
pub struct DiscoveredIds(Arc<RwLock<BTreeMap<String, RepositoryId>>>);

impl DiscoveredIds {
    /// The number of a repository that was called so when GitHub was asked for the first time.
    #[must_use]
    pub fn id_of(&self, name: &RepositoryName) -> Option<RepositoryId> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(&name_key(name)).copied()
    }

    /// Whether one of the names has this number.
    #[must_use]
    pub fn contains(&self, id: RepositoryId) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.values().any(|known| *known == id)
    }

    /// Which number an entry means: its own, or what was learnt.
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

    /// Remembers the number of an entry that has none, and says which to put there. The first one counts.
    pub fn record_id(&self, entry: &RepositoryEntry, id: RepositoryId) {
        if entry.id.is_some() {
            return;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.entry(name_key(&entry.name)).or_insert_with(|| {
            tracing::warn!(
                "phileas.toml names {} without its number, so that it is lost with the next start after a rename; write \
                 `id = {id}` beside its name",
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
        // What the file says needs no learning.
        assert!(learnt.is_meant_by(&entry(Some(other)), other, &new));
    }
}
