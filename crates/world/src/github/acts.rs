//! What people, bots and APIs do to repositories. Every act leaves its timeline events, webhooks and a line in the books.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::object::{Commit, Mode, Object, Oid, Signature};
use super::objects::PathChange;
use super::repository::{
    CheckRun, Comment, Edit, Happening, Issue, Label, LabelThen, Merge, NewPull, Pull, Reaction,
    Repository, Review, Side, State, Status, Thread, TimelineEvent, Verdict,
};
use super::{Model, RepoId};

/// Why an act was refused; the text is GitHub's own where it is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ActError {
    /// The thing does not exist.
    #[error("Not Found")]
    NotFound,
    /// The reference exists already.
    #[error("Reference already exists")]
    ReferenceExists,
    /// The reference does not exist.
    #[error("Reference does not exist")]
    ReferenceMissing,
    /// The new commit does not descend from the old one.
    #[error("Update is not a fast forward")]
    NotFastForward,
    /// The object does not exist in the repository.
    #[error("Object does not exist")]
    ObjectMissing,
    /// The pull request cannot be merged.
    #[error("Pull Request is not mergeable")]
    NotMergeable,
    /// The head is another than the one that was pinned.
    #[error("Head branch was modified. Review and try the merge again.")]
    HeadModified,
    /// The request does not make sense, for this reason.
    #[error("{0}")]
    Invalid(String),
}

/// How a pull request is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MergeMethod {
    /// A commit with two parents.
    #[default]
    Merge,
    /// One commit with the whole change.
    Squash,
    /// The commits again on the base.
    Rebase,
}

/// Pull requests whose branches are looked at after one move of a branch.
const MAX_PULLS_SEEN: usize = 10_000;

impl Model {
    // ---- commits and references ------------------------------------------------------------------------------

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
        let signature = self.signature(author, now);
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
        self.objects_mut(repo).put(Object::Commit(Arc::new(Commit {
            tree,
            parents,
            author: author.clone(),
            committer: committer.clone(),
            message: message.to_owned(),
            more_headers: String::new(),
        })))
    }

    /// The signature of an account.
    pub(crate) fn signature(&self, account: u64, now: Timestamp) -> Signature {
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
        // A second creation of the same branch has no effect, as the contract of the typed access says.
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
        repository.refs.insert(name.to_owned(), at);
        repository.pushed_at = now;
        let default = repository.default_branch.clone();
        self.note(
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
        self.emit(repo, "create", None, actor, now, |_| {
            json!({"ref": short, "ref_type": kind, "master_branch": default, "description": null, "pusher_type": "user"})
        });
        self.pushed(repo, name, Oid::ZERO, at, false, actor, now);
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
        repository.pushed_at = now;
        self.note(
            repo,
            actor,
            "ref.moved",
            json!({"ref": name, "from": old, "to": to, "forced": !forward}),
            now,
        );
        self.pushed(repo, name, old, to, !forward, actor, now);
        if let Some(branch) = name.strip_prefix("refs/heads/") {
            let branch = branch.to_owned();
            self.branch_moved(repo, &branch, old, to, !forward, actor, now);
        }
        Ok(())
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
        self.note(
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
        self.emit(
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
    fn pushed(
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
        self.emit(repo, "push", None, actor, now, |model| {
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
            let event = self.timeline_event(
                actor,
                now,
                if forced {
                    Happening::ForcePushed(old, to)
                } else {
                    Happening::Committed(to)
                },
            );
            let Some(pull) = self.pull_mut(repo, number) else {
                continue;
            };
            pull.mergeable_reads = 0;
            if is_head {
                pull.head.oid = to;
                pull.updated_at = now;
                pull.timeline.push(event);
                self.emit(
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
            } else {
                pull.base.oid = to;
            }
        }
    }

    pub(crate) fn pull_mut(&mut self, repo: RepoId, number: u64) -> Option<&mut Pull> {
        self.repository_mut(repo)?
            .pulls
            .get_mut(&number)
            .map(Arc::make_mut)
    }

    pub(crate) fn timeline_event(
        &mut self,
        actor: u64,
        now: Timestamp,
        what: Happening,
    ) -> TimelineEvent {
        TimelineEvent {
            id: self.next_id(),
            actor,
            at: now,
            what,
        }
    }

    // ---- issues and pull requests ----------------------------------------------------------------------------

    fn new_thread(
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
        self.note(
            repo,
            author,
            "issue.opened",
            json!({"number": number, "title": title, "body": body}),
            now,
        );
        self.emit(repo, "issues", Some("opened"), author, now, |model| {
            model.issue_payload(repo, number)
        });
        for label in labels {
            self.put_label(repo, number, label, author, now)?;
        }
        Ok(number)
    }

    /// Opens a pull request and gives its number.
    ///
    /// # Panics
    /// When repository, head or base does not exist, or an open pull request joins the same branches.
    pub fn open_pull(&mut self, repo: RepoId, new: NewPull, now: Timestamp) -> u64 {
        let author = self.account(&new.author);
        self.open_pull_by(repo, &new, author, now)
            .expect("head and base exist and no other pull request joins them")
    }

    pub(crate) fn open_pull_by(
        &mut self,
        repo: RepoId,
        new: &NewPull,
        author: u64,
        now: Timestamp,
    ) -> Result<u64, ActError> {
        let full_name = self.full_name(repo);
        let repository = self.repository(repo).ok_or(ActError::NotFound)?;
        let side = |branch: &str| {
            repository.branch(branch).map(|oid| Side {
                branch: branch.to_owned(),
                oid,
            })
        };
        let head = side(&new.head).ok_or_else(|| ActError::Invalid("head: invalid".to_owned()))?;
        let base = side(&new.base).ok_or_else(|| ActError::Invalid("base: invalid".to_owned()))?;
        if self
            .objects(repo)
            .is_some_and(|objects| objects.is_ancestor(head.oid, base.oid))
        {
            return Err(ActError::Invalid(format!(
                "No commits between {} and {}",
                new.base, new.head
            )));
        }
        let twin = repository.pulls.values().any(|pull| {
            pull.state == State::Open
                && pull.head.branch == new.head
                && pull.base.branch == new.base
        });
        if twin {
            let owner = full_name.split('/').next().unwrap_or_default();
            return Err(ActError::Invalid(format!(
                "A pull request already exists for {owner}:{}.",
                new.head
            )));
        }
        let thread = self.new_thread(repo, &new.title, Some(&new.body), author, now)?;
        let number = thread.number;
        let pull = Pull {
            thread,
            head,
            base,
            draft: new.draft,
            merged: None,
            reviews: Vec::new(),
            review_comments: Vec::new(),
            requested_reviewers: Vec::new(),
            auto_merge: None,
            mergeable_reads: 0,
        };
        let detail = json!({"number": number, "title": pull.title, "head": new.head, "base": new.base,
            "draft": new.draft, "oid": pull.head.oid});
        self.repository_mut(repo)
            .ok_or(ActError::NotFound)?
            .pulls
            .insert(number, Arc::new(pull));
        self.note(repo, author, "pull.opened", detail, now);
        self.emit(repo, "pull_request", Some("opened"), author, now, |model| {
            model.pull_payload(repo, number)
        });
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
        let mut changes = serde_json::Map::new();
        if let Some(title) = title
            && thread.title != title
        {
            let from = std::mem::replace(&mut thread.title, title.to_owned());
            changes.insert("title".to_owned(), json!({"from": from}));
            let what = Happening::Renamed {
                from,
                to: title.to_owned(),
            };
            thread.timeline.push(TimelineEvent {
                id: renamed,
                actor,
                at: now,
                what,
            });
        }
        if let Some(body) = body
            && thread.body.as_deref().unwrap_or_default() != body
        {
            if thread.edits.is_empty() {
                // The first edit also leaves the text as it was written behind.
                let (author, at, text) = (
                    thread.author,
                    thread.created_at,
                    thread.body.clone().unwrap_or_default(),
                );
                thread.edits.push(Edit {
                    id: edit - 1,
                    editor: author,
                    at,
                    text,
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
                what: Happening::BaseChanged,
            });
        }
        if changes.is_empty() {
            return Ok(());
        }
        if let Some(thread) = repository.thread_mut(number) {
            thread.updated_at = now;
        }
        let changes = Value::Object(changes);
        self.note(
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
            Happening::Closed
        } else {
            Happening::Reopened
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
        self.note(
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

    /// Merges a pull request and gives the commit on its base.
    ///
    /// # Errors
    /// When it is a draft, closed, or conflicts with its base.
    pub fn merge_pull(
        &mut self,
        repo: RepoId,
        number: u64,
        actor: &str,
        now: Timestamp,
    ) -> Result<Oid, ActError> {
        let actor = self.account(actor);
        self.merge_pull_by(repo, number, None, MergeMethod::Merge, None, actor, now)
    }

    /// Whether head and base of a pull request can be joined.
    pub(crate) fn mergeable(&mut self, repo: RepoId, number: u64) -> bool {
        let Some((head, base)) = self
            .pull(repo, number)
            .map(|pull| (pull.head.oid, pull.base.oid))
        else {
            return false;
        };
        let objects = self.objects_mut(repo);
        let common = objects.merge_base(base, head);
        objects.merged_tree(common, base, head).is_ok()
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of the merge request")]
    pub(crate) fn merge_pull_by(
        &mut self,
        repo: RepoId,
        number: u64,
        pinned: Option<Oid>,
        method: MergeMethod,
        message: Option<(String, String)>,
        actor: u64,
        now: Timestamp,
    ) -> Result<Oid, ActError> {
        let pull = self.pull(repo, number).ok_or(ActError::NotFound)?.clone();
        if pull.state == State::Closed || pull.draft {
            return Err(ActError::NotMergeable);
        }
        if pinned.is_some_and(|pinned| pinned != pull.head.oid) {
            return Err(ActError::HeadModified);
        }
        let base = self
            .branch_head(repo, &pull.base.branch)
            .ok_or(ActError::NotMergeable)?;
        let owner = self
            .full_name(repo)
            .split('/')
            .next()
            .unwrap_or_default()
            .to_owned();
        let objects = self.objects_mut(repo);
        let common = objects.merge_base(base, pull.head.oid);
        let tree = objects
            .merged_tree(common, base, pull.head.oid)
            .map_err(|_| ActError::NotMergeable)?;
        let commits: Vec<Oid> = objects
            .missing_from(Some(base), pull.head.oid)
            .into_iter()
            .rev()
            .collect();
        let committer = Signature::new("GitHub", "noreply@github.com", now);
        let author = self.signature(actor, now);
        let (default_title, default_body) = match method {
            MergeMethod::Merge => (
                format!(
                    "Merge pull request #{number} from {owner}/{}",
                    pull.head.branch
                ),
                pull.title.clone(),
            ),
            _ => (format!("{} (#{number})", pull.title), String::new()),
        };
        let (title, body) = message.unwrap_or((default_title, default_body));
        let text = if body.is_empty() {
            title
        } else {
            format!("{title}\n\n{body}")
        };
        let merged = match method {
            MergeMethod::Merge => self.commit_tree(
                repo,
                tree,
                vec![base, pull.head.oid],
                &author,
                &committer,
                &text,
            ),
            MergeMethod::Squash => {
                let author = self.signature(pull.author, now);
                self.commit_tree(repo, tree, vec![base], &author, &committer, &text)
            }
            MergeMethod::Rebase => {
                let mut tip = base;
                for oid in commits {
                    let objects = self.objects_mut(repo);
                    let Some(commit) = objects.commit(oid).cloned() else {
                        continue;
                    };
                    if commit.parents.len() > 1 {
                        return Err(ActError::NotMergeable);
                    }
                    let parent = commit.parents.first().copied();
                    let tree = objects
                        .merged_tree(parent, tip, oid)
                        .map_err(|_| ActError::NotMergeable)?;
                    tip = self.commit_tree(
                        repo,
                        tree,
                        vec![tip],
                        &commit.author,
                        &committer,
                        &commit.message,
                    );
                }
                tip
            }
        };
        self.verified.insert(merged);
        let (one, two) = (
            self.timeline_event(actor, now, Happening::Merged(merged)),
            self.timeline_event(actor, now, Happening::Closed),
        );
        let open = self.pull_mut(repo, number).ok_or(ActError::NotFound)?;
        open.merged = Some(Merge {
            at: now,
            by: actor,
            commit: merged,
        });
        open.state = State::Closed;
        open.closed_at = Some(now);
        open.updated_at = now;
        open.timeline.extend([one, two]);
        self.note(
            repo,
            actor,
            "pull.merged",
            json!({"number": number, "commit": merged, "head": pull.head.oid}),
            now,
        );
        self.emit(repo, "pull_request", Some("closed"), actor, now, |model| {
            model.pull_payload(repo, number)
        });
        let name = format!("refs/heads/{}", pull.base.branch);
        self.update_ref(repo, &name, merged, false, actor, now)?;
        Ok(merged)
    }

    /// Reviews a pull request.
    pub fn review_pull(
        &mut self,
        repo: RepoId,
        number: u64,
        verdict: Verdict,
        body: &str,
        actor: &str,
        now: Timestamp,
    ) {
        let actor = self.account(actor);
        let _ = self.review_pull_by(repo, number, verdict, body, None, actor, now);
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of a review")]
    pub(crate) fn review_pull_by(
        &mut self,
        repo: RepoId,
        number: u64,
        verdict: Verdict,
        body: &str,
        commit: Option<Oid>,
        actor: u64,
        now: Timestamp,
    ) -> Result<u64, ActError> {
        let id = self.next_id();
        let event = self.timeline_event(actor, now, Happening::Reviewed(id));
        let pull = self.pull_mut(repo, number).ok_or(ActError::NotFound)?;
        if verdict == Verdict::Approve && pull.author == actor {
            return Err(ActError::Invalid(
                "Can not approve your own pull request".to_owned(),
            ));
        }
        let commit = commit.unwrap_or(pull.head.oid);
        pull.reviews.push(Review {
            id,
            author: actor,
            body: body.to_owned(),
            verdict,
            dismissed: false,
            commit,
            at: now,
        });
        pull.updated_at = now;
        pull.timeline.push(event);
        pull.requested_reviewers
            .retain(|reviewer| *reviewer != actor);
        let detail = json!({"number": number, "state": verdict.state(), "commit": commit});
        self.note(repo, actor, "pull.reviewed", detail, now);
        self.emit(
            repo,
            "pull_request_review",
            Some("submitted"),
            actor,
            now,
            |model| model.review_payload(repo, number, id),
        );
        Ok(id)
    }

    /// Makes a draft ready, or a pull request a draft.
    pub fn set_draft(
        &mut self,
        repo: RepoId,
        number: u64,
        draft: bool,
        actor: &str,
        now: Timestamp,
    ) {
        let actor = self.account(actor);
        let _ = self.set_draft_by(repo, number, draft, actor, now);
    }

    pub(crate) fn set_draft_by(
        &mut self,
        repo: RepoId,
        number: u64,
        draft: bool,
        actor: u64,
        now: Timestamp,
    ) -> Result<(), ActError> {
        let what = if draft {
            Happening::ConvertedToDraft
        } else {
            Happening::ReadyForReview
        };
        let event = self.timeline_event(actor, now, what);
        let pull = self.pull_mut(repo, number).ok_or(ActError::NotFound)?;
        if pull.draft == draft {
            return Ok(());
        }
        pull.draft = draft;
        pull.updated_at = now;
        pull.timeline.push(event);
        let word = if draft {
            "converted_to_draft"
        } else {
            "ready_for_review"
        };
        self.note(
            repo,
            actor,
            &format!("pull.{word}"),
            json!({"number": number}),
            now,
        );
        self.emit(repo, "pull_request", Some(word), actor, now, |model| {
            model.pull_payload(repo, number)
        });
        Ok(())
    }

    // ---- comments, labels, reactions -------------------------------------------------------------------------

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
        let event = self.timeline_event(actor, now, Happening::Commented(id));
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
        };
        repository.comments.insert(id, Arc::new(comment));
        self.note(
            repo,
            actor,
            "comment.created",
            json!({"number": number, "id": id, "body": body}),
            now,
        );
        self.emit(
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
        self.note(
            repo,
            actor,
            "comment.edited",
            json!({"number": number, "id": id, "body": body}),
            now,
        );
        self.emit(repo, "issue_comment", Some("edited"), actor, now, |model| {
            let mut payload = model.comment_payload(repo, id);
            payload["changes"] = json!({"body": {"from": from}});
            payload
        });
        Ok(())
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
        // The payload shows what is about to go.
        self.emit(
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
                .retain(|event| event.what != Happening::Commented(id));
            thread.updated_at = now;
        }
        self.note(
            repo,
            actor,
            "comment.deleted",
            json!({"number": number, "id": id}),
            now,
        );
        Ok(())
    }

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
            self.emit(
                repo,
                "label",
                Some("created"),
                actor,
                now,
                |model| json!({"label": model.label(repo, label)}),
            );
        }
        let id = self.next_id();
        let repository = self.repository_mut(repo).ok_or(ActError::NotFound)?;
        let then = then(repository, &key);
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
            what: Happening::Labeled(then),
        });
        self.note(
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
            |model| json!({"label": model.label(repo, label)}),
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
        let then = then(repository, &key);
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
            what: Happening::Unlabeled(then),
        });
        self.note(
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
            |model| json!({"label": model.label(repo, label)}),
        );
        Ok(())
    }

    pub(crate) fn react(
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

    // ---- checks ----------------------------------------------------------------------------------------------

    /// Reports a check on a commit: pending without a conclusion, completed with one (`success`, `failure`, …).
    pub fn set_checks(
        &mut self,
        repo: RepoId,
        commit: Oid,
        name: &str,
        conclusion: Option<&str>,
        actor: &str,
        now: Timestamp,
    ) {
        let actor = self.account(actor);
        let (id, suite) = (self.next_id(), self.next_id());
        let app = self.login(actor).trim_end_matches("[bot]").to_owned();
        let Some(repository) = self.repository_mut(repo) else {
            return;
        };
        let open = repository.checks.iter_mut().rev().find(|run| {
            run.commit == commit && run.name == name && run.app == app && run.conclusion.is_none()
        });
        let run = match open {
            Some(run) => {
                run.conclusion = conclusion.map(str::to_owned);
                run.completed_at = conclusion.map(|_| now);
                run.id
            }
            None => {
                let suite = repository
                    .checks
                    .iter()
                    .find(|run| run.commit == commit && run.app == app)
                    .map_or(suite, |run| run.suite);
                repository.checks.push(CheckRun {
                    id,
                    suite,
                    app,
                    name: name.to_owned(),
                    commit,
                    conclusion: conclusion.map(str::to_owned),
                    started_at: now,
                    completed_at: conclusion.map(|_| now),
                });
                id
            }
        };
        let word = if conclusion.is_some() {
            "completed"
        } else {
            "created"
        };
        let detail = json!({"commit": commit, "name": name, "conclusion": conclusion});
        self.note(repo, actor, &format!("check.{word}"), detail, now);
        self.emit(
            repo,
            "check_run",
            Some(word),
            actor,
            now,
            |model| json!({"check_run": model.check_run(repo, run)}),
        );
        let all_done = self.repository(repo).is_some_and(|repository| {
            repository
                .checks
                .iter()
                .filter(|run| run.commit == commit)
                .all(|run| run.conclusion.is_some())
        });
        if conclusion.is_some() && all_done {
            self.emit(
                repo,
                "check_suite",
                Some("completed"),
                actor,
                now,
                |model| json!({"check_suite": model.check_suite_of(repo, run)}),
            );
            self.try_auto_merge(repo, commit, now);
        }
    }

    /// Reports a status on a commit.
    #[expect(clippy::too_many_arguments, reason = "the fields of a status")]
    pub(crate) fn set_status(
        &mut self,
        repo: RepoId,
        commit: Oid,
        state: &str,
        context: &str,
        description: Option<&str>,
        target_url: Option<&str>,
        actor: u64,
        now: Timestamp,
    ) -> Result<u64, ActError> {
        let id = self.next_id();
        let repository = self.repository_mut(repo).ok_or(ActError::NotFound)?;
        repository.statuses.push(Status {
            id,
            commit,
            state: state.to_owned(),
            context: context.to_owned(),
            description: description.map(str::to_owned),
            target_url: target_url.map(str::to_owned),
            creator: actor,
            at: now,
        });
        self.note(
            repo,
            actor,
            "status.set",
            json!({"commit": commit, "state": state, "context": context}),
            now,
        );
        Ok(id)
    }

    /// Pull requests that wait for checks are merged when theirs are green.
    fn try_auto_merge(&mut self, repo: RepoId, commit: Oid, now: Timestamp) {
        let green = self.repository(repo).is_some_and(|repository| {
            let green = |run: &CheckRun| {
                matches!(
                    run.conclusion.as_deref(),
                    Some("success" | "neutral" | "skipped")
                )
            };
            repository
                .checks
                .iter()
                .filter(|run| run.commit == commit)
                .all(green)
        });
        if !green {
            return;
        }
        let waiting: Vec<(u64, String)> = self
            .pulls(repo)
            .filter(|pull| pull.state == State::Open && pull.head.oid == commit)
            .filter_map(|pull| Some((pull.number, pull.auto_merge.clone()?)))
            .collect();
        for (number, method) in waiting {
            let method = match method.as_str() {
                "SQUASH" => MergeMethod::Squash,
                "REBASE" => MergeMethod::Rebase,
                _ => MergeMethod::Merge,
            };
            let actor = self.account("web-flow");
            let _ = self.merge_pull_by(repo, number, None, method, None, actor, now);
        }
    }

    // ---- repository settings ---------------------------------------------------------------------------------

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

    /// Gives a person a role in a repository; [`super::Role::None`] takes it away.
    pub fn set_role(&mut self, repo: RepoId, login: &str, role: super::Role) {
        let account = self.account(login);
        let Some(repository) = self.repository_mut(repo) else {
            return;
        };
        if role == super::Role::None {
            repository.collaborators.remove(&account);
        } else {
            repository.collaborators.insert(account, role);
        }
    }

    /// Emits an event of an issue as `issues`, of a pull request as `pull_request`.
    fn emit_thread(
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
        self.emit(repo, event, Some(action), actor, now, |model| {
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

/// What a reaction is put on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Subject {
    /// An issue or pull request, by number.
    Thread(u64),
    /// A comment, by id.
    Comment(u64),
}

fn then(repository: &Repository, key: &str) -> LabelThen {
    match repository.labels.get(key) {
        Some(label) => LabelThen {
            id: label.id,
            name: label.name.clone(),
            color: label.color.clone(),
        },
        None => LabelThen {
            id: 0,
            name: key.to_owned(),
            color: "ededed".to_owned(),
        },
    }
}
