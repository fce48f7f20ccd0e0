//! Names and people of a repository.

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
        self.note(
            repo,
            actor,
            "repository.renamed",
            json!({"from": from, "to": name}),
            now,
        );
        self.emit(
            repo,
            "repository",
            Some("renamed"),
            actor,
            now,
            |_| json!({"changes": {"repository": {"name": {"from": from}}}}),
        );
    }

    /// Shows a repository to everybody, or to its people only.
    pub fn set_private(&mut self, repo: RepoId, private: bool) {
        if let Some(repository) = self.repository_mut(repo) {
            repository.private = private;
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
