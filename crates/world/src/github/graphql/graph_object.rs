//! The objects and values that a query can resolve to.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::github::object::{Entry, Oid, Signature};
use crate::github::objects::Difference;
use crate::github::repository::{
    CheckRun, Edit, Reaction, Review, ReviewComment, Status, TimelineEvent,
};
use crate::github::{Model, RepoId};

/// An object of the graph.
#[derive(Debug, Clone)]
pub(super) enum GraphObject {
    Query,
    Mutation,
    Repository(RepoId),
    Ref(RepoId, String),
    Object(RepoId, Oid),
    Entry(RepoId, String, Entry),
    Issue(RepoId, u64),
    Pull(RepoId, u64),
    Comment(RepoId, u64),
    Label(RepoId, String),
    Account(u64),
    Event(RepoId, u64, TimelineEvent),
    Review(RepoId, u64, Review),
    PullCommit(RepoId, u64, Oid),
    File(RepoId, Difference),
    Edit(RepoId, Edit),
    Reaction(RepoId, Reaction),
    Person(Signature),
    Rollup(RepoId, Oid),
    CheckRun(RepoId, CheckRun),
    Status(RepoId, Status),
    ReviewRequest(RepoId, u64),
    /// A thread on a line of a pull request, by its first comment.
    ReviewThread(RepoId, u64, ReviewComment),
    ReviewComment(RepoId, ReviewComment),
    /// An object whose fields are already resolved: payloads, connections, page information.
    Made(&'static str, BTreeMap<&'static str, Val>),
}

/// The value of a field.
#[derive(Debug, Clone)]
pub(super) enum Val {
    Json(Value),
    Object(GraphObject),
    List(Vec<Val>),
}

impl Val {
    pub(super) const NULL: Self = Self::Json(Value::Null);

    pub(super) fn optional_object(thing: Option<GraphObject>) -> Self {
        thing.map_or(Self::NULL, Self::Object)
    }
}

impl<T: Into<Value>> From<T> for Val {
    fn from(value: T) -> Self {
        Self::Json(value.into())
    }
}

impl GraphObject {
    /// The concrete type.
    pub(super) fn type_name(&self, model: &Model) -> &'static str {
        use crate::github::repository::TimelineKind as H;
        match self {
            Self::Query => "Query",
            Self::Mutation => "Mutation",
            Self::Repository(_) => "Repository",
            Self::Ref(..) => "Ref",
            Self::Object(repo, oid) => match model
                .objects(*repo)
                .and_then(|objects| objects.get(*oid))
                .map(|o| o.kind_name())
            {
                Some("commit") => "Commit",
                Some("tree") => "Tree",
                Some("tag") => "Tag",
                _ => "Blob",
            },
            Self::Entry(..) => "TreeEntry",
            Self::Issue(..) => "Issue",
            Self::Pull(..) => "PullRequest",
            Self::Comment(..) => "IssueComment",
            Self::Label(..) => "Label",
            Self::Account(id) => model
                .accounts
                .get(id)
                .map_or("User", |account| account.kind.kind_name()),
            Self::Event(_, _, event) => match event.what {
                H::Labeled(_) => "LabeledEvent",
                H::Unlabeled(_) => "UnlabeledEvent",
                H::Renamed { .. } => "RenamedTitleEvent",
                H::Closed => "ClosedEvent",
                H::Reopened => "ReopenedEvent",
                H::Merged(_) => "MergedEvent",
                H::ForcePushed(..) => "HeadRefForcePushedEvent",
                H::ReadyForReview => "ReadyForReviewEvent",
                H::ConvertedToDraft => "ConvertToDraftEvent",
                H::BaseChanged => "BaseRefChangedEvent",
                H::ReviewRequested(_) => "ReviewRequestedEvent",
                H::Commented(_) => "IssueComment",
                H::Reviewed(_) => "PullRequestReview",
                H::Committed(_) => "PullRequestCommit",
            },
            Self::Review(..) => "PullRequestReview",
            Self::PullCommit(..) => "PullRequestCommit",
            Self::File(..) => "PullRequestChangedFile",
            Self::Edit(..) => "UserContentEdit",
            Self::Reaction(..) => "Reaction",
            Self::Person(_) => "GitActor",
            Self::Rollup(..) => "StatusCheckRollup",
            Self::CheckRun(..) => "CheckRun",
            Self::Status(..) => "StatusContext",
            Self::ReviewRequest(..) => "ReviewRequest",
            Self::ReviewThread(..) => "PullRequestReviewThread",
            Self::ReviewComment(..) => "PullRequestReviewComment",
            Self::Made(name, _) => name,
        }
    }
}
