//! What must be read before a decision can be made.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::engine::input::commits::CommitSpan;
use crate::engine::input::session::ListingNeed;
use crate::model::{Login, Oid, PullNumber, SessionId};
use crate::prompt::RenderRequest;

/// What must be read before a decision can be made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadRequests {
    /// A listing of Jules' sessions.
    pub listing: Option<ListingNeed>,
    /// Sessions to read one by one: the listing shows them without a prompt and without a marker in the title, or
    /// leaves out one that the ledger knows.
    pub sessions: BTreeSet<SessionId>,
    /// Sessions whose activities are needed.
    pub activities: BTreeSet<SessionId>,
    /// Pull requests that the first read did not show.
    pub pulls: BTreeSet<PullNumber>,
    /// Files of the default branch whose text is needed: journals of personas that may run.
    pub texts: BTreeSet<String>,
    /// Folders of the default branch whose files are needed with their texts, in the same read as
    /// [`texts`](Self::texts): open tasks and the documents of a sprint, for personas that may run.
    pub folders: BTreeSet<String>,
    /// Files and folders of the default branch that prompts are made from, in the same read as [`texts`](Self::texts). A
    /// prompt waits until they are read.
    pub sources: BTreeSet<String>,
    /// Issues and pull requests that a request is about.
    pub subjects: BTreeSet<u64>,
    /// Sessions to read one by one where no listing is needed.
    pub single_sessions: BTreeSet<SessionId>,
    /// Commits whose failed checks are needed one by one.
    pub failed_checks: BTreeSet<Oid>,
    /// Pull requests to read again right before their merge.
    pub merges: BTreeSet<PullNumber>,
    /// Pull requests whose comments by people are needed.
    pub remarks: BTreeSet<PullNumber>,
    /// Pull requests whose open reviews are needed.
    pub reviews: BTreeSet<PullNumber>,
    /// Pull requests whose files are needed.
    pub pull_files: BTreeSet<PullNumber>,
    /// Pull requests of which is needed what happened on them.
    pub pull_activity: BTreeSet<PullNumber>,
    /// Refused pull requests of which is needed what people wrote there.
    pub refusal_texts: BTreeSet<PullNumber>,
    /// Files of work records that are needed, at the ledger's head.
    pub work_files: BTreeSet<String>,
    /// All comments since this instant are needed, because the first read did not show them all.
    pub comments: Option<Timestamp>,
    /// Accounts whose permission is needed.
    pub permissions: BTreeSet<Login>,
    /// The exchange, at the ledger's head.
    pub exchange: bool,
    /// The files of layers: templates, contracts, tasks, schemas, roles.
    pub layers: bool,
    /// Sessions of layers whose files are needed, with the pull request that they may be in instead, at a pinned commit.
    pub session_files: BTreeMap<SessionId, Option<(PullNumber, Oid)>>,
    /// Spans of commits of the default branch.
    pub commits: BTreeSet<CommitSpan>,
    /// When the plan got its newest commit.
    pub plan_commit: bool,
    /// Prompts to render, by their keys. Render them only when nothing else is needed, because further reads may change
    /// them.
    pub prompts: BTreeMap<String, RenderRequest>,
}

impl ReadRequests {
    /// Whether everything is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
