//! How far back the labels and comments of a snapshot reach.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::comment::Comment;
use crate::model::Login;

/// How far back the labels and comments of a snapshot reach.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Heard {
    /// Issues and pull requests of which not every comment is shown, with the time after which all are.
    pub cut: BTreeMap<u64, Timestamp>,
    /// Open issues that were touched after this are shown with their labels and comments; `None`: all of them.
    pub issues_after: Option<Timestamp>,
    /// The comments of pull requests that were touched after this are shown; `None`: those of all.
    pub pulls_after: Option<Timestamp>,
    /// What was read beyond that, where it was asked for.
    pub further: Option<Further>,
    /// Accounts that were looked up a short while ago and may not write. Their comments are not worth another look.
    pub refused: BTreeSet<Login>,
}

/// The commands in all comments since an instant, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Further {
    /// The comments.
    pub comments: Vec<Comment>,
    /// How far they reach.
    pub reach: Reach,
}

/// How far comments were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// There are no others.
    All,
    /// There are more, which were written or changed at this instant or later.
    Until(Timestamp),
    /// This credential may not read them.
    Nowhere,
}
