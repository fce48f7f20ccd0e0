//! The kinds of values that several artifacts share.

use crate::exchange::shape::{Kind, List, Table};
use crate::pipeline::limits::ENTRIES_LIMIT;

/// Any number of these.
pub(super) const fn list_of(of: &'static Kind) -> Kind {
    Kind::List(List::between(0, ENTRIES_LIMIT, of))
}

/// A map from any names to these.
pub(super) const fn table_of(of: &'static Kind) -> Kind {
    Kind::Table(Table {
        of,
        most: ENTRIES_LIMIT,
    })
}

/// Any number of texts on one line each.
pub(super) const PHRASES: Kind = list_of(&Kind::Phrase);

/// Any number of texts.
pub(super) const PASSAGES: Kind = list_of(&Kind::Passage);

/// Any number of zero or more.
pub(super) const NOT_NEGATIVE: Kind = Kind::Number(0.0, 9e15);
