//! Creates, adds and removes labels.

use jiff::Timestamp;
use serde_json::json;

use super::ActError;
use crate::github::repository::{Label, LabelSnapshot, Repository, TimelineEvent, TimelineKind};
use crate::github::{Model, RepoId};

impl Model {
    /// Makes a label, or changes colour and description of the one with this name.
    pub fn create_label(
        &mut self,
        repo: RepoId,
        name: &str,
        color: &str,
        description: Option<&str>,
        now: Timestamp,
    ) {
        let id = self.next_id();
        let Some(repository) = self.repository_mut(repo) else {
            return;
        };
        repository
            .labels
            .entry(name.to_lowercase())
            .and_modify(|label| {
                label.color = color.to_owned();
                label.description = description.map(str::to_owned);
            })
            .or_insert_with(|| Label {
                id,
                name: name.to_owned(),
                color: color.to_owned(),
                description: description.map(str::to_owned),
                created_at: now,
            });
    }

    /// Puts a label on an issue or pull request; an unknown label is made.
    pub fn add_label(
        &mut self,
        repo: RepoId,
        number: u64,
        label: &str,
        actor: &str,
        now: Timestamp,
    ) {
        let actor = self.account(actor);
        let _ = self.put_label(repo, number, label, actor, now);
    }

    pub(crate) fn put_label(
        &mut self,
        repo: RepoId,
        number: u64,
        label: &str,
        actor: u64,
        now: Timestamp,
    ) -> Result<(), ActError> {
        let repository = self.repository(repo).ok_or(ActError::NotFound)?;
        repository.thread(number).ok_or(ActError::NotFound)?;
        let key = label.to_lowercase();
        if !repository.labels.contains_key(&key) {
            self.create_label(repo, label, "ededed", None, now);
            self.emit_event(
                repo,
                "label",
                Some("created"),
                actor,
                now,
                |model| json!({"label": model.current_label_json(repo, label)}),
            );
        }
        let id = self.next_id();
        let repository = self.repository_mut(repo).ok_or(ActError::NotFound)?;
        let then = label_snapshot(repository, &key);
        let thread = repository.thread_mut(number).ok_or(ActError::NotFound)?;
        if thread.labels.contains(&key) {
            return Ok(());
        }
        thread.labels.push(key);
        thread.updated_at = now;
        thread.timeline.push(TimelineEvent {
            id,
            actor,
            at: now,
            what: TimelineKind::Labeled(then),
        });
        self.note_write(
            repo,
            actor,
            "label.added",
            json!({"number": number, "label": label, "event": id}),
            now,
        );
        self.emit_thread(
            repo,
            number,
            "labeled",
            actor,
            now,
            |model| json!({"label": model.current_label_json(repo, label)}),
        );
        Ok(())
    }

    /// Takes a label off an issue or pull request.
    pub fn remove_label(
        &mut self,
        repo: RepoId,
        number: u64,
        label: &str,
        actor: &str,
        now: Timestamp,
    ) {
        let actor = self.account(actor);
        let _ = self.take_label(repo, number, label, actor, now);
    }

    pub(crate) fn take_label(
        &mut self,
        repo: RepoId,
        number: u64,
        label: &str,
        actor: u64,
        now: Timestamp,
    ) -> Result<(), ActError> {
        let id = self.next_id();
        let key = label.to_lowercase();
        let repository = self.repository_mut(repo).ok_or(ActError::NotFound)?;
        let then = label_snapshot(repository, &key);
        let thread = repository.thread_mut(number).ok_or(ActError::NotFound)?;
        if !thread.labels.contains(&key) {
            return Err(ActError::Invalid("Label does not exist".to_owned()));
        }
        thread.labels.retain(|other| *other != key);
        thread.updated_at = now;
        thread.timeline.push(TimelineEvent {
            id,
            actor,
            at: now,
            what: TimelineKind::Unlabeled(then),
        });
        self.note_write(
            repo,
            actor,
            "label.removed",
            json!({"number": number, "label": label}),
            now,
        );
        self.emit_thread(
            repo,
            number,
            "unlabeled",
            actor,
            now,
            |model| json!({"label": model.current_label_json(repo, label)}),
        );
        Ok(())
    }
}

fn label_snapshot(repository: &Repository, key: &str) -> LabelSnapshot {
    match repository.labels.get(key) {
        Some(label) => LabelSnapshot {
            id: label.id,
            name: label.name.clone(),
            color: label.color.clone(),
        },
        None => LabelSnapshot {
            id: 0,
            name: key.to_owned(),
            color: "ededed".to_owned(),
        },
    }
}
