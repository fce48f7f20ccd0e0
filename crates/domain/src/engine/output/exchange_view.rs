//! The exchange as a decision leaves it, and the roles that take part in it. Read once for a decision.

use std::collections::BTreeMap;

use super::report::Reason;
use crate::exchange::{Bound, Exchange};
use crate::layers::Catalogue;
use crate::model::Tree;

/// The exchange, read.
#[derive(Debug)]
pub(crate) struct Picture {
    /// The files of the exchange, with what people say about them on the default branch: which workstreams there are,
    /// and which labels.
    pub(crate) tree: Tree,
    /// The exchange as it reads. `None`: it has not begun, or nobody can say which of two layouts counts.
    pub(crate) exchange: Option<Exchange>,
    /// Whether nobody can say what the exchange holds, though there is one: that of two layouts at once.
    pub(crate) is_unreadable: bool,
}

/// Who takes part.
#[derive(Debug)]
pub(crate) struct Cast {
    pub(crate) catalogue: Catalogue,
    /// The streams by name, with the roles of their observers. The flat layout has one.
    pub(crate) streams: BTreeMap<String, Vec<Member>>,
    /// Roles whose stream does not exist: none of them can start.
    pub(crate) lost: Vec<Bound>,
    /// The roles of the innovators.
    pub(crate) innovators: Vec<Member>,
    /// The labels of work that goes to implementers by itself; `None`: all.
    pub(crate) labels: Option<Vec<String>>,
}

/// A role of a roster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) role: String,
    /// Why it takes no part.
    pub(crate) held: Option<(Reason, String)>,
}
