//! A sketch of the lines that a pull request adds and removes: the smallest hashes of its shingles, of its words and of
//! the lines that it removes.
//!
//! A shingle is three lines in a row that are all added or all removed. Shingles and words have a sign: the hash of a
//! removed one is inverted. Two sketches tell how much two pull requests share without keeping a line of them (bottom-k
//! sketch: Broder, "On the resemblance and containment of documents", 1997).

use std::collections::{BTreeMap, BTreeSet};

use data_encoding::BASE64;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// So many hashes of shingles are kept.
const SKETCH_SIZE: usize = 32;
/// So many of words. Fewer would blur the difference between two pull requests of the same files.
const TERM_SKETCH_SIZE: usize = 48;
/// So many of removed lines.
const REMOVED_SKETCH_SIZE: usize = 16;
/// So many lines make a shingle.
const SHINGLE_LINES: usize = 3;
/// So many shingles of a pull request are read, so that one of a million lines costs no more than a second.
const SHINGLE_LIMIT: usize = 50_000;
/// A shorter word, such as `if`, says nothing about the work.
const WORD_LETTERS: usize = 3;

/// The smallest hashes of shingles, words and removed lines, and how many shingles there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sketch {
    /// Shingles: at most 32 hashes, ascending.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        serialize_with = "write_hashes",
        deserialize_with = "read_hashes::<SKETCH_SIZE, _>"
    )]
    pub hunks: Vec<u32>,
    /// Words that it has more often in added than in removed lines, and the reverse: at most 48 hashes, ascending.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        serialize_with = "write_hashes",
        deserialize_with = "read_hashes::<TERM_SKETCH_SIZE, _>"
    )]
    pub terms: Vec<u32>,
    /// Lines that it removes and does not add elsewhere: at most 16 hashes, ascending.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        serialize_with = "write_hashes",
        deserialize_with = "read_hashes::<REMOVED_SKETCH_SIZE, _>"
    )]
    pub removed: Vec<u32>,
    /// How many different shingles there are.
    pub shingles: usize,
}

/// What stands in the lines of one sign.
#[derive(Default)]
struct Side {
    /// The hashes of shingles.
    shingles: BTreeSet<u32>,
    /// The hashes of lines.
    lines: BTreeSet<u32>,
    /// How often each word occurs.
    terms: BTreeMap<String, usize>,
}

/// What a pull request adds and removes.
#[derive(Default)]
struct Changes {
    added: Side,
    removed: Side,
}

impl Sketch {
    /// Reads the hunks of files, as GitHub gives them. Neither the order of hunks nor the end of a line counts.
    #[must_use]
    pub fn from_patches<'p>(patches: impl IntoIterator<Item = &'p str>) -> Self {
        Self::read(patches, false)
    }

    /// The sketch of the change that takes these patches back: each added line is removed, each removed one added.
    #[must_use]
    pub fn from_reverted_patches<'p>(patches: impl IntoIterator<Item = &'p str>) -> Self {
        Self::read(patches, true)
    }

    fn read<'p>(patches: impl IntoIterator<Item = &'p str>, reverted: bool) -> Self {
        let mut changes = Changes::default();
        for patch in patches {
            changes.collect(patch);
            if changes.is_full() {
                break;
            }
        }
        let (added, removed) = match reverted {
            false => (changes.added, changes.removed),
            true => (changes.removed, changes.added),
        };
        // What is both removed and added was moved or indented: it says nothing, and a revert would share it.
        let only_added = added.shingles.difference(&removed.shingles).copied();
        let only_removed = removed.shingles.difference(&added.shingles);
        let signed: BTreeSet<u32> = only_added.chain(only_removed.map(|hash| !hash)).collect();
        let terms = added
            .terms_beyond(&removed)
            .chain(removed.terms_beyond(&added).map(|hash| !hash));
        let terms: BTreeSet<u32> = terms.collect();
        let gone = removed.lines.difference(&added.lines);
        Self {
            shingles: signed.len(),
            hunks: signed.into_iter().take(SKETCH_SIZE).collect(),
            terms: terms.into_iter().take(TERM_SKETCH_SIZE).collect(),
            removed: gone.copied().take(REMOVED_SKETCH_SIZE).collect(),
        }
    }

    /// The estimated share of shingles that both have, 0 to 1; exact where neither has more than 32. 0 where one has
    /// none.
    #[must_use]
    pub fn similarity(&self, other: &Self) -> f64 {
        share_of(&self.hunks, &other.hunks, SKETCH_SIZE)
    }

    /// The same of terms, exact up to 48.
    #[must_use]
    pub fn term_similarity(&self, other: &Self) -> f64 {
        share_of(&self.terms, &other.terms, TERM_SKETCH_SIZE)
    }

    /// The same of removed lines, exact up to 16.
    #[must_use]
    pub fn removed_similarity(&self, other: &Self) -> f64 {
        share_of(&self.removed, &other.removed, REMOVED_SKETCH_SIZE)
    }

    /// Drops the hashes, and keeps how many there were.
    pub fn clear(&mut self) {
        self.hunks.clear();
        self.terms.clear();
        self.removed.clear();
    }
}

/// The share of hashes that two sketches of at most `size` have in common.
fn share_of(one: &[u32], other: &[u32], size: usize) -> f64 {
    if one.is_empty() || other.is_empty() {
        return 0.0;
    }
    let union: BTreeSet<&u32> = one.iter().chain(other).collect();
    let smallest: Vec<&u32> = union.into_iter().take(size).collect();
    let is_shared =
        |hash: &&&u32| one.binary_search(hash).is_ok() && other.binary_search(hash).is_ok();
    smallest.iter().filter(is_shared).count() as f64 / smallest.len() as f64
}

impl Changes {
    /// Adds what a patch changes. A run of changed lines ends at a line that stays.
    fn collect(&mut self, patch: &str) {
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        for line in patch.lines().chain(["@@"]) {
            match line.as_bytes().first() {
                Some(b'+') => push_line(&mut added, &line[1..]),
                Some(b'-') => push_line(&mut removed, &line[1..]),
                // "\ No newline at end of file"
                Some(b'\\') => {}
                _ => {
                    self.added.add_run(&mut added);
                    self.removed.add_run(&mut removed);
                    if self.is_full() {
                        return;
                    }
                }
            }
        }
    }

    fn is_full(&self) -> bool {
        self.added.shingles.len() + self.removed.shingles.len() >= SHINGLE_LIMIT
    }
}

impl Side {
    /// Adds each three lines of a run as a shingle; a shorter run is one shingle.
    fn add_run(&mut self, run: &mut Vec<String>) {
        let lines = std::mem::take(run);
        if lines.is_empty() {
            return;
        }
        for shingle in lines.windows(SHINGLE_LINES.min(lines.len())) {
            if self.shingles.len() >= SHINGLE_LIMIT {
                return;
            }
            self.shingles.insert(hash_lines(shingle));
        }
        for line in &lines {
            self.lines.insert(hash_lines(std::slice::from_ref(line)));
            for word in words_of(line) {
                *self.terms.entry(word.to_owned()).or_default() += 1;
            }
        }
    }

    /// The hashes of the words that occur here more often than there.
    fn terms_beyond(&self, there: &Self) -> impl Iterator<Item = u32> {
        let is_more = |(word, count): &(&String, &usize)| {
            there.terms.get(*word).is_none_or(|other| *count > other)
        };
        let more = self.terms.iter().filter(is_more);
        more.map(|(word, _)| hash_lines(std::slice::from_ref(word)))
    }
}

/// Names and words of a line, without numbers.
fn words_of(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .map(|word| word.trim_start_matches(|letter: char| letter.is_numeric()))
        .filter(|word| word.chars().nth(WORD_LETTERS - 1).is_some())
}

/// Keeps a line with its white space folded; an empty one says nothing.
fn push_line(run: &mut Vec<String>, line: &str) {
    let words: Vec<&str> = line.split_whitespace().collect();
    if !words.is_empty() {
        run.push(words.join(" "));
    }
}

fn hash_lines(lines: &[String]) -> u32 {
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line.as_bytes());
        hash.update(b"\n");
    }
    let digest = hash.finalize();
    u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]])
}

fn write_hashes<S: Serializer>(hashes: &[u32], serializer: S) -> Result<S::Ok, S::Error> {
    let bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_be_bytes()).collect();
    serializer.serialize_str(&BASE64.encode(&bytes))
}

/// Reads hashes from a record. A hand-made one may be unsorted, doubled or too long; what is read is sound.
fn read_hashes<'de, const SIZE: usize, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<u32>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let bytes = BASE64
        .decode(text.as_bytes())
        .map_err(serde::de::Error::custom)?;
    let (hashes, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(serde::de::Error::custom(
            "`hunks`, `terms` or `removed` is not a list of 32-bit values",
        ));
    }
    let hashes: BTreeSet<u32> = hashes
        .iter()
        .map(|hash| u32::from_be_bytes(*hash))
        .collect();
    Ok(hashes.into_iter().take(SIZE).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch(lines: &str) -> Sketch {
        Sketch::from_patches([format!("@@ -1 +1 @@\n{lines}").as_str()])
    }

    #[test]
    fn terms_and_removed_lines_are_compared_by_their_shares() {
        let one = sketch("-let alpha;\n-let beta;\n+let gamma;\n");
        let other = sketch("-let alpha;\n-let delta;\n+let gamma;\n");
        let apart = sketch("-use omega;\n+use sigma;\n");
        let shares = |other: &Sketch| (one.term_similarity(other), one.removed_similarity(other));
        assert_eq!(shares(&one), (1.0, 1.0));
        // Of the terms, `let`, alpha and gamma are shared; beta and delta are not.
        assert!((one.term_similarity(&other) - 3.0 / 5.0).abs() < 1e-9);
        assert!((one.removed_similarity(&other) - 1.0 / 3.0).abs() < 1e-9);
        assert_eq!(shares(&apart), (0.0, 0.0));
        assert_eq!(shares(&Sketch::default()), (0.0, 0.0));
    }

    #[test]
    fn a_word_counts_for_the_side_that_has_it_more_often() {
        assert_eq!(sketch("-word word\n+word\n").terms, sketch("-word\n").terms);
        assert_eq!(sketch("-word\n+word word\n").terms, sketch("+word\n").terms);
        assert_eq!(sketch("-word\n+word;\n").terms, [0; 0]);
        assert_ne!(sketch("-word\n").terms, sketch("+word\n").terms);
    }

    #[test]
    fn words_of_three_letters_count_and_shorter_ones_do_not() {
        assert_eq!(sketch("+for four 5six if i 12\n").terms.len(), 3);
        assert_eq!(sketch("+if i 12\n").terms, [0; 0]);
    }

    #[test]
    fn a_remark_of_git_between_lines_does_not_part_them() {
        let plain = sketch("+one\n+two\n");
        assert_eq!(sketch("+one\n\\ No newline at end of file\n+two\n"), plain);
        assert_eq!(plain.shingles, 1);
    }

    #[test]
    fn no_more_is_read_once_there_are_enough_shingles() {
        let lines = |sign: char, count: usize| -> String {
            (0..count).map(|line| format!("{sign}{line}\n")).collect()
        };
        let read = |added: usize, removed: usize| {
            let (added, removed) = (lines('+', added), lines('-', removed));
            sketch(&format!("{added} \n{removed} \n-the rest\n"))
        };
        let few = read(300, 400);
        assert!(few.removed.len() == 16 && few.shingles > 100, "{few:?}");
        let rest = sketch("-the rest\n");
        let has_rest = |work: &Sketch| rest.terms.iter().any(|term| work.terms.contains(term));
        assert!(has_rest(&few));
        assert!(!has_rest(&read(SHINGLE_LIMIT + 2, 3)));
    }
}
