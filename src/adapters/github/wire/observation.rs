//! The answer to `observe.graphql`.

use jiff::Timestamp;
use serde::Deserialize;

use super::common::{Named, Opener, Rollup};
use super::file::{File, Listed};
use super::pull::PullFacts;
use super::subject::CommentThread;
use super::{Connection, present};

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Observed {
    #[serde(deserialize_with = "present")]
    pub(crate) repository: Option<Repository>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Repository {
    #[serde(deserialize_with = "present")]
    pub(crate) database_id: Option<u64>,
    pub(crate) name_with_owner: String,
    pub(crate) is_private: bool,
    pub(crate) is_archived: bool,
    #[serde(deserialize_with = "present")]
    pub(crate) default_branch_ref: Option<DefaultBranch>,
    #[serde(deserialize_with = "present")]
    pub(crate) ledger: Option<LedgerRef>,
    pub(crate) open: Connection<PullFacts>,
    pub(crate) recent: Connection<RecentPull>,
    pub(crate) notices: Connection<NoticeIssue>,
    pub(crate) paused: Connection<Numbered>,
    pub(crate) active: Connection<Labelled>,
}

/// A pull request with its newest comments.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecentPull {
    pub(crate) updated_at: Timestamp,
    #[serde(flatten)]
    pub(crate) facts: PullFacts,
    pub(crate) comments: CommentThread,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Labelled {
    pub(crate) number: u64,
    pub(crate) updated_at: Timestamp,
    pub(crate) comments: CommentThread,
    #[serde(deserialize_with = "present")]
    pub(crate) labels: Option<Connection<Named>>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct DefaultBranch {
    pub(crate) name: String,
    #[serde(deserialize_with = "present")]
    pub(crate) target: Option<DefaultCommit>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DefaultCommit {
    pub(crate) oid: String,
    #[serde(deserialize_with = "present")]
    pub(crate) status_check_rollup: Option<Rollup>,
    #[serde(deserialize_with = "present")]
    pub(crate) jules: Option<File>,
    #[serde(deserialize_with = "present")]
    pub(crate) schedules: Option<File>,
    #[serde(deserialize_with = "present")]
    pub(crate) blocks: Option<File>,
    #[serde(deserialize_with = "present")]
    pub(crate) partials: Option<File>,
    #[serde(deserialize_with = "present")]
    pub(crate) config: Option<File>,
    #[serde(deserialize_with = "present")]
    pub(crate) tasks: Option<Listed>,
    #[serde(deserialize_with = "present")]
    pub(crate) sprints: Option<Listed>,
    #[serde(deserialize_with = "present")]
    pub(crate) roles: Option<File>,
    #[serde(deserialize_with = "present")]
    pub(crate) personas: Option<File>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct LedgerRef {
    #[serde(deserialize_with = "present")]
    pub(crate) target: Option<LedgerCommit>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct LedgerCommit {
    pub(crate) oid: String,
    #[serde(deserialize_with = "present")]
    pub(crate) folder: Option<Listed>,
    #[serde(deserialize_with = "present")]
    pub(crate) state: Option<File>,
    #[serde(deserialize_with = "present")]
    pub(crate) exchange: Option<Listed>,
    #[serde(deserialize_with = "present")]
    pub(crate) workstations: Option<Listed>,
    #[serde(deserialize_with = "present")]
    pub(crate) workstreams: Option<Listed>,
    #[serde(deserialize_with = "present")]
    pub(crate) changes: Option<Listed>,
}

impl LedgerCommit {
    /// Identifies the state of the exchange: the git ids of its folders.
    pub(crate) fn exchange_id(&self) -> String {
        let folders = [
            &self.exchange,
            &self.workstations,
            &self.workstreams,
            &self.changes,
        ];
        let ids = folders.map(|one| one.as_ref().map_or("", |one| one.oid.as_str()));
        ids.join(" ")
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NoticeIssue {
    pub(crate) number: u64,
    pub(crate) title: String,
    pub(crate) body: String,
    #[serde(deserialize_with = "present")]
    pub(crate) last_edited_at: Option<Timestamp>,
    pub(crate) viewer_did_author: bool,
    /// The author's association with the repository.
    pub(crate) author_association: String,
    /// Null when the account is gone.
    #[serde(deserialize_with = "present")]
    pub(crate) author: Option<Opener>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Numbered {
    pub(crate) number: u64,
}

/// The answer to `open_pulls.graphql`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct OpenPulls {
    #[serde(deserialize_with = "present")]
    pub(crate) repository: Option<OpenPullsOf>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct OpenPullsOf {
    pub(crate) open: Connection<PullFacts>,
}
