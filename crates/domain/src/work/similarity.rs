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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two pull requests that share nothing, and change enough to be judged.
    const APART: Similarity = Similarity {
        title: 0.0,
        paths: 0.0,
        hunks: 0.0,
        terms: 0.0,
        removed: 0.0,
        is_substantial: true,
        has_terms: true,
        is_like_size: true,
    };

    #[test]
    fn each_way_to_be_the_same_needs_all_of_its_shares() {
        let lines = Similarity {
            hunks: SAME_HUNKS,
            ..APART
        };
        let terms = Similarity {
            terms: SAME_TERMS,
            paths: SAME_MAIN_PATHS,
            ..APART
        };
        let replaced = Similarity {
            removed: SAME_REMOVED,
            terms: SOME_TERMS,
            paths: SAME_PATHS,
            ..APART
        };
        for same in [lines, terms, replaced] {
            assert_eq!(same.likeness(), Likeness::Same, "{same:?}");
            let less = |share: f64| if share > 0.0 { share - 0.01 } else { share };
            for one in [
                Similarity {
                    paths: less(same.paths),
                    ..same
                },
                Similarity {
                    hunks: less(same.hunks),
                    ..same
                },
                Similarity {
                    terms: less(same.terms),
                    ..same
                },
                Similarity {
                    removed: less(same.removed),
                    ..same
                },
            ] {
                let is_less = one != same;
                assert_eq!(one.likeness() == Likeness::Same, !is_less, "{one:?}");
            }
            let unproven = Similarity {
                is_substantial: false,
                has_terms: false,
                ..same
            };
            assert_ne!(unproven.likeness(), Likeness::Same, "{unproven:?}");
        }
        let larger = Similarity {
            is_like_size: false,
            ..replaced
        };
        assert_eq!(larger.likeness(), Likeness::Close);
    }

    #[test]
    fn one_share_suffices_to_be_close() {
        for (title, paths, hunks) in [(0.5, 0.0, 0.0), (0.0, 0.5, 0.0), (0.0, 0.0, 0.3)] {
            let close = Similarity {
                title,
                paths,
                hunks,
                ..APART
            };
            assert_eq!(close.likeness(), Likeness::Close, "{close:?}");
            let apart = Similarity {
                title: title * 0.9,
                paths: paths * 0.9,
                hunks: hunks * 0.9,
                ..APART
            };
            assert_eq!(apart.likeness(), Likeness::Different, "{apart:?}");
        }
    }

    #[test]
    fn an_idea_is_a_title_and_its_files() {
        let idea = Similarity {
            title: SAME_TITLE,
            paths: SAME_PATHS,
            ..APART
        };
        assert!(idea.is_same_idea());
        assert!(!Similarity { title: 0.7, ..idea }.is_same_idea());
        assert!(!Similarity { paths: 0.4, ..idea }.is_same_idea());
    }

    #[test]
    fn the_sum_is_of_titles_paths_and_terms() {
        let some = Similarity {
            title: 0.5,
            paths: 0.25,
            terms: 0.125,
            hunks: 1.0,
            ..APART
        };
        assert!((some.sum() - 0.875).abs() < 1e-9);
    }

    #[test]
    fn the_larger_one_has_at_most_half_as_many_lines_more() {
        for (one, other, is_like) in [
            ((6, 3), (2, 4), true),
            ((6, 4), (2, 4), false),
            ((0, 9), (6, 0), true),
            ((0, 0), (0, 0), true),
            ((1, 0), (0, 0), false),
        ] {
            assert_eq!(is_like_size(one, other), is_like, "{one:?} {other:?}");
            assert_eq!(is_like_size(other, one), is_like, "{other:?} {one:?}");
        }
    }

    #[test]
    fn both_must_change_enough_lines_and_words() {
        let work = |shingles: usize, terms: u32| Fingerprint {
            sketch: Sketch {
                shingles,
                terms: (0..terms).collect(),
                ..Sketch::default()
            },
            ..Fingerprint::default()
        };
        let judged = |one: &Fingerprint, other: &Fingerprint| {
            let both = Similarity::between(one, other);
            (both.is_substantial, both.has_terms)
        };
        let (enough, few) = (work(8, 3), work(7, 2));
        assert_eq!(judged(&enough, &enough), (true, true));
        assert_eq!(judged(&enough, &few), (false, false));
        assert_eq!(judged(&few, &enough), (false, false));
    }

    #[test]
    fn words_are_shared_by_their_whole() {
        let words = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        let share = word_similarity(&words("a b c"), &words("b c d e"));
        assert!((share - 0.4).abs() < 1e-9);
        assert!(word_similarity(&[], &[]) < 1e-9);
        assert!(word_similarity(&words("a"), &[]) < 1e-9);
    }

    #[test]
    fn likeness_has_words() {
        let all = [Likeness::Different, Likeness::Close, Likeness::Same];
        assert_eq!(all.map(Likeness::as_str), ["different", "close", "same"]);
    }
}
