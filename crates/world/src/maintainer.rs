//! The person who reviews.

use jiff::Timestamp;

use crate::books::Books;
use crate::chance::Stream;
use crate::{github, jules};

/// How a maintainer behaves.
#[derive(Debug, Clone, Default)]
pub struct Temper {}

/// The maintainer.
#[derive(Debug)]
pub struct Maintainer {}

impl Maintainer {
    /// A maintainer of this temper.
    #[must_use]
    pub fn new(_temper: Temper, _chance: Stream) -> Self {
        Self {}
    }

    /// When the maintainer acts next.
    #[must_use]
    pub fn next_due(&self, _github: &github::Model, _jules: &jules::Model) -> Option<Timestamp> {
        None
    }

    /// Does what is due.
    pub fn advance(
        &mut self,
        _now: Timestamp,
        _github: &mut github::Model,
        _jules: &mut jules::Model,
        _books: &mut Books,
    ) {
    }
}
