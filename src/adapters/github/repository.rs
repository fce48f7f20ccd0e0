//! The address of the repository: its name, or its id once GitHub has redirected a renamed one.

use std::sync::{Mutex, PoisonError};

use phileas_domain::model::{RepositoryId, RepositoryName};

/// The known address of the repository. Another repository may take the old name of a renamed one, so the id, once
/// known, decides which redirects are followed.
#[derive(Debug)]
pub(super) struct Place(Mutex<Known>);

#[derive(Debug)]
struct Known {
    name: RepositoryName,
    id: Option<RepositoryId>,
    moved: bool,
}

impl Place {
    pub(super) fn new(name: RepositoryName) -> Self {
        Self(Mutex::new(Known {
            name,
            id: None,
            moved: false,
        }))
    }

    pub(super) fn name(&self) -> RepositoryName {
        self.known(|known| known.name.clone())
    }

    /// The id, once GitHub has reported it.
    pub(super) fn id(&self) -> Option<RepositoryId> {
        self.known(|known| known.id)
    }

    /// The start of this repository's paths: `/repos/{owner}/{repo}`, or by id.
    pub(super) fn root(&self) -> String {
        self.known(|known| match known.id {
            Some(id) if known.moved => format!("/repositories/{id}"),
            _ => format!("/repos/{}/{}", known.name.owner, known.name.name),
        })
    }

    /// Notes the id and present name that GitHub reported.
    pub(super) fn learn(&self, id: RepositoryId, name: &RepositoryName) {
        self.known(|known| {
            if known.id.is_none_or(|old| old == id) {
                known.id = Some(id);
                known.name = name.clone();
                known.moved = false;
            }
        });
    }

    /// Follows a redirect to `path`. Returns whether it leads to this repository, and remembers its id for later
    /// calls.
    pub(super) fn follow(&self, path: &str) -> bool {
        let Some(id) = repository_of(path) else {
            return false;
        };
        self.known(|known| {
            if known.id.is_some_and(|old| old != id) {
                return false;
            }
            known.id = Some(id);
            known.moved = true;
            true
        })
    }

    fn known<T>(&self, look: impl FnOnce(&mut Known) -> T) -> T {
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
        let place = Place::new("acme/widget".parse().unwrap());
        assert!(!place.follow("/repos/acme/gadget/issues"));
        assert!(place.follow("/repositories/7/issues?x=1"));
        assert_eq!(place.root(), "/repositories/7");
        assert!(!place.follow("/repositories/8/issues"));
        place.learn(RepositoryId(7), &"acme/gadget".parse().unwrap());
        assert_eq!(place.root(), "/repos/acme/gadget");
        place.learn(RepositoryId(8), &"acme/widget".parse().unwrap());
        assert_eq!(place.root(), "/repos/acme/gadget");
    }
}
