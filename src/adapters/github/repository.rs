//! The address of the repository: its name, or its id after GitHub has redirected the name.

use std::sync::{Mutex, PoisonError};

use phileas_domain::model::{RepositoryId, RepositoryName};

/// The known address of the repository. Another repository may take the old name of a renamed one, so the id, once
/// known, decides which redirects are followed.
#[derive(Debug)]
pub(super) struct RepositoryAddress(Mutex<KnownAddress>);

#[derive(Debug)]
struct KnownAddress {
    name: RepositoryName,
    id: Option<RepositoryId>,
    /// Whether GitHub has redirected the name to the id.
    by_id: bool,
}

impl RepositoryAddress {
    pub(super) fn new(name: RepositoryName) -> Self {
        Self(Mutex::new(KnownAddress {
            name,
            id: None,
            by_id: false,
        }))
    }

    /// Sets the id of the repository that is meant, whichever has the name now.
    pub(super) fn require_id(&self, id: RepositoryId) {
        self.with_known(|known| known.id = Some(id));
    }

    pub(super) fn current_name(&self) -> RepositoryName {
        self.with_known(|known| known.name.clone())
    }

    /// The id, once GitHub has reported it.
    pub(super) fn known_id(&self) -> Option<RepositoryId> {
        self.with_known(|known| known.id)
    }

    /// The start of this repository's paths: `/repos/{owner}/{repo}`, or by id.
    pub(super) fn root_path(&self) -> String {
        self.with_known(|known| match known.id {
            Some(id) if known.by_id => format!("/repositories/{id}"),
            _ => format!("/repos/{}/{}", known.name.owner, known.name.name),
        })
    }

    /// Notes the id and present name that GitHub reported. Returns whether they are this repository's.
    #[must_use]
    pub(super) fn set_identity(&self, id: RepositoryId, name: &RepositoryName) -> bool {
        self.with_known(|known| {
            if known.id.is_some_and(|old| old != id) {
                return false;
            }
            known.id = Some(id);
            known.name = name.clone();
            known.by_id = false;
            true
        })
    }

    /// Follows a redirect to `path`. Returns whether it leads to this repository, and remembers its id for later
    /// calls.
    pub(super) fn follow_redirect(&self, path: &str) -> bool {
        let Some(id) = repository_of(path) else {
            return false;
        };
        self.with_known(|known| {
            if known.id.is_some_and(|old| old != id) {
                return false;
            }
            known.id = Some(id);
            known.by_id = true;
            true
        })
    }

    fn with_known<T>(&self, look: impl FnOnce(&mut KnownAddress) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The id in `/repositories/<id>/…`.
fn repository_of(path: &str) -> Option<RepositoryId> {
    let rest = path.strip_prefix("/repositories/")?;
    let digits = rest.split(['/', '?']).next()?;
    digits.parse().ok().map(RepositoryId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_redirects_to_the_same_repository_are_followed() {
        let place = RepositoryAddress::new("acme/widget".parse().unwrap());
        assert!(!place.follow_redirect("/repos/acme/gadget/issues"));
        assert!(place.follow_redirect("/repositories/7/issues?x=1"));
        assert_eq!(place.root_path(), "/repositories/7");
        assert!(!place.follow_redirect("/repositories/8/issues"));
        assert!(place.set_identity(RepositoryId(7), &"acme/gadget".parse().unwrap()));
        assert_eq!(place.root_path(), "/repos/acme/gadget");
        assert!(!place.set_identity(RepositoryId(8), &"acme/widget".parse().unwrap()));
        assert_eq!(place.root_path(), "/repos/acme/gadget");
    }

    #[test]
    fn a_required_id_decides_whose_answers_count() {
        let place = RepositoryAddress::new("acme/widget".parse().unwrap());
        place.require_id(RepositoryId(7));
        assert_eq!(place.root_path(), "/repos/acme/widget");
        assert!(!place.set_identity(RepositoryId(8), &"acme/widget".parse().unwrap()));
        assert!(!place.follow_redirect("/repositories/8/issues"));
        assert!(place.set_identity(RepositoryId(7), &"acme/gadget".parse().unwrap()));
        assert_eq!(place.root_path(), "/repos/acme/gadget");
    }
}
