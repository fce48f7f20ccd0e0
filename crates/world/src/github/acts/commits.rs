//! Commits and references.

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::json;

use super::ActError;
use crate::github::object::{Commit, Mode, Object, Oid, Signature};
use crate::github::objects::PathChange;
use crate::github::repository::{Push, State, TimelineKind};
use crate::github::{Model, RepoId};
use std::collections::BTreeMap;

/// The most pull requests that one move of a branch updates.
const MAX_PULLS_SEEN: usize = 10_000;

impl Model {
    /// Makes a commit that changes these files (`None` deletes) on top of its parent; no branch moves.
    ///
    /// # Panics
    /// When the repository does not exist.
    pub fn commit_files(
        &mut self,
        repo: RepoId,
        parent: Option<Oid>,
        files: &[(String, Option<Bytes>)],
        author: &str,
        message: &str,
        now: Timestamp,
    ) -> Oid {
        let author = self.account(author);
        let signature = self.account_signature(author, now);
        let objects = self.objects_mut(repo);
        let changes: BTreeMap<String, PathChange> = files
            .iter()
            .map(|(path, content)| {
                (
                    path.clone(),
                    content
                        .as_ref()
                        .map(|content| (Mode::File, objects.put_blob(content.clone()))),
                )
            })
            .collect();
        let base = parent.and_then(|parent| objects.tree_of(parent));
        let tree = objects.changed_tree(base, &changes);
        self.commit_tree(
            repo,
            tree,
            parent.into_iter().collect(),
            &signature,
            &signature,
            message,
        )
    }

    /// Makes a commit of a tree.
    pub(crate) fn commit_tree(
        &mut self,
        repo: RepoId,
        tree: Oid,
        parents: Vec<Oid>,
        author: &Signature,
        committer: &Signature,
        message: &str,
    ) -> Oid {
        self.objects_mut(repo)
            .store_object(Object::Commit(Arc::new(Commit {
                tree,
                parents,
                author: author.clone(),
                committer: committer.clone(),
                message: message.to_owned(),
                more_headers: String::new(),
            })))
    }

    /// The signature of an account.
    pub(crate) fn account_signature(&self, account: u64, now: Timestamp) -> Signature {
        match self.accounts.get(&account) {
            Some(account) => Signature::new(&account.login, &account.email(), now),
            None => Signature::new("ghost", "ghost@users.noreply.github.com", now),
        }
    }

    /// Makes a branch at a commit. An existing branch of the name stays as it is.
    pub fn create_branch(
        &mut self,
        repo: RepoId,
        branch: &str,
        at: Oid,
        actor: &str,
        now: Timestamp,
    ) {
        let actor = self.account(actor);
        // Creating an existing branch has no effect, as the method's contract says.
        let _ = self.create_ref(repo, &format!("refs/heads/{branch}"), at, actor, now);
    }

    /// Moves a branch to a commit, forwards or not; makes it when it does not exist.
    pub fn move_branch(
        &mut self,
        repo: RepoId,
        branch: &str,
        to: Oid,
        actor: &str,
        now: Timestamp,
    ) {
        let actor = self.account(actor);
        let name = format!("refs/heads/{branch}");
        if self
            .repository(repo)
            .is_some_and(|repository| repository.refs.contains_key(&name))
        {
            let _ = self.update_ref(repo, &name, to, true, actor, now);
        } else {
            let _ = self.create_ref(repo, &name, to, actor, now);
        }
    }

    /// Why GitHub would refuse a push of this commit to a branch.
    pub(crate) fn push_refusal(&self, repo: RepoId, branch: &str, to: Oid) -> Option<ActError> {
        let name = format!("refs/heads/{branch}");
        let repository = self.repository(repo)?;
        if repository.blocking_ref(&name).is_some() {
            return Some(ActError::ReferenceBlocked);
        }
        let old = repository.branch(branch);
        self.enforce_rules(repo, &name, (old, Some(to)), 0).err()
    }

    /// Renames a branch, with the pull requests from it and to it.
    pub(crate) fn rename_branch(
        &mut self,
        repo: RepoId,
        (from, to): (&str, &str),
        actor: u64,
        now: Timestamp,
    ) -> Result<(), ActError> {
        let (old, new) = (format!("refs/heads/{from}"), format!("refs/heads/{to}"));
        let repository = self.repository_mut(repo).ok_or(ActError::NotFound)?;
        let at = repository.branch(from).ok_or(ActError::NotFound)?;
        if repository.refs.contains_key(&new) {
            return Err(ActError::ReferenceExists);
        }
        self.enforce_rules(repo, &new, (None, Some(at)), actor)?;
        let repository = self.repository_mut(repo).ok_or(ActError::NotFound)?;
        repository.refs.remove(&old);
        if repository.blocking_ref(&new).is_some() {
            repository.refs.insert(old, at);
            return Err(ActError::ReferenceBlocked);
        }
        repository.refs.insert(new.clone(), at);
        if repository.default_branch == from {
            to.clone_into(&mut repository.default_branch);
        }
        for pull in repository.pulls.values_mut().map(Arc::make_mut) {
            for side in [&mut pull.head, &mut pull.base] {
                if side.branch == from {
                    to.clone_into(&mut side.branch);
                }
            }
        }
        let detail = json!({"from": old, "to": new, "oid": at});
        self.note_write(repo, actor, "ref.renamed", detail, now);
        Ok(())
    }

    pub(crate) fn create_ref(
        &mut self,
        repo: RepoId,
        name: &str,
        at: Oid,
        actor: u64,
        now: Timestamp,
    ) -> Result<(), ActError> {
        if self
            .objects(repo)
            .and_then(|objects| objects.get(at))
            .is_none()
        {
            return Err(ActError::ObjectMissing);
        }
        let repository = self.repository_mut(repo).ok_or(ActError::NotFound)?;
        if repository.refs.contains_key(name) {
            return Err(ActError::ReferenceExists);
        }
        if repository.blocking_ref(name).is_some() {
            return Err(ActError::ReferenceBlocked);
        }
        repository.refs.insert(name.to_owned(), at);
        repository.note_push(Push {
            name: name.to_owned(),
            before: Oid::ZERO,
            after: at,
            forced: false,
            actor,
            at: now,
        });
        let default = repository.default_branch.clone();
        self.note_write(
            repo,
            actor,
            "ref.created",
            json!({"ref": name, "oid": at}),
            now,
        );
        let (kind, short) = match name.strip_prefix("refs/tags/") {
            Some(tag) => ("tag", tag),
            None => ("branch", name.strip_prefix("refs/heads/").unwrap_or(name)),
        };
        self.emit_event(repo, "create", None, actor, now, |_| {
            json!({"ref": short, "ref_type": kind, "master_branch": default, "description": null, "pusher_type": "user"})
        });
        self.record_push(repo, name, Oid::ZERO, at, false, actor, now);
        Ok(())
    }

    pub(crate) fn update_ref(
        &mut self,
        repo: RepoId,
        name: &str,
        to: Oid,
        force: bool,
        actor: u64,
        now: Timestamp,
    ) -> Result<(), ActError> {
        let objects = self.objects(repo).ok_or(ActError::NotFound)?;
        if objects.get(to).is_none() {
            return Err(ActError::ObjectMissing);
        }
        let repository = self.repository(repo).ok_or(ActError::NotFound)?;
        let old = repository
            .refs
            .get(name)
            .copied()
            .ok_or(ActError::ReferenceMissing)?;
        let forward = objects.is_ancestor(old, to);
        if !forward && !force {
            return Err(ActError::NotFastForward);
        }
        if old == to {
            return Ok(());
        }
        let repository = self.repository_mut(repo).ok_or(ActError::NotFound)?;
        repository.refs.insert(name.to_owned(), to);
        repository.note_push(Push {
            name: name.to_owned(),
            before: old,
            after: to,
            forced: !forward,
            actor,
            at: now,
        });
        self.note_write(
            repo,
            actor,
            "ref.moved",
            json!({"ref": name, "from": old, "to": to, "forced": !forward}),
            now,
        );
        self.record_push(repo, name, old, to, !forward, actor, now);
        if let Some(branch) = name.strip_prefix("refs/heads/") {
            let branch = branch.to_owned();
            self.branch_moved(repo, &branch, old, to, !forward, actor, now);
        }
        Ok(())
    }

    /// Deletes a branch; one that does not exist stays so.
    pub fn delete_branch(&mut self, repo: RepoId, branch: &str, actor: &str, now: Timestamp) {
        let actor = self.account(actor);
        let _ = self.delete_ref(repo, &format!("refs/heads/{branch}"), actor, now);
    }

    pub(crate) fn delete_ref(
        &mut self,
        repo: RepoId,
        name: &str,
        actor: u64,
        now: Timestamp,
    ) -> Result<(), ActError> {
        let repository = self.repository_mut(repo).ok_or(ActError::NotFound)?;
        let old = repository
            .refs
            .remove(name)
            .ok_or(ActError::ReferenceMissing)?;
        self.note_write(
            repo,
            actor,
            "ref.deleted",
            json!({"ref": name, "oid": old}),
            now,
        );
        let (kind, short) = match name.strip_prefix("refs/tags/") {
            Some(tag) => ("tag", tag),
            None => ("branch", name.strip_prefix("refs/heads/").unwrap_or(name)),
        };
        self.emit_event(
            repo,
            "delete",
            None,
            actor,
            now,
            |_| json!({"ref": short, "ref_type": kind, "pusher_type": "user"}),
        );
        if let Some(branch) = name.strip_prefix("refs/heads/") {
            // A pull request whose branch is deleted is closed.
            let open: Vec<u64> = self
                .pulls(repo)
                .filter(|p| p.state == State::Open && p.head.branch == branch)
                .map(|p| p.number)
                .collect();
            for number in open {
                self.set_state(repo, number, State::Closed, None, actor, now)?;
            }
        }
        Ok(())
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "each is a fact of the push event"
    )]
    fn record_push(
        &mut self,
        repo: RepoId,
        name: &str,
        old: Oid,
        new: Oid,
        forced: bool,
        actor: u64,
        now: Timestamp,
    ) {
        let name = name.to_owned();
        self.emit_event(repo, "push", None, actor, now, |model| {
            model.push_payload(repo, &name, old, new, forced, actor)
        });
    }

    #[expect(clippy::too_many_arguments, reason = "each is a fact of the move")]
    fn branch_moved(
        &mut self,
        repo: RepoId,
        branch: &str,
        old: Oid,
        to: Oid,
        forced: bool,
        actor: u64,
        now: Timestamp,
    ) {
        let concerned: Vec<(u64, bool)> = self
            .pulls(repo)
            .filter(|pull| {
                pull.state == State::Open
                    && (pull.head.branch == branch || pull.base.branch == branch)
            })
            .map(|pull| (pull.number, pull.head.branch == branch))
            .take(MAX_PULLS_SEEN)
            .collect();
        for (number, is_head) in concerned {
            let base = self
                .pull(repo, number)
                .and_then(|pull| self.branch_head(repo, &pull.base.branch));
            let event = self.timeline_event(
                actor,
                now,
                if forced {
                    TimelineKind::ForcePushed(old, to)
                } else {
                    TimelineKind::Committed(to)
                },
            );
            let Some(pull) = self.pull_mut(repo, number) else {
                continue;
            };
            pull.mergeable_reads = 0;
            if is_head {
                pull.head.oid = to;
                // GitHub updates the recorded base at each push to the pull request, and only then.
                pull.base.oid = base.unwrap_or(pull.base.oid);
                pull.updated_at = now;
                pull.timeline.push(event);
                self.emit_event(
                    repo,
                    "pull_request",
                    Some("synchronize"),
                    actor,
                    now,
                    |model| {
                        let mut payload = model.pull_payload(repo, number);
                        payload["before"] = json!(old);
                        payload["after"] = json!(to);
                        payload
                    },
                );
            }
        }
    }
}
