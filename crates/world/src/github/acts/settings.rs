//! Changes the settings of a repository: its name, people, rules, tokens, webhooks.

use jiff::Timestamp;
use serde_json::json;

use crate::github::{Model, RepoId};

impl Model {
    /// Renames a repository; its former name answers with a redirection.
    pub fn rename_repository(&mut self, repo: RepoId, name: &str, actor: &str, now: Timestamp) {
        let actor = self.account(actor);
        let former = self.full_name(repo).to_lowercase();
        let Some(repository) = self.repository_mut(repo) else {
            return;
        };
        let from = std::mem::replace(&mut repository.name, name.to_owned());
        repository.updated_at = now;
        self.former_names.insert(former, repo);
        self.note_write(
            repo,
            actor,
            "repository.renamed",
            json!({"from": from, "to": name}),
            now,
        );
        self.emit_event(
            repo,
            "repository",
            Some("renamed"),
            actor,
            now,
            |_| json!({"changes": {"repository": {"name": {"from": from}}}}),
        );
    }

    /// Sets the rules of a branch, by kind; an empty list removes them. The branch need not exist.
    pub fn set_rules(&mut self, repo: RepoId, branch: &str, kinds: &[&str]) {
        let rules = kinds.iter().map(|kind| json!({"type": kind}));
        self.set_ruleset(repo, branch, rules.collect());
    }

    /// Sets the rules of a branch or a pattern, with parameters; an empty list removes them.
    pub fn set_ruleset(&mut self, repo: RepoId, branch: &str, rules: Vec<serde_json::Value>) {
        if let Some(repository) = self.repository_mut(repo) {
            repository.rules.insert(branch.to_owned(), rules);
        }
    }

    /// Switches issues on or off.
    pub fn set_has_issues(&mut self, repo: RepoId, on: bool) {
        if let Some(repository) = self.repository_mut(repo) {
            repository.has_issues = on;
        }
    }

    /// Lets only collaborators open pull requests, or all accounts again.
    pub fn set_pulls_by_collaborators(&mut self, repo: RepoId, on: bool) {
        if let Some(repository) = self.repository_mut(repo) {
            repository.pulls_by_collaborators = on;
        }
    }

    /// Locks the conversation of an issue or pull request, or unlocks it; false when there is none.
    pub fn set_locked(&mut self, repo: RepoId, number: u64, locked: bool) -> bool {
        let repository = self.repository_mut(repo);
        let thread = repository.and_then(|repository| repository.thread_mut(number));
        thread.is_some_and(|thread| {
            thread.locked = locked;
            true
        })
    }

    /// Sets the older protection of a branch; the given settings are merged with GitHub's defaults.
    pub fn protect_branch(&mut self, repo: RepoId, branch: &str, set: &serde_json::Value) {
        if let Some(repository) = self.repository_mut(repo) {
            repository
                .protections
                .insert(branch.to_owned(), set.clone());
        }
    }

    /// Gives a workflow, named by its file's path, another state; false when there is no such workflow.
    pub fn set_workflow_state(&mut self, repo: RepoId, path: &str, state: &str) -> bool {
        let Some(repository) = self.repository_mut(repo) else {
            return false;
        };
        let found = repository
            .workflows
            .iter_mut()
            .find(|workflow| workflow.path == path);
        found.is_some_and(|workflow| {
            workflow.state = state.to_owned();
            true
        })
    }

    /// Refuses every token with this prefix, also later ones, or accepts them again.
    pub fn refuse_tokens(&mut self, start: &str, refused: bool) {
        if refused {
            self.refused.insert(start.to_owned());
        } else {
            self.refused.remove(start);
        }
    }

    /// Makes a repository private, or public.
    pub fn set_private(&mut self, repo: RepoId, private: bool) {
        if let Some(repository) = self.repository_mut(repo) {
            repository.private = private;
        }
    }

    /// Archives a repository, or takes it out of the archive.
    pub fn set_archived(&mut self, repo: RepoId, archived: bool) {
        if let Some(repository) = self.repository_mut(repo) {
            repository.archived = archived;
        }
    }

    /// Switches all webhooks of a repository on or off, and sets their content type, `json` or `form`.
    pub fn set_hooks(&mut self, repo: RepoId, active: bool, content_type: &str) {
        let hooks = self.repository_mut(repo).map(|found| &mut found.hooks);
        for hook in hooks.into_iter().flat_map(|hooks| hooks.values_mut()) {
            hook.active = active;
            content_type.clone_into(&mut hook.target.content_type);
        }
    }

    /// Gives a person a role in a repository; [`crate::github::Role::None`] takes it away.
    pub fn set_role(&mut self, repo: RepoId, login: &str, role: crate::github::Role) {
        let account = self.account(login);
        let Some(repository) = self.repository_mut(repo) else {
            return;
        };
        if role == crate::github::Role::None {
            repository.collaborators.remove(&account);
        } else {
            repository.collaborators.insert(account, role);
        }
    }
}
