//! What each artifact may say. Validator and JSON Schema are made of these tables.

mod attempt;
mod debug;
mod git;
mod lessons;
mod plan;
mod review;
mod state;
mod test;
mod trace;
mod worker;

pub(super) use debug::DEBUG;
pub(super) use git::GIT;
pub(super) use lessons::LESSONS;
pub(super) use plan::PLAN;
pub(super) use review::REVIEW;
pub(super) use state::STATE;
pub(super) use test::TEST;
pub(super) use trace::TRACE;
pub(super) use worker::WORKER;

use super::limits::ENTRIES_LIMIT;
use crate::exchange::shape::{Kind, List, Table};

/// Any number of these.
const fn many(of: &'static Kind) -> Kind {
    Kind::List(List::between(0, ENTRIES_LIMIT, of))
}

/// A map from any names to these.
const fn named(of: &'static Kind) -> Kind {
    Kind::Table(Table {
        of,
        most: ENTRIES_LIMIT,
    })
}

/// Any number of texts on one line each.
const PHRASES: Kind = many(&Kind::Phrase);
/// Any number of texts.
const PASSAGES: Kind = many(&Kind::Passage);
/// Any number of zero or more.
const NOT_NEGATIVE: Kind = Kind::Number(0.0, 9e15);
