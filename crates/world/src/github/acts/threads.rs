//! What issues and pull requests share: texts and states.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::ActError;
use crate::github::repository::{Edit, Issue, Side, State, Thread, TimelineEvent, TimelineKind};
use crate::github::{Model, RepoId};

impl Model {
    pub(crate) fn timeline_event(
        &mut self,
        actor: u64,
        now: Timestamp,
        what: TimelineKind,
    ) -> TimelineEvent {
        TimelineEvent {
            id: self.next_id(),
            actor,
            at: now,
            what,
        }
    }

    pub(super) fn new_thread(
        &mut self,
        repo: RepoId,
        title: &str,
        body: Option<&str>,
        author: u64,
        now: Timestamp,
    ) -> Result<Thread, ActError> {
        let id = self.next_id();
        let author_login = self.login(author).to_owned();
        let repository = self.repository_mut(repo).ok_or(ActError::NotFound)?;
        let number = repository.next_number;
        repository.next_number += 1;
        Ok(Thread {
            id,
            number,
            title: title.to_owned(),
            body: body.map(str::to_owned),
            author,
            author_login,
            state: State::Open,
            locked: false,
            state_reason: None,
            labels: Vec::new(),
            assignees: Vec::new(),
            created_at: now,
            updated_at: now,
            closed_at: None,
            edits: Vec::new(),
            last_edited_at: None,
            timeline: Vec::new(),
            comments: Vec::new(),
            reactions: Vec::new(),
        })
    }

    /// Opens an issue and gives its number; 0 when the repository does not exist.
    pub fn open_issue(
        &mut self,
        repo: RepoId,
        title: &str,
        body: &str,
        labels: &[&str],
        author: &str,
        now: Timestamp,
    ) -> u64 {
        let author = self.account(author);
        self.open_issue_by(repo, title, Some(body), labels, author, now)
            .unwrap_or_default()
    }

    pub(crate) fn open_issue_by(
        &mut self,
        repo: RepoId,
        title: &str,
        body: Option<&str>,
        labels: &[&str],
        author: u64,
        now: Timestamp,
    ) -> Result<u64, ActError> {
        let thread = self.new_thread(repo, title, body, author, now)?;
        let number = thread.number;
        let repository = self.repository_mut(repo).ok_or(ActError::NotFound)?;
        repository.issues.insert(number, Arc::new(Issue { thread }));
        self.note_write(
            repo,
            author,
            "issue.opened",
            json!({"number": number, "title": title, "body": body}),
            now,
        );
        self.emit_event(repo, "issues", Some("opened"), author, now, |model| {
            model.issue_payload(repo, number)
        });
        for label in labels {
            self.put_label(repo, number, label, author, now)?;
        }
        Ok(number)
    }

    /// Changes title, text or base; absent values stay.
    #[expect(
        clippy::too_many_arguments,
        reason = "the fields that a PATCH may carry"
    )]
    pub(crate) fn edit_thread(
        &mut self,
        repo: RepoId,
        number: u64,
        title: Option<&str>,
        body: Option<&str>,
        base: Option<&str>,
        actor: u64,
        now: Timestamp,
    ) -> Result<(), ActError> {
        let (edit, renamed) = (self.next_id(), self.next_id());
        let repository = self.repository_mut(repo).ok_or(ActError::NotFound)?;
        let new_base = match base {
            Some(branch) => Some(Side {
                branch: branch.to_owned(),
                oid: repository
                    .branch(branch)
                    .ok_or_else(|| ActError::Invalid("base: invalid".to_owned()))?,
            }),
            None => None,
        };
        let thread = repository.thread_mut(number).ok_or(ActError::NotFound)?;
        let mut changes = Map::new();
        if let Some(title) = title {
            change_title(thread, title, renamed, (actor, now), &mut changes);
        }
        if let Some(body) = body {
            change_body(thread, body, edit, (actor, now), &mut changes);
        }
        if let (Some(base), Some(pull)) = (new_base, repository.pulls.get_mut(&number))
            && pull.base.branch != base.branch
        {
            let pull = Arc::make_mut(pull);
            changes.insert(
                "base".to_owned(),
                json!({"ref": {"from": pull.base.branch}, "sha": {"from": pull.base.oid}}),
            );
            pull.base = base;
            pull.mergeable_reads = 0;
            pull.timeline.push(TimelineEvent {
                id: edit + 1,
                actor,
                at: now,
                what: TimelineKind::BaseChanged,
            });
        }
        if changes.is_empty() {
            return Ok(());
        }
        if let Some(thread) = repository.thread_mut(number) {
            thread.updated_at = now;
        }
        let changes = Value::Object(changes);
        self.note_write(
            repo,
            actor,
            "thread.edited",
            json!({"number": number, "changes": changes}),
            now,
        );
        self.emit_thread(
            repo,
            number,
            "edited",
            actor,
            now,
            |_| json!({"changes": changes}),
        );
        Ok(())
    }

    /// Changes the text of an issue or pull request.
    pub fn edit_body(
        &mut self,
        repo: RepoId,
        number: u64,
        body: &str,
        actor: &str,
        now: Timestamp,
    ) {
        let actor = self.account(actor);
        let _ = self.edit_thread(repo, number, None, Some(body), None, actor, now);
    }

    /// Changes the title of an issue or pull request.
    pub fn rename(&mut self, repo: RepoId, number: u64, title: &str, actor: &str, now: Timestamp) {
        let actor = self.account(actor);
        let _ = self.edit_thread(repo, number, Some(title), None, None, actor, now);
    }

    /// Closes or reopens an issue or pull request.
    pub(crate) fn set_state(
        &mut self,
        repo: RepoId,
        number: u64,
        state: State,
        reason: Option<&str>,
        actor: u64,
        now: Timestamp,
    ) -> Result<(), ActError> {
        let what = if state == State::Closed {
            TimelineKind::Closed
        } else {
            TimelineKind::Reopened
        };
        let event = self.timeline_event(actor, now, what);
        let repository = self.repository_mut(repo).ok_or(ActError::NotFound)?;
        if repository
            .pulls
            .get(&number)
            .is_some_and(|pull| pull.merged.is_some())
            && state == State::Open
        {
            return Err(ActError::Invalid(
                "state: cannot be changed. The pull request is merged.".to_owned(),
            ));
        }
        let is_issue = repository.issues.contains_key(&number);
        let thread = repository.thread_mut(number).ok_or(ActError::NotFound)?;
        if is_issue {
            thread.state_reason = match state {
                State::Closed => Some(reason.unwrap_or("completed").to_owned()),
                State::Open if thread.state == State::Closed => Some("reopened".to_owned()),
                State::Open => thread.state_reason.take(),
            };
        }
        if thread.state == state {
            return Ok(());
        }
        thread.state = state;
        thread.closed_at = (state == State::Closed).then_some(now);
        thread.updated_at = now;
        thread.timeline.push(event);
        let word = if state == State::Closed {
            "closed"
        } else {
            "reopened"
        };
        let kind = if is_issue { "issue" } else { "pull" };
        self.note_write(
            repo,
            actor,
            &format!("{kind}.{word}"),
            json!({"number": number}),
            now,
        );
        self.emit_thread(repo, number, word, actor, now, |_| json!({}));
        Ok(())
    }

    /// Closes an issue.
    pub fn close_issue(&mut self, repo: RepoId, number: u64, actor: &str, now: Timestamp) {
        let actor = self.account(actor);
        let _ = self.set_state(repo, number, State::Closed, None, actor, now);
    }

    /// Closes a pull request without merging it.
    pub fn close_pull(&mut self, repo: RepoId, number: u64, actor: &str, now: Timestamp) {
        let actor = self.account(actor);
        let _ = self.set_state(repo, number, State::Closed, None, actor, now);
    }

    /// Opens a closed issue or pull request again.
    pub fn reopen(&mut self, repo: RepoId, number: u64, actor: &str, now: Timestamp) {
        let actor = self.account(actor);
        let _ = self.set_state(repo, number, State::Open, None, actor, now);
    }

    /// Emits an event of an issue as `issues`, of a pull request as `pull_request`.
    pub(super) fn emit_thread(
        &mut self,
        repo: RepoId,
        number: u64,
        action: &str,
        actor: u64,
        now: Timestamp,
        extra: impl FnOnce(&Self) -> Value,
    ) {
        let is_pull = self.pull(repo, number).is_some();
        let event = if is_pull { "pull_request" } else { "issues" };
        self.emit_event(repo, event, Some(action), actor, now, |model| {
            let mut payload = if is_pull {
                model.pull_payload(repo, number)
            } else {
                model.issue_payload(repo, number)
            };
            if let (Value::Object(payload), Value::Object(extra)) = (&mut payload, extra(model)) {
                payload.extend(extra);
            }
            payload
        });
    }
}

/// Changes the title of a thread, and notes the old one in `changes`.
fn change_title(
    thread: &mut Thread,
    title: &str,
    event: u64,
    (actor, now): (u64, Timestamp),
    changes: &mut Map<String, Value>,
) {
    if thread.title == title {
        return;
    }
    let from = std::mem::replace(&mut thread.title, title.to_owned());
    changes.insert("title".to_owned(), json!({"from": from}));
    let what = TimelineKind::Renamed {
        from,
        to: title.to_owned(),
    };
    thread.timeline.push(TimelineEvent {
        id: event,
        actor,
        at: now,
        what,
    });
}

/// Changes the text of a thread, and notes the old one in `changes`.
fn change_body(
    thread: &mut Thread,
    body: &str,
    edit: u64,
    (actor, now): (u64, Timestamp),
    changes: &mut Map<String, Value>,
) {
    if thread.body.as_deref().unwrap_or_default() == body {
        return;
    }
    if thread.edits.is_empty() {
        // The first edit also keeps the original text.
        thread.edits.push(Edit {
            id: edit - 1,
            editor: thread.author,
            at: thread.created_at,
            text: thread.body.clone().unwrap_or_default(),
        });
    }
    let from = thread.body.replace(body.to_owned());
    changes.insert("body".to_owned(), json!({"from": from}));
    thread.edits.push(Edit {
        id: edit,
        editor: actor,
        at: now,
        text: body.to_owned(),
    });
    thread.last_edited_at = Some(now);
}
