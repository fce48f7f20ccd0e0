//! The parsed exchange after a decision, and the roles that take part in it.

use std::collections::BTreeMap;

use super::report::Reason;
use crate::exchange::{BoundRole, Exchange};
use crate::layers::Catalogue;
use crate::model::Tree;

/// The parsed exchange.
#[derive(Debug)]
pub(crate) struct ExchangeView {
    /// The files of the exchange, with those of the default branch that say which workstreams and labels exist.
    pub(crate) tree: Tree,
    /// The parsed content. `None`: there is no exchange yet, or it has two layouts at once.
    pub(crate) exchange: Option<Exchange>,
    /// Whether the exchange exists and cannot be parsed, because it has two layouts at once.
    pub(crate) is_unreadable: bool,
}

/// The roles that take part in each layer.
#[derive(Debug)]
pub(crate) struct LayerMembers {
    pub(crate) catalogue: Catalogue,
    /// The streams by name, with the roles of their observers. The flat layout has one.
    pub(crate) streams: BTreeMap<String, Vec<Member>>,
    /// Roles whose workstream does not exist. None of them can start.
    pub(crate) without_stream: Vec<BoundRole>,
    /// The roles of the innovators.
    pub(crate) innovators: Vec<Member>,
    /// Labels of the work items that implementers start without a request; `None`: all.
    pub(crate) labels: Option<Vec<String>>,
}

/// A role on a roster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) role: String,
    /// Why it does not take part.
    pub(crate) hold_reason: Option<(Reason, String)>,
}
