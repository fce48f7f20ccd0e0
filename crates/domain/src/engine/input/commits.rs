//! Commits of the default branch.

use jiff::Timestamp;

use crate::model::Oid;

/// Commits of the default branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commits {
    /// The requested span.
    pub span: CommitSpan,
    /// Whether they begin at the start of the span. A commit that no longer exists is no start; then these are the
    /// newest ones.
    pub whole: bool,
    /// How many there are.
    pub total: u64,
    /// The newest of them, newest first.
    pub newest: Vec<Commit>,
    /// Files that they change, as far as GitHub lists them.
    pub files: Vec<String>,
    /// Whether GitHub's list of files is truncated.
    pub cut: bool,
    /// Lines added and removed in the listed files.
    pub lines: (u64, u64),
}

/// Commits from one to another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommitSpan {
    /// The commit before the first one; `None`: the newest ones, up to a limit.
    pub after: Option<Oid>,
    /// The last one.
    pub until: Oid,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its id.
    pub oid: Oid,
    /// Its committer date, where it has one.
    pub at: Option<Timestamp>,
    /// The first line of its message: untrusted text.
    pub subject: String,
}
