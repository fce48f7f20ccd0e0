//! Reads everything that one tick needs, in one GraphQL query; in two for busy repositories.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use data_encoding::BASE64;
use jiff::{SignedDuration, Timestamp};
use phileas_domain::engine::{Checks, DASHBOARD_KEY, Dashboard, Notice, Repository};
use phileas_domain::model::{
    BranchName, Entry, Oid, RepositoryId, RepositoryName, TEXT_LIMIT_BYTES, Tree,
};
use phileas_domain::state::STATE_PATH;
use serde_json::Value;

use super::list_sizes::ListSizes;
use super::plan_files::{UnreadFile, tree_of, working_folders};
use super::recent_activity::{RecentActivity, with_label};
use crate::adapters::github::client::Client;
use crate::adapters::github::graphql::{GraphError, OBSERVE, OPEN_PULLS, Reply, is_hidden_check};
use crate::adapters::github::http::answer::Answer;
use crate::adapters::github::http::error::{self, is_too_costly, is_too_large, is_too_slow};
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::routes;
use crate::adapters::github::notice_marks::notice_key_in;
use crate::adapters::github::wire::Connection;
use crate::adapters::github::wire::common::Opener;
use crate::adapters::github::wire::file::{EntryKind, Text};
use crate::adapters::github::wire::git::Blob;
use crate::adapters::github::wire::observation::{
    DefaultCommit, LedgerCommit, NoticeIssue, Observed, OpenPulls, Repository as Shown,
};
use crate::adapters::github::wire::pull::PullFacts;
use crate::adapters::github::wire::subject::CommentThread;
use crate::runtime::ports::{Disposition, Failure, GitHubObservation, LedgerRead};

/// The largest state file that is read, in bytes.
pub const STATE_LIMIT_BYTES: u64 = 16 << 20;
/// How many files that GraphQL does not show whole are read one by one.
const MAX_BLOB_READS: usize = 16;
/// How many further pages of open pull requests are read; each holds 100.
const MAX_PULL_PAGES: usize = 10;
/// Comments older than this are not read.
const MAX_COMMENT_AGE: SignedDuration = SignedDuration::from_hours(7 * 24);
/// The label, without its prefix, that pauses the repository.
const PAUSE: &str = "pause";
const WHAT: &str = "POST /graphql (Observe)";

impl Client {
    pub(crate) async fn observe_once(&self) -> Result<GitHubObservation, Failure> {
        let checks_hidden = AtomicBool::new(false);
        let note = |problem: &GraphError| {
            let tolerated = is_hidden_check(problem);
            checks_hidden.fetch_or(tolerated, Ordering::Relaxed);
            tolerated
        };
        let (reply, asked) = self.query_observation(&note).await?;
        let answered_at = self.pause.now();
        let answer = reply.answer;
        let misunderstood = |said: &str| {
            error::failure_saying(WHAT, &answer, Disposition::Retry { after: None }, said)
        };
        let now = answer
            .date_header()
            .ok_or_else(|| misunderstood("there is no Date header"))?;
        let mut seen = reply.data.repository.ok_or_else(|| {
            let said = self.not_found_text();
            error::failure_saying(WHAT, &answer, Disposition::NotFound, &said)
        })?;
        let texts = self.read_comment_texts(without_text(&seen, now)).await;
        for said in comments_in(&mut seen) {
            said.fill_in_texts(&texts);
        }
        let id = seen
            .database_id
            .map(RepositoryId)
            .ok_or_else(|| misunderstood("the repository has no id"))?;
        let name: RepositoryName = seen
            .name_with_owner
            .parse()
            .map_err(|_| misunderstood("the repository's name is not understood"))?;
        self.confirm_identity(WHAT, &answer, id, &name)?;

        let mut exchange_id = None;
        let ledger = match seen.ledger {
            None => LedgerRead::NoBranch,
            Some(branch) => {
                let commit = branch
                    .target
                    .ok_or_else(|| misunderstood("the branch `jules` has no commit"))?;
                exchange_id = Some(commit.exchange_id());
                self.read_ledger(commit).await?
            }
        };
        let (default_branch, commit) = match seen.default_branch_ref {
            Some(branch) => (BranchName::new(branch.name), branch.target),
            // GitHub shows no default branch for an empty repository.
            None => (BranchName::from("main"), None),
        };
        let tree = self.read_plan(commit.as_ref()).await?;
        let folders = commit.as_ref().map(working_folders).unwrap_or_default();
        let repository = Repository {
            id,
            name,
            public: !seen.is_private,
            archived: seen.is_archived,
            default_branch,
            default_checks: commit
                .as_ref()
                .and_then(|commit| commit.status_check_rollup.as_ref())
                .map_or(Checks::None, |rollup| rollup.checks_verdict()),
            default_head: commit.map(|commit| Oid::new(commit.oid)),
        };
        let refused = self
            .refusal_cache
            .refused_logins(&self.address.current_name(), self.pause.now());
        let further = self.further_pulls(seen.open.next(), asked).await?;
        let pulls = further.into_iter().chain(seen.open);
        let activity = RecentActivity::collect(seen.active, seen.recent, pulls, refused);
        let (notices, dashboards) = sort_notices(seen.notices);
        let age = Duration::try_from(self.pause.now().duration_since(answered_at));
        Ok(GitHubObservation {
            now,
            // The age is unknown if the clock was set back meanwhile.
            age: age.unwrap_or_default(),
            repository,
            checks_hidden: checks_hidden.into_inner(),
            exchange_id,
            ledger,
            tree,
            working_folders: folders,
            pulls: activity.pulls,
            notices,
            dashboards,
            paused_by_label: seen
                .paused
                .into_iter()
                .next()
                .map(|issue| issue.number)
                .or_else(|| with_label(&activity.labelled, PAUSE)),
            labelled: activity.labelled,
            comments: activity.comments,
            comment_coverage: activity.comment_coverage,
        })
    }

    /// The files of the plan, with the texts that the first answer did not hold whole.
    async fn read_plan(&self, commit: Option<&DefaultCommit>) -> Result<Tree, Failure> {
        let (mut tree, unread) = commit.map(tree_of).unwrap_or_default();
        for file in unread.into_iter().take(MAX_BLOB_READS) {
            if let Some(text) = self.plan_text(&file).await?
                && let Some(entry) = tree.get(&file.path)
            {
                let entry = Entry {
                    text: Some(text.into()),
                    ..entry.clone()
                };
                tree.insert(file.path, entry);
            }
        }
        Ok(tree)
    }

    /// The first answer that shows everything that matters, and the variables of its query.
    async fn query_observation(
        &self,
        note: &impl Fn(&GraphError) -> bool,
    ) -> Result<(Reply<Observed>, Value), Failure> {
        let name = self.address.current_name();
        let mut variables = self.repository_variables();
        variables["bodies"] = true.into();
        variables["costly"] = true.into();
        let mut pages = self.busy_repositories.first_sizes(&name);
        let mut asked_for_many = false;
        loop {
            asked_for_many |= pages == ListSizes::MANY;
            let reply = self
                .query_within_limits(&mut pages, &mut variables, note)
                .await?;
            let now = reply
                .answer
                .date_header()
                .unwrap_or_else(|| self.pause.now());
            let since = now.checked_sub(MAX_COMMENT_AGE).unwrap_or(Timestamp::MIN);
            if let Some(seen) = &reply.data.repository {
                let is_busy = !ListSizes::FEW.cover(seen, since);
                self.busy_repositories.record(&name, is_busy);
                if is_busy && !asked_for_many {
                    pages = ListSizes::MANY;
                    continue;
                }
            }
            return Ok((reply, variables));
        }
    }

    /// Sends the query, and leaves out parts that make it too large or too slow, or asks for shorter lists.
    async fn query_within_limits(
        &self,
        pages: &mut ListSizes,
        variables: &mut Value,
        note: &impl Fn(&GraphError) -> bool,
    ) -> Result<Reply<Observed>, Failure> {
        let ask = async |pages: ListSizes, variables: &Value| {
            let variables = pages.add_to(variables);
            self.run_query("Observe", OBSERVE, &variables, note).await
        };
        let mut read = ask(*pages, variables).await;
        // Try each reduction once; a repository may need all.
        for _ in 0..3 {
            match &read {
                Err(failure) if is_too_large(failure) && variables["bodies"] == true => {
                    variables["bodies"] = false.into();
                }
                Err(failure) if is_too_costly(failure) && *pages != ListSizes::FEW => {
                    tracing::warn!(%failure, "a query needs too much of GitHub; this tick reads shorter lists");
                    *pages = ListSizes::FEW;
                }
                Err(failure) if is_too_slow(failure) && variables["costly"] == true => {
                    tracing::warn!(%failure, "GitHub takes too long; this tick does not read checks and conflicts of pull requests");
                    variables["costly"] = false.into();
                }
                _ => break,
            }
            read = ask(*pages, variables).await;
        }
        read
    }

    pub(crate) fn repository_variables(&self) -> Value {
        let name = self.address.current_name();
        serde_json::json!({ "owner": name.owner, "name": name.name })
    }

    async fn read_ledger(&self, commit: LedgerCommit) -> Result<LedgerRead, Failure> {
        let head = Oid::new(commit.oid);
        let unreadable = |head, what: &str| {
            let what = what.to_owned();
            Ok(LedgerRead::Unreadable { head, what })
        };
        if let Some(folder) = &commit.folder
            && folder.entry_kind() != EntryKind::Folder
        {
            return unreadable(head, "`.jules` is not a folder");
        }
        let Some(file) = commit.state else {
            return Ok(LedgerRead::NoState { head });
        };
        let what = match file.listed.entry_kind() {
            EntryKind::File if file.byte_length() > STATE_LIMIT_BYTES => {
                format!(
                    "{} bytes, more than {STATE_LIMIT_BYTES}",
                    file.byte_length()
                )
            }
            EntryKind::File => match file.blob_text() {
                Text::Whole(text) => {
                    let text = text.to_owned();
                    return Ok(LedgerRead::State { head, text });
                }
                Text::Binary => "binary".to_owned(),
                Text::ReadBlob => match self.read_blob(&file.listed.oid).await? {
                    Some(text) => return Ok(LedgerRead::State { head, text }),
                    None => "not UTF-8 text".to_owned(),
                },
            },
            EntryKind::Folder => "a folder".to_owned(),
            EntryKind::Link => "a symbolic link".to_owned(),
            EntryKind::Submodule => "a submodule".to_owned(),
            EntryKind::Unknown => format!("of mode {:o}", file.listed.mode),
        };
        unreadable(head, &format!("`{STATE_PATH}` is {what}"))
    }

    async fn plan_text(&self, file: &UnreadFile) -> Result<Option<String>, Failure> {
        if file.size > TEXT_LIMIT_BYTES {
            return Ok(None);
        }
        self.read_blob(&file.oid).await
    }

    /// A blob's text by REST. `None`: it is not UTF-8.
    pub(crate) async fn read_blob(&self, oid: &str) -> Result<Option<String>, Failure> {
        Ok(String::from_utf8(self.read_blob_bytes(oid).await?).ok())
    }

    /// A blob's text by REST, with invalid UTF-8 replaced.
    pub(crate) async fn read_blob_lossy(&self, oid: &str) -> Result<String, Failure> {
        let bytes = self.read_blob_bytes(oid).await?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    async fn read_blob_bytes(&self, oid: &str) -> Result<Vec<u8>, Failure> {
        let route = routes::READ_BLOB;
        let answer = require_success(route, self.read_route(route, &[oid], "").await?)?;
        let blob: Blob = self.parse(route, &answer)?;
        decode_blob(&blob).map_err(|said| unreadable_answer(route, &answer, said))
    }

    async fn open_pulls(&self, variables: &Value) -> Result<Reply<OpenPulls>, Failure> {
        self.run_query("OpenPulls", OPEN_PULLS, variables, is_hidden_check)
            .await
    }

    /// The open pull requests after the first page, queried like the first page.
    async fn further_pulls(
        &self,
        mut next: Option<String>,
        mut variables: Value,
    ) -> Result<Vec<PullFacts>, Failure> {
        let mut pulls = Vec::new();
        for _ in 0..MAX_PULL_PAGES {
            let Some(after) = next else {
                return Ok(pulls);
            };
            variables["after"] = after.into();
            let mut page = self.open_pulls(&variables).await;
            if page.as_ref().is_err_and(is_too_large) {
                variables["bodies"] = false.into();
                page = self.open_pulls(&variables).await;
            }
            if page.as_ref().is_err_and(is_too_slow) {
                variables["costly"] = false.into();
                page = self.open_pulls(&variables).await;
            }
            let page = page?;
            let Some(repository) = page.data.repository else {
                let what = "POST /graphql (OpenPulls)";
                return Err(unreadable_answer(
                    what,
                    &page.answer,
                    "the repository is gone",
                ));
            };
            next = repository.open.next();
            pulls.extend(repository.open);
        }
        if next.is_some() {
            tracing::warn!(
                pages = MAX_PULL_PAGES,
                "the repository has more open pull requests than phileas reads; the oldest are not seen"
            );
        }
        Ok(pulls)
    }
}

/// The notices and dashboards among the open issues with the label of notices.
fn sort_notices(issues: Connection<NoticeIssue>) -> (Vec<Notice>, Vec<Dashboard>) {
    let (mut notices, mut dashboards) = (Vec::new(), Vec::new());
    if issues.next().is_some() {
        tracing::warn!(
            "more open issues have the label `phileas` than are read; those that were updated least recently are not \
             seen"
        );
    }
    for issue in issues {
        let number = issue.number;
        let is_ours = issue.viewer_did_author
            || Opener::may_be_phileas(issue.author.as_ref(), &issue.author_association);
        match notice_key_in(&issue.body) {
            Some(key) if key != DASHBOARD_KEY && !is_ours => {
                tracing::warn!(
                    number,
                    key,
                    "an issue that phileas did not open has its marker; it is ignored"
                );
            }
            Some(key) if key != DASHBOARD_KEY => {
                let key = key.to_owned();
                let title = issue.title;
                notices.push(Notice { number, key, title });
            }
            // A person may have deleted the marker of the dashboard that the ledger knows.
            _ => dashboards.push(Dashboard {
                number,
                body: issue.body,
                edited_at: issue.last_edited_at,
                own: issue.viewer_did_author,
            }),
        }
    }
    (notices, dashboards)
}

/// The comments on all issues and pull requests of the answer.
fn comments_in(seen: &mut Shown) -> impl Iterator<Item = &mut CommentThread> {
    let issues = seen.active.nodes.iter_mut().flatten();
    let pulls = seen.recent.nodes.iter_mut().flatten();
    let issues = issues.map(|issue| &mut issue.comments);
    issues.chain(pulls.map(|pull| &mut pull.comments))
}

/// The comments without their texts that are recent enough to matter.
fn without_text(seen: &Shown, now: Timestamp) -> Vec<(Timestamp, String)> {
    let issues = seen.active.nodes.iter().flatten();
    let pulls = seen.recent.nodes.iter().flatten();
    let said = issues.map(|issue| &issue.comments);
    said.chain(pulls.map(|pull| &pull.comments))
        .flat_map(CommentThread::without_text)
        .filter(|(at, _)| now.duration_since(*at) < MAX_COMMENT_AGE)
        .map(|(at, id)| (at, id.to_owned()))
        .collect()
}

fn unreadable_answer(what: &str, answer: &Answer, said: &str) -> Failure {
    error::failure_saying(what, answer, Disposition::Retry { after: None }, said)
}

fn decode_blob(blob: &Blob) -> Result<Vec<u8>, &'static str> {
    match blob.encoding.as_str() {
        "utf-8" => Ok(blob.content.clone().into_bytes()),
        // GitHub wraps base64 at line ends.
        "base64" => BASE64
            .decode(blob.content.replace(['\n', '\r'], "").as_bytes())
            .map_err(|_| "the blob's base64 is broken"),
        _ => Err("the blob's encoding is not known"),
    }
}

#[cfg(test)]
mod tests;
