//! The answer to `observe.graphql`.

use jiff::Timestamp;
use phileas_domain::engine::Checks;
use serde::Deserialize;

use super::file::{File, Listed};
use super::pull::PullFacts;
use super::subject::Said;
use super::{Connection, present};

#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct Observed {
    #[serde(deserialize_with = "present")]
    pub(in super::super) repository: Option<Repository>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in super::super) struct Repository {
    #[serde(deserialize_with = "present")]
    pub(in super::super) database_id: Option<u64>,
    pub(in super::super) name_with_owner: String,
    pub(in super::super) is_private: bool,
    pub(in super::super) is_archived: bool,
    #[serde(deserialize_with = "present")]
    pub(in super::super) default_branch_ref: Option<DefaultBranch>,
    #[serde(deserialize_with = "present")]
    pub(in super::super) ledger: Option<LedgerRef>,
    pub(in super::super) open: Connection<PullFacts>,
    pub(in super::super) recent: Connection<RecentPull>,
    pub(in super::super) notices: Connection<NoticeIssue>,
    pub(in super::super) paused: Connection<Numbered>,
    pub(in super::super) active: Connection<Labelled>,
}

/// A pull request, and what was said on it last.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in super::super) struct RecentPull {
    pub(in super::super) updated_at: Timestamp,
    #[serde(flatten)]
    pub(in super::super) facts: PullFacts,
    pub(in super::super) comments: Said,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in super::super) struct Labelled {
    pub(in super::super) number: u64,
    pub(in super::super) updated_at: Timestamp,
    pub(in super::super) comments: Said,
    #[serde(deserialize_with = "present")]
    pub(in super::super) labels: Option<Connection<Named>>,
}

#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct Named {
    pub(in super::super) name: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct DefaultBranch {
    pub(in super::super) name: String,
    #[serde(deserialize_with = "present")]
    pub(in super::super) target: Option<DefaultCommit>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in super::super) struct DefaultCommit {
    pub(in super::super) oid: String,
    #[serde(deserialize_with = "present")]
    pub(in super::super) status_check_rollup: Option<Rollup>,
    #[serde(deserialize_with = "present")]
    pub(in super::super) jules: Option<File>,
    #[serde(deserialize_with = "present")]
    pub(in super::super) schedules: Option<File>,
    #[serde(deserialize_with = "present")]
    pub(in super::super) blocks: Option<File>,
    #[serde(deserialize_with = "present")]
    pub(in super::super) partials: Option<File>,
    #[serde(deserialize_with = "present")]
    pub(in super::super) config: Option<File>,
    #[serde(deserialize_with = "present")]
    pub(in super::super) tasks: Option<Listed>,
    #[serde(deserialize_with = "present")]
    pub(in super::super) sprints: Option<Listed>,
    #[serde(deserialize_with = "present")]
    pub(in super::super) roles: Option<File>,
    #[serde(deserialize_with = "present")]
    pub(in super::super) personas: Option<File>,
}

#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct Rollup {
    pub(in super::super) state: String,
}

#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct LedgerRef {
    #[serde(deserialize_with = "present")]
    pub(in super::super) target: Option<LedgerCommit>,
}

#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct LedgerCommit {
    pub(in super::super) oid: String,
    #[serde(deserialize_with = "present")]
    pub(in super::super) folder: Option<Listed>,
    #[serde(deserialize_with = "present")]
    pub(in super::super) state: Option<File>,
    #[serde(deserialize_with = "present")]
    pub(in super::super) exchange: Option<Listed>,
    #[serde(deserialize_with = "present")]
    pub(in super::super) workstations: Option<Listed>,
    #[serde(deserialize_with = "present")]
    pub(in super::super) workstreams: Option<Listed>,
    #[serde(deserialize_with = "present")]
    pub(in super::super) changes: Option<Listed>,
}

impl LedgerCommit {
    /// What tells one exchange from another: the git ids of its folders.
    pub(in super::super) fn exchange_id(&self) -> String {
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
pub(in super::super) struct NoticeIssue {
    pub(in super::super) number: u64,
    pub(in super::super) title: String,
    pub(in super::super) body: String,
    #[serde(deserialize_with = "present")]
    pub(in super::super) last_edited_at: Option<Timestamp>,
    pub(in super::super) viewer_did_author: bool,
    /// What its author is to the repository, as a word of GitHub's.
    pub(in super::super) author_association: String,
    /// Null when the account is gone.
    #[serde(deserialize_with = "present")]
    pub(in super::super) author: Option<Opener>,
}

/// The account that has opened an issue, or written a comment.
#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct Opener {
    #[serde(rename = "__typename")]
    pub(in super::super) kind: String,
    /// Left out where it was not asked for.
    #[serde(default)]
    pub(in super::super) login: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct Numbered {
    pub(in super::super) number: u64,
}

/// The answer to `open_pulls.graphql`.
#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct OpenPulls {
    #[serde(deserialize_with = "present")]
    pub(in super::super) repository: Option<OpenPullsOf>,
}

#[derive(Debug, Clone, Deserialize)]
pub(in super::super) struct OpenPullsOf {
    pub(in super::super) open: Connection<PullFacts>,
}

impl Opener {
    /// Whether phileas may have been this account, under this name or another: Apps and workflows open issues only where
    /// they were given the right to, and the token of another person was one of this repository's own people. A stranger
    /// may copy a marker, and whoever triages may set its label.
    pub(in super::super) fn may_be_ours(opener: Option<&Self>, standing: &str) -> bool {
        let is_bot = opener.is_some_and(|opener| opener.kind == "Bot");
        is_bot || ["OWNER", "MEMBER", "COLLABORATOR"].contains(&standing)
    }
}

impl Rollup {
    pub(in super::super) fn verdict(&self) -> Checks {
        match self.state.as_str() {
            "SUCCESS" => Checks::Green,
            "FAILURE" | "ERROR" => Checks::Red,
            // What is not known yet is not green.
            _ => Checks::Pending,
        }
    }
}
