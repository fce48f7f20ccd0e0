//! Whether two pull requests are the same work.

use super::fingerprint::Fingerprint;
use super::paths::path_similarity;
use super::sketch::Sketch;

// The thresholds are chosen by pairs of pull requests from public repositories: docs/design/benchmarks.md.

/// Fewer shingles than these prove nothing: two changes of one line are easily alike.
const SHINGLES_NEEDED: usize = 8;
/// From this share of shared shingles on, two pull requests are the same work.
const SAME_HUNKS: f64 = 0.8;
/// Fewer words than these prove nothing.
const TERMS_NEEDED: usize = 3;
/// From these shares on, both together, they are the same work: the same words in the same files.
const SAME_TERMS: f64 = 0.4;
const SAME_MAIN_PATHS: f64 = 0.6;
/// From these shares on, together with [`SAME_PATHS`], they are the same work as well: the same lines replaced by
/// something similar. One that is larger than the other by more than this factor does something of its own.
const SAME_REMOVED: f64 = 0.3;
const SOME_TERMS: f64 = 0.15;
const LIKE_SIZE: f64 = 1.5;
/// From this share on, both mainly change the same files.
pub(super) const SAME_PATHS: f64 = 0.5;
/// Titles and files alone: from this share of the titles' words on they are the same idea.
pub(super) const SAME_TITLE: f64 = 0.8;
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
    /// Added and removed lines, three in a row.
    pub hunks: f64,
    /// Words of added and removed lines.
    pub terms: f64,
    /// Removed lines.
    pub removed: f64,
    /// Whether both change enough lines to judge by these alone.
    pub is_substantial: bool,
    /// Whether both change enough words to judge by these.
    pub has_terms: bool,
    /// Whether neither changes many more lines than the other.
    pub is_like_size: bool,
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

impl Likeness {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Different => "different",
            Self::Close => "close",
            Self::Same => "same",
        }
    }
}

impl Similarity {
    /// From this share of the titles' words on, two pull requests may be about the same thing.
    pub const CLOSE_TITLE: f64 = 0.5;

    /// Compares two pull requests. The order does not matter.
    #[must_use]
    pub fn between(one: &Fingerprint, other: &Fingerprint) -> Self {
        let substantial = |work: &Fingerprint| work.sketch.shingles >= SHINGLES_NEEDED;
        let has_terms = |work: &Fingerprint| work.sketch.terms.len() >= TERMS_NEEDED;
        Self {
            title: word_similarity(&one.title, &other.title),
            paths: path_similarity(&one.paths, &other.paths),
            hunks: one.sketch.similarity(&other.sketch),
            terms: one.sketch.term_similarity(&other.sketch),
            removed: one.sketch.removed_similarity(&other.sketch),
            is_substantial: substantial(one) && substantial(other),
            has_terms: has_terms(one) && has_terms(other),
            is_like_size: is_like_size(one.size, other.size),
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

    fn has_same_terms(self) -> bool {
        self.terms >= SAME_TERMS && self.paths >= SAME_MAIN_PATHS
    }

    fn replaces_same_lines(self) -> bool {
        self.removed >= SAME_REMOVED
            && self.terms >= SOME_TERMS
            && self.is_like_size
            && self.concerns_same_files()
    }

    /// Whether both change the same lines, and enough of them to judge by these alone.
    #[must_use]
    pub fn changes_same_lines(self) -> bool {
        self.is_substantial && self.hunks >= SAME_HUNKS
    }

    /// The three shares together, to order what is equally alike.
    #[must_use]
    pub fn sum(self) -> f64 {
        self.title + self.paths + self.terms
    }

    /// What the figures say. Without changed lines on both sides two pull requests are never the same.
    #[must_use]
    pub fn likeness(self) -> Likeness {
        if self.changes_same_lines()
            || self.has_terms && (self.has_same_terms() || self.replaces_same_lines())
        {
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

/// Whether the smaller of two pull requests is not much smaller, by added and removed lines.
fn is_like_size(one: (u64, u64), other: (u64, u64)) -> bool {
    let lines = |(added, removed): (u64, u64)| added.saturating_add(removed) as f64;
    let (one, other) = (lines(one), lines(other));
    one.max(other) <= LIKE_SIZE * one.min(other)
}

/// Whether a change of these lines is that of a pull request.
#[must_use]
pub fn is_change_of(work: &Fingerprint, lines: &Sketch) -> bool {
    work.sketch.similarity(lines) >= SAME_HUNKS
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
