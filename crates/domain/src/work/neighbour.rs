//! Which records are like a record.

use super::record::WorkRecord;
use super::similarity::{Likeness, Similarity};

/// A record that is the same work as another one, or close to it.
#[derive(Debug, Clone, Copy)]
pub struct Neighbour<'a> {
    /// The record.
    pub record: &'a WorkRecord,
    /// What it shares with the other one.
    pub similarity: Similarity,
}

impl<'a> Neighbour<'a> {
    /// The records that are the same work as this one, or close to it: the most similar first, then the oldest.
    #[must_use]
    pub fn all_of(
        work: &WorkRecord,
        others: impl IntoIterator<Item = &'a WorkRecord>,
    ) -> Vec<Self> {
        let others = others.into_iter().filter(|other| other.pr != work.pr);
        let compared = others.map(|record| Self {
            record,
            similarity: Similarity::between(&work.fingerprint, &record.fingerprint),
        });
        let is_near = |one: &Self| one.similarity.likeness() > Likeness::Different;
        let mut found: Vec<Self> = compared.filter(is_near).collect();
        found.sort_by(|one, other| {
            let nearness = |one: &Self| (one.similarity.likeness(), one.similarity.sum());
            let (first, second) = (nearness(one), nearness(other));
            let by_likeness = second.0.cmp(&first.0);
            by_likeness
                .then(second.1.total_cmp(&first.1))
                .then(one.record.pr.cmp(&other.record.pr))
        });
        found
    }
}
