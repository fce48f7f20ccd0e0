//! Which labels and comments a snapshot covers.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::comment::Comment;
use crate::model::Login;

/// Which labels and comments a snapshot covers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommentCoverage {
    /// Issues and pull requests whose comments are incomplete, with the time after which they are complete.
    pub cut: BTreeMap<u64, Timestamp>,
    /// Open issues updated after this are shown with their labels and comments; `None`: all of them.
    pub issues_after: Option<Timestamp>,
    /// The comments of pull requests updated after this are shown; `None`: those of all.
    pub pulls_after: Option<Timestamp>,
    /// The further read, where one was requested.
    pub further: Option<FurtherComments>,
    /// Accounts whose permission was read recently and that may not write. Their comments need no further read.
    pub refused: BTreeSet<Login>,
}

/// The commands in all comments since an instant, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FurtherComments {
    /// The comments.
    pub comments: Vec<Comment>,
    /// How far they reach.
    pub reach: ReadReach,
}

/// How far comments were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadReach {
    /// All of them.
    All,
    /// Those before this instant; there are more.
    Until(Timestamp),
    /// None: this credential may not read them.
    Nowhere,
}
