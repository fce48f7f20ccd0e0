//! Reads the newest commits of a branch and the files that they touch.

use http::StatusCode;
use jiff::Timestamp;
use phileas_domain::engine::{Commit, CommitSpan, Commits};
use phileas_domain::model::Oid;
use serde::Deserialize;

use crate::adapters::github::client::Client;
use crate::adapters::github::http::request::require_success;
use crate::adapters::github::http::routes;
use crate::runtime::ports::Failure;

/// How many commits are listed if the end of the last summary is unknown.
const NEWEST: usize = 20;
/// The most files that GitHub lists in a comparison.
const FILES_LISTED: usize = 300;

#[derive(Deserialize)]
struct Compared {
    total_commits: u64,
    /// The oldest first.
    commits: Vec<ListedCommit>,
    #[serde(default)]
    files: Vec<Touched>,
}

#[derive(Deserialize)]
struct ListedCommit {
    sha: String,
    commit: Message,
}

#[derive(Deserialize)]
struct Message {
    message: String,
    committer: Option<Committer>,
}

#[derive(Deserialize)]
struct Committer {
    date: Option<Timestamp>,
}

#[derive(Deserialize)]
struct Touched {
    filename: String,
    #[serde(default)]
    previous_filename: Option<String>,
    #[serde(default)]
    additions: u64,
    #[serde(default)]
    deletions: u64,
}

impl From<ListedCommit> for Commit {
    fn from(shown: ListedCommit) -> Self {
        let subject = shown.commit.message.lines().next().unwrap_or_default();
        Self {
            oid: Oid::new(shown.sha),
            at: shown.commit.committer.and_then(|committer| committer.date),
            subject: subject.to_owned(),
        }
    }
}

impl Client {
    /// The commits of a span. If its start no longer exists, or none is named, the newest commits.
    pub(crate) async fn commits_of(&self, span: &CommitSpan) -> Result<Commits, Failure> {
        if let Some(after) = &span.after
            && let Some(compared) = self.compare_commits(after, &span.until).await?
        {
            return Ok(commits_from(span, true, compared));
        }
        let route = routes::LIST_COMMITS;
        let query = format!("?sha={}&per_page={}", span.until, NEWEST + 1);
        let answer = require_success(route, self.read_route(route, &[], &query).await?)?;
        let mut listed: Vec<ListedCommit> = self.parse(route, &answer)?;
        let before = (listed.len() > NEWEST).then(|| listed.pop()).flatten();
        if let Some(before) = before
            && let Some(compared) = self
                .compare_commits(&Oid::new(before.sha), &span.until)
                .await?
        {
            return Ok(commits_from(span, span.after.is_none(), compared));
        }
        Ok(Commits {
            span: span.clone(),
            whole: span.after.is_none(),
            total: listed.len() as u64,
            newest: listed.into_iter().map(Commit::from).collect(),
            files: Vec::new(),
            // GitHub lists no files for the first commits of a repository.
            cut: true,
            lines: (0, 0),
        })
    }

    /// Compares two commits. `None`: one of them does not exist, or they have no common history.
    async fn compare_commits(&self, base: &Oid, head: &Oid) -> Result<Option<Compared>, Failure> {
        let route = routes::COMPARE;
        let answer = self
            .read_route(route, &[&format!("{base}...{head}")], "?per_page=100")
            .await?;
        if answer.status == StatusCode::NOT_FOUND {
            return Ok(None);
        }
        let answer = require_success(route, answer)?;
        self.parse(route, &answer).map(Some)
    }
}

fn commits_from(span: &CommitSpan, whole: bool, compared: Compared) -> Commits {
    let newest = compared.commits.into_iter().rev().map(Commit::from);
    let sum = |of: fn(&Touched) -> u64| compared.files.iter().map(of).sum();
    let lines = (sum(|file| file.additions), sum(|file| file.deletions));
    let cut = compared.files.len() >= FILES_LISTED;
    let files = compared.files.into_iter();
    Commits {
        span: span.clone(),
        whole,
        total: compared.total_commits,
        newest: newest.collect(),
        files: files
            .flat_map(|file| [Some(file.filename), file.previous_filename])
            .flatten()
            .collect(),
        cut,
        lines,
    }
}
