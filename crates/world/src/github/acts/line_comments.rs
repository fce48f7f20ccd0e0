//! Comments on the lines of a pull request, and the threads that they make.

use jiff::Timestamp;

use super::ActError;
use crate::github::object::Oid;
use crate::github::repository::{ReviewComment, Verdict};
use crate::github::{Model, RepoId};

/// A comment on a line, as its author writes it.
#[derive(Debug, Clone, Default)]
pub struct LineRemark {
    /// The file.
    pub path: String,
    /// The line.
    pub line: Option<u64>,
    /// The text.
    pub body: String,
    /// The comment that it answers.
    pub in_reply_to: Option<u64>,
}

impl Model {
    /// Comments on a line of a pull request's newest commit, and gives the comment's number; 0 without a pull request.
    pub fn comment_line(
        &mut self,
        repo: RepoId,
        number: u64,
        remark: LineRemark,
        actor: &str,
        now: Timestamp,
    ) -> u64 {
        let actor = self.account(actor);
        self.comment_line_by(repo, number, remark, None, actor, now)
            .map(|comment| comment.id)
            .unwrap_or_default()
    }

    pub(crate) fn comment_line_by(
        &mut self,
        repo: RepoId,
        number: u64,
        remark: LineRemark,
        commit: Option<Oid>,
        actor: u64,
        now: Timestamp,
    ) -> Result<ReviewComment, ActError> {
        let review = self.review_pull_by(repo, number, Verdict::Comment, "", commit, actor, now)?;
        let id = self.next_id();
        let pull = self.pull_mut(repo, number).ok_or(ActError::NotFound)?;
        let comment = ReviewComment {
            id,
            review,
            author: actor,
            body: remark.body,
            path: remark.path,
            line: remark.line,
            commit: commit.unwrap_or(pull.head.oid),
            in_reply_to: remark.in_reply_to,
            created_at: now,
            updated_at: now,
        };
        pull.review_comments.push(comment.clone());
        Ok(comment)
    }

    /// Resolves the thread that a comment has begun.
    pub fn resolve_line(&mut self, repo: RepoId, number: u64, first: u64) {
        if let Some(pull) = self.pull_mut(repo, number) {
            pull.resolved.insert(first);
        }
    }
}
