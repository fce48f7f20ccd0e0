//! Opens, merges and reviews pull requests.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::json;

use super::ActError;
use crate::github::object::{Oid, Signature};
use crate::github::repository::{Merge, NewPull, Pull, Review, Side, State, TimelineKind, Verdict};
use crate::github::{Model, RepoId};

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

impl Model {
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
            resolved: BTreeSet::new(),
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
        self.note_write(repo, author, "pull.opened", detail, now);
        self.emit_event(repo, "pull_request", Some("opened"), author, now, |model| {
            model.pull_payload(repo, number)
        });
        Ok(number)
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
    pub(crate) fn is_mergeable(&mut self, repo: RepoId, number: u64) -> bool {
        let Some((head, base)) = self.repository(repo).and_then(|repository| {
            let pull = repository.pulls.get(&number)?;
            Some((pull.head.oid, repository.base_now(pull)))
        }) else {
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
        let author = self.account_signature(actor, now);
        let text = merge_message(&pull, &owner, method, message);
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
                let author = self.account_signature(pull.author, now);
                self.commit_tree(repo, tree, vec![base], &author, &committer, &text)
            }
            MergeMethod::Rebase => self.rebase_commits(repo, &commits, base, &committer)?,
        };
        self.verified.insert(merged);
        let (one, two) = (
            self.timeline_event(actor, now, TimelineKind::Merged(merged)),
            self.timeline_event(actor, now, TimelineKind::Closed),
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
        self.note_write(
            repo,
            actor,
            "pull.merged",
            json!({"number": number, "commit": merged, "head": pull.head.oid}),
            now,
        );
        self.emit_event(repo, "pull_request", Some("closed"), actor, now, |model| {
            model.pull_payload(repo, number)
        });
        let name = format!("refs/heads/{}", pull.base.branch);
        self.update_ref(repo, &name, merged, false, actor, now)?;
        Ok(merged)
    }

    /// Applies commits one by one on top of a base, and gives the last new commit.
    fn rebase_commits(
        &mut self,
        repo: RepoId,
        commits: &[Oid],
        base: Oid,
        committer: &Signature,
    ) -> Result<Oid, ActError> {
        let mut tip = base;
        for &oid in commits {
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
                committer,
                &commit.message,
            );
        }
        Ok(tip)
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
        let event = self.timeline_event(actor, now, TimelineKind::Reviewed(id));
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
            minimized: false,
            commit,
            at: now,
        });
        pull.updated_at = now;
        pull.timeline.push(event);
        pull.requested_reviewers
            .retain(|reviewer| *reviewer != actor);
        let detail = json!({"number": number, "state": verdict.review_state(), "commit": commit});
        self.note_write(repo, actor, "pull.reviewed", detail, now);
        self.emit_event(
            repo,
            "pull_request_review",
            Some("submitted"),
            actor,
            now,
            |model| model.review_payload(repo, number, id),
        );
        Ok(id)
    }

    /// Hides the newest review of a pull request, as "Hide" of its menu does.
    pub fn minimize_review(&mut self, repo: RepoId, number: u64) {
        let review = self
            .pull_mut(repo, number)
            .and_then(|pull| pull.reviews.last_mut());
        if let Some(review) = review {
            review.minimized = true;
        }
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
            TimelineKind::ConvertedToDraft
        } else {
            TimelineKind::ReadyForReview
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
        self.note_write(
            repo,
            actor,
            &format!("pull.{word}"),
            json!({"number": number}),
            now,
        );
        self.emit_event(repo, "pull_request", Some(word), actor, now, |model| {
            model.pull_payload(repo, number)
        });
        Ok(())
    }
}

/// The message of a merge: the given title and body, or GitHub's defaults.
fn merge_message(
    pull: &Pull,
    owner: &str,
    method: MergeMethod,
    message: Option<(String, String)>,
) -> String {
    let (title, body) = message.unwrap_or_else(|| match method {
        MergeMethod::Merge => (
            format!(
                "Merge pull request #{} from {owner}/{}",
                pull.number, pull.head.branch
            ),
            pull.title.clone(),
        ),
        _ => (format!("{} (#{})", pull.title, pull.number), String::new()),
    });
    if body.is_empty() {
        title
    } else {
        format!("{title}\n\n{body}")
    }
}
