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

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::work::Fingerprint;

    fn record(pr: u64, title: &str, paths: &[&str]) -> WorkRecord {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        WorkRecord {
            pr,
            persona: None,
            turn: None,
            opened_at: Timestamp::UNIX_EPOCH,
            closed_at: None,
            fingerprint: Fingerprint {
                title: words(&title.split(' ').collect::<Vec<_>>()),
                paths: words(paths),
                ..Fingerprint::default()
            },
            outcome: None,
            refused: None,
            forgotten: false,
            unknown: std::collections::BTreeMap::new(),
        }
    }

    #[test]
    fn what_is_like_a_record_comes_by_nearness_and_then_by_age() {
        let work = record(5, "escap quot", &["src/a.rs"]);
        let others = [
            record(1, "count word", &["src/b.rs"]),
            record(3, "escap quot", &["src/b.rs"]),
            record(5, "escap quot", &["src/a.rs"]),
            record(9, "escap quot", &["src/a.rs"]),
            record(2, "escap quot", &["src/b.rs"]),
        ];
        let numbers = |found: &[Neighbour<'_>]| -> Vec<u64> {
            found.iter().map(|one| one.record.pr).collect()
        };
        assert_eq!(numbers(&Neighbour::all_of(&work, &others)), [9, 2, 3]);
    }

    #[test]
    fn the_same_work_comes_before_what_shares_more_words() {
        let same_lines = |mut record: WorkRecord| {
            record.fingerprint.sketch.shingles = 9;
            record.fingerprint.sketch.hunks = (0..9).collect();
            record
        };
        let work = same_lines(record(5, "escap quot", &["src/a.rs"]));
        let others = [
            record(1, "escap quot", &["src/a.rs"]),
            same_lines(record(2, "count word", &["src/b.rs"])),
        ];
        let found = Neighbour::all_of(&work, &others);
        let numbers: Vec<u64> = found.iter().map(|one| one.record.pr).collect();
        assert_eq!(numbers, [2, 1]);
    }
}
