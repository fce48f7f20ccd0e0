//! Whether two pull requests are the same work.

use super::fingerprint::Fingerprint;
use super::paths::path_similarity;

/// Fewer shingles than these prove nothing: two changes of one line are easily alike.
const SHINGLES_NEEDED: usize = 8;
/// From this share of shared lines on, two pull requests are the same work.
const SAME_HUNKS: f64 = 0.8;
/// From these shares on, all three together, they are the same work as well.
const SAME_TITLE: f64 = 0.8;
const SAME_PATHS: f64 = 0.5;
const SAME_SOME_HUNKS: f64 = 0.4;
/// From one of these shares on, they are close to each other.
const CLOSE_PATHS: f64 = 0.5;
const CLOSE_HUNKS: f64 = 0.3;

/// How much two pull requests share, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Similarity {
    /// Words of the titles.
    pub title: f64,
    /// Files, by weight.
    pub paths: f64,
    /// Added and removed lines.
    pub hunks: f64,
    /// Whether both change enough lines to judge by these alone.
    pub is_substantial: bool,
}

/// What two pull requests are to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// They have little in common.
    Different,
    /// They are about the same thing; a person should look.
    Close,
    /// They are the same work.
    Same,
}

impl Similarity {
    /// From this share of the titles' words on, two pull requests may be about the same thing.
    pub const CLOSE_TITLE: f64 = 0.5;

    /// Compares two pull requests. The order does not matter.
    #[must_use]
    pub fn between(one: &Fingerprint, other: &Fingerprint) -> Self {
        let substantial = |work: &Fingerprint| work.sketch.shingles >= SHINGLES_NEEDED;
        Self {
            title: word_similarity(&one.title, &other.title),
            paths: path_similarity(&one.paths, &other.paths),
            hunks: one.sketch.similarity(&other.sketch),
            is_substantial: substantial(one) && substantial(other),
        }
    }

    /// Whether titles and files alone say that both are the same idea.
    #[must_use]
    pub fn is_same_idea(self) -> bool {
        self.title >= SAME_TITLE && self.concerns_same_files()
    }

    /// Whether both mainly change the same files.
    #[must_use]
    pub fn concerns_same_files(self) -> bool {
        self.paths >= SAME_PATHS
    }

    /// What the figures say. Without changed lines on both sides two pull requests are never the same.
    #[must_use]
    pub fn likeness(self) -> Likeness {
        let same_lines = self.is_substantial && self.hunks >= SAME_HUNKS;
        if same_lines || self.is_same_idea() && self.hunks >= SAME_SOME_HUNKS {
            Likeness::Same
        } else if self.title >= Self::CLOSE_TITLE
            || self.paths >= CLOSE_PATHS
            || self.hunks >= CLOSE_HUNKS
        {
            Likeness::Close
        } else {
            Likeness::Different
        }
    }
}

/// The share of words that both have (Jaccard). 0 where one has none.
#[must_use]
pub fn word_similarity(one: &[String], other: &[String]) -> f64 {
    let shared = one.iter().filter(|word| other.contains(word)).count();
    word_share(shared, one.len(), other.len())
}

/// The share of `shared` words in all words of two lists of these lengths. 0 where both are empty.
pub(super) fn word_share(shared: usize, one: usize, other: usize) -> f64 {
    let whole = one + other - shared;
    if whole == 0 {
        return 0.0;
    }
    shared as f64 / whole as f64
}
