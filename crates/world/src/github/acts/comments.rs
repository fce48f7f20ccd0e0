//! Comments and reactions.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::json;

use super::ActError;
use crate::github::repository::{Comment, Edit, Reaction, TimelineKind};
use crate::github::{Model, RepoId};

/// The target of a reaction.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Subject {
    /// An issue or pull request, by number.
    Thread(u64),
    /// A comment, by id.
    Comment(u64),
}

impl Model {
    /// Comments on an issue or pull request and gives the comment's id; 0 when the thread does not exist.
    pub fn comment(
        &mut self,
        repo: RepoId,
        number: u64,
        body: &str,
        actor: &str,
        now: Timestamp,
    ) -> u64 {
        let actor = self.account(actor);
        self.comment_by(repo, number, body, actor, now)
            .unwrap_or_default()
    }

    pub(crate) fn comment_by(
        &mut self,
        repo: RepoId,
        number: u64,
        body: &str,
        actor: u64,
        now: Timestamp,
    ) -> Result<u64, ActError> {
        let id = self.next_id();
        let event = self.timeline_event(actor, now, TimelineKind::Commented(id));
        let repository = self.repository_mut(repo).ok_or(ActError::NotFound)?;
        let thread = repository.thread_mut(number).ok_or(ActError::NotFound)?;
        thread.comments.push(id);
        thread.updated_at = now;
        thread.timeline.push(event);
        let comment = Comment {
            id,
            number,
            body: body.to_owned(),
            author: actor,
            created_at: now,
            updated_at: now,
            edits: Vec::new(),
            reactions: Vec::new(),
            minimized: false,
        };
        repository.comments.insert(id, Arc::new(comment));
        self.note_write(
            repo,
            actor,
            "comment.created",
            json!({"number": number, "id": id, "body": body}),
            now,
        );
        self.emit_event(
            repo,
            "issue_comment",
            Some("created"),
            actor,
            now,
            |model| model.comment_payload(repo, id),
        );
        Ok(id)
    }

    /// Changes the text of a comment.
    pub fn edit_comment(&mut self, repo: RepoId, id: u64, body: &str, actor: &str, now: Timestamp) {
        let actor = self.account(actor);
        let _ = self.edit_comment_by(repo, id, body, actor, now);
    }

    pub(crate) fn edit_comment_by(
        &mut self,
        repo: RepoId,
        id: u64,
        body: &str,
        actor: u64,
        now: Timestamp,
    ) -> Result<(), ActError> {
        let edit = self.next_id();
        let repository = self.repository_mut(repo).ok_or(ActError::NotFound)?;
        let comment = repository
            .comments
            .get_mut(&id)
            .map(Arc::make_mut)
            .ok_or(ActError::NotFound)?;
        let from = std::mem::replace(&mut comment.body, body.to_owned());
        comment.updated_at = now;
        comment.edits.push(Edit {
            id: edit,
            editor: actor,
            at: now,
            text: body.to_owned(),
        });
        let number = comment.number;
        self.note_write(
            repo,
            actor,
            "comment.edited",
            json!({"number": number, "id": id, "body": body}),
            now,
        );
        self.emit_event(repo, "issue_comment", Some("edited"), actor, now, |model| {
            let mut payload = model.comment_payload(repo, id);
            payload["changes"] = json!({"body": {"from": from}});
            payload
        });
        Ok(())
    }

    /// Hides a comment, as "Hide" of its menu does.
    pub fn minimize_comment(&mut self, repo: RepoId, id: u64) {
        let repository = self.repository_mut(repo);
        let comment = repository.and_then(|repository| repository.comments.get_mut(&id));
        if let Some(comment) = comment {
            Arc::make_mut(comment).minimized = true;
        }
    }

    /// Deletes a comment.
    pub fn delete_comment(&mut self, repo: RepoId, id: u64, actor: &str, now: Timestamp) {
        let actor = self.account(actor);
        let _ = self.delete_comment_by(repo, id, actor, now);
    }

    pub(crate) fn delete_comment_by(
        &mut self,
        repo: RepoId,
        id: u64,
        actor: u64,
        now: Timestamp,
    ) -> Result<(), ActError> {
        let gone = self
            .repository(repo)
            .and_then(|repository| repository.comments.get(&id))
            .ok_or(ActError::NotFound)?;
        let number = gone.number;
        // The payload shows the comment before it is deleted.
        self.emit_event(
            repo,
            "issue_comment",
            Some("deleted"),
            actor,
            now,
            |model| model.comment_payload(repo, id),
        );
        let repository = self.repository_mut(repo).ok_or(ActError::NotFound)?;
        repository.comments.remove(&id);
        if let Some(thread) = repository.thread_mut(number) {
            thread.comments.retain(|other| *other != id);
            thread
                .timeline
                .retain(|event| event.what != TimelineKind::Commented(id));
            thread.updated_at = now;
        }
        self.note_write(
            repo,
            actor,
            "comment.deleted",
            json!({"number": number, "id": id}),
            now,
        );
        Ok(())
    }

    pub(crate) fn add_reaction(
        &mut self,
        repo: RepoId,
        subject: Subject,
        content: &str,
        actor: u64,
        now: Timestamp,
    ) -> Result<Reaction, ActError> {
        let id = self.next_id();
        let repository = self.repository_mut(repo).ok_or(ActError::NotFound)?;
        let reactions = match subject {
            Subject::Thread(number) => {
                &mut repository
                    .thread_mut(number)
                    .ok_or(ActError::NotFound)?
                    .reactions
            }
            Subject::Comment(id) => {
                &mut repository
                    .comments
                    .get_mut(&id)
                    .map(Arc::make_mut)
                    .ok_or(ActError::NotFound)?
                    .reactions
            }
        };
        if let Some(old) = reactions
            .iter()
            .find(|old| old.account == actor && old.content == content)
        {
            return Ok(old.clone());
        }
        let reaction = Reaction {
            id,
            account: actor,
            content: content.to_owned(),
            at: now,
        };
        reactions.push(reaction.clone());
        Ok(reaction)
    }
}
