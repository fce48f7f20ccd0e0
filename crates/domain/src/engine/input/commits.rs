//! Commits of the default branch.

use jiff::Timestamp;

use crate::model::Oid;

/// Commits of the default branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commits {
    /// What was asked for.
    pub span: CommitSpan,
    /// Whether they begin where it was asked for. A commit that is not there any more is no beginning: then these are the
    /// newest ones.
    pub whole: bool,
    /// How many there are.
    pub total: u64,
    /// The newest of them, newest first.
    pub newest: Vec<Commit>,
    /// Files that they touch, as far as GitHub lists them.
    pub files: Vec<String>,
    /// GitHub lists no more files than these, and there may be others.
    pub cut: bool,
    /// Lines that were added and removed, in the files that are listed.
    pub lines: (u64, u64),
}

/// Commits from one to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitSpan {
    /// The one before the first; `None`: the newest ones, a limited number of them.
    pub after: Option<Oid>,
    /// The last one.
    pub until: Oid,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its id.
    pub oid: Oid,
    /// When it was committed, where it says so.
    pub at: Option<Timestamp>,
    /// The first line of its message: untrusted text.
    pub subject: String,
}
