//! Decides for which repositories deliveries are accepted.

use std::collections::BTreeSet;

use phileas_domain::model::{RepositoryId, RepositoryName};

use crate::runtime::inbox::Delivery;
use crate::server::config::RepositoryEntry;
use crate::server::repositories::DiscoveredIds;

/// The repositories whose deliveries are accepted. An empty list accepts all: then the user decides
/// who installs the App, or sets up a hook with the secret.
#[derive(Debug, Clone, Default)]
pub struct RepositoryFilter {
    ids: BTreeSet<RepositoryId>,
    names: Vec<RepositoryName>,
    discovered_ids: DiscoveredIds,
}

impl RepositoryFilter {
    /// Takes the repositories of `phileas.toml`. An entry without an id counts by its name.
    #[must_use]
    pub fn from_entries(entries: &[RepositoryEntry]) -> Self {
        let ids = entries.iter().filter_map(|entry| entry.id).collect();
        let unknown = entries.iter().filter(|entry| entry.id.is_none());
        Self::new(ids, unknown.map(|entry| entry.name.clone()).collect())
    }

    /// Accepts these ids, and these names of repositories whose id is not configured. An id
    /// survives a rename and cannot be taken over, but a name can.
    #[must_use]
    pub fn new(ids: BTreeSet<RepositoryId>, names: Vec<RepositoryName>) -> Self {
        Self {
            ids,
            names,
            discovered_ids: DiscoveredIds::default(),
        }
    }

    /// Adds ids that are discovered for names; from then on the ids count, and the names do not.
    #[must_use]
    pub fn with_discovered_ids(mut self, discovered_ids: DiscoveredIds) -> Self {
        self.discovered_ids = discovered_ids;
        self
    }

    /// Whether a delivery is accepted. One without a repository is, because it concerns
    /// installations or the hook.
    pub(super) fn accepts(&self, delivery: &Delivery) -> bool {
        if self.ids.is_empty() && self.names.is_empty() {
            return true;
        }
        let Some(id) = delivery.repository else {
            return true;
        };
        let named = delivery.repository_name.as_ref().is_some_and(|name| {
            self.names.contains(name)
                && self
                    .discovered_ids
                    .id_of(name)
                    .is_none_or(|known| known == id)
        });
        self.ids.contains(&id) || self.discovered_ids.contains(id) || named
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn delivery(id: u64, name: &str) -> Delivery {
        Delivery {
            id: "test".parse().unwrap(),
            event: "issues".to_owned(),
            action: None,
            repository: Some(RepositoryId(id)),
            repository_name: Some(name.parse().unwrap()),
            installation: None,
            subject: None,
            sender: None,
            received_at: Timestamp::UNIX_EPOCH,
            wakes: true,
        }
    }

    #[test]
    fn r4_a_renamed_repository_is_accepted_and_another_with_its_old_name_is_not() {
        let name: RepositoryName = "acme/widget".parse().unwrap();
        let learnt = DiscoveredIds::default();
        let listed = RepositoryFilter::new(BTreeSet::new(), vec![name.clone()])
            .with_discovered_ids(learnt.clone());
        assert!(listed.accepts(&delivery(7, "Acme/Widget")));
        assert!(
            !listed.accepts(&delivery(7, "acme/gadget")),
            "its number is not known yet"
        );
        learnt.record_id(&RepositoryEntry { name, id: None }, RepositoryId(7));
        assert!(listed.accepts(&delivery(7, "acme/gadget")));
        assert!(!listed.accepts(&delivery(8, "acme/widget")));
    }
}
