//! Installs, changes, suspends and removes Apps.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::github::account::Installation;
use crate::github::hook::Source;
use crate::github::{Model, RepoId, node_id};

impl Model {
    /// Installs an App on an account's repositories, all of them or the chosen ones, and gives the installation's id.
    /// The App gets an event.
    pub fn install_app(
        &mut self,
        app: u64,
        owner: &str,
        repositories: Option<&[RepoId]>,
        now: Timestamp,
    ) -> u64 {
        let account = self.account(owner);
        let id = self.next_id() % 100_000_007;
        let repositories = repositories.map(|chosen| chosen.iter().copied().collect());
        let new = Installation {
            id,
            app,
            account,
            repositories,
            suspended_at: None,
            created_at: now,
        };
        self.installations.insert(id, new);
        let reached = self.reached_repositories(id);
        self.notify_app(
            id,
            "installation",
            "created",
            json!({"repositories": self.short_repositories(&reached)}),
            now,
        );
        id
    }

    /// Lets an installation reach one more repository.
    pub fn add_to_installation(&mut self, id: u64, repo: RepoId, now: Timestamp) {
        let Some(chosen) = self
            .installations
            .get_mut(&id)
            .and_then(|installation| installation.repositories.as_mut())
        else {
            return;
        };
        chosen.insert(repo);
        let added = json!({
            "repository_selection": "selected", "repositories_added": self.short_repositories(&[repo].into()),
            "repositories_removed": [], "requester": null,
        });
        self.notify_app(id, "installation_repositories", "added", added, now);
    }

    /// Removes a repository from an installation with chosen repositories.
    pub fn remove_from_installation(&mut self, id: u64, repo: RepoId, now: Timestamp) {
        let Some(chosen) = self
            .installations
            .get_mut(&id)
            .and_then(|installation| installation.repositories.as_mut())
        else {
            return;
        };
        chosen.remove(&repo);
        let removed = json!({
            "repository_selection": "selected", "repositories_added": [],
            "repositories_removed": self.short_repositories(&[repo].into()), "requester": null,
        });
        self.notify_app(id, "installation_repositories", "removed", removed, now);
    }

    /// Suspends an installation, or ends its suspension.
    pub fn suspend_installation(&mut self, id: u64, suspended: bool, now: Timestamp) {
        let Some(installation) = self.installations.get_mut(&id) else {
            return;
        };
        installation.suspended_at = suspended.then_some(now);
        let reached = self.reached_repositories(id);
        let action = if suspended { "suspend" } else { "unsuspend" };
        self.notify_app(
            id,
            "installation",
            action,
            json!({"repositories": self.short_repositories(&reached)}),
            now,
        );
    }

    fn reached_repositories(&self, id: u64) -> BTreeSet<RepoId> {
        let Some(installation) = self.installations.get(&id) else {
            return BTreeSet::new();
        };
        self.repositories()
            .map(|repository| repository.id)
            .filter(|repo| self.installation_reaches(installation, *repo))
            .collect()
    }

    /// Repositories in the short form of installation events.
    fn short_repositories(&self, repositories: &BTreeSet<RepoId>) -> Value {
        repositories
            .iter()
            .filter_map(|repo| self.repository(*repo))
            .map(|repository| {
                json!({
                    "id": repository.id, "node_id": node_id::encode_id("R", repository.id, 0), "name": repository.name,
                    "full_name": self.full_name(repository.id), "private": repository.private,
                })
            })
            .collect()
    }

    /// Sends an event about an installation to its App, which needs no subscription for it.
    fn notify_app(&mut self, id: u64, event: &str, action: &str, more: Value, now: Timestamp) {
        let Some(installation) = self.installations.get(&id) else {
            return;
        };
        let Some(app) = self.apps.get(&installation.app) else {
            return;
        };
        let Some(target) = app.hook.clone() else {
            return;
        };
        let source = Source::App(app.id);
        let mut shown = self.installation_json(installation);
        // The schema of these events has no field for several single files.
        if let Value::Object(shown) = &mut shown {
            shown.retain(|name, _| {
                name != "has_multiple_single_files" && name != "single_file_paths"
            });
        }
        let mut payload = json!({"action": action, "installation": shown, "sender": self.simple_user(installation.account)});
        if let (Value::Object(payload), Value::Object(more)) = (&mut payload, more) {
            payload.extend(more);
        }
        self.queue_delivery(
            source,
            target,
            event,
            Some(action),
            &payload,
            None,
            Some(id),
            now,
        );
    }
}
