//! Which repositories the service looks after.

use std::collections::BTreeSet;

use phileas_domain::model::{RepositoryId, RepositoryName};

use crate::runtime::inbox::Delivery;

/// The repositories of which deliveries are accepted. An empty list accepts all: then whoever installs the App, or sets
/// up a hook with the secret, decides.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    ids: BTreeSet<RepositoryId>,
    names: Vec<RepositoryName>,
}

impl Listed {
    /// Accepts these ids, and these names of repositories whose id nobody has told. An id outlives a rename and cannot
    /// be taken over; a name is what it is at the moment.
    #[must_use]
    pub fn new(ids: BTreeSet<RepositoryId>, names: Vec<RepositoryName>) -> Self {
        Self { ids, names }
    }

    /// Whether a delivery is accepted. One that is about no repository is: it tells of installations and of the hook.
    pub(super) fn takes(&self, delivery: &Delivery) -> bool {
        if self.ids.is_empty() && self.names.is_empty() {
            return true;
        }
        let Some(id) = delivery.repository else {
            return true;
        };
        let named = delivery.repository_name.as_ref();
        self.ids.contains(&id) || named.is_some_and(|name| self.names.contains(name))
    }
}
