//! Implements the runtime's port for a repository: `github` reads it, `ledger` commits to it. The two do not know
//! each other.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use phileas_domain::engine::{
    CommitSpan, Commits, FailedChecks, FurtherComments, MergeFacts, MergeMethod, Permission, Pull,
    PullActivity, PullFile, RefusalTexts, Remark, Reviews,
};
use phileas_domain::model::{BranchName, Login, Oid, PullNumber, Tree};

use super::github::Client;
use super::github::write::objects::Attempt;
use super::ledger::{self, CommitFacts, Remote, Swap};
use crate::runtime::ports::{
    Commit, CommitError, Failure, GitHubObservation, Issue, LEDGER_BRANCH, ReadGitHub, Subjects,
    WriteGitHub,
};

impl ReadGitHub for Client {
    async fn observe_repository(&self) -> Result<GitHubObservation, Failure> {
        self.observe_once().await
    }

    async fn read_texts(
        &self,
        commit: &Oid,
        paths: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, String>, Failure> {
        self.texts_at(commit, paths).await
    }

    async fn read_folders(&self, commit: &Oid, paths: &[&str]) -> Result<Tree, Failure> {
        self.folders_at(commit, paths).await
    }

    async fn read_commits(&self, span: &CommitSpan) -> Result<Commits, Failure> {
        self.commits_of(span).await
    }

    async fn read_plan_commit(&self, head: &Oid) -> Result<Option<Timestamp>, Failure> {
        self.plan_commit_at(head).await
    }

    async fn read_pulls(
        &self,
        numbers: &BTreeSet<PullNumber>,
    ) -> Result<BTreeMap<PullNumber, Pull>, Failure> {
        self.pulls_by_number(numbers).await
    }

    async fn read_subjects(&self, numbers: &BTreeSet<u64>) -> Result<Subjects, Failure> {
        self.subjects_by_number(numbers).await
    }

    async fn read_comments(&self, since: Timestamp) -> Result<FurtherComments, Failure> {
        self.comments_since(since).await
    }

    async fn read_checks(&self, commit: &Oid) -> Result<FailedChecks, Failure> {
        self.checks_of(commit).await
    }

    async fn read_remarks(&self, pull: PullNumber) -> Result<Vec<Remark>, Failure> {
        self.read_remarks(pull).await
    }

    async fn read_pull_files(&self, pull: PullNumber) -> Result<Option<Vec<PullFile>>, Failure> {
        self.pull_files(pull).await
    }

    async fn read_merge_facts(&self, pull: PullNumber) -> Result<Option<MergeFacts>, Failure> {
        self.merge_facts(pull).await
    }

    async fn read_pull_activity(&self, pull: PullNumber) -> Result<Option<PullActivity>, Failure> {
        self.pull_activity_of(pull).await
    }

    async fn read_refusal_texts(
        &self,
        pull: PullNumber,
        with_reviews: bool,
    ) -> Result<Option<RefusalTexts>, Failure> {
        self.refusal_texts_of(pull, with_reviews).await
    }

    async fn read_reviews(&self, pull: PullNumber) -> Result<Option<Reviews>, Failure> {
        self.reviews_of(pull).await
    }

    async fn has_branch(&self, name: &BranchName) -> Result<bool, Failure> {
        Ok(self.branch_head(name.as_str()).await?.is_some())
    }

    async fn read_permission(&self, login: &Login) -> Result<Permission, Failure> {
        self.permission_of(login).await
    }
}

impl WriteGitHub for Client {
    async fn commit_ledger(&self, commit: &Commit) -> Result<Oid, CommitError> {
        ledger::commit(self, commit).await
    }

    async fn make_branch(&self, name: &BranchName, at: &Oid) -> Result<(), Failure> {
        self.create_branch_once(name, at).await
    }

    async fn retarget_pull(&self, pull: PullNumber, base: &BranchName) -> Result<(), Failure> {
        self.retarget_pull(pull, base).await
    }

    async fn add_label(&self, pull: PullNumber, label: &str) -> Result<(), Failure> {
        self.add_label_once(pull, label).await
    }

    async fn close_pull(&self, pull: PullNumber) -> Result<(), Failure> {
        self.close_pull_once(pull).await
    }

    async fn mark_ready(&self, pull: PullNumber) -> Result<(), Failure> {
        self.mark_ready_once(pull).await
    }

    async fn merge_pull(
        &self,
        pull: PullNumber,
        head: &Oid,
        method: MergeMethod,
    ) -> Result<(), Failure> {
        self.merge_once(pull, head, method).await
    }

    async fn open_notice(&self, key: &str, title: &str, body: &str) -> Result<u64, Failure> {
        self.open_notice_once(key, title, body).await
    }

    async fn publish_issue(&self, issue: &Issue<'_>) -> Result<u64, Failure> {
        self.publish_once(issue).await
    }

    async fn close_notice(&self, number: u64, comment: &str) -> Result<(), Failure> {
        self.close_notice_once(number, comment).await
    }

    async fn add_reaction(&self, thread: u64, comment: Option<u64>) -> Result<(), Failure> {
        self.add_eyes(thread, comment).await
    }

    async fn remove_label(&self, thread: u64, label: &str) -> Result<(), Failure> {
        self.remove_label(thread, label).await
    }

    async fn write_status(
        &self,
        thread: u64,
        known: Option<u64>,
        marker: &str,
        body: &str,
    ) -> Result<u64, Failure> {
        self.write_status_once(thread, known, marker, body).await
    }

    async fn open_dashboard(
        &self,
        known: Option<u64>,
        title: &str,
        marker: &str,
        body: &str,
    ) -> Result<u64, Failure> {
        self.open_dashboard_once(known, title, marker, body).await
    }

    async fn edit_dashboard(&self, number: u64, seen: &str, body: &str) -> Result<(), Failure> {
        self.edit_dashboard_as_seen(number, seen, body).await
    }
}

impl Remote for Client {
    async fn swap_head(&self, base: &Oid, commit: &Commit) -> Swap {
        let Commit {
            headline,
            body,
            files,
            ..
        } = commit;
        Self::commit_on_branch(self, LEDGER_BRANCH, base, headline, body, files)
            .await
            .into()
    }

    async fn read_head(&self) -> Result<Option<Oid>, Failure> {
        self.branch_head(LEDGER_BRANCH).await
    }

    async fn read_commit(&self, oid: &Oid) -> Result<Option<CommitFacts>, Failure> {
        let found = Self::read_commit(self, oid).await?;
        Ok(found.map(|found| CommitFacts {
            message: found.message,
            parents: found.parents,
        }))
    }

    async fn read_texts(
        &self,
        at: &Oid,
        paths: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, String>, Failure> {
        self.texts_at(at, paths).await
    }

    async fn write_orphan(&self, commit: &Commit) -> Result<Oid, Failure> {
        let message = ledger::full_message(commit);
        Self::write_orphan(self, &message, &commit.files).await
    }

    async fn create_branch(&self, at: &Oid) -> Swap {
        Self::create_branch(self, LEDGER_BRANCH, at).await.into()
    }

    async fn pause(&self, length: Duration) {
        self.wait_for(length).await;
    }
}

impl From<Attempt> for Swap {
    fn from(attempt: Attempt) -> Self {
        match attempt {
            Attempt::Done(oid) => Self::Done(oid),
            Attempt::Stale => Self::Stale,
            Attempt::Doubtful(failure) => Self::Unknown(failure),
            Attempt::Failed(failure) => Self::Failed(failure),
        }
    }
}
